package planner

import (
	"slices"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// decide decides every declared row, upstream first. What is left to decide about a job once its children are decided,
// whether it reopens, comes with its completion, before its heirs: in the order of Graph.events nothing is looked at twice.
func (m *maker) decide() {
	m.walk()
	switch {
	case m.excluding != nil:
		for round := 1; m.excluding.some && m.release(round); round++ {
			m.walk()
		}
	case m.included != nil && m.widen():
		m.walk()
	}
}

func (m *maker) walk() {
	for _, e := range m.g.events {
		if e >= 0 {
			m.work(e)
		} else {
			m.complete(^e)
		}
	}
}

// work decides whether a job gets a new submission.
func (m *maker) work(job int32) {
	r := &m.rows[job]
	r.Causes, r.Successor, r.CancelFirst, r.Leave, r.Ignored, r.Unclear = nil, false, false, false, nil, false
	switch {
	case m.included != nil && !m.included[job]:
		r.Action, r.Reason = NoOp, ReasonNotTargeted
		if m.excluding != nil {
			r.Reason, r.Causes = ReasonExcluded, m.excluding.cause(m, job)
		}
		return
	case r.Prior == nil:
		r.Action, r.Reason = Create, ReasonNew
		return
	}
	handling, moved := m.handlingChanged(job)
	work, ignoredWork := m.workDiffers(job), false
	if m.ignores(job, work, handling) {
		d := m.ignore(job, work, handling)
		r.Ignored, ignoredWork = d.members, work && !d.work
		work, handling = d.work, d.handling
	}
	if ignoredWork || m.ignoredWork[job] {
		m.ignoredWork[job] = ignoredWork
	}
	c := situation{
		live: r.Live, deposed: r.Prior.Deposed, onChange: r.Job.OnChange,
		work: work, handling: handling, ignored: len(r.Ignored) > 0, ignoredWork: ignoredWork,
		requested: m.requested != nil && m.requested[job],
		leaves:    r.Live.Status.Active() && len(r.keptEdges()) < len(r.Prior.Edges),
		recurs:    r.Recurs(),
		kept:      m.o.KeepEnded && (!handling || moved) && !m.retries(job),
		retried:   m.o.KeepEnded && r.Live.Status == OnHold && m.retries(job),
	}
	if c.recurs && c.live.Status == Template && c.handling {
		c.regated = r.Prior.gated() != (r.Job.Gate != nil)
	}
	r.Causes, c.why = m.upstream(job)
	c.upstream = r.Causes != nil
	if replacing := m.triggered(job); replacing != nil {
		c.triggered = true
		if !c.upstream {
			r.Causes = replacing
		}
	}
	if r.Live.Status == Skipped {
		c.excluded = m.excluded(job)
	}
	if r.Live.Status == Failed && r.Live.ChildFailed {
		c.reopens = m.covered(job)
	}
	d := c.decide()
	if m.o.Rekey {
		d = m.rekey(r, c, d)
	}
	r.Action, r.Reason, r.Successor, r.CancelFirst, r.Leave = d.action, d.reason, d.successor, d.cancelFirst, d.leave
	if r.Importing() {
		m.take(job)
	}
	if r.Reason == ReasonHandling && moved {
		r.Reason, r.Causes = ReasonMoved, m.movedCauses(job)
	}
	if r.Action == NoOp && r.Reason != ReasonIgnoredRunning && r.Reason != ReasonIgnored {
		r.Causes = nil
	}
}

// retries tells whether a job that ended badly runs again since Options.Retry names it. One that failed through its children alone opens
// again when all of them run: they are what is retried.
func (m *maker) retries(job int32) bool {
	r := &m.rows[job]
	return matchesAny(m.o.Retry, r.Addr) && !(r.Live.Status == Failed && r.Live.ChildFailed && m.covered(job))
}

// complete decides whether a job that stands opens again for children that will run.
func (m *maker) complete(job int32) {
	r := &m.rows[job]
	if r.Prior == nil || r.Prior.Deposed || r.Action != NoOp && r.Action != Rerecord || m.included != nil && !m.included[job] {
		return
	}
	switch r.Live.Status {
	case Completed, Obsolete:
	case Failed: // through its children, or it would run again itself
		if m.o.KeepEnded && !m.coveredNow(job) {
			return
		}
	default: // its new children join a job that has not ended as it is, see Row.HoldOpen
		return
	}
	var causes []Cause
	for _, child := range m.g.children.of(job) {
		if m.needsOpen(child, r) {
			causes = append(causes, Cause{m.rows[child].Addr, m.rows[child].Reason})
		}
	}
	if causes != nil {
		r.Action, r.Reason, r.Causes = Reopen, ReasonChildAgain, causes
	}
}

// needsOpen tells whether a child counts on an opening of parent that has not come yet. A template never does: its occurrences
// start after the work of a parent that runs once, and keep it open no more than a clock would.
func (m *maker) needsOpen(child int32, parent *Row) bool {
	c := &m.rows[child]
	if c.Recurs() {
		return false
	}
	switch c.Action {
	case Create, Replace, Reopen:
		return true
	}
	if c.Prior == nil {
		return false // not targeted
	}
	e := parentEdge(c, parent)
	if e == nil { // it waits elsewhere, and becomes a child by this plan
		return c.Action == Update && c.Live.Status.Waits()
	}
	// It counts for the opening of today. Or for the next one: an apply that was killed had come as far as the child.
	return e.Opening > parent.opening()
}

// upstream finds the edges of a job whose upstream submission is, or will be, another than the recorded one. reason is
// ReasonUpstream if one of them is due to this plan.
//
// What a submission will be is as good as what it is: a row written by an apply that was killed before it came to the
// upstream has the edge already, and is not written again.
func (m *maker) upstream(job int32) (causes []Cause, reason Reason) {
	prior := m.rows[job].Prior
	reason = ReasonUpstreamRan
	recorded := edgeFinder{edges: prior.Edges}
	for k, l := range m.g.up.of(job) {
		if !l.inside() {
			continue
		}
		u := &m.rows[l.to]
		fresh := u.Action == Create || u.Action == Replace
		raised := u.Action == Reopen && !l.kind.Parent()
		changed := fresh || raised
		if e := recorded.find(k, u.Addr); e != nil {
			again := false
			switch {
			case fresh:
				again = !sameUUID(m.nextUUID(l.to), e.UUID)
			case u.Prior != nil: // else not targeted and never submitted: not reached, targets include their upstream
				again = !sameUUID(u.Prior.UUID, e.UUID)
			}
			switch {
			case l.kind.Parent():
				changed = again
			case e.Kind.Parent(): // an heir now, it was a child: the opening it counted for says nothing
				changed = again || raised
			default:
				changed = again || u.nextOpening() != e.Opening
			}
		}
		if changed {
			causes = append(causes, Cause{u.Addr, u.Reason})
			if fresh || raised {
				reason = ReasonUpstream
			}
		}
	}
	return causes, reason
}

// edgeFinder finds recorded edges by what they wait for. Recorded edges are in the order of the declared ones unless
// edges changed, so it tries the same place first, and makes an index only for long lists that differ.
type edgeFinder struct {
	edges []Edge
	index map[config.Addr]*Edge
}

// find returns the first edge to addr, nil if there is none. Its place is likely k.
func (f *edgeFinder) find(k int, addr config.Addr) *Edge {
	const long = 16
	if k < len(f.edges) && f.edges[k].Addr == addr {
		return &f.edges[k]
	}
	if len(f.edges) > long {
		if f.index == nil {
			f.index = make(map[config.Addr]*Edge, len(f.edges))
			for i := range slices.Backward(f.edges) {
				f.index[f.edges[i].Addr] = &f.edges[i]
			}
		}
		return f.index[addr]
	}
	for i := range f.edges {
		if f.edges[i].Addr == addr {
			return &f.edges[i]
		}
	}
	return nil
}

// parentEdge is the edge by which child counts as a child of the recorded submission of p, nil if it has none. Parent
// edges come first among the edges of a record.
func parentEdge(child, p *Row) *Edge {
	for i := range child.Prior.Edges {
		e := &child.Prior.Edges[i]
		if !e.Kind.Parent() {
			return nil
		}
		if e.Addr == p.Addr {
			if !sameUUID(p.Prior.UUID, e.UUID) {
				return nil
			}
			return e
		}
	}
	return nil
}

// opening is the opening that the row's job has today. A retry by hand raises it without writing the record.
func (r *Row) opening() int64 { return max(1, r.Prior.Opening, r.Live.Opening) }

// nextOpening is the opening that the row's job will have.
func (r *Row) nextOpening() int64 {
	switch {
	case r.Action == Create || r.Action == Replace || r.Prior == nil:
		return 1
	case r.Action == Reopen:
		return r.opening() + 1
	default:
		return r.opening()
	}
}

// nextUUID is the uuid that a job's next generation will have, if nothing else gives up generations meanwhile.
func (m *maker) nextUUID(job int32) uuid.UUID {
	if m.next == nil {
		m.next = make([]uuid.UUID, len(m.rows))
	}
	if m.next[job] == (uuid.UUID{}) {
		name := m.g.names[job]
		m.next[job] = UUIDOf(m.s.Lineage, name, nextGeneration(m.s, name, m.rows[job].Prior))
	}
	return m.next[job]
}

// nextGeneration is the generation after prior's, or the first above the floor for an address without a record. A record
// whose uuid is not of its own address and generation was moved here, and generations below the floor may be used.
func nextGeneration(s *State, name string, prior *Record) int64 {
	switch {
	case prior == nil:
		return s.Floor + 1
	case prior.UUID != UUIDOf(s.Lineage, name, prior.Generation):
		return max(prior.Generation, s.Floor) + 1
	default:
		return prior.Generation + 1
	}
}

// decideRemoved decides the rows of what is not declared any more, upstream first. Targets leave out all but those they
// mean, and those that would wait for ever for what this plan replaces or deletes: such a job may keep its parent open.
func (m *maker) decideRemoved() {
	reason := ReasonUndeclared
	if m.o.Destroy {
		reason = ReasonDestroy
	}
	deleted := map[config.Addr]bool{}
	if m.excluding != nil {
		m.excludeRemoved()
	}
	for i := range m.removed {
		r := &m.removed[i]
		if r.Reason == ReasonExcluded {
			continue
		}
		if m.limited && !matchesAny(m.o.Targets, r.Addr) && !m.stranded(r, deleted) {
			r.Action, r.Reason = NoOp, ReasonNotTargeted
			continue
		}
		d := remove(r.Prior, r.Live, reason)
		if m.o.RefreshOnly && d.action != Forget {
			d = decision{action: NoOp, reason: ReasonRefreshOnly}
		}
		if d.reason == ReasonUndeclared && m.leftAlone(r) {
			d = decision{action: Forget, reason: ReasonForgotten}
		}
		r.Action, r.Reason = d.action, d.reason
		if m.limited && r.Action == Delete {
			deleted[r.Addr] = true
		}
	}
}

// leftAlone tells whether a removed block says that the job of a record goes on without it. A job that was told to stop does not.
func (m *maker) leftAlone(r *Row) bool {
	return !r.Prior.Deposed && slices.ContainsFunc(m.leave, func(v config.Removed) bool { return !v.Destroy && v.From.Covers(r.Addr) })
}
