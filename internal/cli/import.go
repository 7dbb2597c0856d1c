package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
)

func (a *app) importCommand() *cobra.Command {
	c := &stateChanging{a: a}
	var v variables
	takeOver, autoApprove := false, false
	cmd := &cobra.Command{
		Use: "import ADDR UUID [DIR | FILES]", Short: "Take a job of the store for one that is declared",
		Long: `Gives a job that the store holds already, whoever made it, a record under an address
that is declared and has none. Nothing else is written: the next plan shows what
differs between the job and what is declared.

A job that another workflow has a record of is left alone, unless -take-over asks
for it: then that record goes with the same write, after a question that names the
owner. Take the job out of the owner's files first, or its next apply makes a new
one.

An import block in the files does the same as part of an apply, and is shown in
plans first.`,
		Example: `waybill import job.report 0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11
waybill import -dry-run 'job.clean["eu"]' 0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11 examples/sales
waybill import -take-over job.report 0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			addrs, rest, err := addresses(args)
			if err != nil {
				return err
			}
			if len(addrs) != 1 || addrs[0].IsModule() || len(rest) == 0 {
				return fail("Wrong number of arguments", "import takes the address of one job, such as job.load or 'job.load[\"eu\"]', and the uuid of a job in the store.")
			}
			addr, id := addrs[0], rest[0]
			if !config.Importable(id) {
				return fail("Invalid uuid", "%q is no uuid in lower case, such as 0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11. Only jobs with such an id can have a record.", id)
			}
			w, err := a.load(rest[1:], &v, everything, nil)
			if err != nil {
				return err
			}
			keyring, err := a.keyring(true)
			if err != nil {
				return err
			}
			if c.store, err = a.open(cmd.Context(), c.redis, w, serving); err != nil {
				return err
			}
			defer c.close(&err)
			if takeOver {
				return c.takeOver(cmd.Context(), w, addr, id, planOptions(keyring), autoApprove)
			}
			done, err := applier.Import(cmd.Context(), c.store.client, w, addr, id, planOptions(keyring), c.options("import"))
			if err != nil {
				return c.explainImport(err)
			}
			if c.json {
				return json.NewEncoder(a.p.Stdout).Encode(map[string]any{"format_version": "1.0", "dry_run": c.dryRun, "imported": map[string]string{"address": addr.String(), "uuid": id, "status": done.Status.String()}, "work_assumed": done.Unseen})
			}
			verb := "Imported"
			if c.dryRun {
				verb = "Would import"
			}
			text := "\"waybill plan\" shows what differs."
			if done.Unseen {
				text += "\nThe store does not hold what it does or did: its work is taken to be what is declared."
			}
			_, err = fmt.Fprintf(a.p.Stdout, "%s %s as %s. The job is %s and is left alone; %s\n", verb, id, addr, done.Status, text)
			return err
		},
	}
	c.flags(cmd)
	v.flags(cmd)
	cmd.Flags().BoolVar(&takeOver, "take-over", false, "Take the job from the workflow that has a record of it.")
	cmd.Flags().BoolVar(&autoApprove, "auto-approve", false, "Do not ask for approval of -take-over.")
	return cmd
}

// explainImport turns what ended an import into what is said about it.
func (c *stateChanging) explainImport(err error) error {
	var refused *applier.ImportError
	switch {
	case errors.As(err, &refused):
		return fail(refused.Summary, "%s Nothing was changed.", refused.Detail)
	case errors.Is(err, applier.ErrNotDeclared):
		return fail("No such job declared", "%s. Nothing was changed. Write a job block for it first; an address has the key of its instance, if it has one.", inLine(err))
	}
	return c.explain(err)
}
