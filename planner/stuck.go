package planner

import (
	"fmt"
	"slices"
	"strings"

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

// explainStuck makes the diagnostic of one wait without end, and says which of its steps is to blame.
func (g *Graph) explainStuck(steps []step) (*hcl.Diagnostic, step) {
	blamed, starts, upward := steps[0], 0, false
	for _, st := range steps {
		if st.from >= 0 {
			starts++
		}
		if st.from < 0 && st.to < 0 {
			upward = true
		}
	}
	if upward { // some job waits for a completion; a cycle of parents alone has no step from one completion to the next
		blamed = steps[slices.IndexFunc(steps, func(st step) bool { return st.from >= 0 && st.to < 0 })]
	}
	job, target := g.names[jobOf(blamed.from)], g.names[jobOf(blamed.to)]
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: g.rangeOf(blamed)}
	path := g.path(steps)
	switch {
	case !upward && len(path) == 1:
		diag.Summary = "Job waits for itself"
		diag.Detail = fmt.Sprintf("%s names itself as its parent or predecessor, so it can never start. Remove the reference.", job)
	case !upward:
		diag.Summary = "Cycle between jobs"
		diag.Detail = fmt.Sprintf("These jobs wait for each other, so none of them can ever start:\n\n%s\n\nRemove one of the "+
			"parent or predecessor blocks, for example this one.", strings.Join(path, "\n"))
	case starts == 1:
		diag.Summary = "Predecessor is an ancestor of the job"
		diag.Detail = fmt.Sprintf("%s waits until %s is complete, but %s is complete only after all jobs below it, this one "+
			"included:\n\n%s\n\nA child starts after the work of its parent by itself: remove this predecessor, or remove the "+
			"parent block and keep the predecessor.", job, target, target, strings.Join(path, "\n"))
	default:
		diag.Summary = "Job can never start"
		diag.Detail = fmt.Sprintf("%s waits until %s is complete, and that waits for %s:\n\n%s\n\nRemove one of these blocks, for "+
			"example this one: a parent is complete only after its children, and they after theirs.", job, target, job,
			strings.Join(path, "\n"))
	}
	return diag, blamed
}

// path tells steps line by line. Steps from a job's completion to its own work go without saying.
func (g *Graph) path(steps []step) []string {
	var lines []string
	for _, st := range steps {
		from, to := g.names[jobOf(st.from)], g.names[jobOf(st.to)]
		switch {
		case st.from >= 0 && st.to >= 0:
			lines = append(lines, fmt.Sprintf("  %s starts after its parent %s", from, to))
		case st.from >= 0:
			lines = append(lines, fmt.Sprintf("  %s waits for %s to be complete", from, to))
		case st.to < 0:
			lines = append(lines, fmt.Sprintf("  %s is complete only after its child %s", from, to))
		}
	}
	if hidden := len(lines) - maxSteps; hidden > 0 {
		tail := len(lines) - maxSteps/4
		lines = append(append(lines[:maxSteps-maxSteps/4:maxSteps], fmt.Sprintf("  ... %d more ...", hidden)), lines[tail:]...)
	}
	return lines
}

// rangeOf finds the block that makes a job wait as blamed says.
func (g *Graph) rangeOf(blamed step) *hcl.Range {
	j := g.jobs[jobOf(blamed.from)]
	for _, l := range g.up.of(jobOf(blamed.from)) {
		if l.to != jobOf(blamed.to) || l.kind.Parent() != (blamed.to >= 0) {
			continue
		}
		if l.kind.Parent() {
			return j.Parents[l.block].Range.Ptr()
		}
		return j.Predecessors[l.block].Range.Ptr()
	}
	return j.Range.Ptr()
}
