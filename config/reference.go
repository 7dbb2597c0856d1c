package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// roots are the names that references of some expression may begin with.
type roots uint16

const (
	rootVar roots = 1 << iota
	rootLocal
	rootJob
	rootEach
	rootCount
	rootPath
	rootWorkflow
	rootModule
	rootPlan // of policies alone
)

var rootNames = map[string]roots{
	"var": rootVar, "local": rootLocal, "job": rootJob, "each": rootEach, "count": rootCount, "path": rootPath, "workflow": rootWorkflow,
	"module": rootModule,
}

// references calls visit for every reference of an expression to something outside of it. The common expressions are
// walked here without allocations; those that bring names of their own are left to hcl.
func references(expr hcl.Expression, visit func(hcl.Traversal)) {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
	case *hclsyntax.ScopeTraversalExpr:
		visit(e.Traversal)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			references(part, visit)
		}
	case *hclsyntax.TemplateWrapExpr:
		references(e.Wrapped, visit)
	case *hclsyntax.TupleConsExpr:
		for _, elem := range e.Exprs {
			references(elem, visit)
		}
	case *hclsyntax.ObjectConsExpr:
		for _, it := range e.Items {
			if key, ok := it.KeyExpr.(*hclsyntax.ObjectConsKeyExpr); !ok {
				references(it.KeyExpr, visit)
			} else if _, name := key.Wrapped.(*hclsyntax.ScopeTraversalExpr); !name || key.ForceNonLiteral {
				references(key.Wrapped, visit)
			}
			references(it.ValueExpr, visit)
		}
	case *hclsyntax.FunctionCallExpr:
		for _, arg := range e.Args {
			references(arg, visit)
		}
	case *hclsyntax.ParenthesesExpr:
		references(e.Expression, visit)
	case *piece:
		references(e.Expression, visit)
	case *hclsyntax.IndexExpr:
		references(e.Collection, visit)
		references(e.Key, visit)
	case *hclsyntax.RelativeTraversalExpr:
		if block, key, ok := indexedBlock(e.Source); ok {
			// job.x[KEY].uuid is seen as one reference, to check what follows the key.
			whole := append(slices.Clone(block), hcl.TraverseIndex{Key: cty.DynamicVal, SrcRange: e.Source.Range()})
			visit(append(whole, e.Traversal...))
			references(key, visit)
		} else {
			references(e.Source, visit)
		}
	case *hclsyntax.SplatExpr:
		if block, rest, ok := splatModule(e); ok {
			// module.m[*].out likewise, to know which output it needs.
			visit(append(append(slices.Clone(block), hcl.TraverseIndex{Key: cty.DynamicVal, SrcRange: e.MarkerRange}), rest...))
		} else {
			referencesOf(expr, visit)
		}
	default:
		referencesOf(expr, visit)
	}
}

// splatModule takes module.m[*].out apart.
func splatModule(e *hclsyntax.SplatExpr) (block, rest hcl.Traversal, ok bool) {
	source, isTraversal := e.Source.(*hclsyntax.ScopeTraversalExpr)
	inner := e.Each
	if counted, is := inner.(*pass); is {
		inner = counted.Expression
	}
	each, isAttr := inner.(*hclsyntax.RelativeTraversalExpr)
	if !isTraversal || !isAttr || len(source.Traversal) != 2 || source.Traversal.RootName() != "module" || each.Source != hclsyntax.Expression(e.Item) {
		return nil, nil, false
	}
	return source.Traversal, each.Traversal, true
}

// indexedBlock takes job.x[KEY] and module.x[KEY] apart.
func indexedBlock(expr hcl.Expression) (block hcl.Traversal, key hclsyntax.Expression, ok bool) {
	index, isIndex := expr.(*hclsyntax.IndexExpr)
	if !isIndex {
		return nil, nil, false
	}
	coll, isTraversal := index.Collection.(*hclsyntax.ScopeTraversalExpr)
	if !isTraversal || len(coll.Traversal) != 2 || coll.Traversal.RootName() != "job" && coll.Traversal.RootName() != "module" {
		return nil, nil, false
	}
	return coll.Traversal, index.Key, true
}

func indexedJob(expr hcl.Expression) (job hcl.Traversal, key hclsyntax.Expression, ok bool) {
	job, key, ok = indexedBlock(expr)
	return job, key, ok && job.RootName() == "job"
}

func referencesOf(expr hcl.Expression, visit func(hcl.Traversal)) {
	for _, t := range expr.Variables() {
		visit(t)
	}
}

// check looks at every reference of an expression and reports those that lead nowhere. What it finds stays with the
// attribute: the check is made once for all instances.
func (s *scope) check(a *attribute) bool {
	if a.state != exprUnchecked {
		return a.state != exprBroken
	}
	state := exprShared
	s.whole = a.expr
	references(a.expr, func(t hcl.Traversal) {
		switch ok, instance := s.checkReference(t); {
		case !ok:
			state = exprBroken
		case instance && state != exprBroken:
			state = exprInstance
		}
	})
	if state != exprBroken {
		s.findResults(a)
	}
	a.state = state
	return state != exprBroken
}

// perhapsUnused tells whether a part of the expression that is checked may be left out when it is evaluated: it is one side of a
// condition, or an argument of try or can. What is not there is no mistake there, as in CONDITION ? job.x[0].uuid : "".
func (s *scope) perhapsUnused(at hcl.Range) (is bool) {
	whole, ok := s.whole.(hclsyntax.Expression)
	if !ok {
		return false
	}
	holds := func(part hclsyntax.Expression) bool {
		return part != nil && part.Range().Filename == at.Filename && part.Range().Start.Byte <= at.Start.Byte && at.End.Byte <= part.Range().End.Byte
	}
	_ = hclsyntax.VisitAll(whole, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.ConditionalExpr:
			is = is || holds(e.TrueResult) || holds(e.FalseResult)
		case *hclsyntax.FunctionCallExpr:
			is = is || (e.Name == "try" || e.Name == "can") && slices.ContainsFunc(e.Args, holds)
		}
		return nil
	})
	return is
}

// checkReference checks one reference. instance says that its value differs between the instances of a block.
func (s *scope) checkReference(t hcl.Traversal) (ok, instance bool) {
	name := t.RootName()
	root, known := rootNames[name]
	if name == "plan" && s.l.plan != cty.NilVal {
		root, known = rootPlan, true
	}
	switch {
	case slices.Contains(s.iterators, name):
		return s.checkIterator(t), true
	case name == "output" && s.outputs != nil:
		return s.checkOutput(t), false
	case !known:
		s.unknownRoot(name, t)
		return false, false
	case s.roots&root == 0:
		s.misplacedRoot(root, t)
		return false, false
	}
	attr, isAttr := "", false
	if len(t) > 1 {
		if step, found := t[1].(hcl.TraverseAttr); found {
			attr, isAttr = step.Name, true
		}
	}
	if !isAttr {
		s.r.error(sumBadReference, t.SourceRange(), "%q alone is no value: write %s.NAME.", name, name)
		return false, false
	}
	switch root {
	case rootVar:
		return s.checkVar(attr, t), false
	case rootLocal:
		if s.m.locals[attr] == nil {
			s.undeclared(sumUndeclaredLocal, "local", attr, t, maps.Keys(s.m.locals))
			return false, false
		}
		s.needLocal(attr)
	case rootJob:
		return s.checkJob(attr, t), false
	case rootModule:
		return s.checkModule(attr, t), false
	case rootEach:
		return s.checkFixed(t, attr, "key", "value"), true
	case rootCount:
		return s.checkFixed(t, attr, "index"), true
	case rootPath:
		if attr == "cwd" {
			s.r.error(sumBadReference, t.SourceRange(), "path.cwd would make plans differ between machines. Paths are relative to the workflow's directory, which is path.root.")
			return false, false
		}
		return s.checkFixed(t, attr, "module", "root"), false
	case rootPlan:
		return s.checkFixed(t, attr, planMembers()...), false
	case rootWorkflow:
		return s.checkFixed(t, attr, "name", "workspace"), false
	}
	return true, false
}

func (s *scope) checkFixed(t hcl.Traversal, attr string, names ...string) bool {
	if slices.Contains(names, attr) {
		return true
	}
	s.r.error(sumBadReference, t.SourceRange(), "%q is no attribute of %s, which has %s.%s", clip(attr), t.RootName(), listed(names), didYouMeanOf(attr, names...))
	return false
}

// listed joins words with commas, and an and before the last.
func listed(words []string) string {
	if n := len(words) - 1; n > 1 {
		return strings.Join(words[:n], ", ") + " and " + words[n]
	}
	return strings.Join(words, " and ")
}

func (s *scope) checkVar(name string, t hcl.Traversal) bool {
	v := s.m.variables[name]
	switch {
	case v == nil:
		s.undeclared(sumUndeclaredVariable, "variable", name, t, maps.Keys(s.m.variables))
		return false
	case v.missing:
		v.reportMissing(s.r)
		return false
	case !s.m.dir.root && !slices.Contains(s.vars, name):
		s.vars = append(s.vars, name)
	}
	return true
}

// undeclared reports a reference to what no block declares, unless a block could not be read.
func (s *scope) undeclared(sum summary, kind, name string, t hcl.Traversal, declared func(func(string) bool)) {
	if s.m.dir.incomplete {
		return
	}
	what := fmt.Sprintf("No %s %q is declared.", kind, clip(name))
	near := didYouMean(name, declared)
	if near == "" {
		switch kind {
		case "variable":
			near = fmt.Sprintf(" Declare it: variable %q {}.", clip(name))
		case "local":
			near = fmt.Sprintf(" Declare it: locals { %s = VALUE }.", clip(name))
		case "module":
			near = fmt.Sprintf(" Declare it: module %q { source = \"./DIRECTORY\" }.", clip(name))
		default:
			near = fmt.Sprintf(" Declare it: job %q { ... }.", clip(name))
		}
	}
	s.r.error(sum, t.SourceRange(), "%s%s", what, near)
}

func (s *scope) unknownRoot(name string, t hcl.Traversal) {
	hint := fmt.Sprintf("If it is meant as text, write it in quotes: %q. Values have names such as var.NAME, local.NAME and job.NAME.", clip(name))
	switch {
	case s.l.plan != cty.NilVal:
		hint = policyNames(name)
	case name == "plan":
		hint = "What a plan holds is known to policies alone, which are files of their own and given with -policy=FILE."
	case name == "terraform":
		hint = "The name of this workflow is workflow.name, and its workspace is workflow.workspace."
	case name == "data":
		hint = fmt.Sprintf("This version does not support %s.", name)
	case name == "self":
		hint = `The instance of a job is known by each.key, each.value or count.index.`
	case len(t) > 1 && s.m.jobs[name] != nil:
		hint = fmt.Sprintf("Did you mean job.%s?", name)
	case s.m.variables[name] != nil:
		hint = fmt.Sprintf("Did you mean var.%s?", name)
	case s.m.locals[name] != nil:
		hint = fmt.Sprintf("Did you mean local.%s?", name)
	case s.m.jobs[name] != nil:
		hint = fmt.Sprintf("Did you mean job.%s?", name)
	case len(t) > 1:
		if near := nearest(name, maps.Keys(rootNames)); near != "" {
			hint = fmt.Sprintf("Did you mean %q?", near)
		}
	}
	s.r.error(sumBadReference, t.SourceRange(), "There is nothing named %q. %s", clip(name), hint)
}

func (s *scope) misplacedRoot(root roots, t hcl.Traversal) {
	at := t.SourceRange()
	switch {
	case s.l.plan != cty.NilVal && root == rootEach:
		s.r.error(sumBadReference, at, "each is only known in a rule with for_each, and not in %s.", s.what)
		return
	case s.l.plan != cty.NilVal:
		s.r.error(sumBadReference, at, "A policy knows no %s. %s", t.RootName(), policyNames(t.RootName()))
		return
	}
	switch root {
	case rootEach:
		s.r.error(sumBadReference, at, "each is only known inside a job with for_each, and not in %s.", s.what)
	case rootCount:
		s.r.error(sumBadReference, at, "count.index is only known inside a job with count, and not in %s.", s.what)
	default:
		s.r.error(sumBadReference, at, "%s cannot refer to %s.", upperFirst(s.what), t.RootName())
	}
}

// Written writes a reference as users do.
func Written(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			switch {
			case !s.Key.IsKnown() || s.Key.IsNull() || s.Key.IsMarked():
				b.WriteString("[...]")
			case s.Key.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", clip(s.Key.AsString()))
			case s.Key.Type() == cty.Number:
				fmt.Fprintf(&b, "[%s]", s.Key.AsBigFloat().Text('g', 20))
			}
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}
