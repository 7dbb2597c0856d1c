package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

// jobChange is a command that changes one job.
type jobChange struct {
	verb, past  string
	short, long string
	change      func(c *conveyor.Client, ctx context.Context, uuid string) error
	// possible tells whether the change does anything to a job as it stands.
	possible func(conveyor.Status) bool
	asks     bool
	// template changes a template; what is refused of all of them says what to do instead.
	template func(ctx context.Context, s *store, c *cyclic) error
	after    func(c *cyclic) string // what is said then
}

func (a *app) jobRetryCommand() *cobra.Command {
	return a.jobChange(jobChange{
		verb: "retry", past: "runs again", short: "Run a failed job again",
		long: `Runs a job again that failed, with all its attempts. What was skipped because it
failed stays skipped: applying the workflow again runs that too.`,
		change: (*conveyor.Client).Retry,
		template: func(_ context.Context, _ *store, c *cyclic) error {
			return fail("Not possible in this state", "%s is a template: it is never run itself, so there is nothing to retry. Retry the occurrence that failed, such as "+
				"%s@%s, or begin another cycle: %q.", c.name, c.name, latestTick, "waybill job run "+shellWord(c.over))
		},
		possible: func(s conveyor.Status) bool { return s.State == conveyor.StateFailed && !s.ChildFailed },
	})
}

func (a *app) jobCancelCommand() *cobra.Command {
	return a.jobChange(jobChange{
		verb: "cancel", past: "is cancelled", short: "Cancel a job that is not over",
		long: `Cancels a job. One that waits is over at once; one that runs is told to stop, and is
over when it has. What waits for it is skipped, unless it waits for its failure or
its end.`,
		change:   (*conveyor.Client).Cancel,
		possible: func(s conveyor.Status) bool { return s.State != conveyor.StateUnknown && !s.State.Ended() },
		asks:     true,
		template: func(_ context.Context, _ *store, c *cyclic) error {
			return fail("Not possible in this state", "%s is a template, which ends when it is removed from the files of its workflow and that is applied. "+
				"To let no cycle begin for now:\n\n  waybill job pause %s\n\nTo cancel an occurrence of it, name that, such as %s@%s.", c.name, shellWord(c.over), c.name, latestTick)
		},
	})
}

func (a *app) jobReleaseCommand() *cobra.Command {
	return a.jobChange(jobChange{
		verb: "release", past: "is queued", short: "Let a job go on that is on hold",
		long: `Queues a job again that is on hold, because its attempts are exhausted, its
signature is wrong or it ran as often as it may (max_cycles), with all its attempts.
A job with a schedule or a gate that is on hold, for it has had all its cycles,
begins to count them anew.`,
		change:   (*conveyor.Client).Release,
		possible: func(s conveyor.Status) bool { return s.State == conveyor.StateOnHold },
		template: func(ctx context.Context, s *store, c *cyclic) error {
			if !c.OnHold {
				return fail("Not possible in this state", "%s is not on hold: there is nothing to release. %s", c.name, c.upcoming())
			}
			if err := s.client.ResetCycles(ctx, c.UUID); err != nil {
				return c.refused("release", err)
			}
			return nil
		},
		after: func(c *cyclic) string {
			return fmt.Sprintf("%s goes on, for %s. %s", c.name, countOf(int64(c.MaxCycles), "more cycle", "more cycles"), c.upcoming())
		},
	})
}

func (a *app) jobChange(j jobChange) *cobra.Command {
	var p place
	asJSON, autoApprove := false, false
	cmd := &cobra.Command{
		Use: j.verb + " ADDR | UUID [DIR | FILES]", Short: j.short, Long: j.long,
		Example: fmt.Sprintf("waybill job %s job.load\nwaybill job %s job.nightly@latest\nwaybill job %s 3f1c0a9e examples/sales", j.verb, j.verb, j.verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			job, paths, err := target("job "+j.verb, args)
			if err != nil {
				return err
			}
			if j.asks && asJSON && !autoApprove {
				return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve.")
			}
			s, err := p.open(ctx, a, paths, serving)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // the store's own errors came with the command
			r := callRoll(ctx, s)
			uuid, err := r.find(ctx, s, job)
			if err != nil {
				return err
			}
			statuses, err := s.client.Statuses(ctx, []string{uuid})
			if err != nil {
				return err
			}
			if statuses[0].State == conveyor.StateTemplate {
				c, err := r.cyclic(ctx, s, uuid)
				if err != nil {
					return err
				}
				if err := j.template(ctx, s, c); err != nil {
					return err
				}
				return a.tellTemplate(ctx, s, r, uuid, j.after, asJSON)
			}
			if !j.possible(statuses[0]) {
				return r.refused(j.verb, statuses[0])
			}
			if j.asks && !autoApprove {
				ok, err := a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you really want to %s %s?", j.verb, clean(r.name(uuid))), fmt.Sprintf(
					"It is %s. There is no undo.\nOnly 'yes' will be accepted to confirm.", stateText(statuses[0])))
				if err != nil {
					return err
				}
				if !ok {
					fmt.Fprintln(a.p.Stdout, "Nothing was changed.")
					return exit(exitError)
				}
			}
			if err := j.change(s.client, ctx, uuid); err != nil {
				return r.refusedBy(ctx, s, j.verb, uuid, err)
			}
			return a.tellChange(ctx, s, r, j.past, uuid, asJSON)
		},
	}
	p.flags(cmd)
	if j.asks {
		cmd.Flags().BoolVar(&autoApprove, "auto-approve", false, "Do not ask.")
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// tellChange says how the job stands now.
func (a *app) tellChange(ctx context.Context, s *store, r roll, past, uuid string, asJSON bool) error {
	statuses, err := s.client.Statuses(ctx, []string{uuid})
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(a.p.Stdout).Encode(struct {
			Format string `json:"format_version"`
			listedJob
		}{"1.0", listJob(r, statuses[0], nil)})
	}
	if now := statuses[0]; now.CancelRequested && !now.State.Ended() {
		past = "is told to stop"
	}
	_, err = fmt.Fprintf(a.p.Stdout, "%s %s.\n", clean(r.name(uuid)), past)
	return err
}
