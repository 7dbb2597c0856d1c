package enginemodel

import (
	"cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// start: all edges are satisfied. The job waits for its time, or is ready.
func (e *Engine) start(j *job) {
	if e.dropObsolete(j) {
		return
	}
	due := j.due
	if j.delay > 0 {
		due = max(due, e.now+j.delay)
	}
	if due > e.now {
		e.schedule(j, due)
	} else {
		e.ready(j)
	}
}

// schedule makes a job wait for its time. Jobs of one and the same time start in the order of their places.
func (e *Engine) schedule(j *job, due int64) {
	j.state, j.due = conveyor.StateScheduled, due
	if j.place == 0 {
		e.places++
		j.place = e.places
	}
}

// ready gives a job the next place in its queue and lane.
func (e *Engine) ready(j *job) {
	e.places++
	j.place = e.places
	e.restore(j)
}

// restore brings a job back to its place.
func (e *Engine) restore(j *job) { j.state, j.due, j.keepsPlace = conveyor.StateQueued, 0, false }

// releaseDue moves the jobs whose time has come to their queues, earliest first.
func (e *Engine) releaseDue() {
	due := e.sorted(
		func(j *job) bool { return j.state == conveyor.StateScheduled && j.due <= e.now },
		func(a, b *job) int { return cmp.Or(cmp.Compare(a.due, b.due), byPlace(a, b)) })
	for _, j := range due {
		if e.dropObsolete(j) {
			continue
		}
		if j.keepsPlace {
			e.restore(j)
		} else {
			e.ready(j)
		}
	}
}

// Queued are the jobs of a queue in the order in which they will start.
func (e *Engine) Queued(queue string) []string {
	var out []string
	for _, j := range e.queued(queue) {
		out = append(out, j.uuid)
	}
	return out
}

func (e *Engine) queued(queue string) []*job {
	return e.sorted(
		func(j *job) bool { return j.state == conveyor.StateQueued && j.queue == queue },
		func(a, b *job) int { return cmp.Or(-cmp.Compare(a.lane, b.lane), byPlace(a, b)) })
}

// next is how long it is until the next job is due; 0: none.
func (e *Engine) next() (ms int64) {
	for _, j := range e.jobs {
		if j.state == conveyor.StateScheduled && (ms == 0 || max(j.due-e.now, 1) < ms) {
			ms = max(j.due-e.now, 1)
		}
	}
	return ms
}
