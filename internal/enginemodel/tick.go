package enginemodel

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// What catching up and asking for ticks is limited to.
const (
	catchupMost  = 100         // ticks that catchup = all emits
	catchupFresh = time.Minute // how late a tick may be that catchup = none emits
)

// tickRoots judges the ticks that came since it was done last.
func (e *Engine) tickRoots() {
	for _, root := range e.roots() {
		if root.ticks() {
			e.judgeTicks(root)
		}
	}
	e.settleAll()
}

// ticks tells whether a template has a schedule that is running.
func (j *job) ticks() bool {
	return j.template != nil && j.wire.Schedule != nil && !j.wire.Schedule.Disabled && !j.template.hand && !j.exhausted()
}

// judgeTicks emits of the ticks that have come what the schedule wants to be caught up, oldest first, and notes the others as
// missed.
func (e *Engine) judgeTicks(root *job) {
	t := root.template
	come := times(root.wire).Between(time.UnixMilli(t.since), time.UnixMilli(e.now), 1<<20)
	if len(come) == 0 {
		return
	}
	keep := 1
	switch root.wire.Schedule.Catchup {
	case wire.Schedule_ALL:
		keep = catchupMost
	case wire.Schedule_NONE:
		if time.UnixMilli(e.now).Sub(come[len(come)-1]) > catchupFresh {
			keep = 0
		}
	}
	missed := max(0, len(come)-keep)
	t.since = come[len(come)-1].UnixMilli()
	if missed > 0 {
		t.note(HistoryLine{Tick: come[missed-1].UnixMilli(), Outcome: "missed", Began: e.now, Ended: e.now, Missed: missed})
	}
	for _, tick := range come[missed:] {
		e.due(root, tick.UnixMilli())
	}
}

// due emits a tick, unless an earlier cycle that is not over stands in its way.
func (e *Engine) due(root *job, tick int64) {
	t := root.template
	if root.exhausted() || e.cycleOf(root.uuid, tick) != nil {
		return
	}
	if len(t.live) > 0 {
		switch root.wire.Schedule.GetOverlap() {
		case wire.Schedule_SKIP:
			t.note(HistoryLine{Tick: tick, Outcome: "skipped", Began: e.now, Ended: e.now})
			return
		case wire.Schedule_REPLACE:
			e.replaceCycles(root)
		}
	}
	e.emit(root, tick)
}

// NextTick is when a template's schedule fires next, in milliseconds; 0: never, or it is not running.
func (e *Engine) NextTick(uuid string) int64 {
	j := e.jobs[uuid]
	if j == nil || !j.ticks() {
		return 0
	}
	next := times(j.wire).Next(time.UnixMilli(j.template.since))
	if next.IsZero() {
		return 0
	}
	return next.UnixMilli()
}

// workOffBacklog emits the next tick that was asked for, when no cycle of the root is live.
func (e *Engine) workOffBacklog(root *job) {
	t := root.template
	if len(t.backlog) == 0 || len(t.live) > 0 {
		return
	}
	tick := t.backlog[0]
	t.backlog = slices.Delete(t.backlog, 0, 1)
	e.emit(root, tick)
}
