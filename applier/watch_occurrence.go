package applier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// made is what a watcher knows of the occurrences of one template: they have no record, and belong where their template does.
type made struct {
	jobs   map[*watchedJob]bool
	counts StateCounts
	flow   *flow // that they are counted with; nil for nobody's
	early  bool  // the state that records the template was not read yet: they are counted nowhere
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
