package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Moved is a moved block: what state records of From belongs to To from now on. Where neither has a key, it is a whole block
// that was renamed, and every instance keeps its key; a From without key is otherwise the one job of a block that had neither
// count nor for_each. No job is declared at From.
type Moved struct {
	From, To Addr
	Range    hcl.Range
}

// Whole tells whether a block was renamed with all of its instances.
func (m Moved) Whole() bool { return m.From.Key == (InstanceKey{}) && m.To.Key == (InstanceKey{}) }

// Moves says where the records of a workflow went; see NewMoves.
type Moves struct {
	exact map[Addr]Addr // of one instance each; they go before those of whole blocks
	whole map[Addr]Addr
}

// NewMoves takes moved blocks together.
func NewMoves(list []Moved) Moves {
	m := Moves{exact: map[Addr]Addr{}, whole: map[Addr]Addr{}}
	for _, v := range list {
		if v.Whole() {
			m.whole[v.From] = v.To
		} else {
			m.exact[v.From] = v.To
		}
	}
	return m
}

// Of follows an address to where it has moved, over any number of blocks; moved is false if it has not.
func (m Moves) Of(a Addr) (to Addr, moved bool) {
	for range len(m.exact) + len(m.whole) {
		next, ok := m.step(a)
		if !ok {
			break
		}
		a, moved = next, true
	}
	return a, moved
}

func (m Moves) step(a Addr) (Addr, bool) {
	if to, ok := m.exact[a]; ok {
		return to, true
	}
	to, ok := m.whole[a.Block()]
	to.Key = a.Key
	return to, ok
}

// movedBlock is a moved block whose two addresses are read.
type movedBlock struct {
	Moved
	from, to *attribute
}

// evaluateMoved reads the moved blocks and checks them against the jobs and each other.
func (l *loader) evaluateMoved() []Moved {
	var list []movedBlock
	for _, b := range l.root.dir.moved {
		c := b.open(&l.r)
		from, to := c.attr("from"), c.attr("to")
		if from == nil || to == nil {
			continue // reported
		}
		m := movedBlock{Moved: Moved{Range: b.header}, from: from, to: to}
		var fromOK, toOK bool
		m.From, fromOK = l.movedAddr(from)
		m.To, toOK = l.movedAddr(to)
		if fromOK && toOK {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b movedBlock) int { return compareRanges(a.Range, b.Range) })
	k := movedCheck{l: l, from: map[Addr]Moved{}, to: map[Addr]Moved{}, leaves: map[Addr]bool{}}
	for _, m := range list {
		k.leaves[m.From] = true
	}
	var good []Moved
	for _, m := range list {
		if k.check(m) {
			good = append(good, m.Moved)
		}
	}
	l.checkMovedCircles(good)
	return good
}

func compareRanges(a, b hcl.Range) int {
	if a.Filename != b.Filename {
		return strings.Compare(a.Filename, b.Filename)
	}
	return a.Start.Byte - b.Start.Byte
}

// movedAddr reads an address that is written out: job.NAME, job.NAME["KEY"] or job.NAME[0]. It names what may not be declared,
// so nothing is evaluated.
func (l *loader) movedAddr(a *attribute) (Addr, bool) {
	t, diags := hcl.AbsTraversalForExpr(a.expr)
	at := a.expr.Range()
	if diags.HasErrors() || len(t) < 2 || len(t) > 3 || t.RootName() != "job" {
		hint := ""
		if val, diags := a.expr.Value(nil); !diags.HasErrors() && !isJSON(a.expr) {
			hint = quotedJob(val)
		}
		l.r.error(sumBadMove, at, "%s in a moved block is the address of a job, such as job.load, job.load[\"eu\"] or job.load[0], with its key written out.%s", upperFirst(a.name), hint)
		return Addr{}, false
	}
	name, isAttr := t[1].(hcl.TraverseAttr)
	if !isAttr || !isIdentifier(name.Name) {
		l.r.error(sumBadMove, at, "%s in a moved block is the address of a job, such as job.load.", upperFirst(a.name))
		return Addr{}, false
	}
	addr := Addr{Name: name.Name}
	if len(t) == 2 {
		return addr, true
	}
	index, isIndex := t[2].(hcl.TraverseIndex)
	if !isIndex {
		l.r.error(sumBadMove, at, "%s is no address of a job. Write job.%s, or one of its instances: job.%[2]s[\"KEY\"].", traversalString(t), name.Name)
		return Addr{}, false
	}
	key, ok := instanceKey(index.Key, index.Key.Type() == cty.Number)
	if !ok {
		l.r.error(sumBadMove, at, "The key of %s is neither a text nor a whole number from 0.", traversalString(t))
		return Addr{}, false
	}
	addr.Key = key
	return addr, true
}

// movedCheck holds moved blocks against the jobs and each other.
type movedCheck struct {
	l        *loader
	from, to map[Addr]Moved // of the blocks checked so far
	leaves   map[Addr]bool  // what any block moves
}

// check reports what is wrong with one block.
func (k *movedCheck) check(m movedBlock) bool {
	r := &k.l.r
	if m.From == m.To {
		r.error(sumBadMove, m.to.expr.Range(), "From and to are the same job. Remove the block.")
		return false
	}
	if other, twice := k.from[m.From]; twice {
		r.error(sumBadMove, m.from.expr.Range(), "%s has moved to %s already, by the block at %s. A job is in one place only: remove one of the two.",
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

// gone reports a job that has moved away and is still declared.
func (k *movedCheck) gone(m movedBlock) bool {
	j := k.l.root.jobs[m.From.Name]
	if j == nil || j.broken || !m.Whole() && !j.has(m.From.Key) {
		return true
	}
	k.l.r.error(sumBadMove, m.from.expr.Range(), "%s is still declared, at %s, so it has not moved. Rename that one to %s, or remove the moved block.",
		upperFirst(m.From.String()), place(j.header), m.To)
	return false
}

// there reports a job that nobody declares, unless another block moves on from it.
func (k *movedCheck) there(m movedBlock) bool {
	if k.leaves[m.To] || k.leaves[m.To.Block()] {
		return true
	}
	l := k.l
	j := l.root.jobs[m.To.Name]
	switch at := m.to.expr.Range(); {
	case j == nil && l.root.dir.incomplete, j != nil && (j.broken || m.Whole() || j.has(m.To.Key)):
		return true
	case j == nil:
		l.r.error(sumUndeclaredJob, at, "No job %q is declared, so nothing can move there.%s", clip(m.To.Name), didYouMean(m.To.Name, maps.Keys(l.root.jobs)))
	case j.repeat(nil) == nil:
		l.r.error(sumNoInstance, at, "Job %q has neither count nor for_each, so it has no instances to choose from: write job.%[1]s.", m.To.Name)
	case m.To.Key.Kind == NoKey:
		l.r.error(sumMissingKey, at, "Job %q has %s set, so there are several of it. %s", j.name, j.repeat(nil).name, j.howToIndex(""))
	default:
		l.root.scope(&l.r, 0, "").noInstance(j, m.To.Key.value(), at)
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
func (l *loader) checkMovedCircles(list []Moved) {
	moves := NewMoves(list)
	walked := map[Addr]int{} // by the number of the walk that came there first
	for n, m := range list {
		var path []string
		for at := m.From; ; {
			if first, been := walked[at]; been {
				if first == n {
					l.r.error(sumBadMove, m.Range, "These jobs move in a circle, so none of them has a place: %s. Remove one of the blocks.", strings.Join(append(circle(path, at), at.String()), " -> "))
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
