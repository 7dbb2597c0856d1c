package applier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// schedulesEvery is when all schedules are read anew; those whose cycles have moved are read with the next look.
const schedulesEvery = 5 * time.Second

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
