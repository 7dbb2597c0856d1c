package enginemodel

import (
	"cmp"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// What catching up is limited to.
const (
	catchupMost  = 100         // ticks that catchup = all emits
	countMost    = 10_000      // missed ticks are counted up to this
	catchupFresh = time.Minute // how late a tick may be that catchup = none emits
)

// Judgement is what a ticker makes of a schedule: it holds only if the schedule stands as the ticker saw it.
type Judgement struct {
	uuid, when   string
	since, until int64
	emit         []int64
	missed       int
	last         time.Time // of those
}

// dueRoots are the schedules to be judged, earliest first.
func (e *Engine) dueRoots() []*job {
	return e.sorted(func(j *job) bool { return j.ticks() && j.template.dueAt <= e.now },
		func(a, b *job) int { return cmp.Compare(a.template.dueAt, b.template.dueAt) })
}

// ticks tells whether a template has a schedule that is running.
func (j *job) ticks() bool {
	return j.template != nil && j.wire.Schedule != nil && !j.wire.Schedule.Disabled && !j.template.hand && !j.exhausted()
}

// judgeTicks decides which of the ticks that have come are caught up, oldest first; the others are missed.
func (e *Engine) judgeTicks(root *job) Judgement {
	t, when := root.template, times(root.wire)
	j := Judgement{uuid: root.uuid, when: when.String(), since: t.since, until: max(t.since, e.now)} // a clock that was set back judges nothing anew
	come := when.Between(tickTime(t.since), tickTime(j.until), 1<<20)
	if len(come) == 0 {
		return j
	}
	keep := 1
	switch root.wire.Schedule.Catchup {
	case wire.Schedule_ALL:
		keep = catchupMost
	case wire.Schedule_NONE:
		if tickTime(e.now).Sub(come[len(come)-1]) > catchupFresh {
			keep = 0
		}
	}
	if j.missed = max(0, len(come)-keep); j.missed > 0 {
		j.last = come[j.missed-1]
	}
	for _, tick := range come[j.missed:] {
		j.emit = append(j.emit, tick.UnixMilli())
	}
	j.missed = min(j.missed, countMost)
	return j
}

// Store takes a judgement, unless the schedule has changed, was judged or was stopped since.
func (e *Engine) Store(j Judgement) {
	root := e.jobs[j.uuid]
	if root == nil || root.template == nil || !root.ticks() {
		return
	}
	t := root.template
	if times(root.wire).String() != j.when || t.since != j.since {
		return
	}
	t.since = j.until
	t.dueAt = times(root.wire).Next(tickTime(j.until)).UnixMilli()
	if j.missed > 0 {
		t.note(conveyor.Cycle{Tick: j.last, Outcome: conveyor.CycleMissed, Began: tickTime(e.now), Ended: tickTime(e.now), Missed: j.missed})
	}
	for _, tick := range j.emit {
		e.emit(root, tick, false)
	}
	e.settleAll()
}

// nextTick is when a template's schedule fires next, in milliseconds; 0: never, or it is not running.
func (j *job) nextTick() int64 {
	if !j.ticks() {
		return 0
	}
	next := times(j.wire).Next(tickTime(j.template.since))
	if next.IsZero() {
		return 0
	}
	return next.UnixMilli()
}

// tickTime is a time that engine and model keep in milliseconds.
func tickTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
