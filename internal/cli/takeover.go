package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// takeOver gives this workflow the record that another one has of a job, after a question that names the owner.
func (c *stateChanging) takeOver(ctx context.Context, w *config.Workflow, addr config.Addr, id string, o planner.Options, autoApprove bool) error {
	from, err := applier.OwnerOf(ctx, c.store.client, id)
	switch {
	case errors.Is(err, applier.ErrNotOwned):
		return fail("Nobody to take it from", "%s. Nothing was changed. Leave -take-over out to import it.", inLine(err))
	case err != nil:
		return err
	case from.Workflow == w.Name:
		return fail("Address is taken", "%s is recorded as %s of this workflow already. Nothing was changed. \"waybill state mv\" gives a record another address.", id, from.Addr)
	}
	if !c.dryRun && !autoApprove {
		if c.json {
			return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve.")
		}
		ok, err := c.a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you really want to take %s over as %s?", from, addr),
			fmt.Sprintf("Workflow %q loses its record of the job. Where its files still declare it, its next apply makes a new one.\nOnly 'yes' will be accepted to approve.", from.Workflow))
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(c.a.p.Stdout, "Nothing was changed.")
			return exit(exitError)
		}
	}
	done, err := applier.TakeOver(ctx, c.store.client, w, addr, id, from, o, c.options("import"))
	if err != nil {
		return c.explainImport(err)
	}
	if c.json {
		return json.NewEncoder(c.a.p.Stdout).Encode(map[string]any{"format_version": "1.0", "dry_run": c.dryRun,
			"imported":   map[string]string{"address": addr.String(), "uuid": id, "status": done.Status.String()},
			"taken_from": map[string]string{"workflow": from.Workflow, "address": from.Addr.String()}, "work_assumed": done.Unseen})
	}
	verb := "Took"
	if c.dryRun {
		verb = "Would take"
	}
	_, err = fmt.Fprintf(c.a.p.Stdout, "%s %s over as %s. The job is %s and is left alone; \"waybill plan\" shows what differs.\n", verb, from, addr, done.Status)
	return err
}
