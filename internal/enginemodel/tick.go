package enginemodel

import (
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// What catching up is limited to.
const (
	catchupMost  = 100         // ticks that catchup = all emits
	catchupFresh = time.Minute // how late a tick may be that catchup = none emits
)

// tickRoots judges the ticks that came since it was done last.
func (e *Engine) tickRoots() {
	for _, root := range e.roots() {
		if root.ticks() {
			e.judgeTicks(root)
			e.settleAll()
		}
	}
}

// ticks tells whether a template has a schedule that is running.
func (j *job) ticks() bool {
	return j.template != nil && j.wire.Schedule != nil && !j.wire.Schedule.Disabled && !j.template.hand && !j.exhausted()
}

// judgeTicks emits of the ticks that have come what the schedule wants to be caught up, oldest first, and notes the others as
// missed.
func (e *Engine) judgeTicks(root *job) {
	t := root.template
	come := times(root.wire).Between(tickTime(t.since), tickTime(e.now), 1<<20)
	if len(come) == 0 {
		return
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
	missed := max(0, len(come)-keep)
	t.since = come[len(come)-1].UnixMilli()
	if missed > 0 {
		t.note(conveyor.Cycle{Tick: come[missed-1], Outcome: conveyor.CycleMissed, Began: tickTime(e.now), Ended: tickTime(e.now), Missed: missed})
	}
	for _, tick := range come[missed:] {
		e.emit(root, tick.UnixMilli(), false)
	}
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
