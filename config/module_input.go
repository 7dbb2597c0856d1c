package config

import (
	"github.com/zclconf/go-cty/cty"
)

// input evaluates one variable of all modules of a call, each in the scope of the module that calls it.
func (c *call) input(name string) {
	declared := c.block.block.inner.attr(name)
	for _, p := range c.parent.modules {
		set := p.calls[c.block.name]
		if set == nil || set.broken {
			continue
		}
		if declared == nil {
			for _, m := range set.modules {
				m.variables[name].give(nil, cty.NilVal, nil)
			}
			continue
		}
		own := attribute{name: name, nameRange: declared.nameRange, expr: declared.expr}
		p.input(set, &own)
	}
}

// inputsOfModule is what a scope of inputs is called in messages.
const inputsOfModule = "the inputs of this module"

// input evaluates one input for all modules of a set.
func (p *module) input(set *moduleSet, a *attribute) {
	r := p.report()
	s := p.scope(r, anyRoot, inputsOfModule)
	if repeat := set.call.block.repeat(nil); repeat != nil {
		s.roots |= map[string]roots{"count": rootCount, "for_each": rootEach}[repeat.name]
	}
	given := &assignment{expr: a.expr, at: a.expr.Range(), from: set.call.addr}
	if s.check(a) {
		s.ctx = s.context()
		if a.state == exprShared && len(set.modules) > 1 {
			a.value, a.state = s.inputValue(a), exprConstant
		}
	}
	for i, m := range set.modules {
		v := m.variables[a.name]
		val := cty.NilVal
		if a.state != exprBroken {
			part := *s
			part.each = set.each(i)
			val = part.inputValue(a)
		}
		v.give(given, val, r)
	}
}

// inputValue is cty.NilVal after a report.
func (s *scope) inputValue(a *attribute) cty.Value {
	val, ok := s.value(a)
	switch {
	case !ok:
		return cty.NilVal
	case a.state != exprConstant && tooHeavy(val):
		s.r.error(sumValueTooLarge, a.expr.Range(), "This value has more than 64 MiB. Read large data where it is used, from files in a job's inputs.")
		return cty.NilVal
	}
	return val
}

// give settles the variable of a module: with its default, or with the value that its block gives.
func (v *variable) give(given *assignment, val cty.Value, r *report) {
	v.given, v.value = given, cty.DynamicVal
	switch {
	case v.broken:
		return
	case given == nil:
		val = v.fallback
	case val != cty.NilVal:
		val = v.take(given, val, r)
	}
	switch {
	case val == cty.NilVal:
		v.broken = true // reported
	case v.sensitive:
		v.value = val.Mark(sensitive)
	default:
		v.value = val
	}
}

// take brings a given value to the variable's type.
func (v *variable) take(given *assignment, val cty.Value, r *report) cty.Value {
	if val.IsNull() && !v.nullable {
		if v.fallback == cty.NilVal {
			r.error(sumBadVariableValue, given.at, "Variable %q of %s, declared at %s, is not nullable and has no default, so it cannot be null.", v.name, given.from, place(v.block.header))
		}
		return v.fallback
	}
	got, err := v.convert(val)
	if err != nil {
		r.error(sumBadVariableValue, given.at, "Variable %q of %s, declared at %s, has the type %s, which this value does not fit: %s.",
			v.name, given.from, place(v.block.header), constraintText(v.constraint), conversionError(err))
		return cty.NilVal
	}
	return got
}
