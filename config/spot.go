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
	parts  *parts    // of expr; nil without
	secret bool      // the value must not be shown
	depth  int       // messages around it
}

// parts are the expressions of the elements of an object or list, each looked up once however many there are.
type parts struct {
	elements []hcl.Expression
	members  map[string]hcl.KeyValuePair
	read     bool
}

func spotOf(path string, expr hcl.Expression) spot {
	return spot{path: path, expr: expr, at: expr.Range(), key: expr.Range(), parts: &parts{}}
}

// partsOf reads what an expression is written out of: nothing for one that is no object or list in the files.
func (p spot) partsOf() *parts {
	if p.parts.read {
		return p.parts
	}
	p.parts.read = true
	if pairs, diags := hcl.ExprMap(written(p.expr)); !diags.HasErrors() {
		p.parts.members = make(map[string]hcl.KeyValuePair, len(pairs))
		for _, pair := range pairs {
			if text, ok := literalString(pair.Key); ok {
				p.parts.members[text] = pair
			}
		}
	}
	if list, diags := hcl.ExprList(written(p.expr)); !diags.HasErrors() {
		p.parts.elements = list
	}
	return p.parts
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
	if pair, ok := p.partsOf().members[name]; ok {
		in.expr, in.at, in.key, in.parts = pair.Value, pair.Value.Range(), pair.Key.Range(), &parts{}
	}
	return in
}

// element is the spot of an element of a list.
func (p spot) element(i int) spot {
	in := p.inner(fmt.Sprintf("%s[%d]", p.path, i))
	if p.expr == nil {
		return in
	}
	if list := p.partsOf().elements; i < len(list) {
		in.expr, in.at, in.key, in.parts = list[i], list[i].Range(), list[i].Range(), &parts{}
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
