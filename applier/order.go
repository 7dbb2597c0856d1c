package applier

import (
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// inOrder lists the rows that change something in the order in which they are written:
//
//  1. gates and what is downstream of them, the deepest first, since a job that triggers a gate may succeed before the next batch;
//  2. what waits for another changed row, the deepest first: dependents are in place before anything that could
//     release them exists. Rows of one depth go in start order, since what is released together starts in the order in
//     which it was stored;
//  3. component by component what starts work: first reopened parents, the lower before the upper, so that one that
//     reopens is in its own parent's active set before that one opens; then the roots, in start order, since the
//     engine starts jobs of a queue in the order in which they became ready;
//  4. the other templates, the deepest first: no cycle begins before all is in place that its occurrences wait for, be it downstream
//     of its root or a job that runs once. Nothing that runs once waits for a template;
//  5. cancels and forgets, in reverse start order. Only jobs whose unique key another row of the plan takes are cancelled
//     before everything else: an address that was renamed keeps its key.
//
// A kill between any two of them leaves held jobs that nothing can start, or jobs whose dependents are all in place.
func inOrder(p *planner.Plan) []*planner.Row {
	changing, gates := make(map[string]bool, len(p.Rows)), map[config.Addr]bool{}
	for _, r := range p.Rows {
		if r.Job != nil && r.Job.Gate != nil {
			gates[r.Addr] = true
		}
		switch r.Action {
		case planner.Create, planner.Update, planner.Reopen, planner.Replace:
			changing[r.Addr.String()] = true
		}
	}
	taken := takenKeys(p)
	var giving, gated, waiting, starting, recurring, removals []*planner.Row
	for _, r := range p.Rows {
		switch r.Action {
		case planner.NoOp:
		case planner.Delete, planner.Forget:
			if gives(r, taken) {
				giving = append(giving, r)
			} else {
				removals = append(removals, r)
			}
		case planner.Reopen:
			starting = append(starting, r)
		default:
			switch {
			case gates[r.Root]:
				gated = append(gated, r)
			case r.Recurs():
				recurring = append(recurring, r)
			case r.Action == planner.Rerecord || waitsForAny(r, changing):
				waiting = append(waiting, r)
			default:
				starting = append(starting, r)
			}
		}
	}
	slices.Reverse(giving)
	slices.Reverse(removals)
	return slices.Concat(giving, deepestFirst(gated), deepestFirst(waiting), byComponent(starting), deepestFirst(recurring), removals)
}

// deepestFirst sorts rows by the longest path of edges between them that leads to each. rows are in start order.
func deepestFirst(rows []*planner.Row) []*planner.Row {
	depths := make(map[string]int, len(rows))
	depth := func(r *planner.Row) int { return depths[r.Addr.String()] }
	for _, r := range rows {
		above := 0
		for _, e := range r.Edges {
			if e.UUID == "" {
				above = max(above, depths[e.Addr.String()])
			}
		}
		depths[r.Addr.String()] = above + 1
	}
	slices.SortStableFunc(rows, func(a, b *planner.Row) int { return depth(b) - depth(a) })
	return rows
}

func waitsForAny(r *planner.Row, changing map[string]bool) bool {
	for _, e := range r.Edges {
		if e.UUID == "" && changing[e.Addr.String()] {
			return true
		}
	}
	return false
}

// byComponent puts the reopened rows of each component, reversed, before its other rows.
func byComponent(rows []*planner.Row) []*planner.Row {
	ordered := make([]*planner.Row, 0, len(rows))
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Component == rows[0].Component {
			n++
		}
		for _, r := range slices.Backward(rows[:n]) {
			if r.Action == planner.Reopen {
				ordered = append(ordered, r)
			}
		}
		for _, r := range rows[:n] {
			if r.Action != planner.Reopen {
				ordered = append(ordered, r)
			}
		}
		rows = rows[n:]
	}
	return ordered
}
