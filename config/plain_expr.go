package config

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// expression reads a value up to, and without, the byte behind it. It reads no operators: the caller gives up on one,
// as on everything that may not follow a value where it stands.
func (p *plainParser) expression() hclsyntax.Expression {
	start := p.pos
	switch c := p.peek(); {
	case c == '"':
		return p.quoted()
	case c >= '0' && c <= '9':
		return p.number()
	case c == '[':
		return p.tuple()
	case c == '{':
		return p.object()
	}
	word := p.word()
	if p.failed {
		return nil
	}
	rng := p.since(start)
	switch string(word) {
	case "true":
		return &hclsyntax.LiteralValueExpr{Val: cty.True, SrcRange: rng}
	case "false":
		return &hclsyntax.LiteralValueExpr{Val: cty.False, SrcRange: rng}
	case "null":
		return &hclsyntax.LiteralValueExpr{Val: cty.NullVal(cty.DynamicPseudoType), SrcRange: rng}
	}
	if p.peek() == '(' {
		return p.traversal(p.call(string(word), rng))
	}
	path := make(hcl.Traversal, 1, 3)
	path[0] = hcl.TraverseRoot{Name: string(word), SrcRange: rng}
	return p.traversal(&hclsyntax.ScopeTraversalExpr{Traversal: path, SrcRange: rng})
}

// number reads digits, with or without a fraction.
func (p *plainParser) number() hclsyntax.Expression {
	start, dots := p.pos, 0
	for p.pos < len(p.src) && (p.src[p.pos] >= '0' && p.src[p.pos] <= '9' || p.src[p.pos] == '.') {
		if p.src[p.pos] == '.' {
			dots++
		}
		p.pos++
	}
	text := p.src[start:p.pos]
	if dots > 1 || text[len(text)-1] == '.' || isIdentStart(p.peek()) {
		p.fail()
		return nil
	}
	val, err := cty.ParseNumberVal(string(text))
	if err != nil {
		p.fail()
		return nil
	}
	return &hclsyntax.LiteralValueExpr{Val: val, SrcRange: p.since(start)}
}

// quoted reads a string in which nothing is escaped. Parts between text are references.
func (p *plainParser) quoted() hclsyntax.Expression {
	start := p.pos
	p.pos++
	var parts []hclsyntax.Expression
	for !p.failed {
		begin := p.pos
		if !p.text() {
			break
		}
		if p.pos > begin {
			parts = append(parts, &hclsyntax.LiteralValueExpr{Val: cty.StringVal(unescape(p.src[begin:p.pos])), SrcRange: p.since(begin)})
		}
		if p.peek() == '"' {
			break
		}
		p.pos += 2 // ${
		p.blanks()
		expr := p.expression()
		p.blanks()
		if p.failed || p.peek() != '}' {
			p.fail()
			return nil
		}
		p.pos++
		parts = append(parts, expr)
	}
	if p.failed {
		return nil
	}
	p.pos++
	rng := p.since(start)
	if rng.Start.Line != rng.End.Line || p.lineStart > start {
		p.fail() // a value of several lines inside
		return nil
	}
	if len(parts) == 0 {
		parts = []hclsyntax.Expression{&hclsyntax.LiteralValueExpr{Val: cty.StringVal(""), SrcRange: hcl.Range{Filename: p.name, Start: rng.End, End: rng.End}}}
	}
	if len(parts) == 1 {
		if _, isText := parts[0].(*hclsyntax.LiteralValueExpr); !isText || p.src[start+1] == '$' {
			return &hclsyntax.TemplateWrapExpr{Wrapped: parts[0], SrcRange: rng}
		}
	}
	return &hclsyntax.TemplateExpr{Parts: parts, SrcRange: rng}
}

// text moves to the closing quote or to ${. It gives up on all but ASCII and the common escapes.
func (p *plainParser) text() bool {
	for ; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == '"':
			return true
		case c == '$' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '{':
			return true
		case c == '\\' && p.pos+1 < len(p.src) && escaped(p.src[p.pos+1]) != 0:
			p.pos++
		case c == '$' || c == '%' || c == '\\' || c < ' ' || c >= 0x7f:
			p.fail()
			return false
		}
	}
	p.fail()
	return false
}

// escaped is the character that a backslash and c stand for, 0 for those left to hclsyntax.
func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case '"', '\\':
		return c
	}
	return 0
}

func unescape(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' {
			i++
			c = escaped(text[i])
		}
		plain = append(plain, c)
	}
	return string(plain)
}

// tuple reads [a, b], where newlines mean nothing.
func (p *plainParser) tuple() hclsyntax.Expression {
	open := hcl.Range{Filename: p.name, Start: p.at(p.pos), End: p.at(p.pos + 1)}
	p.pos++
	exprs, ok := p.list(']', true)
	if !ok {
		return nil
	}
	return &hclsyntax.TupleConsExpr{Exprs: exprs, OpenRange: open, SrcRange: hcl.Range{Filename: p.name, Start: open.Start, End: p.at(p.pos)}}
}

// list reads values separated by commas, up to and with the closing bracket.
func (p *plainParser) list(closing byte, tuple bool) (exprs []hclsyntax.Expression, ok bool) {
	for !p.failed {
		p.lines()
		if p.peek() == closing {
			break
		}
		if len(exprs) == 0 && tuple && p.isFor() {
			p.fail()
			break
		}
		exprs = append(exprs, p.expression())
		p.lines()
		if p.peek() == closing {
			break
		}
		if p.peek() != ',' {
			p.fail()
			break
		}
		p.pos++
	}
	p.pos++
	return exprs, !p.failed
}

// isFor tells whether a for expression begins here.
func (p *plainParser) isFor() bool {
	return p.pos+3 <= len(p.src) && string(p.src[p.pos:p.pos+3]) == "for" && (p.pos+3 == len(p.src) || !isIdentPart(p.src[p.pos+3]))
}

// object reads { key = value }, with entries on lines of their own or separated by commas.
func (p *plainParser) object() hclsyntax.Expression {
	open := hcl.Range{Filename: p.name, Start: p.at(p.pos), End: p.at(p.pos + 1)}
	p.pos++
	var items []hclsyntax.ObjectConsItem
	for !p.failed {
		p.lines()
		if p.peek() == '}' {
			break
		}
		if len(items) == 0 && p.isFor() {
			p.fail()
			break
		}
		key := p.expression()
		p.blanks()
		if c := p.peek(); p.failed || c != '=' && c != ':' || p.pos+1 < len(p.src) && (p.src[p.pos+1] == '=' || p.src[p.pos+1] == '>' || p.src[p.pos+1] == ':') {
			p.fail()
			break
		}
		p.pos++
		p.blanks()
		value := p.expression()
		items = append(items, hclsyntax.ObjectConsItem{KeyExpr: &hclsyntax.ObjectConsKeyExpr{Wrapped: key}, ValueExpr: value})
		p.blanks()
		switch p.peek() {
		case '}', '\n':
		case ',':
			p.pos++
		default:
			p.endOfLine() // a comment
		}
	}
	if p.failed {
		return nil
	}
	p.pos++
	return &hclsyntax.ObjectConsExpr{Items: items, OpenRange: open, SrcRange: hcl.Range{Filename: p.name, Start: open.Start, End: p.at(p.pos)}}
}

// call reads the arguments of a function.
func (p *plainParser) call(name string, nameRange hcl.Range) hclsyntax.Expression {
	open := hcl.Range{Filename: p.name, Start: p.at(p.pos), End: p.at(p.pos + 1)}
	p.pos++
	args, ok := p.list(')', false)
	if !ok {
		return nil
	}
	return &hclsyntax.FunctionCallExpr{Name: name, Args: args, NameRange: nameRange, OpenParenRange: open, CloseParenRange: p.since(p.pos - 1)}
}

// traversal reads the attributes and indices behind a reference or call.
func (p *plainParser) traversal(from hclsyntax.Expression) hclsyntax.Expression {
	if p.failed {
		return nil
	}
	expr := from
	begin := from.Range().Start
	for !p.failed {
		start := p.pos
		line := p.line
		switch p.peek() {
		case '.':
			p.pos++
			name := p.word()
			if p.failed {
				return nil
			}
			rng := p.since(start)
			expr = extend(expr, hcl.TraverseAttr{Name: string(name), SrcRange: rng}, rng)
		case '[':
			open := hcl.Range{Filename: p.name, Start: p.at(start), End: p.at(start + 1)}
			p.pos++
			p.blanks()
			key := p.expression()
			p.blanks()
			if p.failed || p.peek() != ']' || p.line != line {
				p.fail()
				return nil
			}
			p.pos++
			rng := p.since(start)
			if val, ok := constantKey(key); ok {
				expr = extend(expr, hcl.TraverseIndex{Key: val, SrcRange: rng}, rng)
			} else {
				expr = &hclsyntax.IndexExpr{Collection: expr, Key: key, OpenRange: open, BracketRange: rng,
					SrcRange: hcl.Range{Filename: p.name, Start: begin, End: rng.End}}
			}
		default:
			return expr
		}
	}
	return nil
}

// constantKey gives the value of an index that is written out.
func constantKey(key hclsyntax.Expression) (cty.Value, bool) {
	switch k := key.(type) {
	case *hclsyntax.LiteralValueExpr:
		return k.Val, true
	case *hclsyntax.TemplateExpr:
		if k.IsStringLiteral() {
			return k.Parts[0].(*hclsyntax.LiteralValueExpr).Val, true
		}
	}
	return cty.NilVal, false
}

// extend adds a step to a reference, or begins one from another value.
func extend(expr hclsyntax.Expression, step hcl.Traverser, rng hcl.Range) hclsyntax.Expression {
	switch e := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		e.Traversal = append(e.Traversal, step)
		e.SrcRange.End = rng.End
		return e
	case *hclsyntax.RelativeTraversalExpr:
		e.Traversal = append(e.Traversal, step)
		e.SrcRange.End = rng.End
		return e
	}
	return &hclsyntax.RelativeTraversalExpr{Source: expr, Traversal: hcl.Traversal{step},
		SrcRange: hcl.Range{Filename: rng.Filename, Start: expr.Range().Start, End: rng.End}}
}
