package applier

import (
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// rest says whether a job will move by itself.
type rest uint8

const (
	moving  rest = iota // it runs, or will without anything but workers
	parked              // it waits for its time, or only for jobs that do or are on hold
	settled             // ended, on hold, or lost
)

// restOf judges one job by itself; known is false where that takes its upstreams or children.
func restOf(s conveyor.Status) (r rest, known bool) {
	switch s.State {
	case conveyor.StateHeld, conveyor.StateClosing:
		return moving, false
	case conveyor.StateScheduled:
		// A job that started before is in backoff, deferred, or waits for a worker that can handle it: none of
		// these is its own time.
		if s.Fence > 0 {
			return moving, true
		}
		return parked, true
	case conveyor.StateTemplate:
		return parked, true
	case conveyor.StateQueued, conveyor.StateRunning:
		return moving, true
	default:
		return settled, true
	}
}

// settled tells whether every recorded job is settled or parked, so that following it further would wait for the clock.
func (w *watchedJobs) settled() bool {
	for _, j := range w.order {
		if r, known := restOf(j.status); known && r == moving {
			return false
		}
	}
	j := judge{jobs: w, rests: make(map[*watchedJob]rest, len(w.order))}
	for _, job := range w.order {
		if j.rest(job) == moving {
			return false
		}
	}
	return true
}

// judge remembers what was found, so that each edge is looked at once.
type judge struct {
	jobs  *watchedJobs
	rests map[*watchedJob]rest
}

func (g *judge) rest(j *watchedJob) rest {
	if r, known := restOf(j.status); known {
		return r
	}
	if r, known := g.rests[j]; known {
		return r
	}
	g.rests[j] = moving // ends the walk should records ever hold a cycle
	r := moving
	switch {
	case !j.recorded(): // a job outside the workflow: what it waits for is not known
	case j.status.State == conveyor.StateHeld:
		r = g.held(j)
	default:
		r = g.closing(j)
	}
	g.rests[j] = r
	return r
}

// held is parked if there is something that it waits for, and all of that rests.
func (g *judge) held(j *watchedJob) rest {
	r := moving
	for _, e := range j.record.Edges {
		up := g.jobs.byUUID[e.UUID]
		if !pending(e, up.status) {
			continue
		}
		// An upstream that is not there yet, or whose awaited opening has not come, is for somebody to submit.
		if absent := up.status.State == conveyor.StateUnknown || up.status.State.Ended(); absent || g.rest(up) == moving {
			return moving
		}
		r = parked
	}
	return r
}

// closing is parked if some of its recorded children have not ended, and all of those rest. Children that an attempt
// made are not recorded: a job that waits for one of them alone is not parked. Nothing waits for a template, which never ends.
func (g *judge) closing(j *watchedJob) rest {
	r := moving
	for _, child := range g.jobs.children[j.status.UUID] {
		if child.status.State.Ended() || child.status.State == conveyor.StateUnknown || child.status.State == conveyor.StateTemplate {
			continue
		}
		if g.rest(child) == moving {
			return moving
		}
		r = parked
	}
	return r
}

// pending tells whether an edge is undecided while its upstream has this status.
func pending(e planner.Edge, up conveyor.Status) bool {
	if up.Opening < e.Opening {
		return true
	}
	if e.Kind.Parent() {
		return !up.State.Ended() && up.State != conveyor.StateClosing
	}
	return up.Opening == e.Opening && !up.State.Ended()
}
