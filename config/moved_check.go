package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// movedCheck holds moved blocks against the jobs and each other.
type movedCheck struct {
	l        *loader
	from, to map[Addr]Moved // of the blocks checked so far
	moves    Moves          // of all blocks
}

// check reports what is wrong with one block.
func (k *movedCheck) check(m movedBlock) bool {
	r := m.m.report()
	if m.From == m.To {
		r.error(sumBadMove, m.to.expr.Range(), "From and to are the same %s. Remove the block.", strings.TrimPrefix(jobOrModule(m.To), "a "))
		return false
	}
	if other, twice := k.from[m.From]; twice {
		r.error(sumBadMove, m.from.expr.Range(), "%s has moved to %s already, by the block at %s. It is in one place only: remove one of the two.",
			upperFirst(m.From.String()), other.To, place(other.Range))
		return false
	}
	if other, twice := k.to[m.To]; twice {
		r.error(sumBadMove, m.to.expr.Range(), "%s has moved here already, by the block at %s. Only one of the two can become %s: remove one block.",
			upperFirst(other.From.String()), place(other.Range), m.To)
		return false
	}
	k.from[m.From], k.to[m.To] = m.Moved, m.Moved
	gone, there := k.gone(m), k.there(m)
	return gone && there
}

// gone reports what has moved away and is still declared.
func (k *movedCheck) gone(m movedBlock) bool {
	var header hcl.Range
	if m.From.IsModule() {
		outer, name, _ := splitModule(m.From.Module)
		p := k.l.byAddr[outer]
		if p == nil || p.dir.calls[name] == nil || !m.Whole() && k.l.byAddr[m.From.Module] == nil {
			return true
		}
		header = p.dir.calls[name].block.header
	} else {
		j := k.l.jobAt(m.From)
		if j == nil || j.broken || !m.Whole() && !j.has(m.From.Key) {
			return true
		}
		header = j.header
	}
	m.m.report().error(sumBadMove, m.from.expr.Range(), "%s is still declared, at %s, so it has not moved. Rename that one to %s, or remove the moved block.",
		upperFirst(m.From.String()), place(header), m.To)
	return false
}

// jobAt finds the block of a job by its address.
func (l *loader) jobAt(a Addr) *jobBlock {
	m := l.byAddr[a.Module]
	if m == nil {
		return nil
	}
	return m.jobs[a.Name]
}

// there reports what nobody declares, unless another block moves on from it.
func (k *movedCheck) there(m movedBlock) bool {
	if _, on := k.moves.step(m.To); on {
		return true
	}
	if m.To.IsModule() {
		return k.moduleThere(m)
	}
	l, r := k.l, m.m.report()
	inner := l.byAddr[m.To.Module]
	if inner == nil {
		return k.reached(m, m.To.Module)
	}
	j := inner.jobs[m.To.Name]
	switch at := m.to.expr.Range(); {
	case j == nil && inner.dir.incomplete, j != nil && (j.broken || m.Whole() || j.has(m.To.Key)):
		return true
	case j == nil:
		r.error(sumUndeclaredJob, at, "No job %q is declared%s, so nothing can move there.%s", clip(m.To.Name), where(inner), didYouMean(m.To.Name, maps.Keys(inner.jobs)))
	case j.repeat(nil) == nil:
		r.error(sumNoInstance, at, "Job %q has neither count nor for_each, so it has no instances to choose from: write job.%[1]s.", m.To.Name)
	case m.To.Key.Kind == NoKey:
		r.error(sumMissingKey, at, "Job %q has %s set, so there are several of it. %s", j.name, j.repeat(nil).name, j.howToIndex(""))
	default:
		inner.scope(r, 0, "").noInstance(j, m.To.Key.value(), at)
	}
	return false
}

func where(m *module) string {
	if m.dir.root {
		return ""
	}
	return " in " + clip(m.addr)
}

func (k *movedCheck) moduleThere(m movedBlock) bool {
	outer, name, _ := splitModule(m.To.Module)
	p := k.l.byAddr[outer]
	if p == nil {
		return k.reached(m, outer)
	}
	if m.Whole() && p.dir.calls[name] != nil {
		return true
	}
	return k.reached(m, m.To.Module)
}

// reached reports the first module on the way to a place that is not there.
func (k *movedCheck) reached(m movedBlock, path string) bool {
	outer, name, key := splitModule(path)
	p := k.l.byAddr[outer]
	if p == nil {
		return k.reached(m, outer)
	}
	b, set, at, r := p.dir.calls[name], p.calls[name], m.to.expr.Range(), m.m.report()
	switch {
	case b == nil && p.dir.incomplete, b != nil && (b.dir == nil || set == nil || set.broken || k.l.byAddr[path] != nil):
		return true
	case b == nil:
		r.error(sumUndeclaredModule, at, "No module %q is declared%s, so nothing can move there.%s", clip(name), where(p), didYouMean(name, maps.Keys(p.dir.calls)))
	case b.repeat(nil) == nil:
		r.error(sumNoInstance, at, "Module %q has neither count nor for_each, so it has no instances to choose from: write module.%[1]s.", name)
	case key == "":
		r.error(sumMissingKey, at, "Module %q has %s set, so there are several of it. %s", name, b.repeat(nil).name, b.howToIndex(set, ""))
	default:
		k, _ := parseKey(key)
		p.scope(r, 0, "").noModule(set, k.value(), at)
	}
	return false
}

// value is the key as expressions have it.
func (k InstanceKey) value() cty.Value {
	if k.Kind == KeyInt {
		return cty.NumberIntVal(int64(k.Int))
	}
	return cty.StringVal(k.Str)
}

// checkMovedCircles reports blocks that lead in a circle, each circle once.
func checkMovedCircles(list []movedBlock) {
	moves := NewMoves(moves(list))
	walked := map[Addr]int{} // by the number of the walk that came there first
	for n, m := range list {
		var path []string
		for at := m.From; len(path) <= len(list); {
			if first, been := walked[at]; been {
				if first == n {
					m.m.report().error(sumBadMove, m.Range, "These %ss move in a circle, so none of them has a place: %s. Remove one of the blocks.",
						strings.TrimPrefix(jobOrModule(at), "a "), strings.Join(append(circle(path, at), at.String()), " -> "))
				}
				break
			}
			walked[at] = n
			path = append(path, at.String())
			next, ok := moves.step(at)
			if !ok {
				break
			}
			at = next
		}
	}
}

// circle is the part of a path from an address on, and not too much of it.
func circle(path []string, from Addr) []string {
	const most = 12
	path = path[slices.Index(path, from.String()):]
	if len(path) > most {
		path = append(slices.Clone(path[:most]), "...")
	}
	return path
}
