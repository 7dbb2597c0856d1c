package planner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// ErrStale says that a record moved since a plan was made. The message names the addresses.
var ErrStale = errors.New("state has changed since the plan was made")

// Still tells whether rec, as it is in state now (nil for none), is the record that the row was planned against. The
// uuid counts too: versions of an address start anew after it was destroyed, uuids never come again.
func (r *Row) Still(rec *Record) bool {
	if r.Prior == nil || rec == nil {
		return r.Prior == nil && rec == nil
	}
	return r.Prior.Version == rec.Version && r.Prior.UUID == rec.UUID
}

// Stale lists the addresses of rows with an action whose record moved, in plan order. Moves of others do not matter.
func (p *Plan) Stale(s *State) []config.Addr {
	var stale []config.Addr
	for _, r := range p.Rows {
		if r.Action != NoOp && !r.Still(s.Records[r.Addr.String()]) {
			stale = append(stale, r.Addr)
		}
	}
	return stale
}

// Settle turns every row of p that writes something into the record it writes (Row.Next), against the state under the
// lock: s has a lineage by now, and is as Moved gives it. Edges name the submissions that stand once the plan is applied. It fails with ErrStale
// when a record is not the one that was planned against, and then changes nothing.
func Settle(p *Plan, s *State) error {
	switch {
	case s.Lineage == (uuid.UUID{}):
		return fmt.Errorf("settle the plan of workflow %s: its state has no lineage yet", p.Workflow)
	case p.Lineage != (uuid.UUID{}) && p.Lineage != s.Lineage:
		return fmt.Errorf("%w: it is of another state of workflow %s, which was made anew since", ErrStale, p.Workflow)
	}
	if stale := p.Stale(s); len(stale) > 0 {
		names := make([]string, len(stale))
		for i, a := range stale {
			names[i] = a.String()
		}
		return fmt.Errorf("%w: %s", ErrStale, listed(names, 10))
	}
	t := settler{s: s, rows: make(map[config.Addr]*Row, len(p.Rows))}
	for _, r := range p.Rows {
		r.Next, r.HoldOpen = t.next(r), nil
		t.rows[r.Addr] = r
	}
	for _, r := range p.Rows {
		if err := t.connect(r); err != nil {
			return err
		}
	}
	return nil
}

type settler struct {
	s    *State
	rows map[config.Addr]*Row
}

// next makes the record without its edges.
func (t *settler) next(r *Row) *Record {
	switch r.Action {
	case NoOp, Forget:
		return nil
	case Delete:
		return deposed(r)
	}
	if r.Leave {
		rec := *r.Prior
		rec.Version, rec.Opening = r.Prior.Version+1, r.nextOpening()
		return &rec
	}
	rec := &Record{Version: 1, Opening: r.nextOpening(), Work: r.Work, Handling: r.Handling, KeyID: r.KeyID,
		Queue: r.Job.Queue, Type: r.Job.Type, Definition: r.Definition, Hidden: r.Hidden}
	if r.Prior != nil {
		rec.Version = r.Prior.Version + 1
	}
	if r.KeepsWork {
		rec.Work, rec.KeyID, rec.Type = r.Prior.Work, r.Prior.KeyID, r.Prior.Type
	}
	if r.keepsUUID() {
		rec.UUID, rec.Generation, rec.Worked, rec.SignKey = r.Prior.UUID, r.Prior.Generation, r.Prior.Worked, r.Prior.SignKey
		return rec
	}
	if d, known := r.lastWorked(); known {
		rec.Worked = max(time.Millisecond, d.Truncate(time.Millisecond))
	}
	name := r.Addr.String()
	rec.Generation = nextGeneration(t.s, name, r.Prior)
	rec.UUID = UUIDOf(t.s.Lineage, name, rec.Generation)
	return rec
}

// deposed is the record of a job that goes but has not ended, nil when nothing of it can run any more.
func deposed(r *Row) *Record {
	rec := *r.Prior
	rec.Version++
	rec.Deposed = true
	if r.Live.Status.Active() {
		return &rec
	}
	if e := r.successorEdge(); e != nil {
		id, err := uuid.Parse(e.UUID)
		if err != nil {
			return nil // not reached: plan makes these edges
		}
		rec.UUID, rec.Opening, rec.Edges = id, e.Opening, nil
		return &rec
	}
	return nil
}

// successorEdge is the recorded edge to Earlier.
func (r *Row) successorEdge() *Edge {
	if r.Earlier == "" {
		return nil
	}
	for i := range r.Prior.Edges {
		if e := &r.Prior.Edges[i]; e.Kind == EdgeSuccessor && e.UUID == r.Earlier {
			return e
		}
	}
	return nil
}

// connect fills in the edges of Next, and HoldOpen.
func (t *settler) connect(r *Row) error {
	if r.Next == nil || r.Next.Deposed {
		return nil
	}
	if r.Leave {
		r.Next.Edges = t.kept(r)
		return nil
	}
	group := 0
	var edges []Edge
	if n := len(r.Edges); n > 0 {
		edges = make([]Edge, 0, n+1)
	}
	for _, target := range r.Edges {
		e := Edge{Kind: target.Kind, Group: target.Group, Addr: target.Addr, UUID: target.UUID, Opening: 1}
		group = max(group, e.Group+1)
		if target.UUID == "" {
			up := t.rows[target.Addr]
			if up == nil || up.standing(t.s) == nil {
				return fmt.Errorf("settle %s: it waits for %s, which has never been submitted and is not in this plan", r.Addr, target.Addr)
			}
			rec := up.standing(t.s)
			e.UUID, e.Opening = rec.UUID.String(), rec.Opening
			if up.Next == nil {
				e.Opening = max(1, rec.Opening, t.s.Live[target.Addr.String()].Opening)
			}
			t.holdOpen(r, up, e)
		}
		edges = append(edges, e)
	}
	if r.Successor {
		edges = append(edges, Edge{Kind: EdgeSuccessor, Group: group, UUID: r.Prior.UUID.String(), Opening: r.opening()})
	} else if e := r.successorEdge(); e != nil {
		kept := *e
		kept.Group = group
		edges = append(edges, kept)
	}
	r.Next.Edges, r.Next.Triggers = edges, t.triggers(r)
	return nil
}

// kept are the edges of a row that only leaves parents. A child that has started counts for the opening its parent has today,
// which is what the engine knows the edge by.
func (t *settler) kept(r *Row) []Edge {
	edges := r.keptEdges()
	for i := range edges {
		e := &edges[i]
		up := t.s.Records[e.Addr.String()]
		if e.Kind.Parent() && e.Addr != (config.Addr{}) && up != nil && sameUUID(up.UUID, e.UUID) {
			e.Opening = max(e.Opening, t.s.Live[e.Addr.String()].Opening)
		}
	}
	return edges
}

// keptEdges are the recorded edges without those to parents that the job is no longer declared under.
func (r *Row) keptEdges() []Edge {
	return slices.DeleteFunc(slices.Clone(r.Prior.Edges), func(e Edge) bool {
		return e.Kind.Parent() && !slices.ContainsFunc(r.Job.Parents, func(p config.Parent) bool {
			return p.Job == e.Addr && (p.UUID == "" || p.UUID == e.UUID)
		})
	})
}

// standing is the record that an address has once the plan is applied.
func (r *Row) standing(s *State) *Record {
	if r.Next != nil {
		return r.Next
	}
	return s.Records[r.Addr.String()]
}

// holdOpen adds a parent to HoldOpen if r's job becomes a child of it anew and the plan does not open it.
func (t *settler) holdOpen(r, up *Row, e Edge) {
	if !e.Kind.Parent() || r.Recurs() || up.Action == Create || up.Action == Replace || up.Action == Reopen || up.Live.Status.Ended() {
		return
	}
	switch {
	case r.Action == Create || r.Action == Replace || r.Action == Reopen:
	case r.Action == Update && r.Live.Status.Waits() && parentEdge(r, up) == nil:
	default:
		return
	}
	r.HoldOpen = append(r.HoldOpen, e.UUID)
}
