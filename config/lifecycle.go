package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Lifecycle is what a lifecycle block says besides on_change and prevent_destroy.
type Lifecycle struct {
	IgnoreAll bool         `json:",omitempty"` // ignore_changes = all
	Ignore    []IgnorePath `json:",omitempty"` // of ignore_changes, in the order they are written

	// ReplacedBy are the jobs of replace_triggered_by, each once: another submission of one of them makes this job run again.
	ReplacedBy      []Addr    `json:",omitempty"`
	ReplacedByRange hcl.Range // of the argument
}

// IgnorePath names an argument or block of a job, or what is inside of one: exec, exec.env, payload["day"].
type IgnorePath []string

// String gives the path as users write it.
func (p IgnorePath) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case i == 0:
			b.WriteString(step)
		case isIdentifier(step):
			b.WriteString("." + step)
		default:
			b.WriteString("[" + quoted([]string{step}) + "]")
		}
	}
	return b.String()
}

// unevaluated keeps the arguments of lifecycle blocks that are names, and not values, from being checked as references.
func unevaluated(c *content, r *report) {
	b := c.block("lifecycle")
	if b == nil {
		return
	}
	inner := b.open(r)
	for _, name := range [...]string{"prevent_destroy", "ignore_changes"} {
		if a := inner.attr(name); a != nil {
			a.state = exprBroken
		}
	}
}

// lifecycle reads the lifecycle block.
func (s *scope) lifecycle(c *content, job *Job) {
	b := c.block("lifecycle")
	if b == nil {
		return
	}
	if i, ok := s.choice(b.inner.attr("on_change"), "finish", "cancel", "ignore"); ok {
		job.OnChange = OnChange(i)
	}
	var cycle Lifecycle
	if a := b.inner.attr("ignore_changes"); a != nil {
		s.ignoreChanges(a, &cycle)
	}
	if a := b.inner.attr("replace_triggered_by"); a != nil {
		s.replacedBy(a, job, &cycle)
	}
	if cycle.IgnoreAll || cycle.Ignore != nil || cycle.ReplacedBy != nil {
		job.Lifecycle = &cycle
	}
}

// preventDestroy finds prevent_destroy = true in a block; zero without. It has to be written out: destroy asks for it without the
// values of variables.
func preventDestroy(c *content, r *report) (at hcl.Range) {
	b := c.block("lifecycle")
	if b == nil {
		return at
	}
	a := b.open(r).attr("prevent_destroy")
	if a == nil {
		return at
	}
	val, diags := constant(a.expr)
	switch {
	case diags.HasErrors() || !val.IsKnown():
		r.error(sumBadLifecycle, a.expr.Range(), "Prevent_destroy is true or false, written out: waybill destroy asks for it without the values of variables.")
	case val.IsNull():
	case val.Type() != cty.Bool:
		r.error(sumWrongType, a.expr.Range(), "Prevent_destroy needs true or false, and this is %s.", typeName(val.Type()))
	case val.True():
		at = a.expr.Range()
	}
	return at
}

// ignoreChanges reads ignore_changes: all, or a list of what to ignore.
func (s *scope) ignoreChanges(a *attribute, to *Lifecycle) {
	if hcl.ExprAsKeyword(a.expr) == "all" {
		to.IgnoreAll = true
		return
	}
	list, diags := hcl.ExprList(a.expr)
	if diags.HasErrors() {
		s.r.error(sumBadLifecycle, a.expr.Range(), "Ignore_changes is a list of arguments and blocks of this job, such as [exec, priority], or the word all.")
		return
	}
	for _, expr := range list {
		if path, ok := s.ignorePath(expr); ok && !slices.ContainsFunc(to.Ignore, func(p IgnorePath) bool { return slices.Equal(p, path) }) {
			to.Ignore = append(to.Ignore, path)
		}
	}
}

// neverIgnored are parts of a job that say how many there are, or how plans treat it.
var neverIgnored = []string{"count", "for_each", "lifecycle", "precondition", "dynamic"}

func (s *scope) ignorePath(expr hcl.Expression) (IgnorePath, bool) {
	at := expr.Range()
	t, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() {
		if text, ok := literalString(expr); ok && !isJSON(expr) {
			s.r.error(sumBadLifecycle, at, "Ignore_changes holds names and no text: write %s without quotes.", clip(text))
			return nil, false
		}
		s.r.error(sumBadLifecycle, at, "Ignore_changes holds names of arguments and blocks of this job, such as exec, priority or exec.env.")
		return nil, false
	}
	name := t.RootName()
	k := jobKind()
	switch known := k.arg(name) != nil || k.block(name) != nil; {
	case name == "all" && len(t) == 1:
		s.r.error(sumBadLifecycle, at, "All stands alone: write ignore_changes = all.")
		return nil, false
	case slices.Contains(neverIgnored, name):
		s.r.error(sumBadLifecycle, at, "%s is not part of what a job is or does, so a change of it cannot be ignored.", upperFirst(name))
		return nil, false
	case !known:
		names := slices.DeleteFunc(k.names(), func(n string) bool { return slices.Contains(neverIgnored, n) })
		s.r.error(sumBadLifecycle, at, "A job has no argument or block %q.%s", clip(name), didYouMeanOf(name, names...))
		return nil, false
	case len(t) > 1 && k.block(name) != nil && k.block(name).many:
		s.r.error(sumBadLifecycle, at, "There may be several %s blocks, so nothing in one of them can be named: write %[1]s.", name)
		return nil, false
	}
	path := IgnorePath{name}
	for i, step := range t[1:] {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			path = append(path, step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type() != cty.String || step.Key.IsNull() {
				s.r.error(sumBadLifecycle, at, "Elements of lists have no names of their own. Write %s.", path)
				return nil, false
			}
			path = append(path, step.Key.AsString())
		}
		if b := k.block(name); i == 0 && b != nil && b.arg(path[1]) == nil {
			s.r.error(sumBadLifecycle, at, "%s has no argument %q.%s", upperFirst(b.where()), clip(path[1]), didYouMeanOf(path[1], b.names()...))
			return nil, false
		}
	}
	return path, true
}

// replacedBy reads replace_triggered_by. Only jobs may stand there, each written out, so that plans can say which of them it was.
func (s *scope) replacedBy(a *attribute, job *Job, to *Lifecycle) {
	addrs := a.targets
	if a.state != exprConstant {
		if !s.check(a) {
			return
		}
		addrs = s.replacing(a)
	}
	for _, addr := range addrs {
		if addr == job.Addr {
			s.r.error(sumSelfEdge, a.expr.Range(), "%s would run again whenever it runs again, without end. Name another job.", upperFirst(addr.String()))
			return
		}
	}
	if len(addrs) > 0 {
		to.ReplacedBy, to.ReplacedByRange = addrs, a.expr.Range()
	}
}

// replacing evaluates replace_triggered_by.
func (s *scope) replacing(a *attribute) []Addr {
	list, diags := hcl.ExprList(a.expr)
	if diags.HasErrors() {
		s.r.error(sumBadLifecycle, a.expr.Range(), "Replace_triggered_by is a list of jobs, such as [job.extract].")
		return nil
	}
	good := true
	for _, expr := range list {
		if isJSON(expr) {
			continue // what it holds is seen once it is evaluated
		}
		if !direct(expr) {
			s.r.error(sumBadLifecycle, expr.Range(), "Replace_triggered_by holds jobs and nothing else, such as job.extract or job.extract[each.key]. "+
				"For a value whose change is to run this job again, write triggers = { NAME = VALUE }.")
			good = false
		}
	}
	found := addrList{}
	if !good || len(list) == 0 || !s.many(a.expr, &found) {
		return nil
	}
	return found.list
}
