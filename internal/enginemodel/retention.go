package enginemodel

import (
	"cmp"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// retain lists a job that is over for its removal: after its own time, or else as its queue keeps ended jobs.
func (e *Engine) retain(j *job) {
	if j.removeAfter > 0 {
		j.removeAt = e.now + j.removeAfter
		return
	}
	e.over[j.queue] = append(e.over[j.queue], retained{j.uuid, e.now})
}

// sweep removes ended jobs that were kept long enough, or are too many.
func (e *Engine) sweep() {
	for name, list := range e.over {
		keepFor, count := e.queues[name].keeps()
		var stay []retained
		for len(list) > 0 && (list[0].at <= e.now-keepFor || len(list) > count) {
			if j := e.jobs[list[0].uuid]; j != nil && !j.live() && j.ended <= list[0].at {
				if e.stays(j) {
					stay = append(stay, retained{j.uuid, e.now})
				} else {
					e.sweepJob(j)
				}
			}
			list = list[1:]
		}
		e.over[name] = append(list, stay...)
	}
	for _, j := range e.jobs {
		switch {
		case j.removeAt == 0 || j.removeAt > e.now:
		case e.stays(j):
			e.retain(j)
		default:
			e.sweepJob(j)
		}
	}
	for caller, c := range e.calls {
		if !c.worker && c.at <= e.now-callsKeptFor.Milliseconds() {
			delete(e.calls, caller)
		}
	}
}

// stays tells whether an occurrence is kept as long again: while its cycle lives it is known that it was made.
func (e *Engine) stays(j *job) bool { return j.of != "" && e.cycleOf(j.root, j.tick) != nil }

// sweepJob removes a job; a recorded one loses only what it could be retried from.
func (e *Engine) sweepJob(j *job) {
	j.removeAt = 0
	if j.recorded {
		j.forgotten = true
	} else {
		j.gone = true
	}
}

// late are the jobs that have waited too long.
func (e *Engine) late() []*job {
	return e.sorted(
		func(j *job) bool { return j.expires > 0 && j.expires <= e.now && j.waits() },
		func(a, b *job) int { return cmp.Compare(a.expires, b.expires) })
}

// expire ends those of them that wait still.
func (e *Engine) expire(late []*job) {
	for _, j := range late {
		if j.waits() {
			e.closeAs(j, expired)
		}
	}
}

// mayWaitFor limits how long a job may wait for its first start, or, in an inbox, whenever it waits, counted from its add: another limit moves the end by the
// difference.
func (e *Engine) mayWaitFor(j *job, w *wire.Job) {
	limit := milli(waitingLimit(w))
	if j.fence > 0 && !inInbox(placeOf(w)) {
		limit = 0
	}
	switch {
	case limit == j.limit:
		return
	case limit == 0:
		j.expires = 0
	case j.limit == 0:
		j.expires = e.now + limit
	default:
		j.expires += limit - j.limit
	}
	j.limit = limit
}

// Remove leaves nothing of a job that is over and has no record.
func (e *Engine) Remove(uuid string) error {
	switch j := e.jobs[uuid]; {
	case j == nil:
		return nil
	case j.live() || j.recorded:
		return fmt.Errorf("remove: %w", conveyor.ErrState)
	}
	e.remove(uuid)
	return nil
}

// uniqueKey is what only one live job may have.
func uniqueKey(w *wire.Job) string {
	if w.Unique == "" {
		return ""
	}
	return w.Type + ":" + w.Unique
}

// claim takes a job's unique key, or names who holds it. A job hands its key to its successor, and one that is about to end
// and can never run again to whoever comes.
func (e *Engine) claim(j *job, replaces string) error {
	if j.unique == "" {
		return nil
	}
	if h := e.jobs[e.unique[j.unique]]; h != nil && h != j {
		never := h.end.decided() && !h.end.worked() && h.end != failed
		if h.uuid != replaces && !never {
			return &conveyor.UniqueError{Key: j.unique, UUID: j.uuid, Holder: h.uuid}
		}
		h.unique = ""
	}
	e.unique[j.unique] = j.uuid
	return nil
}

// free gives up a job's unique key.
func (e *Engine) free(j *job) {
	if j.unique != "" && e.unique[j.unique] == j.uuid {
		delete(e.unique, j.unique)
	}
}
