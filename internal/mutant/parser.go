package mutant

import (
	"fmt"
	"slices"
)

// parser reads Lua 5.1 and notes the mutants it passes. It trusts the text to be valid otherwise: the scripts' own tests
// see to that.
type parser struct {
	text  string
	list  []token
	at    int
	in    []string // the named functions around
	calls []int    // where functions are called that may do more than answer
	found []Mutant
	err   error
}

// span is a piece of the text.
type span struct{ from, to int }

// expr is an expression as far as mutants need it: the operands of a chain of `and` or of `or`, or what stands in its
// parentheses.
type expr struct {
	span
	operands []expr
	decides  moment // what an operand is when it decides the chain
}

func (p *parser) peek() token { return p.list[p.at] }

func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && t.kind != literal && t.kind != end
}

// next takes one token; at the end of the text it stays there.
func (p *parser) next() token {
	t := p.peek()
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) && p.err == nil {
		p.err = fmt.Errorf("line %d: %q where %q should be", line(p.text, p.peek().from), p.peek().text, text)
		p.at = len(p.list) - 1
	}
}

// last is where the token before this one ends.
func (p *parser) last() int { return p.list[max(p.at-1, 0)].to }

func (p *parser) block() {
	for p.peek().kind != end && !p.is("end") && !p.is("else") && !p.is("elseif") && !p.is("until") {
		p.statement()
	}
}

func (p *parser) statement() {
	from := p.peek().from
	switch {
	case p.accept(";"), p.accept("break"):
	case p.accept("if"):
		p.condition(true)
		for p.branch() {
		}
		p.expect("end")
	case p.accept("while"):
		p.loop()
	case p.accept("do"):
		p.block()
		p.expect("end")
	case p.accept("repeat"):
		p.block()
		p.expect("until")
		p.condition(true)
	case p.accept("for"):
		p.names()
		if !p.accept("=") {
			p.expect("in")
		}
		p.exprs()
		p.expect("do")
		p.block()
		p.expect("end")
	case p.accept("function"):
		called := p.next().text
		for p.accept(".") || p.accept(":") {
			called += "." + p.next().text
		}
		p.function(called)
	case p.accept("local"):
		if p.accept("function") {
			p.function(p.next().text)
			return
		}
		p.names()
		if p.accept("=") {
			p.exprs()
		}
	case p.accept("return"):
		if !p.is("end") && !p.is("else") && !p.is("elseif") && !p.is("until") && !p.is(";") && p.peek().kind != end {
			p.exprs()
		}
	default:
		p.assignmentOrCall(from)
	}
}

// branch reads from `then` or `else` to the next of them or to `end`; it tells whether another one follows.
func (p *parser) branch() bool {
	if p.accept("else") {
		p.block()
		return false
	}
	p.expect("then")
	p.block()
	if p.accept("elseif") {
		p.condition(true)
		return true
	}
	return p.is("else")
}

func (p *parser) loop() {
	p.condition(false) // always true would never end
	p.expect("do")
	p.block()
	p.expect("end")
}

func (p *parser) assignmentOrCall(from int) {
	targets := []span{p.suffixed().span}
	for p.accept(",") {
		targets = append(targets, p.suffixed().span)
	}
	if whole := (span{from, p.last()}); !p.accept("=") {
		p.note("drop", whole, "", mark{whole, reached})
		return
	}
	values := p.exprs()
	whole := span{from, p.last()}
	if len(targets) == 1 || len(targets) != len(values) {
		p.note("drop", whole, "", mark{whole, reached})
		return
	}
	for i := range targets { // an assignment to several is several
		p.note("drop "+p.cut(targets[i]), whole, p.without(targets, i)+" = "+p.without(values, i), mark{whole, reached})
	}
}

func (p *parser) names() {
	for p.next(); p.accept(","); p.next() {
	}
}

func (p *parser) function(called string) {
	p.in = append(p.in, called)
	p.body()
	p.in = p.in[:len(p.in)-1]
}

func (p *parser) body() {
	p.expect("(")
	for !p.accept(")") && p.err == nil {
		p.next()
	}
	p.block()
	p.expect("end")
}

// What a condition becomes that is taken to be true or false. The embedded store's Lua compiles some chains of elseif wrongly
// where a condition is a constant, so it is none.
const (
	taken   = "KEYS ~= nil"
	untaken = "KEYS == nil"
)

// condition reads a condition and notes its mutants.
func (p *parser) condition(both bool) {
	e := p.expr()
	if both && p.cut(e.span) != "true" {
		p.note("true", e.span, taken, p.differs(e.span, wasFalse))
	}
	if p.cut(e.span) != "false" {
		p.note("false", e.span, untaken, p.differs(e.span, wasTrue))
	}
	p.chain(e)
}

// chain notes a condition without each of the operands of its `and` and `or`.
func (p *parser) chain(e expr) {
	for i, o := range e.operands {
		if len(e.operands) > 1 {
			gone := span{o.from, e.operands[min(i+1, len(e.operands)-1)].from}
			if i > 0 {
				gone = span{e.operands[i-1].to, o.to}
			}
			p.note("without "+p.cut(o.span), gone, "", p.differs(o.span, e.decides))
		}
		p.chain(o)
	}
}

func (p *parser) exprs() []span {
	out := []span{p.expr().span}
	for p.accept(",") {
		out = append(out, p.expr().span)
	}
	return out
}

func (p *parser) expr() expr {
	return p.operands("or", wasTrue, func() expr { return p.operands("and", wasFalse, p.compared) })
}

func (p *parser) operands(operator string, decides moment, operand func() expr) expr {
	e := operand()
	if !p.is(operator) {
		return e
	}
	list := []expr{e}
	for p.accept(operator) {
		list = append(list, operand())
	}
	return expr{span{e.from, p.last()}, list, decides}
}

// compared reads what binds stronger than `and`. How it is made up is of interest only when it is a condition itself.
func (p *parser) compared() expr {
	e := p.unary()
	for {
		switch t := p.peek(); t.text {
		case "==", "~=", "<", ">", "<=", ">=", "..", "+", "-", "*", "/", "%", "^":
			if t.kind != symbol {
				return e
			}
			p.next()
			p.unary()
			e = expr{span: span{e.from, p.last()}}
		default:
			return e
		}
	}
}

func (p *parser) unary() expr {
	from := p.peek().from
	if p.accept("not") {
		return expr{span: span{from, 0}, operands: []expr{p.unary()}}.until(p.last())
	}
	if p.accept("-") || p.accept("#") {
		p.unary()
		return expr{span: span{from, p.last()}}
	}
	switch t := p.peek(); {
	case t.kind == literal, p.is("nil"), p.is("true"), p.is("false"), p.is("..."):
		p.next()
		return expr{span: span{from, p.last()}}
	case p.accept("function"):
		p.body()
		return expr{span: span{from, p.last()}}
	case p.is("{"):
		p.table()
		return expr{span: span{from, p.last()}}
	}
	return p.suffixed()
}

func (e expr) until(to int) expr {
	e.to = to
	return e
}

func (p *parser) suffixed() expr {
	from := p.peek().from
	e := expr{span: span{from, 0}}
	called := ""
	if p.accept("(") {
		e.operands = []expr{p.expr()}
		p.expect(")")
	} else if t := p.next(); t.kind == name {
		called = t.text
	} else if p.err == nil {
		p.err = fmt.Errorf("line %d: %q where an expression should be", line(p.text, t.from), t.text)
		p.at = len(p.list) - 1
	}
	for {
		if p.is("(") || p.is("{") || p.peek().kind == literal {
			if !slices.Contains(answers, called) {
				p.calls = append(p.calls, p.peek().from)
			}
			called = ""
		}
		switch {
		case p.accept("."), p.accept(":"):
			called += "." + p.next().text
		case p.accept("["):
			called = ""
			p.expr()
			p.expect("]")
		case p.accept("("):
			if !p.is(")") {
				p.exprs()
			}
			p.expect(")")
		case p.is("{"):
			p.table()
		case p.peek().kind == literal:
			p.next()
		default:
			return e.until(p.last())
		}
		e.operands = nil
	}
}

func (p *parser) table() {
	p.expect("{")
	for !p.accept("}") && p.err == nil {
		if p.accept("[") {
			p.expr()
			p.expect("]")
			p.expect("=")
		} else if p.peek().kind == name && p.list[p.at+1].text == "=" {
			p.at += 2
		}
		p.expr()
		if !p.accept(",") {
			p.accept(";")
		}
	}
}
