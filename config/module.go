package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// directory is what the files of one directory declare: read and parsed once, whatever the number of modules made of it.
type directory struct {
	l       *loader
	path    string // as given, or joined to the path of the workflow's
	sources []*source

	variables map[string]*variable
	locals    map[string]*local
	jobs      map[string]*jobBlock
	outputs   map[string]*block
	checks    map[string]*block
	moved     []*block
	// incomplete: some block could not be read at all, so a name that is not declared may be declared in it.
	incomplete bool
}

func (l *loader) newDirectory(path string) *directory {
	return &directory{
		l: l, path: path,
		variables: map[string]*variable{}, locals: map[string]*local{}, jobs: map[string]*jobBlock{}, outputs: map[string]*block{}, checks: map[string]*block{},
	}
}

// module is one instance of what a directory declares, with the values found so far. The workflow itself is the root module.
// Names in expressions are those of the module that they stand in.
type module struct {
	l    *loader
	dir  *directory
	addr string // as Addr.Module has it

	variables map[string]*variable
	locals    map[string]*local
	jobs      map[string]*jobBlock

	base *hcl.EvalContext // what every expression may use; locals are in it once all are known
}

// newRoot makes the root module of what is declared. It takes the declarations as they are, since there is only one.
func (l *loader) newRoot(d *directory) *module {
	m := &module{l: l, dir: d, variables: d.variables, locals: d.locals, jobs: d.jobs}
	for _, j := range m.jobs {
		j.m = m
	}
	return m
}

// scope makes what evaluates the expressions of one block of the module.
func (m *module) scope(r *report, roots roots, what string) *scope {
	return &scope{l: m.l, m: m, r: r, roots: roots, what: what}
}

// newBase makes the context of the module's expressions, when its variables have their values.
func (m *module) newBase() {
	m.base = &hcl.EvalContext{
		Functions: m.l.functions,
		Variables: map[string]cty.Value{
			"var":      m.variableObject(),
			"path":     cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal("."), "root": cty.StringVal(".")}),
			"workflow": cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(m.l.name)}),
		},
	}
}
