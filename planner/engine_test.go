package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/planner"
)

// engine plays the rules of ENGINE.md sections 3 and 4 on submitted jobs, as slowly and plainly as they read. Tests of
// plans run on it what a plan submits; it shares nothing with the graph.
type engine struct {
	jobs  map[string]*played // by uuid
	state *planner.State
}

// played is one submission.
type played struct {
	name      string
	id        string
	edges     []planner.Edge
	live      planner.Live
	withdrawn bool
	cancelled bool // told to stop
	started   bool
	adds      int
}

func newEngine() *engine { return &engine{jobs: map[string]*played{}, state: noState()} }

// apply writes settled rows in order, as one apply does; it stops before row number limit.
func (e *engine) apply(rows []*planner.Row, limit int) error {
	for i, r := range rows {
		if i == limit {
			return nil
		}
		if err := e.write(r); err != nil {
			return fmt.Errorf("%s %s: %w", r.Action, r.Addr, err)
		}
	}
	return nil
}

func (e *engine) write(r *planner.Row) error {
	name := r.Addr.String()
	for _, id := range r.HoldOpen {
		if p := e.jobs[id]; p != nil && p.live.Status.Ended() {
			return fmt.Errorf("parent %s has ended", p.name)
		}
	}
	switch r.Action {
	case planner.Create, planner.Replace:
		if r.Prior != nil {
			e.withdraw(r.Prior.UUID.String(), r.CancelFirst)
		}
		id := r.Next.UUID.String()
		if e.jobs[id] == nil {
			e.jobs[id] = &played{name: name, id: id, live: planner.Live{Status: planner.Held, Opening: 1}}
		}
		e.jobs[id].edges = r.Next.Edges
		e.jobs[id].adds++
	case planner.Update:
		switch job := e.jobs[r.Prior.UUID.String()]; {
		case job.live.Status.Waits():
			job.edges = r.Next.Edges
			job.live.Status = planner.Held
		case job.live.Status.Active(): // it only leaves parents
			job.edges = slices.DeleteFunc(slices.Clone(job.edges), func(edge planner.Edge) bool {
				return edge.Kind.Parent() && !slices.ContainsFunc(r.Next.Edges, func(next planner.Edge) bool {
					return next.Kind.Parent() && next.UUID == edge.UUID
				})
			})
		}
	case planner.Reopen:
		job := e.jobs[r.Prior.UUID.String()]
		job.live = planner.Live{Status: planner.Closing, Opening: r.Next.Opening}
		job.edges = r.Next.Edges
	case planner.Delete:
		e.withdraw(r.Prior.UUID.String(), true)
		if r.Earlier != "" {
			e.withdraw(r.Earlier, true)
		}
	}
	if r.Next == nil {
		delete(e.state.Records, name)
		e.state.Floor = max(e.state.Floor, r.Prior.Generation)
	} else {
		e.state.Records[name] = r.Next
	}
	return nil
}

func (e *engine) withdraw(id string, cancel bool) {
	job := e.jobs[id]
	if job == nil {
		return
	}
	if failed := job.live.Status.Ended() && job.live.Status != planner.Completed && !job.live.Success; failed && !job.withdrawn {
		// Its end counts for nobody any more, so a parent that is still open does not fail through it.
		for _, edge := range job.edges {
			up := e.jobs[edge.UUID]
			if up != nil && edge.Kind == planner.EdgeParent && up.live.Status == planner.Closing && up.live.Opening == edge.Opening {
				up.live.FailedChildren--
			}
		}
	}
	job.withdrawn = true
	switch {
	case !cancel:
	case job.live.Status.Active():
		job.cancelled = true
	case !job.live.Status.Ended():
		job.live.Status = planner.Cancelled
	}
}

// now is the state as a plan reads it.
func (e *engine) now() *planner.State {
	e.state.Live = map[string]planner.Live{}
	e.state.Earlier = map[string]planner.Live{}
	for name, rec := range e.state.Records {
		if job := e.jobs[rec.UUID.String()]; job != nil {
			e.state.Live[name] = job.live
		}
		for _, edge := range rec.Edges {
			if job := e.jobs[edge.UUID]; job != nil && edge.Kind == planner.EdgeSuccessor {
				e.state.Earlier[edge.UUID] = job.live
			}
		}
	}
	return e.state
}

// move is one arrow of the state chart. ok says whether an attempt succeeds.
type move struct {
	job *played
	do  func(ok bool) error
}

// moves lists what can happen next, in a fixed order.
func (e *engine) moves() (moves []move) {
	for _, id := range slices.Sorted(maps.Keys(e.jobs)) {
		job := e.jobs[id]
		switch job.live.Status {
		case planner.Held:
			if pending, excluded, failure := e.judge(job); !pending {
				moves = append(moves, move{job, func(bool) error { return e.release(job, excluded, failure) }})
			}
		case planner.Queued:
			moves = append(moves, move{job, func(bool) error { return e.start(job) }})
		case planner.Running:
			moves = append(moves, move{job, func(ok bool) error { e.finish(job, ok); return nil }})
		case planner.Closing:
			if !e.hasLiveChild(job) {
				moves = append(moves, move{job, func(bool) error { e.close(job); return nil }})
			}
		}
	}
	return moves
}

// run1 makes the next move of one job, which must have one.
func (e *engine) run1(job *played) error {
	for _, m := range e.moves() {
		if m.job == job {
			return m.do(true)
		}
	}
	return fmt.Errorf("%s cannot move", job.name)
}

// run makes moves until there are none, all attempts ending as outcome says by address.
func (e *engine) run(outcome func(name string) bool) error {
	for {
		moves := e.moves()
		if len(moves) == 0 {
			return nil
		}
		for _, m := range moves {
			if err := m.do(outcome(m.job.name)); err != nil {
				return err
			}
		}
	}
}

// judge decides the edges of a held job.
func (e *engine) judge(job *played) (pending, excluded, failure bool) {
	groups := map[int][]planner.Edge{}
	for _, edge := range job.edges {
		up := e.jobs[edge.UUID]
		if up == nil || up.live.Opening < edge.Opening {
			return true, false, false
		}
		if !edge.Kind.Parent() {
			groups[edge.Group] = append(groups[edge.Group], edge)
			continue
		}
		switch {
		case up.live.Status == planner.Closing, up.live.Status == planner.Completed, up.live.Status == planner.Failed && up.live.ChildFailed:
		case up.live.Status == planner.Skipped:
			excluded, failure = true, failure || !up.live.Success
		case up.live.Status.Ended():
			excluded, failure = true, true
		default:
			return true, false, false
		}
	}
	for _, group := range groups {
		failures := 0
		for _, edge := range group {
			up := e.jobs[edge.UUID]
			if !up.live.Status.Ended() {
				return true, false, false
			}
			if up.live.Status != planner.Completed && !(up.live.Status == planner.Skipped && up.live.Success) {
				failures++
			}
		}
		switch kind := group[0].Kind; {
		case kind == planner.EdgeSuccess && failures > 0:
			excluded, failure = true, true
		case kind == planner.EdgeFailure && failures == 0:
			excluded = true
		}
	}
	return false, excluded, failure
}

func (e *engine) release(job *played, excluded, failure bool) error {
	if excluded {
		job.live.Status, job.live.Success = planner.Skipped, !failure
		e.tellParents(job)
		return nil
	}
	job.live.Status = planner.Queued
	return nil
}

func (e *engine) start(job *played) error {
	for _, other := range e.jobs {
		if other != job && other.name == job.name && other.live.Status == planner.Running {
			return fmt.Errorf("two live copies of %s", job.name)
		}
	}
	if job.started {
		return fmt.Errorf("%s starts twice as %s", job.name, job.id)
	}
	job.started = true
	job.live.Status = planner.Running
	return nil
}

func (e *engine) finish(job *played, ok bool) {
	switch {
	case job.cancelled:
		job.live.Status = planner.Cancelled
	case ok:
		job.live.Status = planner.Closing
		return
	default:
		job.live.Status = planner.Failed
	}
	e.tellParents(job)
}

func (e *engine) close(job *played) {
	job.live.Status = planner.Completed
	if job.live.FailedChildren > 0 {
		job.live.Status, job.live.ChildFailed = planner.Failed, true
	}
	e.tellParents(job)
}

// tellParents counts a failure against the parents.
func (e *engine) tellParents(job *played) {
	if job.withdrawn || job.live.Status == planner.Completed || job.live.Status == planner.Skipped && job.live.Success {
		return
	}
	for _, edge := range job.edges {
		if up := e.jobs[edge.UUID]; up != nil && edge.Kind == planner.EdgeParent && up.live.Opening == edge.Opening {
			up.live.FailedChildren++
		}
	}
}

func (e *engine) hasLiveChild(job *played) bool {
	for _, other := range e.jobs {
		if other.withdrawn || other.live.Status.Ended() {
			continue
		}
		for _, edge := range other.edges {
			if edge.Kind.Parent() && edge.UUID == job.id && edge.Opening <= job.live.Opening {
				return true
			}
		}
	}
	return false
}

// stuck lists recorded jobs that have not ended.
func (e *engine) stuck() (names []string) {
	for name, rec := range e.state.Records {
		if job := e.jobs[rec.UUID.String()]; job == nil || !job.live.Status.Ended() {
			status := "lost"
			if job != nil {
				status = job.live.Status.String()
			}
			names = append(names, name+" "+status)
		}
	}
	slices.Sort(names)
	return names
}

// String tells all jobs, for messages.
func (e *engine) String() string {
	var all []string
	for id, job := range e.jobs {
		line := fmt.Sprintf("%s %.4s %s opening %d", job.name, id, job.live.Status, job.live.Opening)
		if rec := e.state.Records[job.name]; rec != nil && rec.UUID.String() == id {
			line += fmt.Sprintf(", recorded as generation %d", rec.Generation)
		}
		if job.withdrawn {
			line += ", withdrawn"
		}
		for _, edge := range job.edges {
			line += fmt.Sprintf(", %s %.4s %d", edge.Kind, edge.UUID, edge.Opening)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// inOrder is the order in which an apply writes rows: see DESIGN.md section 5, step 2.
func inOrder(p *planner.Plan) []*planner.Row {
	changing := map[string]bool{}
	for _, r := range p.Rows {
		if r.Action == planner.Create || r.Action == planner.Replace || r.Action == planner.Update || r.Action == planner.Reopen {
			changing[r.Addr.String()] = true
		}
	}
	var waiting, reopening, starting, removals []*planner.Row
	for _, r := range p.Rows {
		waits := slices.ContainsFunc(r.Edges, func(t planner.Target) bool { return changing[t.Addr.String()] })
		switch {
		case r.Action == planner.NoOp:
		case r.Action == planner.Delete || r.Action == planner.Forget:
			removals = append(removals, r)
		case r.Action == planner.Reopen:
			reopening = append(reopening, r)
		case waits || r.Action == planner.Rerecord:
			waiting = append(waiting, r)
		default:
			starting = append(starting, r)
		}
	}
	slices.Reverse(waiting)
	slices.Reverse(reopening)
	slices.Reverse(removals)
	return slices.Concat(waiting, reopening, starting, removals)
}
