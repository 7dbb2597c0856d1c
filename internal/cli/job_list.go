package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// jobListing is one run of job list.
type jobListing struct {
	a      *app
	place  place
	states []string
	labels []string
	queue  string
	limit  int
	after  string
	own    bool
	json   bool

	templates map[string]conveyor.Template // among the jobs that are listed, by uuid
}

// templatesAmong reads the templates of a list of jobs.
func templatesAmong(ctx context.Context, s *store, jobs []conveyor.Listed) (map[string]conveyor.Template, error) {
	var uuids []string
	for _, j := range jobs {
		if j.State == conveyor.StateTemplate {
			uuids = append(uuids, j.UUID)
		}
	}
	list, err := s.client.Templates(ctx, uuids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]conveyor.Template, len(list))
	for _, t := range list {
		found[t.UUID] = t
	}
	return found, nil
}

func (a *app) jobListCommand() *cobra.Command {
	l := &jobListing{a: a}
	cmd := &cobra.Command{
		Use: "list [DIR | FILES]", Short: "List jobs",
		Long: `Lists the jobs of the namespace, all or those that every option given selects. With
-limit these are the ones with the lowest uuids. The table is in order of address.

-state takes a state as the list shows it, live for all that are not over, or ended;
-label takes NAME=VALUE, where * is any name or any value.`,
		Example: `waybill job list
waybill job list -state failed -queue etl
waybill job list -label region=eu -json examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd.Context(), args) },
	}
	l.place.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&l.states, "state", nil, "Only jobs in this `STATE`. May be given several times.")
	f.StringVar(&l.queue, "queue", "", "Only jobs of the queue `NAME`.")
	f.StringArrayVar(&l.labels, "label", nil, "Only jobs with the label `NAME=VALUE`. May be given several times: then with all of them.")
	f.BoolVar(&l.own, "workflow", false, "Only jobs that the state of the workflow records.")
	f.IntVar(&l.limit, "limit", conveyor.DefaultListLimit, "List at most `N` jobs.")
	f.StringVar(&l.after, "after", "", "Go on after this `UUID`, as the list before says.")
	f.BoolVar(&l.json, "json", false, "Write one JSON object.")
	return cmd
}

func (l *jobListing) run(ctx context.Context, args []string) error {
	o, err := l.options()
	if err != nil {
		return err
	}
	s, err := l.place.open(ctx, l.a, args, reading)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // nothing was written
	r := callRoll(ctx, s)
	if l.own && r.state == nil {
		if r.problem != nil {
			return r.problem
		}
		return fail("Invalid option", "-workflow needs a workflow: -namespace alone has none.")
	}
	jobs, more, err := l.read(ctx, s, r, o)
	if err != nil {
		return err
	}
	if l.templates, err = templatesAmong(ctx, s, jobs); err != nil {
		return err
	}
	if l.json {
		return l.writeJSON(s, r, jobs)
	}
	if len(jobs) == 0 {
		fmt.Fprintf(l.a.p.Stderr, "No job of namespace %q is selected.\n", s.client.Namespace())
		return nil
	}
	r.recall(ctx, s, jobs)
	if err := l.write(s, r, jobs); err != nil {
		return err
	}
	if more {
		fmt.Fprintf(l.a.p.Stderr, "There are more jobs: -after=%s goes on.\n", jobs[len(jobs)-1].UUID)
	}
	return nil
}

// read takes pages until there are enough jobs, and one more.
func (l *jobListing) read(ctx context.Context, s *store, r roll, o conveyor.ListOptions) (jobs []conveyor.Listed, more bool, err error) {
	for {
		page, err := s.client.List(ctx, o)
		if err != nil {
			return nil, false, err
		}
		for _, j := range page {
			r.meet(j.Status)
			if l.own && r.address(j.UUID) == "" {
				continue
			}
			if len(jobs) == l.limit {
				return jobs, true, nil
			}
			jobs = append(jobs, j)
		}
		if len(page) == 0 {
			return jobs, false, nil
		}
		o.After = page[len(page)-1].UUID
	}
}

func (l *jobListing) options() (conveyor.ListOptions, error) {
	o := conveyor.ListOptions{Queue: l.queue, After: l.after}
	if l.limit < 1 {
		return o, fail("Invalid option", "-limit is a number from 1 on, and got %d.", l.limit)
	}
	for _, text := range l.states {
		states, err := parseStates(text)
		if err != nil {
			return o, err
		}
		o.States = append(o.States, states...)
	}
	for _, text := range l.labels {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return o, fail("Invalid option", "-label is NAME=VALUE, where * is any name or any value, and got %q.", text)
		}
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[name] = value
	}
	return o, nil
}

// parseStates reads a state as people write it.
func parseStates(text string) ([]conveyor.State, error) {
	text = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), "-", " ")
	var names []string
	var ended []conveyor.State
	for s := conveyor.StateHeld; s <= conveyor.StateExpired; s++ {
		if s.String() == text {
			return []conveyor.State{s}, nil
		}
		if s.Ended() {
			ended = append(ended, s)
		}
		names = append(names, s.String())
	}
	switch text {
	case "live":
		return conveyor.LiveStates(), nil
	case "ended":
		return ended, nil
	}
	hint := fmt.Sprintf("States are %s, live and ended.", strings.Join(names, ", "))
	if near := nearest(text, append(names, "live", "ended")); near != "" {
		hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return nil, fail("Invalid option", "-state: there is no state %q. %s", text, hint)
}

func (l *jobListing) write(s *store, r roll, jobs []conveyor.Listed) error {
	addressed := slices.ContainsFunc(jobs, func(j conveyor.Listed) bool { return r.called(j.UUID) != "" })
	rows := [][]string{{"ADDRESS", "UUID", "STATE", "QUEUE", "SINCE OR UNTIL", "LABELS"}}
	for _, j := range r.inOrder(jobs) {
		state, when := stateText(j.Status), moment(s.now(), j.Status)
		if t, ok := l.templates[j.UUID]; ok {
			state, when = templateState(t), templateMoment(s.now(), r, t)
		}
		rows = append(rows, []string{r.called(j.UUID), j.UUID, state, j.Queue, when, ownLabels(j.Labels)})
	}
	if !addressed {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	return table(l.a.p.Stdout, rows)
}

// templateMoment is the time that matters most of a template.
func templateMoment(now time.Time, r roll, t conveyor.Template) string {
	switch {
	case t.Kind == conveyor.TemplateDownstream:
		return "with " + r.name(t.Root)
	case t.Kind == conveyor.TemplateGated && board.Stopped(t) == "":
		return fmt.Sprintf("gate %d of %d", flipped(t.Gate), len(t.Gate))
	case t.Next.IsZero():
		return "-"
	}
	if since := board.Overdue(t, now); !since.IsZero() {
		return "overdue, " + distance(now, since)
	}
	return "next " + distance(now, t.Next)
}

func flipped(gate []conveyor.GateLabel) int {
	n := 0
	for _, g := range gate {
		if g.Flipped {
			n++
		}
	}
	return n
}

// inOrder sorts jobs by address, occurrences behind their template and by tick, deliveries behind the job for all, those without an
// address last and by uuid.
func (r roll) inOrder(jobs []conveyor.Listed) []conveyor.Listed {
	addrs := make(map[string]config.Addr, len(jobs))
	for _, j := range jobs {
		address := r.addresses[j.UUID]
		if j.Template != "" {
			address = r.addresses[j.Template]
		} else if of := r.delivered[j.UUID]; of != "" {
			address = r.addresses[of]
		}
		if addr, err := config.ParseAddr(address); err == nil {
			addrs[j.UUID] = addr
		}
	}
	return slices.SortedStableFunc(slices.Values(jobs), func(a, b conveyor.Listed) int {
		x, known := addrs[a.UUID]
		y, also := addrs[b.UUID]
		switch {
		case known && also && x.Less(y), known && !also:
			return -1
		case known && also && y.Less(x), also && !known:
			return 1
		case known && !a.Tick.Equal(b.Tick):
			return a.Tick.Compare(b.Tick)
		case r.delivered[a.UUID] == b.UUID:
			return 1
		case r.delivered[b.UUID] == a.UUID:
			return -1
		}
		return strings.Compare(a.UUID, b.UUID)
	})
}

// moment is the time that matters most of a job.
func moment(now time.Time, s conveyor.Status) string {
	switch {
	case s.State == conveyor.StateScheduled:
		return "due " + distance(now, s.DueAt)
	case s.State == conveyor.StateRunning:
		return "started " + since(now, s.Started)
	case s.State.Ended() && !s.Ended.IsZero():
		return "ended " + since(now, s.Ended)
	case s.State == conveyor.StateHeld && s.Pending > 0:
		return "waits for " + countOf(int64(s.Pending), "job", "jobs")
	}
	return "-"
}

// distance is how far away a time is, in the largest two units.
func distance(now, at time.Time) string {
	d := at.Sub(now).Round(time.Second)
	switch {
	case d > 0:
		return "in " + short(d)
	case d < 0:
		return short(-d) + " ago"
	}
	return "now"
}

// since is how long ago something was, by a clock that may be a little behind.
func since(now, at time.Time) string {
	if d := now.Sub(at).Round(time.Second); d > 0 {
		return short(d) + " ago"
	}
	return "just now"
}

func short(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return d.Round(time.Second).String()
}

// facts are the labels by which the engine tells what it knows of a job. Nobody can set them.
var facts = []string{"object", "worker", "cycles", "expiry", "cancel", "tick-1", "tick+1", "method"}

// ownLabels are a job's labels without the facts of the engine.
func ownLabels(labels map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !slices.Contains(facts, name) {
			out = append(out, name+"="+labels[name])
		}
	}
	return strings.Join(out, ",")
}

// listedJob is a job in job list -json and job show -json.
type listedJob struct {
	UUID        string            `json:"uuid"`
	Address     string            `json:"address,omitempty"`
	State       string            `json:"state"`
	ChildFailed bool              `json:"child_failed,omitempty"`
	Cancelling  bool              `json:"cancel_requested,omitempty"`
	Queue       string            `json:"queue"`
	Priority    int               `json:"priority"`
	Starts      int64             `json:"starts"`
	Attempts    int               `json:"attempts"`
	Lost        int               `json:"lost"`
	Opening     int64             `json:"opening"`
	Worker      string            `json:"worker,omitempty"`
	Pending     int               `json:"pending_edges,omitempty"`
	Unique      string            `json:"unique,omitempty"`
	DueAt       string            `json:"due_at,omitempty"`
	Started     string            `json:"started_at,omitempty"`
	Ended       string            `json:"ended_at,omitempty"`
	Expires     string            `json:"expires_at,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`

	// Of an occurrence.
	Template string `json:"template_uuid,omitempty"`
	Of       string `json:"template_address,omitempty"`
	Tick     string `json:"tick,omitempty"`
	// Of a job with max_cycles: how often it may run and did. Of a template see job show.
	MaxCycles int `json:"max_cycles,omitempty"`
	Cycles    int `json:"cycles,omitempty"`
	// Of a template with a schedule.
	Next string `json:"next_at,omitempty"`
}

func listJob(r roll, s conveyor.Status, labels map[string]string) listedJob {
	r.meet(s)
	return listedJob{UUID: s.UUID, Address: r.address(s.UUID), Template: s.Template, Of: r.addresses[s.Template], Tick: tickText(s.Tick),
		MaxCycles: s.MaxCycles, Cycles: s.Cycles, State: s.State.String(), ChildFailed: s.ChildFailed, Cancelling: s.CancelRequested,
		Queue: s.Queue, Priority: s.Priority, Starts: s.Fence, Attempts: s.Attempts, Lost: s.Lost, Opening: s.Opening, Worker: s.Owner,
		Pending: s.Pending, Unique: s.Unique, DueAt: stamp(s.DueAt), Started: stamp(s.Started), Ended: stamp(s.Ended), Expires: stamp(s.ExpiresAt),
		Labels: labels}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func (l *jobListing) writeJSON(s *store, r roll, jobs []conveyor.Listed) error {
	list := []listedJob{}
	for _, j := range jobs {
		job := listJob(r, j.Status, j.Labels)
		job.Next = tickText(l.templates[j.UUID].Next)
		list = append(list, job)
	}
	return json.NewEncoder(l.a.p.Stdout).Encode(struct {
		Format    string      `json:"format_version"`
		Namespace string      `json:"namespace"`
		Jobs      []listedJob `json:"jobs"`
	}{"1.0", s.client.Namespace(), list})
}
