package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// node is a value that has to be found before others can be. It stands for this value in all modules of a call, which are told apart
// when it is evaluated: so the order is found once, before it is known how many modules there are.
type node struct {
	call *call
	kind nodeKind
	name string // "" for a nodeModule
}

type nodeKind uint8

const (
	nodeLocal    nodeKind = iota
	nodeJob               // count or for_each of a job
	nodeModule            // the modules of call: count or for_each of its block
	nodeVariable          // of a module; those of the root are known before
	nodeOutput            // likewise
)

func (n node) String() string {
	at := n.call.addr
	if n.kind == nodeModule {
		return at
	}
	if at != "" {
		at += "."
	}
	return at + map[nodeKind]string{nodeLocal: "local.", nodeJob: "job.", nodeVariable: "var.", nodeOutput: "output."}[n.kind] + n.name
}

// expressions calls visit for each expression that the value is made from, and gives the call in whose names they are written. The
// range is where a cycle is reported.
func (n node) expressions(visit func(hcl.Expression)) (in *call, at hcl.Range) {
	d := n.call.dir
	one := func(a *attribute) hcl.Range {
		visit(a.expr)
		return a.nameRange
	}
	switch n.kind {
	case nodeLocal:
		return n.call, one(&d.locals[n.name].attr)
	case nodeJob:
		return n.call, one(d.jobs[n.name].repeat(nil))
	case nodeOutput:
		b := d.outputs[n.name]
		b.inner.expressions(visit)
		return n.call, b.header
	}
	b := n.call.block
	a := b.block.inner.attr(n.name)
	if n.kind == nodeModule {
		a = b.repeat(nil)
	}
	if a == nil {
		return n.call.parent, b.block.header
	}
	return n.call.parent, one(a)
}

func (c *content) expressions(visit func(hcl.Expression)) {
	for i := range c.attrs {
		visit(c.attrs[i].expr)
	}
	for i := range c.blocks {
		c.blocks[i].inner.expressions(visit)
	}
}

// needs lists the nodes that have to be known before a node. Plain jobs are known before all.
func (n node) needs() []node {
	var list []node
	add := func(n node) {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	var found []hcl.Expression
	in, _ := n.expressions(func(expr hcl.Expression) { found = append(found, expr) })
	if n.call.parent != nil && n.kind != nodeModule {
		add(node{call: n.call, kind: nodeModule})
	}
	if in.parent != nil {
		add(node{call: in, kind: nodeModule})
	}
	for _, expr := range found {
		in.refer(expr, add)
	}
	return list
}

// refer calls add for each node that an expression refers to in the names of a call.
func (c *call) refer(expr hcl.Expression, add func(node)) {
	references(expr, func(t hcl.Traversal) {
		if len(t) < 2 {
			return
		}
		step, isAttr := t[1].(hcl.TraverseAttr)
		if !isAttr {
			return
		}
		name := step.Name
		switch t.RootName() {
		case "local":
			if c.dir.locals[name] != nil {
				add(node{call: c, kind: nodeLocal, name: name})
			}
		case "job":
			if j := c.dir.jobs[name]; j != nil && j.repeat(nil) != nil {
				add(node{call: c, kind: nodeJob, name: name})
			}
		case "var":
			if c.parent != nil && c.dir.variables[name] != nil {
				add(node{call: c, kind: nodeVariable, name: name})
			}
		case "module":
			if inner := c.calls[name]; inner != nil {
				inner.referred(t[2:], add)
			}
		}
	})
}

// referred adds what has to be known for a reference to a call: the output that is named, or all.
func (c *call) referred(rest hcl.Traversal, add func(node)) {
	if len(rest) > 0 {
		if _, isIndex := rest[0].(hcl.TraverseIndex); isIndex {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		if step, isAttr := rest[0].(hcl.TraverseAttr); isAttr {
			if c.dir.outputs[step.Name] != nil {
				add(node{call: c, kind: nodeOutput, name: step.Name})
			}
			return
		}
	}
	add(node{call: c, kind: nodeModule})
	for _, n := range c.dir.nodes {
		if n.kind == nodeOutput {
			add(node{call: c, kind: nodeOutput, name: n.name})
		}
	}
}

// evaluateAll evaluates every node after those it needs.
func (l *loader) evaluateAll() {
	l.root.dir.prepare()
	for _, d := range l.directories {
		d.prepare()
	}
	var nodes []node
	for _, c := range l.calls {
		if c.parent != nil {
			nodes = append(nodes, node{call: c, kind: nodeModule})
		}
		for _, n := range c.dir.nodes {
			n.call = c
			nodes = append(nodes, n)
		}
	}
	l.evaluateNodes(nodes)
}

// evaluateOnly evaluates the given nodes and what they need.
func (l *loader) evaluateOnly(nodes []node) {
	seen := map[node]bool{}
	var all []node
	for i := 0; i < len(nodes); i++ {
		if seen[nodes[i]] {
			continue
		}
		seen[nodes[i]] = true
		all = append(all, nodes[i])
		nodes = append(nodes, nodes[i].needs()...)
	}
	slices.SortFunc(all, func(a, b node) int { return strings.Compare(a.String(), b.String()) })
	l.evaluateNodes(all)
}

// find evaluates a node whose needs are met, in every module of its call.
func (n node) find() {
	switch n.kind {
	case nodeModule:
		n.call.expand()
	case nodeVariable:
		n.call.input(n.name)
	case nodeLocal:
		for _, m := range n.call.modules {
			m.evaluateLocal(m.locals[n.name])
		}
	case nodeJob:
		for _, m := range n.call.modules {
			m.expand(m.jobs[n.name])
		}
	case nodeOutput:
		for _, m := range n.call.modules {
			m.evaluateOutput(n.name)
		}
		n.call.found++
	}
}

// evaluateNodes works through the nodes in an order of their dependencies. What is left in the end is in a cycle,
// or needs something that is: its value stays unknown.
func (l *loader) evaluateNodes(nodes []node) {
	needs := make(map[node][]node, len(nodes))
	waiting := make(map[node]int, len(nodes))
	dependents := make(map[node][]node, len(nodes))
	var ready []node
	for _, n := range nodes {
		list := n.needs()
		needs[n] = list
		waiting[n] = len(list)
		for _, d := range list {
			dependents[d] = append(dependents[d], n)
		}
		if len(list) == 0 {
			ready = append(ready, n)
		}
	}
	for done := 0; done < len(ready); done++ {
		n := ready[done]
		n.find()
		delete(waiting, n)
		for _, d := range dependents[n] {
			if waiting[d]--; waiting[d] == 0 {
				ready = append(ready, d)
			}
		}
	}
	l.reportCycles(nodes, needs, waiting)
}

// reportCycles names each cycle among the nodes that could not be evaluated, once.
func (l *loader) reportCycles(nodes []node, needs map[node][]node, left map[node]int) {
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
				reportCycle(path[from:])
			}
		}
	}
}

func reportCycle(cycle []node) {
	names := make([]string, 0, len(cycle)+1)
	for _, n := range append(slices.Clone(cycle), cycle[0]) {
		names = append(names, n.String())
	}
	const shown = 20
	if len(names) > shown {
		names = slices.Insert(names[len(names)-shown+1:], 0, names[0], "...")
	}
	in, at := cycle[0].expressions(func(hcl.Expression) {})
	r := in.dir.r
	r.in = ""
	if len(cycle) == 1 {
		r.error(sumReferenceCycle, at, "%s refers to itself.", names[0])
		return
	}
	r.error(sumReferenceCycle, at, "These values need each other, so none of them can be found: %s.", strings.Join(names, " -> "))
}

func (n node) giveUp() {
	for _, m := range n.call.modules {
		switch n.kind {
		case nodeLocal:
			m.locals[n.name].value = cty.DynamicVal
		case nodeJob:
			m.jobs[n.name].broken = true
		case nodeVariable:
			m.variables[n.name].value, m.variables[n.name].broken = cty.DynamicVal, true
		case nodeOutput:
			m.outputs[n.name] = cty.DynamicVal
		}
	}
}
