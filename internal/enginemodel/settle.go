package enginemodel

import "github.com/waybill-dev/waybill/conveyor"

// settle lists a job whose own work is done, or whose end is decided.
func (e *Engine) settle(j *job) {
	for _, k := range e.settling {
		if k == j {
			return
		}
	}
	e.settling = append(e.settling, j)
}

// closeAs decides a job's end.
func (e *Engine) closeAs(j *job, o end) {
	j.state, j.end, j.owner, j.due = conveyor.StateClosing, o, "", 0
	e.settle(j)
}

// settleAll works until nothing follows from anything.
func (e *Engine) settleAll() {
	for len(e.settling) > 0 {
		j := e.settling[0]
		e.settling = e.settling[1:]
		e.close(j)
	}
	e.closeCycles()
	for uuid, j := range e.jobs {
		if j.gone {
			e.remove(uuid)
		}
	}
}

// close takes a closing job as far as it comes: its own work releases its children; once none of them is unfinished its end
// is decided, its heirs are told, and then its parents.
func (e *Engine) close(j *job) {
	switch {
	case j.state == conveyor.StateTemplate:
		e.goOn(j)
		return
	case j.state == conveyor.StateHeld:
		e.upstreams(j)
		return
	case j.state != conveyor.StateClosing:
		return
	}
	if !j.end.decided() {
		e.downstream(j, true)
		e.tellChildren(j, success)
		if e.unfinished(j) {
			return
		}
		switch {
		case j.cancelled:
			j.end = cancelled
		case j.failedChildren > 0:
			j.end = failedChild
		default:
			j.end = completed
		}
	}
	e.downstream(j, true)
	e.downstream(j, false)
	if j.template != nil {
		e.deleteTemplate(j)
	}
	e.tellChildren(j, j.end.toChildren())
	e.tellHeirs(j, j.end.toHeirs())
	e.finish(j)
}

// unfinished tells whether a released child of this opening has not ended.
func (e *Engine) unfinished(p *job) bool {
	for _, j := range e.jobs {
		if j.live() && !j.withdrawn && j.released(p) != nil {
			return true
		}
	}
	return false
}

// released is the edge by which an open job counts on this child; nil when it does not.
func (j *job) released(p *job) *edge {
	for i := range j.edges {
		if d := &j.edges[i]; d.parent && d.up == p.uuid && d.opening == p.opening && d.mark == success {
			return d
		}
	}
	return nil
}

// tellChildren decides the parent edges to a job's present opening.
func (e *Engine) tellChildren(p *job, m mark) {
	for _, j := range e.dependents(p, true) {
		e.tell(j, p, true, m)
	}
}

func (e *Engine) tellHeirs(p *job, m mark) {
	for _, j := range e.dependents(p, false) {
		e.tell(j, p, false, m)
	}
}

// tell decides what one job waits for.
func (e *Engine) tell(j, p *job, parent bool, m mark) {
	told := false
	for i := range j.edges {
		d := &j.edges[i]
		if d.mark != undecided || d.up != p.uuid || d.opening != p.opening || d.parent != parent {
			continue
		}
		switch {
		case p.withdrawn && !d.counts && d.madeBy == 0:
			d.mark = cut
		case d.madeBy != 0 && (d.madeBy != p.fence || p.end.decided() && !p.end.worked()):
			d.mark = failure
			if j.live() { // what an unsuccessful attempt made is dropped
				j.withdrawn = true
				e.closeAs(j, cancelled)
			}
		case !j.live(): // it ended while it waited: only its failure is left of it
			if m == success && !j.withdrawn && !d.ignore && j.end.toHeirs() == failure {
				p.failedChildren++
				d.counted = true
			}
			d.mark = failure
		default:
			d.mark, told = m, true
		}
	}
	delete(e.turns, turn{p.uuid, p.opening, parent, j.uuid})
	if told && j.state == conveyor.StateHeld {
		e.decide(j)
	}
}

// decide lets a held job go on when all its edges are decided.
func (e *Engine) decide(j *job) {
	if j.pending() > 0 {
		return
	}
	how, causes := j.verdict()
	j.causes = causes
	switch how {
	case failure:
		e.closeAs(j, skippedFailure)
	case passedOver:
		e.closeAs(j, skippedSuccess)
	default:
		e.start(j)
	}
}

// finish is the end of every job. Its parents that are open count it. What is left of its edges are those of parents, for a
// reopening and for parents that come later.
func (e *Engine) finish(j *job) {
	j.state, j.ended = j.end.state, e.now
	j.limit, j.expires = 0, 0
	e.free(j)
	e.retain(j)
	var keep []edge
	for _, d := range j.edges {
		switch {
		case !d.parent:
			if d.mark == undecided && e.notCome(&d) {
				delete(e.turns, turnOf(j, &d))
			}
		case d.mark == success || d.mark == undecided:
			keep = append(keep, d)
		}
	}
	j.edges = keep
	if j.of != "" && j.end.spoils() {
		e.joinCycle(j).failed++
	}
	e.flip(j)
	if j.withdrawn {
		return
	}
	for i := range j.edges {
		d := &j.edges[i]
		if p := e.jobs[d.up]; p != nil && d.mark == success && p.open() && p.opening == d.opening {
			if j.end.toHeirs() == failure && !d.ignore {
				p.failedChildren++
				d.counted = true
			}
			e.settle(p)
		}
	}
}

// remove leaves nothing of a job.
func (e *Engine) remove(uuid string) {
	j := e.jobs[uuid]
	for i := range j.edges {
		delete(e.turns, turnOf(j, &j.edges[i]))
	}
	delete(e.jobs, uuid)
}

// Causes are the upstreams of which one is named as the cause of a skipped job.
func (e *Engine) Causes(uuid string) []string {
	if j := e.jobs[uuid]; j != nil {
		return j.causes
	}
	return nil
}
