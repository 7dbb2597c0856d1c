package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// block is one block of either syntax whose body may not have been looked into yet.
type block struct {
	kind       *kind
	label      string
	labelRange hcl.Range
	header     hcl.Range // type and label
	body       hcl.Body
	inner      *content // set by open

	dynamic *dynamic // of a block called dynamic
	turn    *turn    // of a block that a dynamic one made
}

// content is what stands in a body, each part known to its kind.
type content struct {
	kind   *kind
	attrs  []attribute
	blocks []block

	refused bool // something that is wrong was left out, so what is missing may be that
}

// attribute is one argument with its expression, and what is known about that without an instance.
type attribute struct {
	name      string
	nameRange hcl.Range
	expr      hcl.Expression

	state   exprState
	value   cty.Value // when constant
	targets []Addr    // when constant and the job or jobs of an edge
}

// exprState is what a check of an expression's references found.
type exprState uint8

const (
	exprUnchecked exprState = iota
	exprBroken              // reported; not evaluated
	exprShared              // the same for every instance of its block
	exprConstant            // likewise, and evaluated: see attribute.value
	exprInstance            // refers to each or count
)

func (c *content) attr(name string) *attribute {
	for i := range c.attrs {
		if c.attrs[i].name == name {
			return &c.attrs[i]
		}
	}
	return nil
}

// block finds a block that stands at most once.
func (c *content) block(name string) *block {
	for i := range c.blocks {
		if c.blocks[i].kind.name == name {
			return &c.blocks[i]
		}
	}
	return nil
}

// open reads the body once and remembers its content.
func (b *block) open(r *report) *content {
	if b.inner == nil {
		b.inner = openBody(b.body, b.kind, b.header, r)
		if b.dynamic != nil {
			b.openDynamic(r)
		}
	}
	return b.inner
}

// openBody checks a body against its kind. What does not belong there is reported and left out.
func openBody(body hcl.Body, k *kind, header hcl.Range, r *report) *content {
	var c *content
	if native, ok := body.(*hclsyntax.Body); ok {
		c = openNative(native, k, r)
	} else {
		c = openJSON(body, k, r)
	}
	for i := range k.args {
		if a := &k.args[i]; a.required && c.attr(a.name) == nil {
			r.error(sumMissingArgument, header, "%s needs the argument %q.", upperFirst(k.where()), a.name)
		}
	}
	c.refuseRepeated(r)
	return c
}

func openNative(body *hclsyntax.Body, k *kind, r *report) *content {
	c := &content{kind: k}
	if len(body.Attributes) > 0 {
		c.attrs = make([]attribute, 0, len(body.Attributes))
	}
	for name, a := range body.Attributes {
		if k.arg(name) == nil && !k.any {
			r.unknownArgument(k, name, a.NameRange)
			continue
		}
		c.attrs = append(c.attrs, attribute{name: name, nameRange: a.NameRange, expr: a.Expr})
	}
	if len(body.Blocks) > 0 {
		c.blocks = make([]block, 0, len(body.Blocks))
	}
	for _, b := range body.Blocks {
		bk := k.block(b.Type)
		if bk == nil {
			r.unknownBlock(k, b.Type, b.TypeRange)
			continue
		}
		nb := block{kind: bk, header: b.DefRange(), body: b.Body}
		if !r.labels(&nb, b.Labels, b.LabelRanges) || !nb.makes(k, r) {
			c.refused = true
			continue
		}
		c.blocks = append(c.blocks, nb)
	}
	return c
}

// labels takes over a block's label, or reports one that is missing or too much.
func (r *report) labels(b *block, labels []string, ranges []hcl.Range) bool {
	switch {
	case b.kind.label == "" && len(labels) > 0:
		r.error(sumExtraLabel, ranges[0], "A %s block has no label: write %s { ... }.", b.kind.name, b.kind.name)
		return false
	case b.kind.label != "" && len(labels) == 0:
		r.error(sumMissingLabel, b.header, "A %s block needs its %s: write %s \"NAME\" { ... }.", b.kind.name, b.kind.label, b.kind.name)
		return false
	case b.kind.label != "" && len(labels) > 1:
		r.error(sumExtraLabel, ranges[1], "A %s block has one label, its %s: write %s %q { ... }.", b.kind.name, b.kind.label, b.kind.name, clip(labels[0]))
		return false
	case b.kind.label != "":
		b.label, b.labelRange = labels[0], ranges[0]
	}
	return true
}

func openJSON(body hcl.Body, k *kind, r *report) *content {
	c := &content{kind: k}
	if k.any {
		attrs, diags := body.JustAttributes()
		r.add(diags)
		for name, a := range attrs {
			c.attrs = append(c.attrs, attribute{name: name, nameRange: a.NameRange, expr: a.Expr})
		}
		return c
	}
	found, diags := body.Content(k.jsonSchema())
	r.add(diags)
	for name, a := range found.Attributes {
		c.attrs = append(c.attrs, attribute{name: name, nameRange: a.NameRange, expr: a.Expr})
	}
	for _, b := range found.Blocks {
		nb := block{kind: k.block(b.Type), header: b.DefRange, body: b.Body}
		nb.header = b.TypeRange
		if len(b.LabelRanges) > 0 {
			nb.header = b.LabelRanges[0]
		}
		if !r.labels(&nb, b.Labels, b.LabelRanges) || !nb.makes(k, r) {
			c.refused = true
			continue
		}
		c.blocks = append(c.blocks, nb)
	}
	return c
}

// jsonSchema is the kind as hcl's JSON decoder wants it: JSON alone does not tell blocks from objects.
func (k *kind) jsonSchema() *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for i := range k.args {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: k.args[i].name})
	}
	for _, b := range k.blocks {
		h := hcl.BlockHeaderSchema{Type: b.name}
		if b.label != "" {
			h.LabelNames = []string{b.label}
		}
		s.Blocks = append(s.Blocks, h)
	}
	return s
}

// refuseRepeated reports the second of what may stand once, and keeps the first.
func (c *content) refuseRepeated(r *report) {
	for i := 1; i < len(c.blocks); i++ {
		b := &c.blocks[i]
		if b.kind.many {
			continue
		}
		if first := c.block(b.kind.name); first != b {
			r.error(sumDuplicateBlock, b.header, "%s has only one %s block; the first is at %s.", upperFirst(c.kind.where()), b.kind.name, place(first.header))
			c.blocks = slices.Delete(c.blocks, i, i+1)
			i--
		}
	}
}
