package config

import (
	"github.com/zclconf/go-cty/cty"
)

// local is one argument of a locals block and, once evaluated, its value.
type local struct {
	name   string
	attr   attribute
	value  cty.Value // cty.DynamicVal after a report
	broken bool
}

// evaluateLocal finds the value of a local whose references have theirs.
func (m *module) evaluateLocal(x *local) {
	x.value = cty.DynamicVal
	if x.broken {
		return
	}
	s := m.scope(m.report(), m.l.localRoots(), "a local")
	if !s.check(&x.attr) {
		return
	}
	s.ctx = s.context()
	if val, ok := s.value(&x.attr); ok {
		if tooHeavy(val) {
			s.r.error(sumValueTooLarge, x.attr.expr.Range(), "The value of local.%s has more than 64 MiB. Read large data where it is used, from files in a job's inputs.", x.name)
			return
		}
		x.value = val
	}
}

// localObject is the value of local in expressions, once all are evaluated.
func (m *module) localObject() cty.Value {
	if len(m.locals) == 0 {
		return cty.EmptyObjectVal
	}
	vals := make(map[string]cty.Value, len(m.locals))
	for name, x := range m.locals {
		vals[name] = x.value
	}
	return cty.ObjectVal(vals)
}

// tooHeavy tells whether a value takes more than 64 MiB when it is written out. Locals that double each other would
// else fill the memory within a few lines.
func tooHeavy(val cty.Value) bool {
	budget := 64 << 20
	return !weigh(val, &budget)
}

// elementBytes is what each value takes besides its text.
const elementBytes = 64

func weigh(val cty.Value, budget *int) bool {
	val, _ = val.Unmark()
	if *budget -= elementBytes; *budget < 0 {
		return false
	}
	if val.IsNull() || !val.IsKnown() {
		return true
	}
	ty := val.Type()
	if ty == cty.String {
		*budget -= len(val.AsString())
		return *budget >= 0
	}
	if ty.IsSetType() && ty.ElementType().IsPrimitiveType() {
		*budget -= 64 * val.LengthInt() // visiting a set sorts it
		return *budget >= 0
	}
	if !ty.IsPrimitiveType() && val.CanIterateElements() {
		for it := val.ElementIterator(); it.Next(); {
			_, v := it.Element()
			if !weigh(v, budget) {
				return false
			}
		}
	}
	return true
}
