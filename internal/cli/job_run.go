package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

// running is one job run.
type running struct {
	a      *app
	place  place
	follow bool
	json   bool
}

func (a *app) jobRunCommand() *cobra.Command {
	q := &running{a: a}
	cmd := &cobra.Command{
		Use: "run ADDR | UUID [DIR | FILES]", Short: "Run a job with a schedule or a gate now",
		Long: `Begins a cycle of a job with a schedule or a gate now: one occurrence of it, and of
each job downstream of it. It does so whatever its schedule or gate says, also while
another cycle runs, and while it is paused or on hold. The schedule goes on as before;
the cycle counts towards max_cycles.

The occurrences have addresses such as job.nightly@2026-11-21T02:00:00Z, which the
other commands take, also as job.nightly@latest.

With -follow it writes a line for each change of the cycle's jobs, and returns when
they are over: with exit code 0 if all went well, and 1 if some did not succeed.`,
		Example: `waybill job run job.nightly
waybill job run -follow job.nightly examples/nightly
waybill job run -json 'job.import["eu"]'`,
		RunE: func(cmd *cobra.Command, args []string) error { return q.run(cmd.Context(), args) },
	}
	q.place.flags(cmd)
	cmd.Flags().BoolVarP(&q.follow, "follow", "f", false, "Tell what becomes of the cycle's jobs until they are over.")
	cmd.Flags().BoolVar(&q.json, "json", false, "Write one JSON object; with -follow one a line, as wait does.")
	return cmd
}

func (q *running) run(ctx context.Context, args []string) error {
	if !q.follow {
		return q.begin(ctx, args, nil)
	}
	var d *display
	err := q.begin(ctx, args, &d)
	return q.a.inJSON(d, q.json, err)
}

// begin makes a cycle, and follows it if there is to be a display.
func (q *running) begin(ctx context.Context, args []string, shown **display) error {
	job, paths, err := target("job run", args)
	if err != nil {
		return err
	}
	s, err := q.place.open(ctx, q.a, paths, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // the store's own errors came with the command
	r := callRoll(ctx, s)
	c, err := r.findRoot(ctx, s, "run", job)
	if err != nil {
		return err
	}
	from, err := s.client.LastEvent(ctx)
	if err != nil {
		return err
	}
	tick, err := s.client.RunTemplate(ctx, c.UUID)
	if err != nil {
		return c.refused("run", err)
	}
	if q.follow {
		return q.a.chases(ctx, ofCycle(s, r, c, tick), from, q.json, shown)
	}
	name := conveyor.OccurrenceName(c.name, tick)
	if q.json {
		return json.NewEncoder(q.a.p.Stdout).Encode(struct {
			Format     string `json:"format_version"`
			Address    string `json:"address"`
			UUID       string `json:"uuid"`
			Tick       string `json:"tick"`
			Occurrence string `json:"occurrence"`
			Its        string `json:"occurrence_uuid"`
		}{"1.0", c.name, c.UUID, tickText(tick), name, conveyor.OccurrenceUUID(c.UUID, c.UUID, tick)})
	}
	_, err = fmt.Fprintf(q.a.p.Stdout, "%s runs.\n", clean(name))
	return err
}

// refused says why a change of a template was not made.
func (c *cyclic) refused(verb string, err error) error {
	switch {
	case errors.Is(err, conveyor.ErrTooLarge), errors.Is(err, conveyor.ErrBackfill):
		_, why, _ := strings.Cut(err.Error(), c.UUID+": ")
		_, why, _ = strings.Cut(why, ": ") // behind what the sentinel says
		return &failure{summary: "Not at once", detail: sentence(c.name + ": " + why), cause: err}
	case errors.Is(err, conveyor.ErrNotTemplate), errors.Is(err, conveyor.ErrDownstream), errors.Is(err, conveyor.ErrNotScheduled),
		errors.Is(err, conveyor.ErrNotFound), errors.Is(err, conveyor.ErrState):
		return &failure{summary: "Not possible in this state", detail: fmt.Sprintf("Cannot %s %s: %v.", verb, c.name, err), cause: err}
	}
	return err
}
