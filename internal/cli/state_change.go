package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// stateChanging is what the commands that change state by hand have in common.
type stateChanging struct {
	a           *app
	redis       redisFlag
	dryRun      bool
	json        bool
	lockTimeout time.Duration
	store       *store
}

func (c *stateChanging) flags(cmd *cobra.Command) {
	c.redis.flags(cmd)
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "Only say what would be done.")
	cmd.Flags().BoolVar(&c.json, "json", false, "Write one JSON object.")
	c.lockFlag(cmd)
}

func (c *stateChanging) open(ctx context.Context, paths []string) error {
	w, err := c.a.load(paths, &variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	c.store, err = c.a.open(ctx, c.redis, w, serving)
	return err
}

func (c *stateChanging) options(operation string) applier.StateChange {
	o := applier.StateChange{Operation: operation, LockTimeout: c.lockTimeout, DryRun: c.dryRun}
	if c.lockTimeout <= 0 {
		o.LockTimeout = -1
	}
	return o
}

// explain turns what ended a change into what is said about it.
func (c *stateChanging) explain(err error) error {
	var locked *applier.LockedError
	switch {
	case errors.As(err, &locked):
		return lockFailure(locked, c.store)
	case errors.Is(err, applier.ErrNotInState):
		return fail("No such address in the state", "%s. Nothing was changed. \"waybill state list\" lists what there is.", inLine(err))
	case errors.Is(err, applier.ErrInState):
		return fail("Address is taken", "%s. Nothing was changed. Move that record elsewhere first, or remove it with \"waybill state rm\".", inLine(err))
	case errors.Is(err, planner.ErrMove):
		return fail("Invalid move", "%s. Nothing was changed.", inLine(err))
	}
	return err
}

// inLine is an error, or several, in one line.
func inLine(err error) string { return capital(strings.ReplaceAll(err.Error(), "\n", "; ")) }

func (a *app) stateMoveCommand() *cobra.Command {
	c := &stateChanging{a: a}
	cmd := &cobra.Command{
		Use: "mv SRC DST [DIR | FILES]", Short: "Give the record of a job another address",
		Long: `Moves the record of SRC to DST, so that the job is not taken for one that is gone
and one that is new. The job itself is not touched. Both are jobs, or job blocks,
whose instances keep their keys, or modules, whose jobs keep their names.

A moved block in the files does the same for everybody who applies them, and is
shown in plans first.`,
		Example: `waybill state mv job.extract job.fetch
waybill state mv job.load 'job.load["eu"]'
waybill state mv -dry-run module.sales module.orders`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			if len(addrs) != 2 {
				return fail("Wrong number of arguments", "state mv takes two addresses: where the record is, and where it is to be; it got %d.", len(addrs))
			}
			if err := c.open(cmd.Context(), paths); err != nil {
				return err
			}
			defer c.close(&err)
			moves, err := applier.Move(cmd.Context(), c.store.client, c.store.workflow, addrs[0], addrs[1], c.options("state mv"))
			if err != nil {
				return c.explain(err)
			}
			return c.moved(moves)
		},
	}
	c.flags(cmd)
	return cmd
}

func (c *stateChanging) close(err *error) {
	if closing := c.store.close(); closing != nil && *err == nil {
		*err = fail("Cannot close the store", "%v.", closing)
	}
}

func (c *stateChanging) moved(moves []applier.StateMove) error {
	out := c.a.p.Stdout
	if c.json {
		type move struct {
			From string `json:"from"`
			To   string `json:"to"`
		}
		list := make([]move, len(moves))
		for i, m := range moves {
			list[i] = move{m.From.String(), m.To.String()}
		}
		return json.NewEncoder(out).Encode(map[string]any{"format_version": "1.0", "dry_run": c.dryRun, "moved": list})
	}
	verb, done := "Moved", "Moved"
	if c.dryRun {
		verb, done = "Would move", "Would move"
	}
	for _, m := range moves {
		fmt.Fprintf(out, "%s %s to %s\n", verb, m.From, m.To)
	}
	_, err := fmt.Fprintf(out, "\n%s %s.\n", done, records(len(moves)))
	return err
}

func (a *app) stateRemoveCommand() *cobra.Command {
	c := &stateChanging{a: a}
	autoApprove := false
	cmd := &cobra.Command{
		Use: "rm ADDR... [DIR | FILES]", Short: "Forget jobs without ending them",
		Long: `Removes the records of addresses. Their jobs are left alone: what waits or runs
goes on, a schedule keeps firing, and what is over is kept as long as a job that
nobody declared. As long as an address is declared, the next apply makes a new
job of it, beside the old one.

An address without a key means all instances of its block, one of a module all
jobs in it. To end jobs, take them out of the files, or destroy them.`,
		Example: `waybill state rm job.report
waybill state rm -dry-run 'job.clean["eu"]' module.sales`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			if len(addrs) == 0 {
				return fail("Wrong number of arguments", "state rm takes the addresses of what is to be forgotten, such as job.load.")
			}
			if err := c.open(cmd.Context(), paths); err != nil {
				return err
			}
			defer c.close(&err)
			if !c.dryRun && !autoApprove && terminal(a.p.Stdin) && !a.automated() {
				if c.json {
					return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve.")
				}
				ok, err := a.prompt(cmd.Context(), "-auto-approve", fmt.Sprintf("Do you really want to forget %s?", addressList(addrs)),
					"The jobs go on without a record. There is no undo.\nOnly 'yes' will be accepted to approve.")
				if err != nil {
					return err
				}
				if !ok {
					fmt.Fprintln(a.p.Stdout, "Nothing was changed.")
					return exit(exitError)
				}
			}
			gone, err := applier.Forget(cmd.Context(), c.store.client, c.store.workflow, addrs, c.options("state rm"))
			if err != nil {
				return c.explain(err)
			}
			return c.removed(gone)
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&autoApprove, "auto-approve", false, "Do not ask for approval.")
	return cmd
}

// addressList joins addresses for a question.
func addressList(addrs []config.Addr) string {
	names := make([]string, len(addrs))
	for i, addr := range addrs {
		names[i] = addr.String()
	}
	return strings.Join(names, ", ")
}

func (c *stateChanging) removed(addrs []config.Addr) error {
	out := c.a.p.Stdout
	if c.json {
		names := make([]string, len(addrs))
		for i, addr := range addrs {
			names[i] = addr.String()
		}
		return json.NewEncoder(out).Encode(map[string]any{"format_version": "1.0", "dry_run": c.dryRun, "removed": names})
	}
	verb := "Removed"
	if c.dryRun {
		verb = "Would remove"
	}
	for _, addr := range addrs {
		fmt.Fprintf(out, "%s %s\n", verb, addr)
	}
	_, err := fmt.Fprintf(out, "\n%s %s. The jobs are left alone.\n", verb, records(len(addrs)))
	return err
}
