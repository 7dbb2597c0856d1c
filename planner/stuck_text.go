package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

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
