package enginemodel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// root is a template that cycles begin with.
func (e *Engine) root(what, uuid string) (*job, error) {
	switch j := e.jobs[uuid]; {
	case j == nil:
		return nil, fmt.Errorf("%s %s: %w", what, uuid, conveyor.ErrNotFound)
	case j.template == nil:
		return nil, fmt.Errorf("%s %s: %w", what, uuid, conveyor.ErrNotTemplate)
	case !isRoot(j.wire):
		return nil, fmt.Errorf("%s %s: %w", what, uuid, conveyor.ErrDownstream)
	default:
		return j, nil
	}
}

// scheduled is a root that has a schedule.
func (e *Engine) scheduled(what, uuid string) (*job, error) {
	root, err := e.root(what, uuid)
	if err == nil && root.wire.Schedule == nil {
		return nil, fmt.Errorf("%s %s: %w", what, uuid, conveyor.ErrNotScheduled)
	}
	return root, err
}

// RunTemplate emits a cycle now, whatever the schedule, overlap and pauses say.
func (e *Engine) RunTemplate(uuid string) (time.Time, error) {
	root, err := e.root("run", uuid)
	if err != nil {
		return time.Time{}, err
	}
	tick := max(e.now, root.template.last+1)
	e.emit(root, tick, true)
	e.settleAll()
	return tickTime(tick), nil
}

// PauseTemplate keeps a root from emitting by its schedule.
func (e *Engine) PauseTemplate(uuid string) error {
	root, err := e.scheduled("pause", uuid)
	if err == nil {
		root.template.hand = true
	}
	return err
}

// ResumeTemplate ends that: ticks meanwhile passed unused.
func (e *Engine) ResumeTemplate(uuid string) error {
	root, err := e.scheduled("resume", uuid)
	if err == nil && root.template.hand {
		root.template.hand, root.template.since, root.template.dueAt = false, e.now, e.now
	}
	return err
}

// ResetCycles lets a root that has emitted as many cycles as it may go on.
func (e *Engine) ResetCycles(uuid string) error {
	root, err := e.root("reset", uuid)
	if err == nil {
		if root.exhausted() {
			root.template.since, root.template.dueAt = e.now, e.now
		}
		root.template.used = 0
	}
	return err
}

// Backfill emits the ticks of a time that is over, both ends included: all at once where cycles may overlap, or else one after
// the other.
func (e *Engine) Backfill(uuid string, from, to time.Time, dryRun bool) ([]time.Time, error) {
	root, err := e.scheduled("backfill", uuid)
	if err != nil {
		return nil, err
	}
	switch {
	case to.Before(from), to.After(tickTime(e.now)):
		return nil, fmt.Errorf("backfill %s: %w", uuid, conveyor.ErrBackfill)
	}
	ticks := times(root.wire).Between(from.Add(-time.Nanosecond), to, 1<<20)
	if dryRun {
		return ticks, nil
	}
	if len(ticks) == 0 {
		return ticks, nil
	}
	for _, tick := range ticks {
		ms := tick.UnixMilli()
		if root.wire.Schedule.Overlap == wire.Schedule_ALLOW {
			e.emit(root, ms, true)
		} else if !slices.Contains(root.template.backlog, ms) {
			root.template.backlog = append(root.template.backlog, ms)
		}
	}
	slices.Sort(root.template.backlog)
	e.settle(root)
	e.settleAll()
	return ticks, nil
}

// CancelBackfill gives up the ticks that wait.
func (e *Engine) CancelBackfill(uuid string) (int, error) {
	root, err := e.root("forgo", uuid)
	if err != nil {
		return 0, err
	}
	n := len(root.template.backlog)
	root.template.backlog = nil
	return n, nil
}

// History are the cycles of a root that are over, newest first.
func (e *Engine) History(uuid string) []conveyor.Cycle {
	if j := e.jobs[uuid]; j != nil && j.template != nil {
		return j.template.history
	}
	return nil
}

// Backlog are the ticks that were asked for and wait, in milliseconds.
func (e *Engine) Backlog(uuid string) []int64 {
	if j := e.jobs[uuid]; j != nil && j.template != nil {
		return j.template.backlog
	}
	return nil
}

// Templates are templates as observers see them, with the next tick computed; a job that is none has its status only.
func (e *Engine) Templates(uuids []string) []conveyor.Template {
	out := make([]conveyor.Template, len(uuids))
	for i, uuid := range uuids {
		out[i] = conveyor.Template{UUID: uuid, Status: e.Statuses(uuids[i : i+1])[0]}
		if j := e.jobs[uuid]; j != nil && j.template != nil {
			e.show(j, &out[i])
		}
	}
	return out
}

func (e *Engine) show(j *job, o *conveyor.Template) {
	t, s := j.template, j.wire.Schedule
	o.Kind, o.Root, o.Name = conveyor.TemplateDownstream, "", j.wire.Name
	o.MaxCycles, o.Cycles, o.OnHold = int(j.wire.MaxCycles), t.used, j.exhausted()
	o.Sync, o.Backlog = t.sync, len(t.backlog)
	if isRoot(j.wire) {
		o.Kind, o.Root = conveyor.TemplateGated, j.uuid
	}
	if s != nil {
		o.Kind, o.When, o.Catchup, o.Overlap = conveyor.TemplateScheduled, times(j.wire).String(), s.Catchup, s.Overlap
		o.Disabled, o.Paused, o.Next = s.Disabled, t.hand, tickTime(j.nextTick())
	}
	for _, label := range slices.Sorted(slices.Values(j.wire.Gate)) {
		g := conveyor.GateLabel{Label: label, Flipped: t.gate[label] == gateFlipped}
		if failed, ok := strings.CutPrefix(t.gate[label], "-"); ok {
			g.Failed = failed
		}
		o.Gate = append(o.Gate, g)
	}
	for _, c := range e.cycles[j.uuid] {
		o.Live = append(o.Live, conveyor.Cycle{Tick: tickTime(c.tick), Began: tickTime(c.began), Jobs: c.made, Failed: c.failed, Replaced: c.replaced})
	}
}

// Members are the live occurrences of a cycle, by uuid.
func (e *Engine) Members(root string, tick time.Time) []string {
	var out []string
	for _, j := range e.members(root, tick.UnixMilli()) {
		out = append(out, j.uuid)
	}
	return out
}
