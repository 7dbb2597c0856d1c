package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// groupSorter brings the predecessor blocks of one job into canonical order, so that the order in which somebody wrote
// blocks, or jobs within a block, changes neither a digest nor a plan. Blocks that say the same count once.
type groupSorter struct {
	g      *Graph
	links  []link
	ends   []int // end of each group in links
	groups [][]link
}

func (s *groupSorter) reset(g *Graph) {
	s.g, s.links, s.ends, s.groups = g, s.links[:0], s.ends[:0], s.groups[:0]
}

// close ends a group: what was appended to links since the last one.
func (s *groupSorter) close() { s.ends = append(s.ends, len(s.links)) }

// appendTo appends the links of all groups, numbered in canonical order.
func (s *groupSorter) appendTo(links []link) []link {
	start := 0
	for _, end := range s.ends {
		group := s.links[start:end]
		start = end
		if !slices.IsSortedFunc(group, s.g.compareEnds) {
			slices.SortFunc(group, s.g.compareEnds)
		}
		group = slices.CompactFunc(group, func(a, b link) bool { return s.g.compareEnds(a, b) == 0 })
		if len(group) > 0 {
			s.groups = append(s.groups, group)
		}
	}
	if len(s.groups) > 1 {
		slices.SortStableFunc(s.groups, s.compare)
		s.groups = slices.CompactFunc(s.groups, func(a, b []link) bool { return s.compare(a, b) == 0 })
	}
	for number, group := range s.groups {
		for _, l := range group {
			l.group = int32(number)
			links = append(links, l)
		}
	}
	return links
}

func (s *groupSorter) compare(a, b []link) int {
	return cmp.Or(cmp.Compare(a[0].kind, b[0].kind), slices.CompareFunc(a, b, s.g.compareEnds))
}

// contradictions finds failure blocks of a job that can never hold, because each of their jobs has to succeed for
// another block. What contradicts itself only through the conditions of other jobs is not looked for.
func (g *Graph) contradictions(j *config.Job, links []link) (diags hcl.Diagnostics) {
	var succeed []link // sorted by end only within one group
	for _, l := range links {
		if l.kind == EdgeSuccess {
			succeed = append(succeed, l)
		}
	}
	if len(succeed) == 0 || len(succeed) == len(links) {
		return nil
	}
	slices.SortFunc(succeed, g.compareEnds)
	for len(links) > 0 {
		n := 1
		for n < len(links) && links[n].group == links[0].group {
			n++
		}
		group := links[:n]
		links = links[n:]
		if group[0].kind == EdgeFailure && !slices.ContainsFunc(group, func(l link) bool {
			_, found := slices.BinarySearchFunc(succeed, l, g.compareEnds)
			return !found
		}) {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Job can never start", Subject: j.Predecessors[group[0].block].Range.Ptr(),
				Detail: fmt.Sprintf("%s starts only if %s, and only if the same succeeds: both are never true. Remove one of the "+
					"predecessor blocks, or set run_if = \"always\".", j.Addr, g.failureOf(group)),
			})
		}
	}
	return diags
}

func (g *Graph) failureOf(group []link) string {
	if len(group) == 1 {
		return g.end(group[0]) + " fails"
	}
	return fmt.Sprintf("one of %s and %d more fails", g.end(group[0]), len(group)-1)
}

// end names what an edge waits for.
func (g *Graph) end(l link) string {
	if l.inside() {
		return g.names[l.to]
	}
	return "job " + g.outside[^l.to]
}
