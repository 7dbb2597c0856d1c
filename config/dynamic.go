package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// maxElements bounds the blocks that one dynamic block makes.
const maxElements = 10_000

// dynamic is what a block called dynamic makes: one block of a kind for each element of its for_each.
type dynamic struct {
	of       *kind
	iterator string // names the element inside of content; default: the kind's name
	content  *block // what stands in each of the blocks; nil after a report
}

// turn is one element of a dynamic block's for_each.
type turn struct {
	of         *block
	key, value cty.Value
}

// context extends an outer context by the iterator.
func (t *turn) context(outer *hcl.EvalContext) *hcl.EvalContext {
	ctx := outer.NewChild()
	ctx.Variables = map[string]cty.Value{t.of.dynamic.iterator: cty.ObjectVal(map[string]cty.Value{"key": t.key, "value": t.value})}
	return ctx
}

// note names the element behind the detail of a diagnostic.
func (t *turn) note() string {
	return fmt.Sprintf(" This is about the element %s of the dynamic block at %s.", shownKey(t.key), place(t.of.header))
}

func shownKey(key cty.Value) string {
	plain, marks := key.Unmark()
	switch {
	case len(marks) > 0 || plain.IsNull() || !plain.IsKnown():
		return "(sensitive)"
	case plain.Type() == cty.Number:
		return plain.AsBigFloat().Text('f', -1)
	case plain.Type() == cty.String:
		return fmt.Sprintf("%q", clip(plain.AsString()))
	}
	return typeName(plain.Type())
}

// makes finds out what a dynamic block makes, by its label. It is false after a report.
func (b *block) makes(in *kind, r *report) bool {
	if b.kind.name != "dynamic" {
		return true
	}
	of := in.block(b.label)
	switch {
	case of == nil && in.arg(b.label) != nil:
		r.error(sumUnknownBlock, b.labelRange, "%q is an argument and not a block of %s, so there cannot be several: write %s = VALUE.", b.label, in.where(), b.label)
	case of == nil:
		r.error(sumUnknownBlock, b.labelRange, "%s has no block %q that could be made for each element.%s", upperFirst(in.where()), clip(b.label), didYouMean(b.label, in.repeatable()))
	case of.name == "dynamic" || of.name == "lifecycle":
		r.error(sumUnknownBlock, b.labelRange, "A %s block cannot be made by a dynamic block. Write it out.", of.name)
	default:
		b.dynamic = &dynamic{of: of, iterator: of.name}
		return true
	}
	return false
}

// repeatable names what a dynamic block may make inside of a block of this kind.
func (k *kind) repeatable() func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, b := range k.blocks {
			if b.name != "dynamic" && b.name != "lifecycle" && !yield(b.name) {
				return
			}
		}
	}
}

// openDynamic reads what stands in a dynamic block: its content is of the kind that it makes.
func (b *block) openDynamic(r *report) {
	c := b.inner
	for i := range c.attrs {
		if c.attrs[i].name == "iterator" {
			b.readIterator(&c.attrs[i], r)
			c.attrs = append(c.attrs[:i:i], c.attrs[i+1:]...) // a name, not a value
			break
		}
	}
	if b.dynamic.content = c.block("content"); b.dynamic.content == nil {
		r.error(sumMissingBlock, b.header, "A dynamic block needs the block content { ... }, with what stands in each %s block.", b.dynamic.of.name)
		return
	}
	b.dynamic.content.kind = b.dynamic.of
}

func (b *block) readIterator(a *attribute, r *report) {
	name := hcl.ExprAsKeyword(a.expr)
	switch {
	case name == "":
		r.error(sumBadName, a.expr.Range(), "Iterator is a name, without quotes, such as iterator = element. Inside of content the element is then element.key and element.value.")
	case rootNames[name] != 0:
		r.error(sumBadName, a.expr.Range(), "%q means something else in expressions, so it cannot name the elements. Choose another iterator.", name)
	default:
		b.dynamic.iterator = name
	}
}

// unfold gives a body in which each dynamic block is replaced by the blocks that it makes.
func (s *scope) unfold(c *content) *content {
	if !c.isDynamic() {
		return c
	}
	flat := &content{kind: c.kind, attrs: c.attrs, refused: c.refused, blocks: make([]block, 0, len(c.blocks))}
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.dynamic == nil {
			flat.blocks = append(flat.blocks, *b)
		} else if !s.elements(b, flat) {
			flat.refused = true
		}
	}
	flat.refuseRepeated(s.r)
	return flat
}

func (c *content) isDynamic() bool {
	for i := range c.blocks {
		if c.blocks[i].dynamic != nil {
			return true
		}
	}
	return false
}

// elements makes the blocks of one dynamic block. It is false after a report.
func (s *scope) elements(b *block, to *content) bool {
	d := b.dynamic
	a := b.inner.attr("for_each")
	if a == nil || d.content == nil {
		return false
	}
	val, ok := s.value(a)
	if !ok {
		return false
	}
	ty := val.Type()
	switch {
	case val.IsNull():
		s.r.error(sumWrongType, a.expr.Range(), "For_each of a dynamic block cannot be null. An empty list makes no blocks: [].")
		return false
	case val.IsMarked():
		s.r.error(sumSensitive, a.expr.Range(), "For_each decides how many blocks there are, which is shown in plans, so it cannot be made from a sensitive value as a whole. Its elements may have sensitive values.")
		return false
	case !val.CanIterateElements():
		s.r.error(sumWrongType, a.expr.Range(), "For_each of a dynamic block needs a list, a set, a map or an object, and this is %s.", typeName(ty))
		return false
	}
	n := val.LengthInt()
	switch {
	case n > maxElements:
		s.r.error(sumValueTooLarge, a.expr.Range(), "For_each of a dynamic block has %d elements; at most %d blocks are made.", n, maxElements)
		return false
	case n > 1 && !d.of.many:
		s.r.error(sumDuplicateBlock, a.expr.Range(), "This makes %d %s blocks, and %s has only one. Let for_each have at most one element, such as CONDITION ? [1] : [].", n, d.of.name, to.kind.where())
		return false
	}
	for it := val.ElementIterator(); it.Next(); {
		key, value := it.Element()
		to.blocks = append(to.blocks, block{kind: d.of, header: b.header, body: d.content.body, inner: d.content.inner, turn: &turn{of: b, key: key, value: value}})
	}
	return true
}

// in is the scope of a block's arguments: inside of a block that a dynamic one made, its iterator is known.
func (s *scope) in(b *block) *scope {
	if b.turn == nil {
		return s
	}
	inner := *s
	if inner.each != nil {
		inner.ctx, inner.each = inner.each.context(inner.ctx), nil
	}
	inner.ctx = b.turn.context(inner.ctx)
	inner.r = &report{onward: s.r, turn: b.turn}
	return &inner
}

// checkDynamic checks the references of a dynamic block. Those to its iterator differ from block to block.
func (s *scope) checkDynamic(b *block) {
	if a := b.inner.attr("for_each"); a != nil {
		s.check(a)
	}
	if b.dynamic.content == nil {
		return
	}
	n := len(s.iterators)
	s.iterators = append(s.iterators, b.dynamic.iterator)
	s.checkAll(b.dynamic.content.open(s.r))
	s.iterators = s.iterators[:n]
}

// checkIterator checks a reference to the element of a dynamic block.
func (s *scope) checkIterator(t hcl.Traversal) bool {
	if len(t) > 1 {
		if step, isAttr := t[1].(hcl.TraverseAttr); isAttr {
			return s.checkFixed(t, step.Name, "key", "value")
		}
	}
	s.r.error(sumBadReference, t.SourceRange(), "%q alone is no value: write %[1]s.key or %[1]s.value.", t.RootName())
	return false
}
