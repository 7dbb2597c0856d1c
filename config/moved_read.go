package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// movedBlock is a moved block whose two addresses are read.
type movedBlock struct {
	Moved
	m        *module // that it stands in
	from, to *attribute
}

// evaluateMoved reads the moved blocks and checks them against what is declared and each other. Those of a module are about each of
// its instances.
func (l *loader) evaluateMoved() []Moved {
	var list []movedBlock
	for _, m := range l.modules {
		for _, b := range m.dir.moved {
			c := b.open(m.dir.r)
			from, to := c.attr("from"), c.attr("to")
			if from == nil || to == nil {
				continue // reported
			}
			if v := (movedBlock{Moved: Moved{Range: b.header}, m: m, from: from, to: to}); v.read() {
				list = append(list, v)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b movedBlock) int { return compareRanges(a.Range, b.Range) })
	k := movedCheck{l: l, from: map[Addr]Moved{}, to: map[Addr]Moved{}, moves: NewMoves(moves(list))}
	var good []movedBlock
	for _, m := range list {
		if k.check(m) {
			good = append(good, m)
		}
	}
	checkMovedCircles(good)
	return moves(good)
}

func moves(list []movedBlock) []Moved {
	var moves []Moved
	for _, m := range list {
		moves = append(moves, m.Moved)
	}
	return moves
}

func compareRanges(a, b hcl.Range) int {
	if a.Filename != b.Filename {
		return strings.Compare(a.Filename, b.Filename)
	}
	return a.Start.Byte - b.Start.Byte
}

// read reads both addresses.
func (v *movedBlock) read() bool {
	r := v.m.report()
	var fromOK, toOK bool
	v.From, fromOK = v.m.address(v.from, "a moved", r)
	v.To, toOK = v.m.address(v.to, "a moved", r)
	if fromOK && toOK && v.From.IsModule() != v.To.IsModule() {
		r.error(sumBadMove, v.to.expr.Range(), "%s is %s and %s is %s. A job moves to where a job is, and a module with all its jobs to where a module is.",
			upperFirst(v.From.String()), jobOrModule(v.From), v.To, jobOrModule(v.To))
		return false
	}
	return fromOK && toOK
}

func jobOrModule(a Addr) string {
	if a.IsModule() {
		return "a module"
	}
	return "a job"
}

// address reads an address that is written out: job.NAME, module.NAME or module.NAME.job.NAME, each with a key or without. It names
// what may not be declared, so nothing is evaluated. It is relative to the module.
func (m *module) address(a *attribute, in string, r *report) (Addr, bool) {
	at := a.expr.Range()
	t, diags := hcl.AbsTraversalForExpr(a.expr)
	if diags.HasErrors() || len(t) < 2 || t.RootName() != "job" && t.RootName() != "module" {
		hint := ""
		if val, diags := constant(a.expr); !diags.HasErrors() && !isJSON(a.expr) {
			hint = quotedJob(val, a.expr)
		}
		r.error(sumBadMove, at, "%s in %s block is the address of a job, such as job.load, job.load[\"eu\"] or job.load[0], or of a module, such as module.load, with its keys written out.%s", upperFirst(a.name), in, hint)
		return Addr{}, false
	}
	addr := Addr{Module: m.addr}
	kind := t.RootName()
	for t = t[1:]; ; t = t[1:] {
		name, isAttr := nameOf(t)
		if !isAttr {
			r.error(sumBadMove, at, "%s in %s block is the address of a job, such as job.load.", upperFirst(a.name), in)
			return Addr{}, false
		}
		t = t[1:]
		var key InstanceKey
		if len(t) > 0 {
			if index, isIndex := t[0].(hcl.TraverseIndex); isIndex {
				var ok bool
				if key, ok = instanceKey(index.Key, index.Key.Type() == cty.Number); !ok {
					r.error(sumBadMove, at, "The key of %s is neither a text nor a whole number from 0.", Written(a.traversal()))
					return Addr{}, false
				}
				t = t[1:]
			}
		}
		if kind == "job" {
			addr.Name, addr.Key = name, key
		} else {
			addr.Module = inModule(addr.Module, name) + key.String()
		}
		if len(t) == 0 {
			return addr, true
		}
		next, isAttr := t[0].(hcl.TraverseAttr)
		if kind == "job" || !isAttr || next.Name != "job" && next.Name != "module" {
			r.error(sumBadMove, at, "%s is no address of a job or module. Write %s, or one of its instances: %[2]s[\"KEY\"].", Written(a.traversal()), m.relative(addr))
			return Addr{}, false
		}
		kind = next.Name
	}
}

func (a *attribute) traversal() hcl.Traversal {
	t, _ := hcl.AbsTraversalForExpr(a.expr)
	return t
}

// nameOf is the name at the head of the rest of an address.
func nameOf(t hcl.Traversal) (string, bool) {
	if len(t) == 0 {
		return "", false
	}
	name, isAttr := t[0].(hcl.TraverseAttr)
	return name.Name, isAttr && isIdentifier(name.Name)
}

// relative writes an address without its key, as it is in the files of a module.
func (m *module) relative(a Addr) string {
	if a.IsModule() {
		path, _ := splitKey(a.Module)
		return strings.TrimPrefix(strings.TrimPrefix(path, m.addr), ".")
	}
	return strings.TrimPrefix(strings.TrimPrefix(a.Block().String(), m.addr), ".")
}
