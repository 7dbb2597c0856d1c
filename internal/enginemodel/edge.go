package enginemodel

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// edge makes a job wait for one opening of another.
type edge struct {
	up      string
	opening int64
	parent  bool
	ignore  bool // of a parent edge: the job's failure does not fail the parent
	runIf   wire.Edge_RunIf
	group   int32
	madeBy  int64 // fence of the upstream's attempt that made it; 0: declared
	mark    mark
	counted bool // the parent counts this job as a failed child
	counts  bool // although the upstream is withdrawn: it was made later, or by its successor
}

// mark is what is known of an edge.
type mark uint8

const (
	undecided  mark = iota
	success         // of the upstream, or of a parent's own work
	failure         // of it
	passedOver      // the parent was skipped without any failure
	cut             // the upstream was withdrawn and has ended: only other edges can free the job
)

func (d *edge) pending() bool { return d.mark == undecided || d.mark == cut }

// same tells whether two edges wait for the same thing. Edges of several groups to one predecessor do.
func (d *edge) same(o *edge) bool {
	return d.up == o.up && d.opening == o.opening && d.parent == o.parent
}

// edgesOf are the edges of a job as it is given. Those of the single fields count when no others are there.
func edgesOf(w *wire.Job) (out []edge) {
	list := w.Edges
	if len(list) == 0 {
		if w.ParentUuid != "" {
			list = append(list, &wire.Edge{Kind: wire.Edge_PARENT, Uuid: w.ParentUuid})
		}
		if w.PredecessorUuid != "" {
			list = append(list, &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: w.PredecessorUuid})
		}
	}
	for _, d := range list {
		out = append(out, edge{up: d.Uuid, opening: max(d.Opening, 1), parent: d.Kind == wire.Edge_PARENT, ignore: d.IgnoreFailure,
			runIf: d.RunIf, group: d.Group, madeBy: d.MadeBy})
	}
	return out
}

// judge is the mark of an edge as its upstream stands now: an opening that is over is judged by its outcome, a parent
// whose own work is done is a success, one that has not come or was never seen holds.
func (e *Engine) judge(d *edge) mark {
	up := e.jobs[d.up]
	seen := end.toHeirs
	if d.parent {
		seen = end.toChildren
	}
	switch {
	case up == nil || d.opening > up.opening:
		return undecided
	case d.opening < up.opening:
		return seen(up.earlier[d.opening-1])
	case up.end.decided():
		return seen(up.end)
	case d.parent && up.state == conveyor.StateClosing:
		return success
	}
	return undecided
}

// wire gives a job its edges. Those it had before keep what is decided of them. An edge made when its upstream was
// withdrawn already counts; so does that to the job it replaces.
func (e *Engine) wire(j *job, edges []edge, replaces string, parentDead bool) {
	old := j.edges
	j.edges = nil
	for _, d := range edges {
		up := e.jobs[d.up]
		d.counts = d.counts || d.up == replaces || up != nil && up.withdrawn
		d.mark = e.judge(&d)
		if d.parent && parentDead {
			d.mark = success
		}
		for i := range old {
			if was := &old[i]; was.same(&d) {
				d.counts = d.counts || was.counts
				if !was.pending() {
					d.mark = was.mark
				}
			}
		}
		j.edges = append(j.edges, d)
		if d.mark == undecided {
			e.takeTurn(j, &d)
		}
	}
	for i := range old {
		if d := &old[i]; d.mark == undecided && !slices.ContainsFunc(j.edges, func(o edge) bool { return d.same(&o) }) && e.notCome(d) {
			delete(e.turns, turnOf(j, d))
		}
	}
}

// excludes tells how an edge that is decided, or its group, keeps the job from running; undecided means that it does not.
// Predecessors of one group are judged together.
func (j *job) excludes(d *edge) mark {
	switch {
	case d.parent && d.mark != success:
		return d.mark
	case d.parent:
		return undecided
	}
	failures := slices.ContainsFunc(j.edges, func(o edge) bool { return !o.parent && o.group == d.group && o.mark == failure })
	switch {
	case d.runIf == wire.Edge_SUCCESS && failures:
		return failure
	case d.runIf == wire.Edge_FAILURE && !failures:
		return passedOver
	}
	return undecided
}

// verdict is how a job whose edges are all decided is excluded, and by whom; if several exclude it, failure wins.
func (j *job) verdict() (how mark, causes []string) {
	for i := range j.edges {
		d := &j.edges[i]
		by := j.excludes(d)
		if by == undecided || how == failure && by == passedOver {
			continue
		}
		if how == passedOver && by == failure {
			causes = nil
		}
		how = by
		if by == passedOver || d.mark == failure {
			causes = append(causes, d.up)
		}
	}
	return how, causes
}

// turn is a job's place among the dependents of one opening. It keeps the one it took first, however often it is given
// other edges, as long as that opening can still come.
type turn struct {
	up      string
	opening int64
	parent  bool
	uuid    string
}

func turnOf(j *job, d *edge) turn { return turn{d.up, d.opening, d.parent, j.uuid} }

func (e *Engine) takeTurn(j *job, d *edge) {
	if t := turnOf(j, d); e.turns[t] == 0 {
		e.lastTurn++
		e.turns[t] = e.lastTurn
	}
}

// notCome tells whether nothing has waited in vain yet: the upstream, or that opening of it, is still to come.
func (e *Engine) notCome(d *edge) bool {
	up := e.jobs[d.up]
	return up == nil || up.opening < d.opening
}

// dependents are the jobs that wait for a job's present opening, in their order.
func (e *Engine) dependents(up *job, parent bool) []*job {
	var out []*job
	for t := range e.turns {
		if t.up == up.uuid && t.opening == up.opening && t.parent == parent && e.jobs[t.uuid] != nil {
			out = append(out, e.jobs[t.uuid])
		}
	}
	slices.SortFunc(out, func(a, b *job) int {
		return cmp.Compare(e.turns[turn{up.uuid, up.opening, parent, a.uuid}], e.turns[turn{up.uuid, up.opening, parent, b.uuid}])
	})
	return out
}
