package planner

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// Moved is a state as the moved blocks of a workflow want it: the record of an address that has moved to a declared one stands
// there, whole, and whatever waits for it names it so. State.MovedFrom says under which address the store still has it; the row
// that writes it makes that good. A state without such records is given back as it is, so doing it twice changes nothing. It
// fails, with one diagnostic for each, where both addresses have a record.
func Moved(s *State, w *config.Workflow) (*State, hcl.Diagnostics) {
	to := s.moves(w)
	if len(to) == 0 {
		return s, nil
	}
	if diags := s.taken(w, to); diags != nil {
		return s, diags
	}
	next := *s
	next.Records = make(map[string]*Record, len(s.Records))
	next.Live, next.MovedFrom = maps.Clone(s.Live), maps.Clone(s.MovedFrom)
	if next.MovedFrom == nil {
		next.MovedFrom = make(map[string]config.Addr, len(to))
	}
	for name, r := range s.Records {
		next.Records[name] = r.renamed(to)
	}
	for from, addr := range to {
		name := from.String()
		next.Records[addr.String()] = next.Records[name]
		delete(next.Records, name)
		if live, ok := s.Live[name]; ok {
			next.Live[addr.String()] = live
			delete(next.Live, name)
		}
		next.MovedFrom[addr.String()] = from
	}
	return &next, nil
}

// moves finds the recorded addresses that have moved to declared ones. What has moved to an address that is not declared stays
// where it is: the plan ends it there.
func (s *State) moves(w *config.Workflow) map[config.Addr]config.Addr {
	if len(w.Moved) == 0 {
		return nil
	}
	moves, found := config.NewMoves(w.Moved), map[config.Addr]config.Addr{}
	for name := range s.Records {
		from, err := config.ParseAddr(name)
		if err != nil {
			continue // told by match
		}
		if to, moved := moves.Of(from); moved {
			found[from] = to
		}
	}
	if len(found) == 0 {
		return nil
	}
	declared := make(map[config.Addr]bool, len(w.Jobs))
	for _, j := range w.Jobs {
		declared[j.Addr] = true
	}
	maps.DeleteFunc(found, func(_, to config.Addr) bool { return !declared[to] })
	return found
}

// taken reports moves to addresses that have records already.
func (s *State) taken(w *config.Workflow, moves map[config.Addr]config.Addr) (diags hcl.Diagnostics) {
	by := make(map[config.Addr]config.Addr, len(moves))
	for _, from := range slices.SortedFunc(maps.Keys(moves), compareAddr) {
		to := moves[from]
		other, twice := by[to]
		by[to] = from
		if s.Records[to.String()] != nil {
			other = to
		} else if !twice {
			continue
		}
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Two records for one job", Subject: movedRange(w, from),
			Detail: fmt.Sprintf("%s has moved to %s, and %s has a record too, so which of the two that job is cannot be told. Remove the moved "+
				"block: then %[1]s is destroyed, and %[3]s stays as it is.", from, to, other),
		})
	}
	return diags
}

// movedRange is the block that an address moves by first.
func movedRange(w *config.Workflow, from config.Addr) *hcl.Range {
	for i := range w.Moved {
		if w.Moved[i].From == from {
			return &w.Moved[i].Range
		}
	}
	for i := range w.Moved {
		if w.Moved[i].From == from.Block() || w.Moved[i].From.IsModule() && w.Moved[i].From.Covers(from) {
			return &w.Moved[i].Range
		}
	}
	return &hcl.Range{}
}

// renamed is the record with edges to today's addresses.
func (r *Record) renamed(moves map[config.Addr]config.Addr) *Record {
	is := func(e Edge) bool { _, moved := moves[e.Addr]; return moved }
	triggered := func(t Trigger) bool { _, moved := moves[t.Addr]; return moved }
	if !slices.ContainsFunc(r.Edges, is) && !slices.ContainsFunc(r.Triggers, triggered) {
		return r
	}
	next := *r
	next.Triggers = slices.Clone(r.Triggers)
	for i := range next.Triggers {
		if to, moved := moves[next.Triggers[i].Addr]; moved {
			next.Triggers[i].Addr = to
		}
	}
	next.Edges = slices.Clone(r.Edges)
	for i := range next.Edges {
		if to, moved := moves[next.Edges[i].Addr]; moved {
			next.Edges[i].Addr = to
		}
	}
	return &next
}

// Moves are the moves that a plan carries out: what its workflow would declare to have the same plan made again.
func (p *Plan) Moves() (moves []config.Moved) {
	for _, r := range p.Rows {
		if r.MovedFrom != (config.Addr{}) {
			moves = append(moves, config.Moved{From: r.MovedFrom, To: r.Addr})
		}
	}
	return moves
}

// handlingChanged tells whether a job's handling differs from what is recorded, or its record has to be written for nothing but
// addresses: its own, or those of what it waits for.
func (m *maker) handlingChanged(job int32) (changed, moved bool) {
	r := &m.rows[job]
	switch {
	case r.Handling == r.Prior.Handling:
		moved = r.MovedFrom != (config.Addr{}) || m.renamed[job] != nil
		return moved, moved
	case len(m.s.MovedFrom) == 0 || !m.waitsForMoved(job):
		return true, false
	}
	if m.former == nil {
		m.former = m.formerHandling()
	}
	return true, m.former[job] == r.Prior.Handling
}

// renameWork finds out whether a job's work differs from what is recorded in nothing but the addresses that its payload names:
// those of jobs that have moved.
func (m *maker) renameWork(d *digester, job int32) {
	r := &m.rows[job]
	was := func(address string) string {
		addr, err := config.ParseAddr(address)
		if err != nil {
			return ""
		}
		if at, ok := m.g.index[addr]; ok && m.rows[at].MovedFrom != (config.Addr{}) {
			return m.rows[at].MovedFrom.String()
		}
		return ""
	}
	var named []config.Addr
	name := func(address string) {
		if addr, err := config.ParseAddr(address); err == nil && !slices.Contains(named, addr) {
			named = append(named, addr)
		}
	}
	payload := config.FillPlaceholders(r.Job.Payload, func(address string) string {
		former := was(address)
		if former == "" {
			return ""
		}
		name(address)
		return config.Placeholder(former)
	})
	payload = config.FillReadings(payload, func(reading config.Reading) string {
		former := was(reading.Address)
		if former == "" {
			return ""
		}
		name(reading.Address)
		reading.Address = former
		return reading.Placeholder()
	})
	if named == nil {
		return
	}
	former := *r.Job
	former.Payload = payload
	if work, key := d.work(&former); work == r.Prior.Work && key == r.Prior.KeyID {
		if m.renamed == nil {
			m.renamed = map[int32][]config.Addr{}
		}
		m.renamed[job] = named
	}
}

func (m *maker) waitsForMoved(job int32) bool {
	for _, l := range m.g.up.of(job) {
		if l.inside() && m.rows[l.to].MovedFrom != (config.Addr{}) {
			return true
		}
	}
	for _, to := range m.g.triggers.above(job) {
		if m.rows[to].MovedFrom != (config.Addr{}) {
			return true
		}
	}
	return false
}

// formerHandling is what the handling digests would be had nothing moved. The order of edges goes by address, so it takes the
// graph of the workflow under its former addresses.
func (m *maker) formerHandling() []Digest {
	was := func(a config.Addr) config.Addr {
		if job, ok := m.g.index[a]; ok && m.rows[job].MovedFrom != (config.Addr{}) {
			return m.rows[job].MovedFrom
		}
		return a
	}
	w := &config.Workflow{Jobs: make([]*config.Job, len(m.g.jobs))}
	for i, j := range m.g.jobs {
		former := *j
		former.Addr = was(j.Addr)
		former.Parents = slices.Clone(j.Parents)
		for k := range former.Parents {
			former.Parents[k].Job = was(former.Parents[k].Job)
		}
		former.Predecessors = slices.Clone(j.Predecessors)
		for k := range former.Predecessors {
			p := &former.Predecessors[k]
			p.Jobs = slices.Clone(p.Jobs)
			for n := range p.Jobs {
				p.Jobs[n] = was(p.Jobs[n])
			}
		}
		if c := j.Lifecycle; c != nil && c.ReplacedBy != nil {
			cycle := *c
			cycle.ReplacedBy = slices.Clone(c.ReplacedBy)
			for n := range cycle.ReplacedBy {
				cycle.ReplacedBy[n] = was(cycle.ReplacedBy[n])
			}
			former.Lifecycle = &cycle
		}
		w.Jobs[i] = &former
	}
	digests := make([]Digest, len(m.g.jobs))
	g, diags := NewGraph(w)
	if diags.HasErrors() {
		return digests // not reached: the same graph under other names
	}
	d := digester{g: g}
	for i, j := range m.g.jobs {
		digests[i] = d.handling(g.index[was(j.Addr)])
	}
	return digests
}

// movedCauses are the jobs with another address that a job waits for.
func (m *maker) movedCauses(job int32) (causes []Cause) {
	if m.rows[job].MovedFrom != (config.Addr{}) {
		return nil
	}
	for _, l := range m.g.up.of(job) {
		if l.inside() && m.rows[l.to].MovedFrom != (config.Addr{}) {
			causes = append(causes, Cause{m.rows[l.to].Addr, ReasonMoved})
		}
	}
	for _, to := range m.g.triggers.above(job) {
		if m.rows[to].MovedFrom != (config.Addr{}) {
			causes = append(causes, Cause{m.rows[to].Addr, ReasonMoved})
		}
	}
	for _, addr := range m.renamed[job] {
		if c := (Cause{addr, ReasonMoved}); !slices.Contains(causes, c) {
			causes = append(causes, c)
		}
	}
	return causes
}

// looksSame tells whether a row writes its record for nothing that anybody would see: state mv gave what it waits for another
// address after its digest was made, or another version of Waybill made the digest.
func (r *Row) looksSame() bool {
	return r.Prior != nil && !r.Recurs() && len(r.Prior.Edges)+len(r.Prior.Triggers) > 0 && (r.Action == Rerecord || r.Action == Update) &&
		r.Job.Queue == r.Prior.Queue && bytes.Equal(r.Definition, r.Prior.Definition) && len(r.differences()) == 0
}
