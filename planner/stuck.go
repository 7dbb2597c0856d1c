package planner

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// maxStuck bounds how many waits without end are told at once. One more costs one more walk over the jobs involved, and
// whoever has ten cycles mends a few before reading on.
const maxStuck = 10

// maxSteps bounds how many steps of one such wait are printed.
const maxSteps = 12

// stuck explains why jobs are missing from order: each diagnostic shows one shortest way in which a job waits for
// itself. It returns nil when none is missing.
func (g *Graph) stuck() (diags hcl.Diagnostics) {
	if len(g.order) == len(g.jobs) {
		return nil
	}
	s := stuckSearch{g: g, cut: map[[2]int32]bool{}}
	happened := make([]bool, 2*len(g.jobs))
	for _, e := range g.events {
		happened[eventIndex(e)] = true
	}
	var open []int32
	for i, done := range happened {
		if !done {
			open = append(open, eventAt(int32(i)))
		}
	}
	// Each knot is searched again without the edge that was blamed last, until it is untied.
	knots := s.knots(open)
	for len(knots) > 0 {
		if len(diags) == maxStuck {
			last := diags[len(diags)-1]
			last.Detail += "\n\nThere are more such waits; they are shown once these are mended."
			break
		}
		knot := knots[0]
		steps := s.shortest(knot)
		diag, blamed := g.explainStuck(steps)
		diags = append(diags, diag)
		s.cut[[2]int32{blamed.from, blamed.to}] = true
		knots = append(s.knots(knot), knots[1:]...)
	}
	return diags
}

// Events as indexes: own work of job j is 2j, its completion 2j+1.
func eventIndex(e int32) int32 {
	if e < 0 {
		return 2*^e + 1
	}
	return 2 * e
}

func eventAt(i int32) int32 {
	if i%2 == 1 {
		return ^(i / 2)
	}
	return i / 2
}

// step is one wait between two events, as in Graph.events.
type step struct{ from, to int32 }

func jobOf(event int32) int32 {
	if event < 0 {
		return ^event
	}
	return event
}

// stuckSearch finds sets of events that wait for each other (knots) with Tarjan's algorithm, without recursion: chains
// may be as long as a workflow.
type stuckSearch struct {
	g   *Graph
	cut map[[2]int32]bool // steps that were told already
}

// waits appends the events that e waits for.
func (s *stuckSearch) waits(e int32, to []int32) []int32 {
	start := len(to)
	if e >= 0 {
		for _, l := range s.g.up.of(e) {
			switch {
			case !l.inside():
			case l.kind.Parent():
				to = append(to, l.to)
			default:
				to = append(to, ^l.to)
			}
		}
	} else {
		to = append(to, ^e)
		for _, child := range s.g.children.of(^e) {
			to = append(to, ^child)
		}
	}
	if len(s.cut) == 0 {
		return to
	}
	kept := slices.DeleteFunc(to[start:], func(x int32) bool { return s.cut[[2]int32{e, x}] })
	return to[:start+len(kept)]
}

// knots returns the strongly connected sets among events that have at least one step inside and hold some job's own work,
// each with its smallest job first, in that order.
func (s *stuckSearch) knots(events []int32) [][]int32 {
	const unseen, closed = 0, -1
	state := make(map[int32]int32, len(events)) // discovery number, from 1; closed once its knot is known
	low := make(map[int32]int32, len(events))
	member := make(map[int32]bool, len(events))
	for _, e := range events {
		member[e] = true
	}
	type frame struct {
		event int32
		waits []int32
	}
	var found [][]int32
	var stack []int32
	var calls []frame
	number := int32(0)
	enter := func(e int32) {
		number++
		state[e], low[e] = number, number
		stack = append(stack, e)
		calls = append(calls, frame{e, s.waits(e, nil)})
	}
	for _, root := range events {
		if state[root] != unseen {
			continue
		}
		enter(root)
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			if len(f.waits) > 0 {
				next := f.waits[0]
				f.waits = f.waits[1:]
				switch {
				case !member[next]:
				case state[next] == unseen:
					enter(next)
				case state[next] != closed:
					low[f.event] = min(low[f.event], state[next])
				}
				continue
			}
			e := f.event
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].event
				low[up] = min(low[up], low[e])
			}
			if low[e] != state[e] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != e {
				at--
			}
			knot := slices.Clone(stack[at:])
			stack = stack[:at]
			for _, x := range knot {
				state[x] = closed
			}
			if s.tied(knot) {
				slices.SortFunc(knot, func(a, b int32) int { return int(eventIndex(a) - eventIndex(b)) })
				found = append(found, knot)
			}
		}
	}
	slices.SortFunc(found, func(a, b []int32) int { return int(eventIndex(firstWork(a)) - eventIndex(firstWork(b))) })
	return found
}

func (s *stuckSearch) tied(knot []int32) bool {
	if firstWork(knot) < 0 {
		return false // parents in a cycle complete after each other too: told once is enough
	}
	return len(knot) > 1 || slices.Contains(s.waits(knot[0], nil), knot[0])
}

// firstWork is the first own work in a knot, or a completion if it has none.
func firstWork(knot []int32) int32 {
	if i := slices.IndexFunc(knot, func(e int32) bool { return e >= 0 }); i >= 0 {
		return knot[i]
	}
	return ^0
}

// shortest returns a shortest chain of waits that leads from the first own work of a knot back to it.
func (s *stuckSearch) shortest(knot []int32) []step {
	member := make(map[int32]bool, len(knot))
	for _, e := range knot {
		member[e] = true
	}
	start := firstWork(knot)
	from := map[int32]int32{}
	queue := []int32{start}
	for i := 0; i < len(queue); i++ {
		e := queue[i]
		for _, next := range s.waits(e, nil) {
			if !member[next] {
				continue
			}
			if next == start {
				steps := []step{{e, start}}
				for e != start {
					steps = append(steps, step{from[e], e})
					e = from[e]
				}
				slices.Reverse(steps)
				return steps
			}
			if _, seen := from[next]; !seen {
				from[next] = e
				queue = append(queue, next)
			}
		}
	}
	return nil // not reached: in a knot everything leads everywhere
}
