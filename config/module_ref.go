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

// checkModule checks a reference to a module and what follows its name. instance says that what follows may differ between the
// modules of the block.
func (s *scope) checkModule(name string, t hcl.Traversal) bool {
	b := s.m.dir.calls[name]
	if b == nil {
		s.undeclared(sumUndeclaredModule, "module", name, t, maps.Keys(s.m.dir.calls))
		return false
	}
	rest, at := t[2:], t.SourceRange()
	if a := b.repeat(nil); a == nil {
		if len(rest) > 0 {
			if _, isIndex := rest[0].(hcl.TraverseIndex); isIndex {
				s.r.error(sumBadReference, at, "Module %q has neither count nor for_each, so it has no instances to choose from: write module.%s.", name, name)
				return false
			}
		}
	} else if len(rest) > 0 {
		switch step := rest[0].(type) {
		case hcl.TraverseAttr:
			s.r.error(sumMissingKey, at, "Module %q has %s set, so there are several of it. %s", name, a.name, b.howToIndex(s.m.calls[name], "."+step.Name))
			return false
		case hcl.TraverseIndex:
			if !s.checkModuleKey(b, step.Key, at) {
				return false
			}
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && b.dir != nil {
		step, isAttr := rest[0].(hcl.TraverseAttr)
		if isAttr && b.dir.outputs[step.Name] == nil && !b.dir.incomplete {
			s.noOutput(b, step.Name, at)
			return false
		}
	}
	s.needModule(name)
	return true
}

func (s *scope) noOutput(b *moduleBlock, name string, at hcl.Range) {
	hint := didYouMean(name, maps.Keys(b.dir.outputs))
	switch {
	case hint != "":
	case b.dir.jobs[name] != nil:
		hint = fmt.Sprintf(" To give its job away, write into it: output %q { value = job.%s }.", clip(name), clip(name))
	default:
		hint = fmt.Sprintf(" Declare it there: output %q { value = VALUE }.", clip(name))
	}
	s.r.error(sumUndeclaredOutput, at, "The module in %s has no output %q.%s", clip(b.dir.path), clip(name), hint)
}

// checkModuleKey checks a key that is written out.
func (s *scope) checkModuleKey(b *moduleBlock, key cty.Value, at hcl.Range) bool {
	set := s.m.calls[b.name]
	if !key.IsKnown() || set == nil || set.broken {
		return true
	}
	k, ok := instanceKey(key, b.repeat(nil).name == "count")
	if _, found := set.index(k); ok && found {
		return true
	}
	if s.perhapsUnused(at) {
		return true
	}
	s.noModule(set, key, at)
	return false
}

func (s *scope) noModule(set *moduleSet, key cty.Value, at hcl.Range) {
	b := set.call.block
	written := strings.Trim(Written(hcl.Traversal{hcl.TraverseIndex{Key: key}}), "[]")
	s.r.error(sumNoInstance, at, "Module %q has no instance with the key %s.%s", b.name, written, set.hint("module."+b.name, key))
}

// howToIndex says how to name one of several modules, and all of them.
func (b *moduleBlock) howToIndex(set *moduleSet, attr string) string {
	key := "0"
	if b.repeat(nil).name == "for_each" {
		key = `"KEY"`
		if set != nil && len(set.keys) > 0 {
			key = fmt.Sprintf("%q", clip(set.keys[0].Str))
		}
	}
	one := fmt.Sprintf("Write module.%s[%s]%s for one of them", b.name, key, attr)
	if attr == "" {
		return one + "."
	}
	return fmt.Sprintf("%s, or [for m in module.%s : m%s] for all.", one, b.name, attr)
}

func (s *scope) needModule(name string) {
	if !slices.Contains(s.modules, name) {
		s.modules = append(s.modules, name)
	}
}

// wholeModule recognises module.NAME and module.NAME[KEY], which stand for all jobs in them where jobs are wanted. ok is false after
// a report.
func (s *scope) wholeModule(expr hcl.Expression) (list []*module, is, ok bool) {
	if !namesModule(expr) {
		return nil, false, false
	}
	t, keyExpr, computed := indexedBlock(expr)
	key := cty.NilVal
	if !computed {
		t = expr.(*hclsyntax.ScopeTraversalExpr).Traversal
		if len(t) == 3 {
			key = t[2].(hcl.TraverseIndex).Key
		}
	}
	name := t[1].(hcl.TraverseAttr).Name
	b, set := s.m.dir.calls[name], s.m.calls[name]
	if b == nil || set == nil || set.broken {
		return nil, true, false
	}
	if computed {
		val, ok := s.evaluate(keyExpr)
		if !ok {
			return nil, true, false
		}
		key = val
	}
	if key == cty.NilVal {
		return set.modules, true, true
	}
	if key.IsMarked() {
		s.r.error(sumSensitive, expr.Range(), "The key of a module is shown in plans, so it cannot be made from a sensitive value.")
		return nil, true, false
	}
	repeat := b.repeat(nil)
	if repeat == nil {
		s.r.error(sumBadReference, expr.Range(), "Module %q has neither count nor for_each, so it has no instances to choose from: write module.%s.", name, name)
		return nil, true, false
	}
	k, ok := instanceKey(key, repeat.name == "count")
	m, found := set.index(k)
	if !ok || !found {
		s.noModule(set, key, expr.Range())
		return nil, true, false
	}
	return []*module{m}, true, true
}

// namesModule tells whether an expression is module.NAME or module.NAME[KEY].
func namesModule(expr hcl.Expression) bool {
	if t, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok {
		n := len(t.Traversal)
		if t.Traversal.RootName() != "module" || n < 2 || n > 3 {
			return false
		}
		_, isAttr := t.Traversal[1].(hcl.TraverseAttr)
		_, isIndex := t.Traversal[n-1].(hcl.TraverseIndex)
		return isAttr && (n == 2 || isIndex)
	}
	t, _, ok := indexedBlock(expr)
	return ok && t.RootName() == "module"
}

// allIn adds the jobs of modules.
func (s *scope) allIn(list []*module, expr hcl.Expression, to *addrList) bool {
	before := len(to.list)
	for _, m := range list {
		if !m.addJobs(to) {
			return false
		}
	}
	if len(to.list) == before && len(list) > 0 && len(list[0].jobs)+len(list[0].calls) == 0 {
		s.r.error(sumNoJobs, expr.Range(), "No job is declared in %s, so there is nothing to wait for. Remove it.", list[0].addr)
		return false
	}
	return true
}
