package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// targets evaluates the job or jobs argument of an edge. It is nil after a report. Several jobs may be none, as in for_each: a block
// with count = 0, or a for expression that leaves out all. Only who writes an empty list out has forgotten something.
func (s *scope) targets(a *attribute) []Addr {
	if a.name == "job" {
		addr, ok := s.one(a.expr)
		if !ok {
			return nil
		}
		return []Addr{addr}
	}
	found := addrList{}
	if !s.many(a.expr, &found) {
		return nil
	}
	if len(found.list) > 0 {
		return found.list
	}
	if list, is := a.expr.(*hclsyntax.TupleConsExpr); is && len(list.Exprs) == 0 {
		s.r.error(sumNoJobs, a.expr.Range(), "Jobs is empty, so there is nothing to wait for. Name at least one job, or remove the block.")
		return nil
	}
	return []Addr{}
}

// behindModule tells whether a value is, or may be, that of a module: of one that the expression names, or of one in the for_each of
// the dynamic block around it.
func (s *scope) behindModule(expr hcl.Expression) (is bool) {
	references(expr, func(t hcl.Traversal) {
		is = is || t.RootName() == "module"
		for r := s.r; r != nil; r = r.onward {
			if r.turn == nil || r.turn.of.dynamic.iterator != t.RootName() {
				continue
			}
			if a := r.turn.of.inner.attr("for_each"); a != nil {
				references(a.expr, func(t hcl.Traversal) { is = is || t.RootName() == "module" })
			}
		}
	})
	return is
}

// valueOfModule is what is said of a module whose value stands where its jobs are meant.
const valueOfModule = " The value of a module is its outputs, and says nothing of its jobs. To wait for all of these, name the module itself in the block: jobs = module.NAME, or jobs = module.NAME[KEY]."

// edgeArgument tells whether an argument names jobs in one of the forms that are read without evaluating.
func edgeArgument(a *attribute) bool {
	return a.name == "job" && direct(a.expr) || (a.name == "jobs" || a.name == "replace_triggered_by") && directList(a.expr)
}

func direct(expr hcl.Expression) bool {
	if t, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok {
		n := len(t.Traversal)
		if t.Traversal.RootName() == "module" {
			return namesModule(expr)
		}
		if t.Traversal.RootName() != "job" || n > 3 {
			return false
		}
		_, isIndex := t.Traversal[n-1].(hcl.TraverseIndex)
		return n == 2 || isIndex
	}
	_, key, ok := indexedBlock(expr)
	if ok {
		references(key, func(t hcl.Traversal) { ok = ok && t.RootName() != "job" && t.RootName() != "module" })
	}
	return ok
}

func directList(expr hcl.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.TupleConsExpr:
		for _, elem := range e.Exprs {
			if !direct(elem) {
				return false
			}
		}
		return true
	case *hclsyntax.FunctionCallExpr:
		return e.Name == "values" && len(e.Args) == 1 && !e.ExpandFinal && direct(e.Args[0]) && !namesModule(e.Args[0])
	}
	return direct(expr)
}

// one evaluates an expression that means a single job. References written out are read without evaluating: most
// edges are such, and a block of many instances would else be made into a value.
func (s *scope) one(expr hcl.Expression) (Addr, bool) {
	if j, ok := s.wholeBlock(expr); ok {
		if j.repeat(nil) != nil {
			s.r.error(sumMissingKey, expr.Range(), "Job %q has %s set, so there are several of it. %s To wait for all, write predecessor { jobs = values(job.%s) }.",
				j.name, j.repeat(nil).name, j.howToIndex(""), j.name)
			return Addr{}, false
		}
		return j.addr(InstanceKey{}), !j.broken
	}
	if j, key, ok := s.indexed(expr); ok {
		return s.instance(j, key, expr)
	}
	if namesModule(expr) {
		s.r.error(sumBadEdge, expr.Range(), "A module is no job. Write jobs = [MODULE] in a predecessor block to wait for all jobs in it, or name a job that is one of its outputs, such as job = module.NAME.OUTPUT.")
		return Addr{}, false
	}
	val, ok := s.evaluate(expr)
	if !ok {
		return Addr{}, false
	}
	val, _ = val.Unmark()
	if addr, ok := s.addrOf(val); ok {
		return addr, true
	}
	if val.IsNull() || !val.Type().Equals(jobType()) {
		s.r.error(sumBadEdge, expr.Range(), "Job needs a job, such as job.NAME, and this is %s.%s", valueName(val), quotedJob(val, expr))
	}
	return Addr{}, false
}

func valueName(val cty.Value) string {
	if val.IsNull() {
		return "null"
	}
	return typeName(val.Type())
}

// quotedJob is a hint for those who write an address as text.
func quotedJob(val cty.Value, expr hcl.Expression) string {
	if val.IsNull() || !val.IsKnown() || val.Type() != cty.String {
		return ""
	}
	if addr, err := ParseAddr(val.AsString()); err == nil && isJSON(expr) {
		return fmt.Sprintf(" In JSON a reference is a text with ${ and }: %q.", "${"+clip(addr.String())+"}")
	} else if err == nil {
		return fmt.Sprintf(" Write it without quotes: %s.", clip(addr.String()))
	}
	return ""
}

// wholeBlock recognises job.NAME.
func (s *scope) wholeBlock(expr hcl.Expression) (*jobBlock, bool) {
	t, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(t.Traversal) != 2 || t.Traversal.RootName() != "job" {
		return nil, false
	}
	j := s.m.jobs[t.Traversal[1].(hcl.TraverseAttr).Name]
	return j, j != nil
}

// indexed recognises job.NAME[KEY] and evaluates the key.
func (s *scope) indexed(expr hcl.Expression) (*jobBlock, cty.Value, bool) {
	if t, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) == 3 && t.Traversal.RootName() == "job" {
		index, isIndex := t.Traversal[2].(hcl.TraverseIndex)
		j := s.m.jobs[t.Traversal[1].(hcl.TraverseAttr).Name]
		return j, index.Key, isIndex && j != nil
	}
	t, keyExpr, ok := indexedJob(expr)
	if !ok {
		return nil, cty.NilVal, false
	}
	j := s.m.jobs[t[1].(hcl.TraverseAttr).Name]
	if j == nil || j.repeat(nil) == nil {
		return nil, cty.NilVal, false
	}
	key, ok := s.evaluate(keyExpr)
	if !ok {
		key = cty.DynamicVal
	}
	return j, key, true
}

func (s *scope) instance(j *jobBlock, key cty.Value, expr hcl.Expression) (Addr, bool) {
	if j.broken || !key.IsKnown() {
		return Addr{}, false
	}
	if key.IsMarked() {
		s.r.error(sumSensitive, expr.Range(), "The key of a job is shown in plans, so it cannot be made from a sensitive value.")
		return Addr{}, false
	}
	k, ok := instanceKey(key, j.repeat(nil).name == "count")
	if !ok || !j.has(k) {
		s.noInstance(j, key, expr.Range())
		return Addr{}, false
	}
	return j.addr(k), true
}

// addrOf reads a job's value back.
func (s *scope) addrOf(val cty.Value) (Addr, bool) {
	if val.IsNull() || !val.IsKnown() || !val.Type().Equals(jobType()) {
		return Addr{}, false
	}
	address, _ := val.GetAttr("address").Unmark()
	if !address.IsKnown() || address.IsNull() {
		return Addr{}, false
	}
	addr, err := ParseAddr(address.AsString())
	if err != nil {
		return Addr{}, false
	}
	m := s.l.byAddr[addr.Module]
	if m == nil {
		return addr, false
	}
	j := m.jobs[addr.Name]
	return addr, j != nil && j.has(addr.Key)
}

// addrList collects addresses, each once.
type addrList struct {
	list []Addr
	seen map[Addr]struct{}
}

func (a *addrList) add(addrs ...Addr) {
	if a.seen == nil {
		a.seen = make(map[Addr]struct{}, len(a.list)+len(addrs))
		for _, addr := range a.list {
			a.seen[addr] = struct{}{}
		}
	}
	for _, addr := range addrs {
		if _, known := a.seen[addr]; !known {
			a.seen[addr] = struct{}{}
			a.list = append(a.list, addr)
		}
	}
}

// many evaluates an expression that means any number of jobs: a list, set or map of jobs, or of such again.
func (s *scope) many(expr hcl.Expression, to *addrList) bool {
	if list, ok := expr.(*hclsyntax.TupleConsExpr); ok {
		good := true
		for _, elem := range list.Exprs {
			good = s.element(elem, to) && good
		}
		return good
	}
	if call, ok := expr.(*hclsyntax.FunctionCallExpr); ok && call.Name == "values" && len(call.Args) == 1 && !call.ExpandFinal {
		if j, ok := s.wholeBlock(call.Args[0]); ok {
			if a := j.repeat(nil); a != nil && a.name == "for_each" {
				return s.allOf(j, to)
			}
			s.r.error(sumBadEdge, expr.Range(), "Job %q has no for_each, so it has no map of instances for values(). Write jobs = [job.%s].", j.name, j.name)
			return false
		}
	}
	if j, ok := s.wholeBlock(expr); ok {
		if j.repeat(nil) == nil {
			s.r.error(sumBadEdge, expr.Range(), "Jobs needs a list, and this is a single job. Write job = job.%s, or jobs = [job.%s].", j.name, j.name)
			return false
		}
		return s.allOf(j, to)
	}
	if list, is, ok := s.wholeModule(expr); is {
		return ok && s.allIn(list, expr, to)
	}
	val, ok := s.evaluate(expr)
	return ok && s.collect(val, expr, to)
}

func (s *scope) allOf(j *jobBlock, to *addrList) bool {
	if j.broken {
		return false
	}
	if to.list == nil {
		to.list = j.addrs()
		return true
	}
	to.add(j.addrs()...)
	return true
}

// element evaluates one element of a list that is written out.
func (s *scope) element(expr hclsyntax.Expression, to *addrList) bool {
	if j, ok := s.wholeBlock(expr); ok {
		return s.allOf(j, to)
	}
	if j, key, ok := s.indexed(expr); ok {
		addr, ok := s.instance(j, key, expr)
		if ok {
			to.add(addr)
		}
		return ok
	}
	if list, is, ok := s.wholeModule(expr); is {
		return ok && s.allIn(list, expr, to)
	}
	val, ok := s.evaluate(expr)
	return ok && s.collect(val, expr, to)
}

// collect adds the jobs that a value holds.
func (s *scope) collect(val cty.Value, expr hcl.Expression, to *addrList) bool {
	val, _ = val.Unmark()
	if addr, ok := s.addrOf(val); ok {
		to.add(addr)
		return true
	}
	ty := val.Type()
	switch {
	case !val.IsKnown():
		return false
	case val.IsNull() || ty.Equals(jobType()) || !ty.IsObjectType() && !ty.IsTupleType() && !ty.IsCollectionType():
		hint := quotedJob(val, expr)
		if hint == "" && s.behindModule(expr) {
			hint = valueOfModule
		}
		s.r.error(sumBadEdge, expr.Range(), "Jobs needs a list of jobs, such as [job.A, job.B] or values(job.NAME), and this holds %s.%s", valueName(val), hint)
		return false
	case ty.Equals(cty.EmptyObject) && s.behindModule(expr):
		s.r.error(sumBadEdge, expr.Range(), "Jobs needs a list of jobs, such as [job.A, job.B] or values(job.NAME), and this holds a module without outputs.%s", valueOfModule)
		return false
	}
	for it := val.ElementIterator(); it.Next(); {
		if _, elem := it.Element(); !s.collect(elem, expr, to) {
			return false
		}
	}
	return true
}
