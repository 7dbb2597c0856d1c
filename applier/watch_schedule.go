package applier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// schedulesEvery is when all schedules are read anew; those whose cycles have moved are read with the next look.
const schedulesEvery = 5 * time.Second

// made is what a watcher knows of the occurrences of one template: they have no record, and belong where their template does.
type made struct {
	jobs   map[*watchedJob]bool
	counts StateCounts
	flow   *flow // that they are counted with; nil for nobody's
	early  bool  // the state that records the template was not read yet: they are counted nowhere
}

// cycles is what a watcher knows of templates.
type cycles struct {
	templates map[string]bool         // uuids of all that stand
	made      map[string]*made        // by template
	counts    map[string]*StateCounts // of the occurrences of a root's cycles, by root
	moved     map[string]bool         // roots and templates of which something has changed since they were read
	roots     map[string]ScheduleSeen // that were read, by uuid
	readAt    time.Time

	told   []ScheduleSeen
	total  int
	toldAt time.Time
}

func newCycles() cycles {
	return cycles{templates: map[string]bool{}, made: map[string]*made{}, counts: map[string]*StateCounts{}, moved: map[string]bool{},
		roots: map[string]ScheduleSeen{}}
}

// tallyOccurrence counts an occurrence where its template belongs.
func (w *watcher) tallyOccurrence(j *watchedJob, by int) {
	s := &j.status
	m := w.cycles.made[s.Template]
	if m == nil {
		m = &made{jobs: map[*watchedJob]bool{}}
		m.flow, m.early = w.homeOf(s.Template)
		w.cycles.made[s.Template] = m
	}
	counts := w.cycles.counts[s.Root]
	if counts == nil {
		counts = &StateCounts{}
		w.cycles.counts[s.Root] = counts
	}
	m.counts[s.State] += by
	counts[s.State] += by
	if home := w.countsOf(m); home != nil {
		home[s.State] += by
	}
	if by > 0 {
		m.jobs[j] = true
	} else if delete(m.jobs, j); len(m.jobs) == 0 {
		delete(w.cycles.made, s.Template)
	}
	if *counts == (StateCounts{}) {
		delete(w.cycles.counts, s.Root)
	}
	w.cycles.moved[s.Root] = true
}

// countsOf is where the occurrences of a template are counted besides; nil for nowhere.
func (w *watcher) countsOf(m *made) *StateCounts {
	switch {
	case m.flow != nil:
		return &m.flow.occurrences
	case m.early:
		return nil
	default:
		return &w.loose.counts
	}
}

// homeOf is where the occurrences of a template belong.
func (w *watcher) homeOf(template string) (f *flow, early bool) {
	t := w.jobs[template]
	if t == nil {
		return nil, false
	}
	return t.flow, t.flow == nil && w.early[t]
}

// rehome moves the occurrences of a template to where it belongs by now.
func (w *watcher) rehome(template string) {
	if w.cycles.templates[template] {
		w.cycles.moved[template] = true
	}
	m := w.cycles.made[template]
	if m == nil {
		return
	}
	f, early := w.homeOf(template)
	if f == m.flow && early == m.early {
		return
	}
	if from := w.countsOf(m); from != nil {
		for state, n := range m.counts {
			from[state] -= n
		}
	}
	m.flow, m.early = f, early
	to := w.countsOf(m)
	if to != nil {
		for state, n := range m.counts {
			to[state] += n
		}
	}
	for j := range m.jobs {
		if to == &w.loose.counts {
			w.loose.changed(j)
		} else {
			w.loose.forget(j)
		}
	}
}

// seeTemplate notes which jobs are templates.
func (w *watcher) seeTemplate(s conveyor.Status) {
	switch {
	case s.State == conveyor.StateTemplate:
		w.cycles.templates[s.UUID] = true
		w.cycles.moved[s.UUID] = true
	case w.cycles.templates[s.UUID]:
		delete(w.cycles.templates, s.UUID)
		delete(w.cycles.roots, s.UUID)
		w.cycles.moved[s.UUID] = true
	}
}

// occurrenceChanged notes an occurrence's change, which is to be told if its template is recorded.
func (w *watcher) occurrenceChanged(j *watchedJob, prior conveyor.Status, p Position, at time.Time) {
	s := j.status
	id := cmp.Or(s.Template, prior.Template)
	f, early := w.homeOf(id)
	if f == nil {
		if !early {
			w.loose.changed(j)
		}
		return
	}
	failures := failuresOf(s)
	failed := failures > j.told
	j.told = max(j.told, failures)
	if !f.told || !w.shows(f) {
		return
	}
	if at.IsZero() {
		at = w.now()
	}
	e := JobChanged{Addr: w.jobs[id].addr, Status: s, Seq: p.Seq, Part: p.Part, At: at}
	if s.State == conveyor.StateUnknown {
		e.Status.Template, e.Status.Root, e.Status.Tick = prior.Template, prior.Root, prior.Tick
	}
	if s.State == conveyor.StateSkipped {
		e.Upstream = w.nameOf(s.Cause)
	}
	w.told = append(w.told, told{flow: f, event: e, occurrence: true, failed: failed, fence: failedFence(prior, s)})
}

// tellOccurrences tells what the templates of a workflow have made, and why those that failed have.
func (w *watcher) tellOccurrences(ctx context.Context, f *flow) {
	var jobs []conveyor.Status
	for _, t := range f.order() {
		if m := w.cycles.made[t.status.UUID]; m != nil {
			for j := range m.jobs {
				jobs = append(jobs, j.status)
			}
		}
	}
	if len(jobs) == 0 && !f.madeTold {
		return
	}
	f.madeTold = len(jobs) > 0
	slices.SortFunc(jobs, func(a, b conveyor.Status) int { return cmp.Or(b.Tick.Compare(a.Tick), cmp.Compare(a.UUID, b.UUID)) })
	e := OccurrencesSeen{Jobs: jobs[:min(len(jobs), maxOccurrences)], Total: len(jobs)}
	w.post(f, e)
	var failed []conveyor.Status
	var uuids []string
	for _, s := range e.Jobs {
		if s.State == conveyor.StateFailed && !s.ChildFailed && len(failed) < maxTexts {
			failed, uuids = append(failed, s), append(uuids, s.UUID)
		}
	}
	texts, err := w.client.Failures(ctx, uuids)
	if err != nil {
		return // as everywhere: texts are for people, and told where they can be read
	}
	for i, s := range failed {
		w.post(f, OccurrenceChanged{JobChanged{Addr: w.jobs[s.Template].addr, Status: s, Seq: w.survey.Seq(), At: s.Ended, Failure: w.named(texts[i])}})
	}
}

// nameOf is the address of a recorded job or of an occurrence of one; "" for others.
func (w *watcher) nameOf(uuid string) string {
	j := w.jobs[uuid]
	if j == nil {
		return ""
	}
	if t := w.jobs[j.status.Template]; t != nil && t.recorded() {
		return conveyor.OccurrenceName(t.addr.String(), j.status.Tick)
	}
	if j.recorded() {
		return j.addr.String()
	}
	return ""
}

// isRoot tells whether a template may be a root. One that waits for another template, as far as is recorded, is none.
func (w *watcher) isRoot(t *watchedJob) bool {
	if !t.recorded() {
		return true // reading it tells
	}
	for _, place := range t.above {
		if order := t.flow.order(); int(place) < len(order) && order[place].status.State == conveyor.StateTemplate {
			return false
		}
	}
	return true
}

// seeSchedules reads the schedules and gates that have moved, or all of them when it is time, and tells the list if it is another.
func (w *watcher) seeSchedules(ctx context.Context) error {
	c := &w.cycles
	all := time.Since(c.readAt) >= schedulesEvery
	if !all && len(c.moved) == 0 {
		return nil
	}
	roots := make([]*watchedJob, 0, len(c.templates))
	for id := range c.templates {
		if t := w.jobs[id]; t != nil && w.isRoot(t) && (w.only == "" || t.flow != nil && w.shows(t.flow)) {
			roots = append(roots, t)
		}
	}
	slices.SortFunc(roots, compareRoots)
	total := len(roots)
	roots = roots[:min(total, maxSchedules)]
	var uuids []string
	for _, t := range roots {
		if id := t.status.UUID; all || c.moved[id] || c.roots[id].Template.UUID == "" {
			uuids = append(uuids, id)
		}
	}
	if all {
		c.readAt = time.Now()
	}
	read, err := ReadSchedules(ctx, w.client, uuids)
	switch {
	case err == nil:
		clear(c.moved)
		for _, s := range read {
			c.roots[s.Template.UUID] = s
		}
	case !w.damaged("Schedules", err):
		return err
	}
	list := make([]ScheduleSeen, 0, len(roots))
	for _, t := range roots {
		s, known := c.roots[t.status.UUID]
		if !known || s.Template.Root != s.Template.UUID {
			total--
			continue
		}
		s.Addr, s.Workflow, s.Counts = t.addr, "", StateCounts{}
		if t.flow != nil {
			s.Workflow = t.flow.name
		}
		if counts := c.counts[t.status.UUID]; counts != nil {
			s.Counts = *counts
		}
		list = append(list, s)
	}
	w.tellSchedules(list, total)
	return nil
}

// ReadSchedules reads how templates stand and how the last cycle of each went, in the order of uuids: with Template and Last only.
// What is no template any more has no Root.
func ReadSchedules(ctx context.Context, c *conveyor.Client, uuids []string) ([]ScheduleSeen, error) {
	if len(uuids) == 0 {
		return nil, nil
	}
	templates, err := c.Templates(ctx, uuids)
	if err != nil {
		return nil, err
	}
	histories, err := c.Histories(ctx, uuids, 1)
	if err != nil {
		return nil, err
	}
	seen := make([]ScheduleSeen, len(uuids))
	for i := range seen {
		seen[i].Template = templates[i]
		if len(histories[i]) > 0 {
			seen[i].Last = histories[i][0]
		}
	}
	return seen, nil
}

// compareRoots orders by workflow and address, and what is nobody's last, by uuid.
func compareRoots(a, b *watchedJob) int {
	switch {
	case a.flow != nil && b.flow != nil:
		return cmp.Or(cmp.Compare(a.flow.name, b.flow.name), compareAddr(a.addr, b.addr))
	case a.flow != nil:
		return -1
	case b.flow != nil:
		return 1
	default:
		return cmp.Compare(a.status.UUID, b.status.UUID)
	}
}

func (w *watcher) tellSchedules(list []ScheduleSeen, total int) {
	c := &w.cycles
	due := len(list) > 0 && time.Since(c.toldAt) >= againEvery
	if !due && !c.toldAt.IsZero() && total == c.total && slices.EqualFunc(list, c.told, sameSchedule) {
		return
	}
	c.told, c.total, c.toldAt = list, total, time.Now()
	w.mail.post(SchedulesSeen{At: w.now(), Schedules: slices.Clone(list), Total: total})
}

func sameSchedule(a, b ScheduleSeen) bool {
	x, y := &a.Template, &b.Template
	return a.Workflow == b.Workflow && a.Addr == b.Addr && a.Counts == b.Counts && a.Last == b.Last &&
		x.UUID == y.UUID && x.Kind == y.Kind && x.Name == y.Name && x.Status == y.Status && x.When == y.When && x.Catchup == y.Catchup &&
		x.Overlap == y.Overlap && x.Disabled == y.Disabled && x.Paused == y.Paused && x.Since.Equal(y.Since) && x.Next.Equal(y.Next) &&
		x.MaxCycles == y.MaxCycles && x.Cycles == y.Cycles && x.OnHold == y.OnHold && slices.Equal(x.Gate, y.Gate) && slices.Equal(x.Live, y.Live)
}

// rootsOf are the recorded templates that begin cycles, by address.
func (w *watchedJobs) rootsOf() []*watchedJob {
	var roots []*watchedJob
	for _, j := range w.order {
		below := slices.ContainsFunc(j.above, func(place int32) bool { return w.order[place].status.State == conveyor.StateTemplate })
		if j.status.State == conveyor.StateTemplate && !below {
			roots = append(roots, j)
		}
	}
	slices.SortFunc(roots, func(a, b *watchedJob) int { return compareAddr(a.addr, b.addr) })
	return roots
}

// schedules reads the schedules and gates that are declared. They are for people: where they cannot be read, there are none.
func (f *follower) schedules(ctx context.Context) []ScheduleSeen {
	roots := f.jobs.rootsOf()
	roots = roots[:min(len(roots), maxSchedules)]
	var uuids []string
	var addrs []config.Addr
	for _, j := range roots {
		if !j.record.Deposed {
			uuids, addrs = append(uuids, j.status.UUID), append(addrs, j.addr)
		}
	}
	seen, err := ReadSchedules(ctx, f.client, uuids)
	if err != nil {
		return nil
	}
	for i := range seen {
		seen[i].Workflow, seen[i].Addr = f.workflow, addrs[i]
	}
	return slices.DeleteFunc(seen, func(s ScheduleSeen) bool { return s.Template.Root != s.Template.UUID })
}
