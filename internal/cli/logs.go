package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// logsRequest is what logs was asked for.
type logsRequest struct {
	redis   redisFlag
	follow  bool
	since   string
	attempt int64
	json    bool

	addrs []config.Addr // with ticks, none: all jobs
	ticks []string      // addresses of occurrences, and uuids
	begin time.Time     // of since; zero: from the start
}

func (a *app) logsCommand() *cobra.Command {
	var q logsRequest
	cmd := &cobra.Command{
		Use: "logs [ADDR...] [DIR | FILES]", Short: "Show what jobs have written",
		Long: `Writes the log of a job to stdout: what its attempts wrote to their stdout and
stderr, the oldest first. A line on stderr tells where an attempt after the first
one begins, and how much was not kept: of each attempt 1 MiB is, of each job the
newest five attempts, as long as the job itself is kept.

With several addresses, the address of a block with count or for_each, or none at
all for every job of the workflow, the lines of all are put in order of time, each
behind the name of its job. Of a job with a schedule or a gate, and of those downstream
of it, every occurrence is shown that is still kept, unless one is named as in
job.nightly@latest. A job that has no address, as one that a worker got of a job
for all workers, is named by its uuid.

With -f it goes on until the jobs are settled, attempt after attempt, and cycles that
begin meanwhile are among them. A schedule and a gate have no last cycle: with one of
them it goes on until it is interrupted, or none can begin any more because they are
paused, off, on hold or deleted. To see one cycle to its end, name it, as in
job.nightly@latest.`,
		Example: `waybill logs job.report
waybill logs -f job.nightly@latest
waybill logs -f 'job.clean["eu"]' examples/sales
waybill logs -since=10m
waybill logs -json -attempt=2 job.report`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.logs(cmd.Context(), q, args)
			if errors.Is(err, errInterrupted) {
				return exit(exitInterrupted) // whoever follows logs ends it so
			}
			return err
		},
	}
	q.redis.flags(cmd)
	cmd.Flags().BoolVarP(&q.follow, "follow", "f", false, "Go on until the jobs are settled, with a schedule or a gate among them until interrupted.")
	cmd.Flags().StringVar(&q.since, "since", "", "Leave out what was written before: so long ago, as in `10m`, or an RFC 3339 time.")
	cmd.Flags().Int64Var(&q.attempt, "attempt", 0, "Show the start number `N` of the jobs alone.")
	cmd.Flags().BoolVar(&q.json, "json", false, "Write one JSON object a line; \"waybill schema -lines logs\" describes it.")
	return cmd
}

func (a *app) logs(ctx context.Context, q logsRequest, args []string) error {
	var paths []string
	var err error
	q.ticks, args = occurrencesIn(args)
	if q.addrs, paths, err = addresses(args); err != nil {
		return err
	}
	if q.attempt < 0 {
		return fail("Invalid option", "-attempt counts the starts of a job from 1, and got %d.", q.attempt)
	}
	w, err := a.load(paths, &variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	how := reading
	if q.follow {
		how = serving
	}
	s, err := a.open(ctx, q.redis, w, how)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // nothing was written
	if q.begin, err = sinceWhen(q.since, s.now()); err != nil {
		return err
	}
	r := callRoll(ctx, s)
	if r.problem != nil {
		return r.problem
	}
	from, err := s.client.LastEvent(ctx)
	if err != nil {
		return err
	}
	targets, err := q.targets(ctx, s, r)
	if err != nil {
		return err
	}
	endless := q.follow && len(targets.templates) > 0
	if len(q.addrs)+len(q.ticks) == 1 && len(targets.jobs) == 1 && !endless && !q.json {
		t := targets.jobs[0]
		l := logReader{source: q.source(s, t), out: a.p.Stdout, notes: a.p.Stderr, clean: terminal(a.p.Stdout), nothing: q.nothing(t)}
		return l.run(ctx, q.follow)
	}
	many := newLogLines(a, targets.jobs, q.json)
	if q.follow {
		return q.followAll(ctx, s, r, targets, from, many)
	}
	var sources []*logSource
	for _, t := range targets.jobs {
		if t.fence > 0 {
			sources = append(sources, q.source(s, t))
		}
	}
	if len(targets.jobs) == 0 && len(q.addrs) > 0 {
		fmt.Fprintf(a.p.Stderr, "%s has had no cycle of which anything is left.\n", screen.Clean(q.addrs[0].String()))
	}
	return mergeLogs(ctx, sources, many)
}

// sinceWhen is the moment that -since means.
func sinceWhen(since string, now time.Time) (time.Time, error) {
	if since == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(since); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return t, fail("Invalid option", "-since=%s is neither a duration such as 10m nor a time such as %s.", since, now.UTC().Format(time.RFC3339))
	}
	return t, nil
}

// choose finds the records that the addresses mean, in the order of the state list; none means all.
func (q *logsRequest) choose(state *planner.State) ([]string, error) {
	var chosen []string
	for address := range state.Records {
		if addr, err := config.ParseAddr(address); err == nil && q.wants(addr) {
			chosen = append(chosen, address)
		}
	}
	for _, addr := range q.addrs {
		if !slices.ContainsFunc(chosen, func(address string) bool {
			a, _ := config.ParseAddr(address) // it was read before
			return addr.Covers(a)
		}) {
			return nil, unknownJob(addr, state)
		}
	}
	slices.SortFunc(chosen, func(a, b string) int {
		x, _ := config.ParseAddr(a)
		y, _ := config.ParseAddr(b)
		switch {
		case x.Less(y):
			return -1
		case y.Less(x):
			return 1
		}
		return 0
	})
	return chosen, nil
}

// wants tells whether an address is asked for, by itself or by its block.
func (q *logsRequest) wants(addr config.Addr) bool {
	return len(q.addrs) == 0 || slices.ContainsFunc(q.addrs, func(a config.Addr) bool { return a.Covers(addr) })
}

func (q *logsRequest) source(s *store, t logTarget) *logSource {
	source := newLogSource(s.client, t.uuid, q.begin, q.attempt)
	source.name = t.name
	return source
}

// nothing says why there is nothing to show of a job.
func (q *logsRequest) nothing(t logTarget) string {
	name := screen.Clean(t.name)
	switch {
	case t.fence == 0 && t.over: // skipped, obsolete, expired, or handed to all workers, who have jobs of their own then
		return name + " has ended without a start: it has no log."
	case t.fence == 0:
		return name + " has not started yet."
	case q.attempt > t.fence:
		return fmt.Sprintf("%s has started %s so far.", name, board.Count(int(t.fence), "time", "times"))
	case q.since != "":
		return name + " has written nothing since then."
	}
	return name + " has written nothing, or its log is no longer kept."
}

// unknownJob says which addresses there are near one that is not recorded.
func unknownJob(addr config.Addr, state *planner.State) error {
	if len(state.Records) == 0 {
		return fail("No such job", "Workflow %q has no jobs: nothing was applied yet, or it was destroyed.", state.Workflow)
	}
	var instances []string
	for name := range state.Records {
		if a, err := config.ParseAddr(name); err == nil && a.Block() == addr.Block() {
			instances = append(instances, name)
		}
	}
	slices.Sort(instances)
	hint := fmt.Sprintf("Run %q for all of them.", "waybill state list")
	switch near := state.Near(addr); {
	case len(instances) > 0:
		const shown = 5
		hint = "Instances of its block are: " + strings.Join(instances[:min(shown, len(instances))], ", ")
		if len(instances) > shown {
			hint += ", ..."
		}
		hint += "."
	case near != "":
		hint = fmt.Sprintf("Did you mean %s?", near)
	}
	if addr.IsModule() {
		return fail("No such job", "Workflow %q has no jobs in %s. %s", state.Workflow, addr, hint)
	}
	return fail("No such job", "Workflow %q has no job %s. %s", state.Workflow, addr, hint)
}

// logSource reads one job's log, page by page.
type logSource struct {
	client  *conveyor.Client
	uuid    string
	name    string    // its address
	since   time.Time // pieces before are left out
	attempt int64     // only this start; 0: all
	at      conveyor.LogPosition
}

// logPage is how many entries one read returns.
const logPage = 500

func newLogSource(c *conveyor.Client, uuid string, since time.Time, attempt int64) *logSource {
	return &logSource{client: c, uuid: uuid, since: since, attempt: attempt, at: conveyor.LogPosition{Fence: attempt}}
}

// next returns what was asked for of the next page, waiting up to block for it. more tells that there may be another right behind.
func (l *logSource) next(ctx context.Context, block time.Duration) (entries []conveyor.LogEntry, more bool, err error) {
	found, err := l.client.Logs(ctx, l.uuid, l.at, logPage, block)
	if err != nil {
		return nil, false, err
	}
	more = len(found) == logPage
	for _, e := range found {
		if l.attempt > 0 && e.Fence > l.attempt {
			return entries, false, nil
		}
		l.at = conveyor.LogPosition{Fence: e.Fence, N: e.N}
		if !e.At.Before(l.since) {
			entries = append(entries, e)
		}
	}
	return entries, more, nil
}

// over tells whether nothing that was asked for will be written any more.
func (l *logSource) over(s conveyor.Status) bool {
	if l.attempt > 0 && (s.Fence > l.attempt || s.Fence == l.attempt && s.State != conveyor.StateRunning) {
		return true
	}
	return s.State.Ended() || s.State == conveyor.StateUnknown || s.State == conveyor.StateOnHold
}
