package config

import (
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// module is one instance of what a directory declares, with the values found so far. The workflow itself is the root module.
// Names in expressions are those of the module that they stand in.
type module struct {
	l     *loader
	dir   *directory
	call  *call
	outer *module // that calls it; nil for the root
	addr  string  // as Addr.Module has it

	variables map[string]*variable
	locals    map[string]*local
	jobs      map[string]*jobBlock
	outputs   map[string]cty.Value  // once evaluated; not of the root
	calls     map[string]*moduleSet // once expanded

	base    *hcl.EvalContext // what every expression may use; local, and var but for the root's, are in it once all are known
	settled bool             // they are

	secret sync.Once
	texts  []string // of secret only: see sensitiveTexts
}

// newRoot makes the root module. It takes the declarations as they are, since there is only one of it.
func (l *loader) newRoot(d *directory) *module {
	m := &module{l: l, dir: d, variables: d.variables, locals: d.locals, jobs: d.jobs, calls: map[string]*moduleSet{}}
	for _, j := range m.jobs {
		j.m = m
	}
	return m
}

// newModule makes one more module of what a directory declares.
func (l *loader) newModule(c *call, outer *module, addr string) *module {
	d := c.dir
	d.instances++
	m := &module{
		l: l, dir: d, call: c, outer: outer, addr: addr,
		variables: make(map[string]*variable, len(d.variables)), locals: make(map[string]*local, len(d.locals)),
		jobs: make(map[string]*jobBlock, len(d.jobs)), outputs: make(map[string]cty.Value, len(d.outputs)), calls: make(map[string]*moduleSet, len(c.calls)),
	}
	for name, v := range d.variables {
		own := *v
		m.variables[name] = &own
	}
	for name, x := range d.locals {
		own := *x
		m.locals[name] = &own
	}
	jobs := make([]jobBlock, len(d.jobs))
	for name, declared := range d.jobs {
		j := &jobs[0]
		jobs = jobs[1:]
		j.m, j.name, j.header, j.source, j.item, j.broken, j.shared = m, name, declared.header, declared.source, declared.item, declared.broken, declared.shared
		if declared.block != nil {
			j.block = declared.block.fresh()
		}
		m.jobs[name] = j
	}
	m.newBase()
	return m
}

// weight is what a module of a directory costs, in things that have to be kept for it.
func (d *directory) weight() int {
	return 10 + len(d.variables) + len(d.locals) + len(d.jobs) + len(d.outputs) + len(d.calls)
}

// report is where mistakes go that are found while this module is evaluated.
func (m *module) report() *report {
	m.dir.r.in = m.addr
	return m.dir.r
}

// anyRoot are the names that most expressions may begin with.
const anyRoot = rootVar | rootLocal | rootJob | rootModule | rootPath | rootWorkflow

// localRoots are the names that locals may begin with.
func (l *loader) localRoots() roots {
	if l.plan != cty.NilVal {
		return rootLocal | rootPlan
	}
	return anyRoot
}

// scope makes what evaluates the expressions of one block of the module.
func (m *module) scope(r *report, roots roots, what string) *scope {
	return &scope{l: m.l, m: m, r: r, roots: roots, what: what}
}

// newBase makes the context of the module's expressions. The variables of the root have their values by now.
func (m *module) newBase() {
	c := m.call
	if c.path == cty.NilVal {
		c.path = cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(c.where), "root": cty.StringVal(".")})
	}
	if m.l.workflowValue == cty.NilVal {
		m.l.workflowValue = cty.ObjectVal(map[string]cty.Value{
			"name": cty.StringVal(m.l.name), "workspace": cty.StringVal(m.l.o.Workspace),
		})
	}
	m.base = &hcl.EvalContext{
		Functions: m.l.functions,
		Variables: map[string]cty.Value{"path": c.path, "workflow": m.l.workflowValue},
	}
	if m.l.plan != cty.NilVal {
		m.base.Variables["plan"] = m.l.plan
	}
	if m.dir.root {
		m.base.Variables["var"] = m.variableObject()
	}
}

// settle completes the context when everything has its value.
func (m *module) settle() {
	m.base.Variables["var"] = m.variableObject()
	m.base.Variables["local"] = m.localObject()
	m.settled = true
}

// object is the module's value in expressions: its outputs. One without a value yet is unknown.
func (m *module) object() cty.Value {
	if len(m.dir.outputs) == 0 {
		return cty.EmptyObjectVal
	}
	vals := make(map[string]cty.Value, len(m.dir.outputs))
	for name := range m.dir.outputs {
		val, ok := m.outputs[name]
		if !ok {
			val = cty.DynamicVal
		}
		vals[name] = val
	}
	return cty.ObjectVal(vals)
}

// addJobs adds all jobs of the module and of those in it, and is false when some are not known because of a mistake.
func (m *module) addJobs(to *addrList) bool {
	good := true
	for _, name := range slices.Sorted(maps.Keys(m.jobs)) {
		if j := m.jobs[name]; j.broken {
			good = false
		} else {
			to.add(j.addrs()...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		set := m.calls[name]
		good = good && !set.broken
		for _, inner := range set.modules {
			good = inner.addJobs(to) && good
		}
	}
	return good
}
