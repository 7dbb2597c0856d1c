package watch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Occurrences have no records and so no place among the jobs of their workflow. The view shows them as a list of their own beside
// it: cycle below cycle, the latest first, each under the occurrence that it began with.

// cyclesOf ends the key of the list of what a workflow's templates have made. No name of a workflow has such a character.
const cyclesOf = "\x00cycles"

// maxMade bounds the occurrences of one workflow that are shown: of more, those of the oldest cycles are left out.
const maxMade = 1000

// made are the occurrences of one workflow's templates.
type made struct {
	jobs  map[string]conveyor.Status // by uuid
	fails map[string]applier.JobChanged
	dirty bool // the list is to be made anew
}

// origin is a recorded template.
type origin struct{ name string }

// occurrencesSeen takes all occurrences of a workflow.
func (f *fleet) occurrencesSeen(w *flow, e applier.OccurrencesSeen) {
	w.made = &made{jobs: make(map[string]conveyor.Status, len(e.Jobs)), dirty: true}
	for _, s := range e.Jobs {
		w.made.jobs[s.UUID] = s
	}
	f.dirty = true
}

// occurrenceChanged follows one of them.
func (f *fleet) occurrenceChanged(w *flow, e applier.OccurrenceChanged) {
	if w.made == nil {
		w.made = &made{jobs: map[string]conveyor.Status{}}
	}
	if e.Status.State == conveyor.StateUnknown {
		delete(w.made.jobs, e.Status.UUID)
	} else {
		w.made.jobs[e.Status.UUID] = e.Status
	}
	if e.Failure != "" || len(e.LogTail) > 0 || e.Upstream != "" {
		if w.made.fails == nil {
			w.made.fails = map[string]applier.JobChanged{}
		}
		w.made.fails[e.Status.UUID] = e.JobChanged
	}
	w.made.dirty, f.dirty = true, true
}

// settleCycles makes the lists anew whose occurrences have changed. It is done once for all events of a frame.
func (f *fleet) settleCycles() {
	if !f.dirty {
		return
	}
	f.dirty = false
	for _, w := range slices.Clone(f.flows) {
		if w.made == nil || !w.made.dirty {
			continue
		}
		w.made.dirty = false
		list := f.byName[w.key+cyclesOf]
		if len(w.made.jobs) == 0 {
			if list != nil {
				f.drop(list)
			}
			continue
		}
		if list == nil {
			list = f.flow(w.key + cyclesOf)
			list.of, list.name = w, w.name+", cycles"
			list.lower = strings.ToLower(list.name)
		}
		f.showMade(list, w.made)
	}
}

// origins finds the recorded templates, once for all until lists change.
func (f *fleet) origins() map[string]origin {
	if f.templates != nil {
		return f.templates
	}
	f.templates = map[string]origin{}
	for _, w := range f.flows {
		if w.of != nil {
			continue
		}
		for _, j := range w.board.Jobs {
			if j.Status.State == conveyor.StateTemplate {
				f.templates[j.Status.UUID] = origin{j.Name}
			}
		}
	}
	return f.templates
}

// occurrence is what people call one; its uuid where its template is not known any more.
func (f *fleet) occurrence(template string, s conveyor.Status) string {
	if o, ok := f.origins()[template]; ok {
		return screen.Clean(conveyor.OccurrenceName(o.name, s.Tick))
	}
	return screen.Clean(s.UUID)
}

// showMade lists occurrences.
func (f *fleet) showMade(w *flow, m *made) {
	jobs := make([]conveyor.Status, 0, len(m.jobs))
	names := make(map[string]string, len(m.jobs))
	for uuid, s := range m.jobs {
		jobs = append(jobs, s)
		names[uuid] = f.occurrence(s.Template, s)
	}
	slices.SortFunc(jobs, func(a, b conveyor.Status) int {
		return cmp.Or(b.Tick.Compare(a.Tick), cmp.Compare(a.Root, b.Root), rootFirst(a, b), cmp.Compare(names[a.UUID], names[b.UUID]), cmp.Compare(a.UUID, b.UUID))
	})
	jobs = jobs[:min(len(jobs), maxMade)]
	same := len(w.board.Jobs) == len(jobs)
	for i := 0; same && i < len(jobs); i++ {
		same = w.board.Jobs[i].Status.UUID == jobs[i].UUID
	}
	var list applier.Following
	head := -1
	for i, s := range jobs {
		j := applier.Followed{Addr: config.Addr{Name: s.UUID}, Queue: s.Queue, Status: s}
		switch {
		case s.Template == s.Root:
			head = i
		case head >= 0 && jobs[head].Root == s.Root && jobs[head].Tick.Equal(s.Tick):
			j.Depth, j.Above = 1, []int32{int32(head)}
		}
		list.Jobs = append(list.Jobs, j)
	}
	if !same {
		w.board.Observe(list)
	}
	for i, s := range jobs {
		e := m.fails[s.UUID]
		e.Addr, e.Status = list.Jobs[i].Addr, s
		for _, step := range w.board.Observe(e) {
			f.changed = append(f.changed, change{w, step.Job})
			w.members.changed(step.Job)
		}
	}
	if same { // only what they do has changed
		f.tally(w)
		return
	}
	for _, j := range w.board.Jobs {
		j.Name, j.Cycle = names[j.Status.UUID], f.occurrence(j.Status.Root, j.Status)
	}
	f.relist(w)
}

// rootFirst puts the occurrence that a cycle began with before the others.
func rootFirst(a, b conveyor.Status) int {
	switch x, y := a.Template == a.Root, b.Template == b.Root; {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return 0
}

// drop forgets a list.
func (f *fleet) drop(w *flow) {
	for s, n := range w.seen.Counts {
		f.counts[s] -= n
	}
	f.flows = slices.DeleteFunc(f.flows, func(o *flow) bool { return o == w })
	delete(f.byName, w.key)
	f.lists++
}

// again names occurrences anew when templates may have come or gone.
func (f *fleet) again() {
	f.templates = nil
	for _, w := range f.flows {
		if w.made != nil {
			w.made.dirty, f.dirty = true, true
		}
	}
}

// overIn counts the jobs of a cycle that are over, as far as they are known.
func (f *fleet) overIn(workflow, root string, tick time.Time) int {
	over := 0
	if w := f.byName[workflow]; w != nil && w.made != nil {
		for _, s := range w.made.jobs {
			if s.Root == root && s.Tick.Equal(tick) && s.State.Ended() {
				over++
			}
		}
	}
	return over
}

// home is the workflow that a list belongs to.
func (w *flow) home() *flow {
	if w.of != nil {
		return w.of
	}
	return w
}

// workflows are the lists without those of occurrences.
func (f *fleet) workflows() []*flow {
	flows := make([]*flow, 0, len(f.flows))
	for _, w := range f.flows {
		if w.of == nil {
			flows = append(flows, w)
		}
	}
	return flows
}

// within tells whether a list belongs to a workflow.
func (w *flow) within(key string) bool { return w.key == key || w.of != nil && w.of.key == key }
