package enginemodel

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/schedule"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// template is what a job that is never run itself is beside its entry: occurrences are made from it, one for each cycle of
// its root. A root has a schedule or a gate; any other template stands downstream of one.
type template struct {
	order int64             // of addition: siblings make their occurrences in it
	sync  map[string]string // what the next occurrence gets
	used  int               // cycles emitted

	since   int64            // of a schedule: up to when it was judged, or when it was declared, resumed or enabled
	dueAt   int64            // when it is to be judged next
	hand    bool             // paused by hand
	last    int64            // the newest tick that was emitted
	backlog []int64          // ticks asked for that wait until the cycle before is over
	todo    int64            // since when the next of them can begin; 0: it cannot
	history []conveyor.Cycle // newest first

	gate map[string]string // label: waiting, flipped, or "-" and the trigger that failed last
}

// What a label of a gate shows beside a failed trigger.
const (
	gateWaits   = "0"
	gateFlipped = "1"
)

// isTemplate tells whether a job as it is given is never run itself.
func isTemplate(w *wire.Job) bool { return w.Schedule != nil || len(w.Gate) > 0 || w.Template }

// isRoot tells whether cycles begin with it.
func isRoot(w *wire.Job) bool { return w.Schedule != nil || len(w.Gate) > 0 }

// times is a schedule's ticks; nil when there is none.
func times(w *wire.Job) *schedule.Schedule {
	if w.Schedule == nil {
		return nil
	}
	s, err := schedule.Parse(w.Schedule.Every, w.Schedule.Cron, w.Schedule.Timezone)
	if err != nil {
		return nil
	}
	return s
}

// declareTemplate gives a new job what a template has.
func (e *Engine) declareTemplate(j *job) {
	e.templates++
	j.state, j.removeAfter = conveyor.StateTemplate, 0 // its limits are those of its occurrences
	j.template = &template{order: e.templates, sync: firstSync(j.wire), since: e.now, dueAt: e.now, gate: map[string]string{}}
	for _, label := range j.wire.Gate {
		j.template.gate[label] = gateWaits
	}
}

// changeTemplate: what is made from now on is made from the new declaration. Another schedule begins now, and so does one that is
// enabled, or freed from its limit of cycles. Labels that a gate keeps stay as they are. The declared state is only the first.
func (e *Engine) changeTemplate(j *job, w *wire.Job) {
	t, was, held := j.template, j.wire, j.exhausted()
	j.take(w)
	j.labels, j.removeAfter = w.Labels, 0
	before, now := times(was), times(w)
	if now != nil && (before == nil || before.String() != now.String() || was.Schedule.Disabled != w.Schedule.Disabled || held) && j.ticks() {
		t.since, t.dueAt = e.now, e.now
	}
	gate := map[string]string{}
	for _, label := range w.Gate {
		gate[label] = cmp.Or(t.gate[label], gateWaits)
	}
	t.gate = gate
}

// roots are the templates that cycles begin with, in the order of addition.
func (e *Engine) roots() []*job {
	return e.sorted(func(j *job) bool { return j.template != nil && isRoot(j.wire) }, byOrder)
}

func byOrder(a, b *job) int { return cmp.Compare(a.template.order, b.template.order) }

// below are the templates that wait for a template as children, or as heirs, in the order of addition. It may be gone itself.
func (e *Engine) below(uuid string, parent bool) []*job {
	return e.sorted(func(j *job) bool {
		return j.template != nil && slices.ContainsFunc(edgesOf(j.wire), func(d edge) bool { return d.up == uuid && d.parent == parent })
	}, byOrder)
}

// deleteTemplate: nothing is made from it any more, and what was made and has not started is cancelled.
func (e *Engine) deleteTemplate(j *job) {
	for _, o := range e.sorted(func(o *job) bool { return o.of == j.uuid && o.waits() }, func(a, b *job) int { return cmp.Compare(a.tick, b.tick) }) {
		e.cancel(o)
	}
	j.template = nil
}

// exhausted tells whether a template has emitted as many cycles as it may.
func (j *job) exhausted() bool {
	return j.template != nil && j.wire.MaxCycles > 0 && j.template.used >= int(j.wire.MaxCycles)
}

func (t *template) clone() *template {
	if t == nil {
		return nil
	}
	c := *t
	c.backlog, c.history, c.gate, c.sync = slices.Clone(t.backlog), slices.Clone(t.history), maps.Clone(t.gate), maps.Clone(t.sync)
	return &c
}

// note adds a line to the history.
func (t *template) note(c conveyor.Cycle) {
	t.history = slices.Insert(t.history, 0, c)
	t.history = t.history[:min(len(t.history), conveyor.HistoryLimit)]
}
