package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// backfilling is one job backfill.
type backfilling struct {
	a           *app
	place       place
	from, to    string
	dryRun      bool
	cancel      bool
	autoApprove bool
	json        bool
}

func (a *app) jobBackfillCommand() *cobra.Command {
	q := &backfilling{a: a}
	cmd := &cobra.Command{
		Use: "backfill ADDR | UUID [DIR | FILES]", Short: "Run a job with a schedule for times that are over",
		Long: `Begins a cycle for each time of a job's schedule from one moment to another, both
included, that has none: times that were missed, skipped, paused or before the job
was first applied. At most 1,000 at once.

Moments are RFC 3339 times, days, or times such as 2026-11-20T06:00, which are in
the time zone of the schedule; a day as -to is all of it. With overlap = "skip" or
"replace" the cycles run one after the other, else all at once.

It asks first, and -dry-run only lists the times. -cancel gives up the times that
wait for their turn still; what runs goes on.`,
		Example: `waybill job backfill -from 2026-11-01 -to 2026-11-07 -dry-run job.nightly
waybill job backfill -from 2026-11-20T06:00 job.nightly examples/nightly
waybill job backfill -cancel job.nightly`,
		RunE: func(cmd *cobra.Command, args []string) error { return q.run(cmd.Context(), args) },
	}
	q.place.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&q.from, "from", "", "Begin at the moment `T`. Required without -cancel.")
	f.StringVar(&q.to, "to", "", "End at the moment `T`. Default: now.")
	f.BoolVar(&q.dryRun, "dry-run", false, "List the times, and run nothing.")
	f.BoolVar(&q.cancel, "cancel", false, "Give up the times that wait still.")
	f.BoolVar(&q.autoApprove, "auto-approve", false, "Do not ask.")
	f.BoolVar(&q.json, "json", false, "Write one JSON object.")
	return cmd
}

func (q *backfilling) run(ctx context.Context, args []string) error {
	job, paths, err := target("job backfill", args)
	if err != nil {
		return err
	}
	switch {
	case q.cancel && (q.from != "" || q.to != "" || q.dryRun):
		return fail("Invalid option", "-cancel gives up all times that wait still: it goes without -from, -to and -dry-run.")
	case q.cancel:
	case q.from == "":
		return fail("Missing option", "-from says from when on: a day such as 2026-11-20, or a time.")
	case q.json && !q.autoApprove && !q.dryRun:
		return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve, or -dry-run to see the times.")
	}
	how := serving
	if q.dryRun {
		how = reading
	}
	s, err := q.place.open(ctx, q.a, paths, how)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // the store's own errors came with the command
	r := callRoll(ctx, s)
	c, err := r.findRoot(ctx, s, "backfill", job)
	if err != nil {
		return err
	}
	if c.Kind != conveyor.TemplateScheduled {
		return fail("Not a schedule", "%s has a gate and no schedule: there are no times to run it for. %q begins a cycle now.", c.name, "waybill job run "+shellWord(c.name))
	}
	if q.cancel {
		return q.giveUp(ctx, s, c)
	}
	if c.now, err = s.client.Now(ctx); err != nil { // to the millisecond: later than that is refused
		return err
	}
	from, to, err := q.span(c)
	if err != nil {
		return err
	}
	ticks, err := s.client.Backfill(ctx, c.UUID, from, to, true)
	if err != nil {
		return c.refused("backfill", err)
	}
	if len(ticks) == 0 {
		return fail("Nothing to run", "The schedule of %s has no time from %s to %s. %s", c.name, tickText(from), tickText(to), c.upcoming())
	}
	all := len(ticks)
	if ticks, err = c.without(ctx, s, ticks); err != nil {
		return err
	}
	if len(ticks) == 0 {
		return fail("Nothing to run", "%s from %s to %s in the schedule of %s has had a cycle or waits for one. %q lists the latest.", capital(eachOf(all)), tickText(from), tickText(to), c.name,
			"waybill job history "+shellWord(c.name))
	}
	if !q.dryRun {
		if ok, err := q.approved(ctx, c, ticks); err != nil || !ok {
			return err
		}
		if _, err = s.client.Backfill(ctx, c.UUID, from, to, false); err != nil {
			return c.refused("backfill", err)
		}
	}
	return q.tell(c, ticks)
}

// giveUp drops the times that wait.
func (q *backfilling) giveUp(ctx context.Context, s *store, c *cyclic) error {
	ticks, err := s.client.Backlog(ctx, c.UUID)
	if err != nil {
		return err
	}
	n, err := s.client.CancelBackfill(ctx, c.UUID)
	if err != nil {
		return c.refused("backfill", err)
	}
	ticks = ticks[max(0, len(ticks)-n):] // what began in between was the oldest
	if q.json {
		return q.tell(c, ticks)
	}
	text := "No time of " + c.name + " waits: nothing was changed."
	if n > 0 {
		text = fmt.Sprintf("Given up: %s of %s that had not begun.", countOf(int64(n), "time", "times"), c.name)
	}
	_, err = fmt.Fprintln(q.a.p.Stdout, clean(text))
	return err
}

// span is what -from and -to mean: the moments of -from and -to.
func (q *backfilling) span(c *cyclic) (from, to time.Time, err error) {
	if from, _, err = q.moment("from", q.from, c); err != nil {
		return from, to, err
	}
	to = c.now
	if q.to != "" {
		day := false
		if to, day, err = q.moment("to", q.to, c); err != nil {
			return from, to, err
		}
		if day {
			to = to.AddDate(0, 0, 1).Add(-time.Millisecond)
		}
	}
	switch {
	case from.After(c.now):
		return from, to, fail("Invalid option", "-from=%s is yet to come. %s", q.from, c.upcoming())
	case to.Before(from):
		return from, to, fail("Invalid option", "-to=%s is before -from=%s.", q.to, q.from)
	case to.After(c.now):
		to = c.now
	}
	return from, to, nil
}

func (q *backfilling) moment(option, text string, c *cyclic) (time.Time, bool, error) {
	at, day, err := parseMoment(text, c.zone)
	if err != nil {
		return at, day, fail("Invalid option", "-%s=%s is neither a day such as %s nor a time such as %s.", option, text, c.now.In(c.zone).Format(time.DateOnly),
			tickText(c.now.Truncate(time.Minute)))
	}
	return at, day, nil
}

// without leaves out the ticks that have had a cycle of which something is left, and those that wait for one.
func (c *cyclic) without(ctx context.Context, s *store, ticks []time.Time) ([]time.Time, error) {
	uuids := make([]string, len(ticks))
	for i, t := range ticks {
		uuids[i] = conveyor.OccurrenceUUID(c.UUID, c.UUID, t)
	}
	found, err := s.client.Statuses(ctx, uuids)
	if err != nil {
		return nil, err
	}
	waiting, err := s.client.Backlog(ctx, c.UUID)
	if err != nil {
		return nil, err
	}
	var open []time.Time
	for i, t := range ticks {
		if _, waits := slices.BinarySearchFunc(waiting, t, time.Time.Compare); !waits && found[i].State == conveyor.StateUnknown {
			open = append(open, t)
		}
	}
	return open, nil
}

func eachOf(n int) string {
	if n == 1 {
		return "the only time"
	}
	return fmt.Sprintf("each of the %d times", n)
}

// someTicks is how many ticks a question lists.
const someTicks = 10

func (q *backfilling) approved(ctx context.Context, c *cyclic, ticks []time.Time) (bool, error) {
	if q.autoApprove {
		return true, nil
	}
	var lines []string
	for _, t := range ticks[:min(len(ticks), someTicks)] {
		lines = append(lines, "  "+tickText(t))
	}
	if more := len(ticks) - someTicks; more > 0 {
		lines[someTicks-1] = fmt.Sprintf("  ... and %d more, up to %s", more+1, tickText(ticks[len(ticks)-1]))
	}
	how := "They begin at once"
	if c.Overlap != wire.Schedule_ALLOW {
		how = "They run one after the other"
	}
	if len(ticks) == 1 {
		how = "It begins at once"
	}
	ok, err := q.a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you want to run %s of %s?", countOf(int64(len(ticks)), "cycle", "cycles"), clean(c.name)),
		strings.Join(lines, "\n")+"\n"+how+".\nOnly 'yes' will be accepted to confirm.")
	if err == nil && !ok {
		fmt.Fprintln(q.a.p.Stdout, "Nothing was changed.")
		err = exit(exitError)
	}
	return ok, err
}

func (q *backfilling) tell(c *cyclic, ticks []time.Time) error {
	list := make([]string, 0, len(ticks))
	for _, t := range ticks {
		list = append(list, tickText(t))
	}
	if q.json {
		return json.NewEncoder(q.a.p.Stdout).Encode(struct {
			Format  string   `json:"format_version"`
			Address string   `json:"address"`
			UUID    string   `json:"uuid"`
			DryRun  bool     `json:"dry_run"`
			Cancel  bool     `json:"cancelled,omitempty"`
			Ticks   []string `json:"ticks"`
		}{"1.0", c.name, c.UUID, q.dryRun, q.cancel, list})
	}
	if q.dryRun {
		_, err := fmt.Fprintf(q.a.p.Stdout, "%s\n\n%s would run. Nothing was changed.\n", strings.Join(list, "\n"), countOf(int64(len(list)), "cycle", "cycles"))
		return err
	}
	how := "begin, one after the other"
	switch {
	case len(list) == 1:
		how = "begins"
	case c.Overlap == wire.Schedule_ALLOW:
		how = "begin"
	}
	_, err := fmt.Fprintf(q.a.p.Stdout, "%s of %s %s. %q shows what comes of that.\n", countOf(int64(len(list)), "cycle", "cycles"), clean(c.name), how,
		"waybill job history "+shellWord(c.name))
	return err
}
