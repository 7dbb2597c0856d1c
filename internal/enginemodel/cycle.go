package enginemodel

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// cycle is one run of a root and of all that stands downstream of it. It lives as long as any of its occurrences.
type cycle struct {
	tick     int64 // ms
	began    int64
	replaced bool // by a later one: what it still makes is cancelled at once
	made     int
	failed   int
	anew     bool // begun by this call, though it may have been over before
	known    bool // what it was before it was over is known
}

// OccurrenceUUID is the uuid of what a template makes for one cycle: it says which, so that it is made once.
func OccurrenceUUID(template, root string, tick int64) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s@%s@%d", template, root, tick))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// cycleOf is a cycle that is not over; nil when there is none.
func (e *Engine) cycleOf(root string, tick int64) *cycle {
	for _, c := range e.cycles[root] {
		if c.tick == tick {
			return c
		}
	}
	return nil
}

// members are the live occurrences of a cycle, by uuid.
func (e *Engine) members(root string, tick int64) []*job {
	return e.sorted(func(j *job) bool { return j.of != "" && j.root == root && j.tick == tick && j.live() }, func(a, b *job) int { return 0 })
}

// joinCycle: an occurrence that lives has a cycle, also one that is retried after its cycle was over.
func (e *Engine) joinCycle(j *job) *cycle {
	c := e.cycleOf(j.root, j.tick)
	if c == nil {
		c = &cycle{tick: j.tick, began: e.now, anew: true}
		e.cycles[j.root] = append(e.cycles[j.root], c)
		slices.SortFunc(e.cycles[j.root], func(a, b *cycle) int { return cmp.Compare(a.tick, b.tick) })
	}
	return c
}

// comeBack: an occurrence that lives again is one of its cycle, and does not spoil it any more. A cycle that was over goes on from
// what the history says of it, which says it again when it is over once more.
func (e *Engine) comeBack(j *job, was end) {
	if j.of == "" {
		return
	}
	c := e.joinCycle(j)
	if c.anew && !c.known {
		c.known = e.revive(j.root, c)
	}
	if c.anew && !c.known {
		c.made++
	}
	if was.spoils() {
		c.failed = max(0, c.failed-1)
	}
}

func (e *Engine) revive(root string, c *cycle) bool {
	r := e.jobs[root]
	if r == nil || r.template == nil {
		return false
	}
	at := slices.IndexFunc(r.template.history, func(line conveyor.Cycle) bool {
		over := line.Outcome == conveyor.CycleCompleted || line.Outcome == conveyor.CycleFailed || line.Outcome == conveyor.CycleReplaced
		return over && line.Tick.Equal(tickTime(c.tick))
	})
	if at < 0 {
		return false
	}
	line := r.template.history[at]
	c.began, c.made, c.failed = line.Began.UnixMilli(), line.Jobs, line.Failed
	r.template.history = slices.Delete(r.template.history, at, at+1)
	return true
}

// spoils tells whether a cycle with such an end in it has failed.
func (o end) spoils() bool {
	return o.state == conveyor.StateFailed || o.state == conveyor.StateCancelled || o.state == conveyor.StateExpired
}

// closeCycles ends the cycles that have no live occurrence. A root with ticks that wait for that has something to do.
func (e *Engine) closeCycles() {
	for root, list := range e.cycles {
		e.cycles[root] = slices.DeleteFunc(list, func(c *cycle) bool {
			c.anew, c.known = false, false
			if len(e.members(root, c.tick)) > 0 {
				return false
			}
			if r := e.jobs[root]; r != nil && r.template != nil {
				outcome := conveyor.CycleCompleted
				switch {
				case c.replaced:
					outcome = conveyor.CycleReplaced
				case c.failed > 0:
					outcome = conveyor.CycleFailed
				}
				r.template.note(conveyor.Cycle{Tick: tickTime(c.tick), Outcome: outcome, Began: tickTime(c.began), Ended: tickTime(e.now),
					Jobs: c.made, Failed: c.failed, Replaced: c.replaced})
				if len(r.template.backlog) > 0 {
					r.template.todo, e.turned = e.now, true
				}
			}
			return true
		})
		if len(e.cycles[root]) == 0 {
			delete(e.cycles, root)
		}
	}
}

// verdictOfTick is what came of a tick.
type verdictOfTick uint8

const (
	tickKnown   verdictOfTick = iota // its cycle was begun before
	tickEmitted                      // it began a cycle
	tickSkipped                      // an earlier cycle is not over
	tickHeld                         // the root has emitted as many cycles as it may
)

// emit begins the cycle of a root at a tick, as its overlap with earlier ones and its limit of cycles say, unless somebody asked
// for it.
func (e *Engine) emit(root *job, tick int64, asked bool) verdictOfTick {
	if e.jobs[OccurrenceUUID(root.uuid, root.uuid, tick)] != nil {
		return tickKnown
	}
	if root.exhausted() && !asked {
		return tickHeld
	}
	t, overlap := root.template, root.wire.Schedule.GetOverlap()
	live := e.cycles[root.uuid]
	if !asked && overlap == wire.Schedule_SKIP && len(live) > 0 {
		t.note(conveyor.Cycle{Tick: tickTime(tick), Outcome: conveyor.CycleSkipped, Began: tickTime(e.now), Ended: tickTime(e.now)})
		return tickSkipped
	}
	if !asked && overlap == wire.Schedule_REPLACE {
		for _, c := range live {
			c.replaced = true
			for _, j := range e.members(root.uuid, c.tick) {
				e.cancel(j)
			}
		}
	}
	t.used++
	t.last = max(t.last, tick)
	e.occurrences([]*job{root}, root.uuid, tick)
	return tickEmitted
}

// occurrences makes what templates give a cycle and what it does not have yet. Their edges to templates lead to the
// occurrences of the same cycle.
func (e *Engine) occurrences(templates []*job, root string, tick int64) {
	var made []*job
	for _, t := range templates {
		uuid := OccurrenceUUID(t.uuid, root, tick)
		if e.jobs[uuid] == nil {
			j := &job{uuid: uuid, of: t.uuid, root: root, tick: tick, opening: 1, state: conveyor.StateHeld, sync: maps.Clone(t.template.sync)}
			e.jobs[uuid] = j
			made = append(made, j)
		}
	}
	for _, j := range made {
		c := e.joinCycle(j)
		c.made++
		w := proto.CloneOf(e.jobs[j.of].wire)
		w.Uuid, w.TemplateUuid, w.Tick = j.uuid, j.of, strconv.FormatInt(tick, 10)
		_ = e.begin(j, w, e.within(j, edgesOf(w)), beginning{}) // an occurrence is never refused
		if c.replaced {
			e.cancel(j)
		}
		if j.state == conveyor.StateHeld {
			e.settle(j)
		}
	}
}

// within are the edges of an occurrence: those to templates lead to the occurrences of its own cycle.
func (e *Engine) within(j *job, edges []edge) []edge {
	for i := range edges {
		d := &edges[i]
		d.counts = true // nobody gives it other edges
		up, same := e.jobs[d.up], e.jobs[OccurrenceUUID(d.up, j.root, j.tick)]
		if same != nil || up != nil && up.template != nil {
			d.up, d.opening = OccurrenceUUID(d.up, j.root, j.tick), 1
			if same != nil {
				d.opening = same.opening
			}
		}
	}
	return edges
}

// upstreams makes what a held occurrence waits for in its cycle and what does not exist yet.
func (e *Engine) upstreams(j *job) {
	t := e.jobs[j.of]
	if t == nil || t.template == nil {
		return
	}
	var missing []*job
	for _, d := range edgesOf(t.wire) {
		up, uuid := e.jobs[d.up], OccurrenceUUID(d.up, j.root, j.tick)
		switch {
		case e.jobs[uuid] != nil:
		case up != nil && up.template != nil:
			missing = append(missing, up)
		default: // its template was deleted before it was made: it counts as cancelled
			for i := range j.edges {
				if w := &j.edges[i]; w.up == uuid && w.mark == undecided {
					w.mark = failure
				}
			}
		}
	}
	if j.state == conveyor.StateHeld {
		e.decide(j)
	}
	e.occurrences(missing, j.root, j.tick)
}

// downstream makes the occurrences of the templates that wait for this one's as children or as heirs, as long as there is the
// root.
func (e *Engine) downstream(j *job, parent bool) {
	if root := e.jobs[j.root]; j.of != "" && root != nil && root.template != nil {
		e.occurrences(e.below(j.of, parent), j.root, j.tick)
	}
}

// goOn is what a root has left to do: the next tick that waited until its earlier cycles are over.
func (e *Engine) goOn(root *job) {
	t := root.template
	for len(e.cycles[root.uuid]) == 0 && len(t.backlog) > 0 {
		e.emit(root, t.backlog[0], true)
		t.backlog = slices.Delete(t.backlog, 0, 1)
	}
}

// takeTodo is what the calls do first that any process makes for all.
func (e *Engine) takeTodo() {
	for _, root := range e.roots() {
		if t := root.template; t.todo > 0 && t.todo <= e.now {
			t.todo = 0
			e.settle(root)
		}
	}
}
