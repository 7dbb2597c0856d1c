package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// node is a local, or the count or for_each of a job: what has to be evaluated before others can be. Exactly one
// field is set.
type node struct {
	local *local
	job   *jobBlock
}

func (n node) String() string {
	if n.local != nil {
		return "local." + n.local.name
	}
	return "job." + n.job.name
}

func (n node) attr() *attribute {
	if n.local != nil {
		return &n.local.attr
	}
	return n.job.repeat(nil)
}

func (n node) at() hcl.Range { return n.attr().nameRange }

// needs lists the nodes that a node's expression refers to. Variables and plain jobs are known before all nodes.
func (m *module) needs(expr hcl.Expression) []node {
	var list []node
	references(expr, func(t hcl.Traversal) {
		n, ok := m.nodeOf(t)
		if ok && !slices.Contains(list, n) {
			list = append(list, n)
		}
	})
	return list
}

func (m *module) nodeOf(t hcl.Traversal) (node, bool) {
	if len(t) < 2 {
		return node{}, false
	}
	step, isAttr := t[1].(hcl.TraverseAttr)
	if !isAttr {
		return node{}, false
	}
	switch t.RootName() {
	case "local":
		if x := m.locals[step.Name]; x != nil {
			return node{local: x}, true
		}
	case "job":
		if j := m.jobs[step.Name]; j != nil && j.repeat(nil) != nil {
			return node{job: j}, true
		}
	}
	return node{}, false
}

// evaluateAll evaluates every node after those it needs.
func (m *module) evaluateAll() {
	var nodes []node
	for _, name := range slices.Sorted(maps.Keys(m.locals)) {
		nodes = append(nodes, node{local: m.locals[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(m.jobs)) {
		if j := m.jobs[name]; j.block != nil {
			j.block.open(&m.l.r)
			if j.repeat(&m.l.r) != nil {
				nodes = append(nodes, node{job: j})
			}
		}
	}
	m.evaluateNodes(nodes)
}

// evaluateOnly evaluates the given nodes and what they need.
func (m *module) evaluateOnly(nodes []node) {
	seen := map[node]bool{}
	for i := 0; i < len(nodes); i++ {
		if seen[nodes[i]] {
			continue
		}
		seen[nodes[i]] = true
		nodes = append(nodes, m.needs(nodes[i].attr().expr)...)
	}
	m.evaluateNodes(slices.SortedFunc(maps.Keys(seen), func(a, b node) int { return strings.Compare(a.String(), b.String()) }))
}

// evaluateNodes works through the nodes in an order of their dependencies. What is left in the end is in a cycle,
// or needs something that is: its value stays unknown.
func (m *module) evaluateNodes(nodes []node) {
	needs := make(map[node][]node, len(nodes))
	waiting := make(map[node]int, len(nodes))
	dependents := make(map[node][]node, len(nodes))
	var ready []node
	for _, n := range nodes {
		needs[n] = m.needs(n.attr().expr)
		waiting[n] = len(needs[n])
		for _, d := range needs[n] {
			dependents[d] = append(dependents[d], n)
		}
		if len(needs[n]) == 0 {
			ready = append(ready, n)
		}
	}
	for done := 0; done < len(ready); done++ {
		n := ready[done]
		if n.local != nil {
			m.evaluateLocal(n.local)
		} else {
			m.expand(n.job)
		}
		delete(waiting, n)
		for _, d := range dependents[n] {
			if waiting[d]--; waiting[d] == 0 {
				ready = append(ready, d)
			}
		}
	}
	m.reportCycles(nodes, needs, waiting)
}

// reportCycles names each cycle among the nodes that could not be evaluated, once.
func (m *module) reportCycles(nodes []node, needs map[node][]node, left map[node]int) {
	seen := map[node]bool{} // followed already
	for _, start := range nodes {
		if _, isLeft := left[start]; !isLeft {
			continue
		}
		start.giveUp()
		var path []node
		at := map[node]int{}
		for n := start; !seen[n]; {
			seen[n] = true
			at[n] = len(path)
			path = append(path, n)
			i := slices.IndexFunc(needs[n], func(d node) bool { _, isLeft := left[d]; return isLeft })
			n = needs[n][i]
			if from, closed := at[n]; closed {
				m.reportCycle(path[from:])
			}
		}
	}
}

func (m *module) reportCycle(cycle []node) {
	names := make([]string, 0, len(cycle)+1)
	for _, n := range append(slices.Clone(cycle), cycle[0]) {
		names = append(names, n.String())
	}
	const shown = 20
	if len(names) > shown {
		names = slices.Insert(names[len(names)-shown+1:], 0, names[0], "...")
	}
	if len(cycle) == 1 {
		m.l.r.error(sumReferenceCycle, cycle[0].at(), "%s refers to itself.", names[0])
		return
	}
	m.l.r.error(sumReferenceCycle, cycle[0].at(), "These values need each other, so none of them can be found: %s.", strings.Join(names, " -> "))
}

func (n node) giveUp() {
	if n.local != nil {
		n.local.value = cty.DynamicVal
	} else {
		n.job.broken = true
	}
}
