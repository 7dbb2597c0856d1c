package enginemodel

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// callsKeptFor is how long the number of a caller that is no worker is remembered.
const callsKeptFor = time.Hour

// Beat renews a worker, and with it the lease of all its jobs.
func (e *Engine) Beat(w conveyor.WorkerInfo) conveyor.BeatReply {
	out := conveyor.BeatReply{Now: time.UnixMilli(e.now)}
	for _, h := range w.Running {
		switch j := e.jobs[h.UUID]; {
		case j == nil || j.state != conveyor.StateRunning || j.owner != w.ID || j.fence != h.Fence:
			out.Outdated = append(out.Outdated, h.UUID)
		case j.cancelled:
			out.Cancel = append(out.Cancel, h.UUID)
		}
	}
	for _, j := range e.owned(w.ID) {
		if !slices.ContainsFunc(w.Running, func(h conveyor.Holding) bool { return h.UUID == j.uuid }) {
			out.Unknown = append(out.Unknown, conveyor.Holding{UUID: j.uuid, Fence: j.fence})
		}
	}
	e.see(w.ID, nil)
	e.workers[w.ID] = worker{e.now, w.Capacity, w.Queues}
	return out
}

// worker is what is known of one.
type worker struct {
	last     int64 // beat or exchange, ms
	capacity int   // of its last beat
	queues   []string
}

// see renews a worker; a new one is described by fill.
func (e *Engine) see(id string, fill func(w *worker)) {
	w, known := e.workers[id]
	if !known && fill != nil {
		fill(&w)
	}
	w.last = e.now
	e.workers[id] = w
}

// owned are the attempts of a worker in the order of their places.
func (e *Engine) owned(worker string) []*job {
	return e.sorted(func(j *job) bool { return j.state == conveyor.StateRunning && j.owner == worker && worker != "" }, byPlace)
}

// Leave hands back what a worker owns, each job to its place with nothing spent, and forgets the worker.
func (e *Engine) Leave(worker string) {
	for _, j := range e.owned(worker) {
		j.owner = ""
		if j.cancelled {
			e.closeAs(j, cancelled)
		} else {
			e.restore(j)
		}
	}
	e.retire(worker)
	e.settleAll()
}

func (e *Engine) retire(worker string) {
	delete(e.workers, worker)
	delete(e.calls, worker)
}

// lose takes a job from an owner that died. It goes back to its place, unless it has been lost too often.
func (e *Engine) lose(j *job, why string) {
	j.owner, j.holder, j.lease = "", "", 0
	j.lost++
	switch {
	case j.cancelled:
		e.closeAs(j, cancelled)
	case j.lostLimit > 0 && j.lost >= j.lostLimit:
		j.failure = why
		if j.holds {
			j.state = conveyor.StateOnHold
		} else {
			e.closeAs(j, failed)
		}
	default:
		e.restore(j)
	}
}

// Tick is what any process does for all: it releases due jobs, takes jobs from leases that ended and from dead workers, and
// removes what has been kept long enough; then it judges the schedules that are due. It returns the dead workers, when to tick
// again at the latest, and when a schedule fires.
func (e *Engine) Tick() (dead []string, next, cycle time.Duration) {
	dead, next = e.upkeep()
	sooner := func(at int64) {
		if until := time.Duration(at-e.now) * time.Millisecond; at > 0 && (cycle == 0 || until < cycle) {
			cycle = until
		}
	}
	due := e.dueRoots()
	for _, root := range e.roots() {
		if root.ticks() && !slices.Contains(due, root) {
			sooner(root.template.dueAt)
		}
	}
	for _, root := range due {
		j := e.judgeTicks(root)
		sooner(times(root.wire).Next(tickTime(j.until)).UnixMilli()) // also of one whose last cycle this is
		e.Store(j)
	}
	return dead, next, cycle
}

// LateTick is a Tick of a ticker that stops before it stores its first judgement, which it may still do later.
func (e *Engine) LateTick() []Judgement {
	e.upkeep()
	if due := e.dueRoots(); len(due) > 0 {
		return []Judgement{e.judgeTicks(due[0])}
	}
	return nil
}

// upkeep is what a Tick does but for schedules.
func (e *Engine) upkeep() (dead []string, next time.Duration) {
	e.dropped = 0
	late := e.late() // what comes back now waited too long by the next tick only
	e.releaseDue()
	e.takeTodo()
	e.reap()
	for _, w := range slices.SortedFunc(maps.Keys(e.workers), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.workers[a].last, e.workers[b].last), cmp.Compare(a, b))
	}) {
		if e.workers[w].last > e.now-conveyor.DeadAfter.Milliseconds() {
			continue
		}
		for _, j := range e.owned(w) {
			e.lose(j, "worker "+w+" died")
		}
		e.retire(w)
		dead = append(dead, w)
	}
	e.expire(late)
	e.sweep()
	e.settleAll()
	return dead, e.deadline()
}

// reap takes jobs from reservations whose lease has ended.
func (e *Engine) reap() {
	ended := e.sorted(
		func(j *job) bool { return j.state == conveyor.StateRunning && j.owner == "" && j.lease <= e.now },
		func(a, b *job) int { return cmp.Compare(a.lease, b.lease) })
	for _, j := range ended {
		e.lose(j, "the lease ended")
	}
}

// deadline is the time until something is due: a job, the end of a lease, the death of a worker; 0: nothing.
func (e *Engine) deadline() time.Duration {
	first := int64(0)
	consider := func(at int64) {
		if first == 0 || at < first {
			first = at
		}
	}
	for _, j := range e.jobs {
		if j.state == conveyor.StateScheduled {
			consider(j.due)
		}
		if j.state == conveyor.StateRunning && j.owner == "" {
			consider(j.lease)
		}
		if j.expires > 0 && j.waits() {
			consider(j.expires)
		}
	}
	for _, root := range e.roots() {
		if todo := root.template.todo; todo > 0 {
			consider(todo)
		}
	}
	for _, w := range e.workers {
		consider(w.last + conveyor.DeadAfter.Milliseconds())
	}
	if first == 0 {
		return 0
	}
	return time.Duration(max(1, first-e.now)) * time.Millisecond
}
