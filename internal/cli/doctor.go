package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

// doctoring is one run of doctor.
type doctoring struct {
	a                             *app
	place                         place
	fix, autoApprove, asJSON      bool
	putBack, drop                 bool
	store                         *store
	roll                          roll
	repaired                      []conveyor.Repaired
	putBackUUIDs, dropped, undone []string
}

func (a *app) doctorCommand() *cobra.Command {
	d := &doctoring{a: a}
	cmd := &cobra.Command{
		Use: "doctor [DIR | FILES]", Short: "Find what is wrong in the store, and repair it",
		Long: `Looks at everything that the workflow's namespace holds, while it is in use, and
names the server that serves it, with its version, in a Cluster the node and with
Sentinels the primary in force. It tells what is wrong: settings of the store that may lose jobs, broken promises of
the engine, jobs that wait for others that never came, what was set aside because
nobody could read it, keys that were damaged, workers that are silent, jobs that a
worker would not run because they are not what their key signed, keys here that
cannot be used. It names the keys, beside the first one here, without which waiting
jobs cannot run or values be compared.

With -fix it says how it would repair that, asks, repairs, and looks again. Each
repair is made only if nothing has moved meanwhile, and nothing is thrown away:
damaged keys are kept under another name, unreadable entries are set aside.
-put-back adds again what was set aside and is a job; -drop removes the rest of it,
and damaged keys, for good.

The exit code is 0 when nothing is wrong (any more), else 1.`,
		Example: `waybill doctor
waybill doctor -fix examples/sales
waybill doctor -json -redis redis://127.0.0.1:6379 -namespace shop`,
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	d.place.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&d.fix, "fix", false, "Repair what is wrong, after asking.")
	f.BoolVar(&d.putBack, "put-back", false, "With -fix: add again the jobs that were set aside.")
	f.BoolVar(&d.drop, "drop", false, "With -fix: remove damaged keys and what was set aside for good.")
	f.BoolVar(&d.autoApprove, "auto-approve", false, "Do not ask.")
	f.BoolVar(&d.asJSON, "json", false, "Write one JSON object.")
	return cmd
}

func (d *doctoring) run(ctx context.Context, args []string) error {
	switch {
	case (d.putBack || d.drop || d.autoApprove) && !d.fix:
		return fail("Invalid option", "-put-back, -drop and -auto-approve go with -fix.")
	case d.asJSON && d.fix && !d.autoApprove:
		return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve.")
	}
	how := reading
	if d.fix {
		how = repairing
	}
	var err error
	if d.store, err = d.place.open(ctx, d.a, args, how); err != nil {
		return err
	}
	defer d.store.close() //nolint:errcheck // the store's own errors came with the command
	c, err := d.examine(ctx)
	if err != nil {
		return err
	}
	if !d.asJSON {
		d.a.showHealth(d.store, d.roll, c)
	}
	if d.fix && d.work(c) > 0 {
		ok, err := d.approved(ctx, c)
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(d.a.p.Stdout, "Nothing was changed.")
			return exit(exitError)
		}
		if c, err = d.repair(ctx, c); err != nil {
			return err
		}
		if !d.asJSON {
			fmt.Fprintf(d.a.p.Stdout, "\n%s\n", d.a.ink(d.a.p.Stdout).Bold("Looked again:"))
			d.a.showHealth(d.store, d.roll, c)
		}
	} else if !d.fix && !d.asJSON && d.work(c) > 0 && !d.a.automated() {
		fmt.Fprintf(d.a.p.Stdout, "\nRun %q to repair it.\n", "waybill doctor -fix"+d.store.elsewhere())
	}
	if d.asJSON {
		if err := d.writeJSON(c); err != nil {
			return err
		}
	}
	if c.problems() > 0 {
		return exit(exitError)
	}
	return nil
}

// checkup is what doctor found.
type checkup struct {
	*conveyor.Diagnosis
	keys    []neededKey
	server  conveyor.Server
	store   error // what is wrong with the store; nil when it is fit
	state   error // why the workflow's state cannot be read; nil when it can
	keyring error // why the keys of this user cannot be used; nil when they can, or there are none
}

// problems is how many things are wrong. That nobody serves a queue, or a key with a strange name, is only worth telling.
func (c *checkup) problems() int {
	n := len(c.Violations) + len(c.Orphans) + len(c.SetAside) + len(c.Damaged) + len(c.Silent) + len(c.Refused)
	for _, err := range []error{c.store, c.state, c.keyring} {
		if err != nil {
			n++
		}
	}
	return n
}

func (d *doctoring) examine(ctx context.Context) (*checkup, error) {
	c := &checkup{}
	if !d.store.embedded {
		if err := d.store.client.CheckStore(ctx); errors.Is(err, conveyor.ErrStore) {
			c.store = err
		} else if err != nil {
			return nil, err
		}
		var err error
		if c.server, err = d.store.client.Server(ctx); err != nil {
			return nil, err
		}
	}
	d.roll = callRoll(ctx, d.store)
	c.state = d.roll.problem
	var err error
	if c.Diagnosis, err = d.store.client.Diagnose(ctx, conveyor.OrphanAge); err != nil {
		return nil, err
	}
	ring, err := d.a.keyring(false)
	if err != nil {
		c.keyring = err // which keys are needed beside the first one is not known then
		return c, nil
	}
	c.keys, err = neededKeys(ctx, d.store, d.roll.state, ring)
	return c, err
}

// work is how much -fix would do about it.
func (d *doctoring) work(c *checkup) int {
	n := len(c.Violations) + len(c.Silent)
	if d.putBack || d.drop {
		n += len(c.SetAside)
	}
	if d.drop {
		n += len(c.Damaged)
	}
	return n
}

func (d *doctoring) approved(ctx context.Context, c *checkup) (bool, error) {
	if d.autoApprove {
		return true, nil
	}
	text := "Waybill will do what stands above, and what follows from it, as far as nothing has moved meanwhile."
	if d.putBack {
		text += "\nIt will add again the jobs that were set aside."
	}
	if d.drop {
		text += "\nIt will remove damaged keys and what was set aside for good. There is no undo."
	}
	return d.a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you want to repair %s?", countOf(int64(d.work(c)), "problem", "problems")),
		text+"\nOnly 'yes' will be accepted to approve.")
}

// maxRounds bounds how often doctor repairs what the repairs before have made visible.
const maxRounds = 20

// repair repairs until nothing is left, or nothing more can be done.
func (d *doctoring) repair(ctx context.Context, c *checkup) (*checkup, error) {
	for range maxRounds {
		did, err := d.round(ctx, c)
		if err != nil {
			return nil, err
		}
		if c, err = d.examine(ctx); err != nil {
			return nil, err
		}
		if !did || len(c.Violations) == 0 {
			break
		}
	}
	if len(c.Silent) > 0 {
		for {
			t, err := d.store.client.Tick(ctx)
			if err != nil {
				return nil, err
			}
			if !t.More {
				break
			}
		}
	}
	if err := d.tidy(ctx, c); err != nil {
		return nil, err
	}
	return d.examine(ctx)
}

// round makes one round of repairs and tells what was done.
func (d *doctoring) round(ctx context.Context, c *checkup) (bool, error) {
	done, err := d.store.client.Repair(ctx, c.Violations)
	did := false
	for _, r := range done {
		if r.Done {
			did = true
			d.repaired = append(d.repaired, r)
			if !d.asJSON {
				fmt.Fprintf(d.a.p.Stdout, "Done: %s\n", clean(d.roll.named(r.Repair)))
			}
		}
	}
	return did, err
}

// tidy puts back and removes what was set aside or moved out of the way, as far as it was asked for.
func (d *doctoring) tidy(ctx context.Context, c *checkup) error {
	say := func(format string, args ...any) {
		if !d.asJSON {
			fmt.Fprintf(d.a.p.Stdout, format+"\n", args...)
		}
	}
	for _, e := range c.SetAside {
		var err error
		switch addable := e.Addable(); {
		case d.putBack && addable == nil:
			if err = d.store.client.PutBack(ctx, e); err == nil {
				d.putBackUUIDs = append(d.putBackUUIDs, e.Job.Uuid)
				say("Done: put %s back", d.roll.name(e.Job.Uuid))
			}
		case d.drop:
			if err = d.store.client.DropSetAside(ctx, e); err == nil {
				d.dropped = append(d.dropped, e.Key)
				say("Done: removed what was set aside from %s", clean(e.Key))
			}
		}
		if err != nil && !errors.Is(err, conveyor.ErrNotFound) {
			d.undone = append(d.undone, err.Error())
			say("Not done: %s", clean(err.Error()))
		}
	}
	for _, name := range c.Damaged {
		if !d.drop {
			break
		}
		if err := d.store.client.DropDamaged(ctx, name); err != nil && !errors.Is(err, conveyor.ErrNotFound) {
			return err
		}
		d.dropped = append(d.dropped, name)
		say("Done: removed %s", clean(name))
	}
	return nil
}
