package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// spot is a part of a value and where it is written: the expression of the part itself where it is written out, else that of the
// smallest part around it.
type spot struct {
	path   string         // for people: payload.items[2].price
	expr   hcl.Expression // of this very part; nil when it comes from elsewhere
	at     hcl.Range
	key    hcl.Range // of the name that it is given under; at where there is none
	secret bool      // the value must not be shown
	depth  int       // messages around it
}

func spotOf(path string, expr hcl.Expression) spot {
	return spot{path: path, expr: expr, at: expr.Range(), key: expr.Range()}
}

// member is the spot of an element of an object or map.
func (p spot) member(name string) spot {
	in := p.inner(p.path + "." + name)
	if !hclsyntax.ValidIdentifier(name) {
		in.path = fmt.Sprintf("%s[%q]", p.path, clip(name))
	}
	if p.expr == nil {
		return in
	}
	pairs, diags := hcl.ExprMap(written(p.expr))
	if diags.HasErrors() {
		return in
	}
	for _, pair := range pairs {
		if text, ok := literalString(pair.Key); ok && text == name {
			in.expr, in.at, in.key = pair.Value, pair.Value.Range(), pair.Key.Range()
		}
	}
	return in
}

// element is the spot of an element of a list.
func (p spot) element(i int) spot {
	in := p.inner(fmt.Sprintf("%s[%d]", p.path, i))
	if p.expr == nil {
		return in
	}
	if e := elementAt(p.expr, i); e != p.expr {
		in.expr, in.at, in.key = e, e.Range(), e.Range()
	}
	return in
}

func (p spot) inner(path string) spot {
	return spot{path: path, at: p.at, key: p.at, secret: p.secret, depth: p.depth}
}

// elementAt is the expression of one element of a list that is written out, else the expression itself.
func elementAt(expr hcl.Expression, i int) hcl.Expression {
	list, diags := hcl.ExprList(written(expr))
	if diags.HasErrors() || i >= len(list) {
		return expr
	}
	return list[i]
}

// written is an expression without what was put around it, and without parentheses.
func written(expr hcl.Expression) hcl.Expression {
	for {
		switch e := expr.(type) {
		case *pass:
			expr = e.Expression
		case *piece:
			expr = e.Expression
		case *hclsyntax.ParenthesesExpr:
			expr = e.Expression
		default:
			return expr
		}
	}
}
