package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

// templateChange is a command that changes whether a template emits.
type templateChange struct {
	verb        string
	short, long string
	change      func(c *conveyor.Client, ctx context.Context, uuid string) error
	done        func(c *cyclic) string // what is said afterwards, of the template as it is then
}

func (a *app) jobPauseCommand() *cobra.Command {
	return a.templateChange(templateChange{
		verb: "pause", short: "Let no cycle of a job with a schedule begin",
		long: `Pauses a job with a schedule by hand: its times pass without a cycle until it is
resumed. What runs goes on, and "waybill job run" and "job backfill" still begin
cycles. A pause stays when the workflow is applied; enabled = false in its files is
another switch.`,
		change: (*conveyor.Client).PauseTemplate,
		done: func(c *cyclic) string {
			return fmt.Sprintf("%s is paused. %q lets it go on.", c.name, "waybill job resume "+shellWord(c.name))
		},
	})
}

func (a *app) jobResumeCommand() *cobra.Command {
	return a.templateChange(templateChange{
		verb: "resume", short: "Let the cycles of a job with a schedule begin again",
		long: `Ends a pause by hand. The times that passed meanwhile are not caught up: "waybill job
backfill" runs those that are wanted.`,
		change: (*conveyor.Client).ResumeTemplate,
		done:   func(c *cyclic) string { return fmt.Sprintf("%s goes on. %s", c.name, c.upcoming()) },
	})
}

func (a *app) templateChange(t templateChange) *cobra.Command {
	var p place
	asJSON := false
	cmd := &cobra.Command{
		Use: t.verb + " ADDR | UUID [DIR | FILES]", Short: t.short, Long: t.long,
		Example: fmt.Sprintf("waybill job %s job.nightly\nwaybill job %s -json job.nightly examples/nightly", t.verb, t.verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			job, paths, err := target("job "+t.verb, args)
			if err != nil {
				return err
			}
			s, err := p.open(ctx, a, paths, serving)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // the store's own errors came with the command
			r := callRoll(ctx, s)
			c, err := r.findRoot(ctx, s, t.verb, job)
			if err != nil {
				return err
			}
			if c.Kind == conveyor.TemplateGated {
				return fail("Not a schedule", "%s has a gate and no schedule, so there is nothing to %s: it runs when the jobs that open its gate succeed.", c.name, t.verb)
			}
			if err := t.change(s.client, ctx, c.UUID); err != nil {
				return c.refused(t.verb, err)
			}
			return a.tellTemplate(ctx, s, r, c.UUID, t.done, asJSON)
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object: the job as it is then, as job show -json does.")
	return cmd
}

// tellTemplate says how a template stands after a change.
func (a *app) tellTemplate(ctx context.Context, s *store, r roll, uuid string, done func(*cyclic) string, asJSON bool) error {
	c, err := r.cyclic(ctx, s, uuid)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprintln(a.p.Stdout, clean(done(c)))
		return err
	}
	d := struct {
		Format string `json:"format_version"`
		listedJob
		Template *shownTemplate `json:"template"`
	}{"1.0", listJob(r, c.Status, nil), c.shown()}
	return json.NewEncoder(a.p.Stdout).Encode(d)
}
