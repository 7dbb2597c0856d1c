package planner

// verdict is what an ended upstream says about an edge.
type verdict uint8

const (
	undecided verdict = iota
	satisfied
	excluding
)

// ofParent judges a parent edge by the parent's status: its own work counts, not its children.
func ofParent(l Live) verdict {
	switch l.Status {
	case Completed, Obsolete, Closing:
		return satisfied
	case Failed:
		if l.ChildFailed {
			return satisfied
		}
		return excluding
	case Cancelled, Expired, Skipped:
		return excluding
	default:
		return undecided
	}
}

// succeeded is the outcome of an ended job; ended is false for any other.
func succeeded(l Live) (success, ended bool) {
	switch l.Status {
	case Completed, Obsolete:
		return true, true
	case Failed, Cancelled, Expired:
		return false, true
	case Skipped:
		return l.Success, true
	default:
		return false, false
	}
}

// excluded tells whether the outcomes of today exclude a job: a parent whose own work did not succeed, or a predecessor
// block whose jobs have all ended in the wrong way. Jobs outside the files are not known here; they ended before a job
// could be skipped, so what they may have decided is decided still.
func (m *maker) excluded(job int32) bool {
	outside := false
	links := m.g.up.of(job)
	for len(links) > 0 {
		n := 1
		if !links[0].kind.Parent() {
			for n < len(links) && links[n].group == links[0].group {
				n++
			}
		}
		v, unknown := m.judge(links[:n])
		if v == excluding {
			return true
		}
		outside = outside || unknown
		links = links[n:]
	}
	return outside
}

// judge decides one parent edge or one predecessor block.
func (m *maker) judge(group []link) (v verdict, unknown bool) {
	failures := 0
	for _, l := range group {
		if !l.inside() {
			return undecided, true
		}
		live := m.rows[l.to].Live
		if l.kind.Parent() {
			return ofParent(live), false
		}
		success, ended := succeeded(live)
		if !ended {
			return undecided, false
		}
		if !success {
			failures++
		}
	}
	switch kind := group[0].kind; {
	case kind == EdgeSuccess && failures > 0, kind == EdgeFailure && failures == 0:
		return excluding, false
	default:
		return satisfied, false
	}
}

// covered tells whether the children that count against a job are all declared and run again. A child that failed, was
// cancelled, expired or is lost always does. One that was skipped because of a failure does with what it waits for. One
// that counts for an opening still to come was submitted or reopened by an apply that was killed before it opened this job. One
// that becomes a template never counts again, as if it were not declared.
func (m *maker) covered(job int32) bool { return m.coveredBy(job, func(*Row) bool { return true }) }

// coveredNow is covered where KeepEnded may leave the children alone, once these are decided.
func (m *maker) coveredNow(job int32) bool {
	return m.coveredBy(job, func(c *Row) bool { return c.Action == Create || c.Action == Replace || c.Action == Reopen })
}

func (m *maker) coveredBy(job int32, again func(child *Row) bool) bool {
	p := &m.rows[job]
	failed, skipped := 0, 0
	for _, child := range m.g.children.of(job) {
		c := &m.rows[child]
		if c.Prior == nil || c.Recurs() || m.included != nil && !m.included[child] {
			continue
		}
		e := parentEdge(c, p)
		if e == nil {
			continue
		}
		switch status := c.Live.Status; {
		case e.Opening > p.opening():
			failed++
		case e.Kind == EdgeParentLenient, !again(c):
		case status == Failed, status == Cancelled, status == Expired, status == Lost:
			failed++
		case status == Skipped && !c.Live.Success:
			skipped++
		}
	}
	return failed > 0 && failed+skipped >= p.Live.FailedChildren
}
