package enginemodel

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Retry runs a failed job again under a new opening; one that is not over is left alone.
func (e *Engine) Retry(uuid string) error {
	j := e.jobs[uuid]
	switch {
	case j == nil:
		return fmt.Errorf("retry: %w", conveyor.ErrNotFound)
	case j.live():
		return nil
	case j.end != failed, j.forgotten:
		return fmt.Errorf("retry: %w", conveyor.ErrState)
	}
	if err := e.claim(j, ""); err != nil {
		return err
	}
	if !j.withdrawn {
		e.uncount(j)
	}
	was := j.end
	j.nextOpening()
	j.attempts, j.lost, j.runs = 0, 0, 0
	if j.fence > 0 {
		e.ready(j)
	} else {
		e.declare(j)
	}
	if !j.end.decided() { // or it is over in the same moment, for what it waits for
		e.comeBack(j, was)
	}
	e.settleAll()
	return nil
}

// declare makes a job that failed before it ever started wait for what it was added with. What an attempt made counts as
// declared now.
func (e *Engine) declare(j *job) {
	j.state, j.due, j.delay = conveyor.StateHeld, runAt(j.wire), delay(j.wire)
	j.edges = slices.DeleteFunc(j.edges, func(d edge) bool { return d.mark != undecided })
	edges := edgesOf(j.wire)
	if j.of != "" {
		edges = e.within(j, edges)
	}
	for i := range edges {
		edges[i].madeBy = 0
	}
	e.wire(j, edges, "", false)
	if isBroadcast(j.wire) {
		e.broadcast(j)
		return
	}
	e.decide(j)
}

func (j *job) nextOpening() {
	j.earlier = append(j.earlier, j.end)
	j.opening++
	j.end, j.ended, j.failedChildren, j.removeAt = end{}, 0, 0, 0
}

// Release queues a job that is on hold.
func (e *Engine) Release(uuid string) error {
	j := e.jobs[uuid]
	switch {
	case j == nil:
		return fmt.Errorf("release: %w", conveyor.ErrNotFound)
	case j.state == conveyor.StateOnHold:
		j.attempts, j.runs = 0, 0
		e.ready(j)
	case !j.live():
		return fmt.Errorf("release: %w", conveyor.ErrState)
	}
	return nil
}

// reopen makes a job whose own work succeeded closing again, under its next opening. An open parent waits for it again; a
// parent that is over will when it reopens. w, if given, says which unique key and labels it has now, and when it is
// removed.
func (e *Engine) reopen(j *job, opening int64, w *wire.Job) (possible bool, err error) {
	if j.opening >= opening {
		return true, nil
	}
	if j.opening+1 != opening || j.live() || !j.end.worked() {
		return false, nil
	}
	if w != nil {
		j.unique, j.removeAfter, j.labels = uniqueKey(w), milli(w.RemoveAfter.AsDuration()), w.Labels
	}
	if err := e.claim(j, ""); err != nil {
		return true, err
	}
	e.comeBack(j, j.end)
	j.nextOpening()
	j.state, j.cancelled = conveyor.StateClosing, false
	for i := range j.edges {
		d := &j.edges[i]
		p := e.jobs[d.up]
		switch {
		case !d.parent || j.withdrawn || p == nil:
		case p.open():
			d.opening, d.mark, d.counted = p.opening, success, false
		case p.end.decided():
			d.opening, d.mark, d.counted = p.opening+1, undecided, false
			e.takeTurn(j, d)
		}
	}
	e.settle(j)
	return true, nil
}
