package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Removed is a removed block: a job, or all of a block or module, that is declared no more, and what becomes of it.
type Removed struct {
	From    Addr // may be a module, and covers what Addr.Covers says
	Destroy bool // its jobs end, as if there were no block; otherwise they are forgotten and left alone
	Range   hcl.Range
}

// evaluateRemoved reads the removed blocks, those of a module for each of its instances.
func (l *loader) evaluateRemoved() []Removed {
	var list []Removed
	for _, m := range l.modules {
		for _, b := range m.dir.removed {
			if v, ok := m.readRemoved(b); ok {
				list = append(list, v)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Removed) int { return compareRanges(a.Range, b.Range) })
	return list
}

func (m *module) readRemoved(b *block) (v Removed, ok bool) {
	r := m.report()
	c := b.open(m.dir.r)
	v = Removed{Destroy: true, Range: b.header}
	if inner := c.block("lifecycle"); inner != nil {
		if a := inner.open(m.dir.r).attr("destroy"); a != nil {
			val, diags := constant(a.expr)
			if diags.HasErrors() || val.Type() != cty.Bool || val.IsNull() {
				r.error(sumBadRemoval, a.expr.Range(), "Destroy is true or false, written out.")
				return v, false
			}
			v.Destroy = val.True()
		}
	}
	a := c.attr("from")
	if a == nil {
		return v, false // reported
	}
	if v.From, ok = m.address(a, "a removed", r); !ok {
		return v, false
	}
	if at, declared := m.l.declares(v.From); declared {
		r.error(sumBadRemoval, a.expr.Range(), "%s is still declared, at %s, so it is not removed. Take that block out of the files, or remove the removed block.", upperFirst(v.From.String()), place(at))
		return v, false
	}
	return v, true
}

// declares finds the block that declares an address, or instances of it.
func (l *loader) declares(a Addr) (at hcl.Range, declared bool) {
	for _, m := range l.modules {
		if a.IsModule() {
			if m.addr != "" && a.Covers(Addr{Module: m.addr, Name: "job"}) {
				return m.call.block.block.header, true
			}
			continue
		}
		if j := m.jobs[a.Name]; j != nil && m.addr == a.Module && (a.Key.Kind == NoKey || j.has(a.Key)) {
			return j.header, true
		}
	}
	return at, false
}
