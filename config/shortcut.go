package config

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// instance is what tells one instance of a job from the others, inside its body.
type instance struct {
	key   InstanceKey
	value cty.Value // each.value
}

// context extends the context of the block by each or count.
func (i *instance) context(outer *hcl.EvalContext) *hcl.EvalContext {
	ctx := outer.NewChild()
	if i.key.Kind == KeyInt {
		ctx.Variables = map[string]cty.Value{"count": cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(int64(i.key.Int))})}
	} else {
		ctx.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(i.key.Str), "value": i.value})}
	}
	return ctx
}

// shortcut evaluates the most common expressions without a context: text, var.NAME, local.NAME, each.key, each.value,
// count.index, and text around these. It is false for all others, and where the evaluation has something to report.
func (s *scope) shortcut(expr hcl.Expression) (cty.Value, bool) {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return e.Val, true
	case *hclsyntax.ScopeTraversalExpr:
		return s.named(e.Traversal)
	case *hclsyntax.TemplateWrapExpr:
		return s.shortcut(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		if len(e.Parts) == 1 {
			lit, ok := e.Parts[0].(*hclsyntax.LiteralValueExpr)
			if ok && lit.Val.Type() == cty.String {
				return lit.Val, true
			}
			return cty.NilVal, false
		}
		return s.template(e)
	case *piece:
		return s.shortcut(e.Expression)
	}
	return cty.NilVal, false
}

// named looks up a reference of two names.
func (s *scope) named(t hcl.Traversal) (cty.Value, bool) {
	if len(t) != 2 {
		return cty.NilVal, false
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return cty.NilVal, false
	}
	switch t.RootName() {
	case "var":
		if v := s.m.variables[attr.Name]; v != nil {
			return v.value, true
		}
	case "local":
		if x := s.m.locals[attr.Name]; x != nil {
			return x.value, true
		}
	case "each":
		switch {
		case s.each == nil:
		case attr.Name == "key":
			return cty.StringVal(s.each.key.Str), true
		case attr.Name == "value":
			return s.each.value, true
		}
	case "count":
		if s.each != nil && attr.Name == "index" {
			return cty.NumberIntVal(int64(s.each.key.Int)), true
		}
	}
	return cty.NilVal, false
}

// template joins text and values that are plain strings, or the index of count.
func (s *scope) template(e *hclsyntax.TemplateExpr) (cty.Value, bool) {
	var buf [128]byte
	text := buf[:0]
	for _, part := range e.Parts {
		if t, ok := part.(*hclsyntax.ScopeTraversalExpr); ok && s.each != nil && s.each.key.Kind == KeyInt && t.Traversal.RootName() == "count" {
			if len(t.Traversal) != 2 {
				return cty.NilVal, false
			}
			text = strconv.AppendInt(text, int64(s.each.key.Int), 10)
			continue
		}
		val, ok := s.shortcut(part)
		if !ok || val.IsMarked() || val.Type() != cty.String || !val.IsKnown() || val.IsNull() {
			return cty.NilVal, false
		}
		if len(text)+len(val.AsString()) > maxItem {
			return cty.NilVal, false // its pieces are counted one by one
		}
		text = append(text, val.AsString()...)
	}
	if !s.l.steps.write(len(text)) {
		return cty.NilVal, false // reported by its pieces
	}
	return cty.StringVal(string(text)), true
}
