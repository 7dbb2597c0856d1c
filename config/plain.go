package config

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
)

// plainParser reads blocks written in the plain part of the language: known arguments and blocks, strings in
// ASCII, numbers, references, lists, objects and calls of functions. It makes exactly what hclsyntax makes of
// them, in a tenth of the time, since it keeps no list of tokens; a fuzz test compares the two. Whatever else it
// meets, mistakes included, makes it give up, and the block is left to hclsyntax.
type plainParser struct {
	src       []byte
	name      string // of the file
	pos       int
	line      int
	lineStart int // offset of the current line
	failed    bool
}

// parsePlain reads the block of an item, or gives up.
func (s *source) parsePlain(it *item, k *kind) (b block, ok bool) {
	p := &plainParser{src: s.bytes[:it.end], name: s.name, pos: it.start, line: it.line, lineStart: it.start}
	p.lines()
	b = p.block(k)
	if p.failed || b.kind == nil {
		return block{}, false
	}
	p.lines()
	return b, !p.failed && p.pos == len(p.src)
}

func (p *plainParser) fail() { p.failed = true }

// peek is the byte at pos, 0 at the end. The sources hold no NUL.
func (p *plainParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *plainParser) at(pos int) hcl.Pos {
	return hcl.Pos{Line: p.line, Column: pos - p.lineStart + 1, Byte: pos}
}

// since is the range from start, on the current line, to pos.
func (p *plainParser) since(start int) hcl.Range {
	return hcl.Range{Filename: p.name, Start: p.at(start), End: p.at(p.pos)}
}

func (p *plainParser) blanks() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t') {
		p.pos++
	}
	if p.peek() == '\r' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '\n' {
		p.pos++
	}
}

func (p *plainParser) newline() {
	p.pos++
	p.line++
	p.lineStart = p.pos
}

// lines moves over blanks, newlines and comments.
func (p *plainParser) lines() {
	for {
		p.blanks()
		switch c := p.peek(); {
		case c == '\n':
			p.newline()
		case c == '#' || c == '/' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '/':
			p.comment()
		default:
			return
		}
	}
}

// comment moves over a comment and its newline.
func (p *plainParser) comment() {
	n := bytes.IndexByte(p.src[p.pos:], '\n')
	if n < 0 {
		p.pos = len(p.src)
		return
	}
	p.pos += n
	p.newline()
}

// endOfLine moves over what may stand behind an argument or block, and gives up on anything else.
func (p *plainParser) endOfLine() {
	p.blanks()
	switch c := p.peek(); {
	case c == '\n':
		p.newline()
	case c == '#' || c == '/' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '/':
		p.comment()
	case p.pos < len(p.src):
		p.fail()
	}
}

// word reads a name; nil gives up.
func (p *plainParser) word() []byte {
	start := p.pos
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || (c >= '0' && c <= '9' || c == '-') && p.pos > start {
			p.pos++
			continue
		}
		break
	}
	if p.pos == start || p.peek() >= 0x80 {
		p.fail()
		return nil
	}
	return p.src[start:p.pos]
}

// block reads a block of one of the kinds that may stand in k.
func (p *plainParser) block(k *kind) block {
	start := p.pos
	name := p.word()
	if p.failed {
		return block{}
	}
	b := block{kind: k.blockNamed(name), header: p.since(start)}
	if b.kind == nil || b.kind.name == "locals" || b.kind.name == "dynamic" {
		p.fail()
		return block{}
	}
	p.blanks()
	if b.kind.label != "" {
		p.label(&b)
	}
	if p.failed || p.peek() != '{' {
		p.fail()
		return block{}
	}
	p.pos++
	b.inner = p.body(b.kind)
	return b
}

// label reads the one quoted label of a block.
func (p *plainParser) label(b *block) {
	start := p.pos
	if p.peek() != '"' {
		p.fail()
		return
	}
	n := bytes.IndexByte(p.src[p.pos+1:], '"')
	if n < 0 {
		p.fail()
		return
	}
	label := p.src[p.pos+1 : p.pos+1+n]
	for _, c := range label {
		if !isIdentPart(c) && c != '.' || c >= 0x80 {
			p.fail()
			return
		}
	}
	p.pos += n + 2
	b.label, b.labelRange = string(label), p.since(start)
	b.header.End = b.labelRange.End
	p.blanks()
}

// body reads what stands between the braces, the closing one included.
func (p *plainParser) body(k *kind) *content {
	c := &content{kind: k}
	p.blanks()
	switch first := p.peek(); {
	case first == '\n' || first == '#' || first == '/':
		p.endOfLine()
		p.items(c)
	case first != '}':
		p.argument(c) // { name = value }
		p.blanks()
	}
	if p.failed || p.peek() != '}' {
		p.fail()
		return c
	}
	p.pos++
	if !c.complete() {
		p.fail()
	}
	return c
}

// items reads the lines of a body up to its closing brace.
func (p *plainParser) items(c *content) {
	for !p.failed {
		p.lines()
		if p.peek() == '}' || p.pos == len(p.src) {
			return
		}
		// A block has a brace on its line before any equals sign.
		q := p.pos
		for q < len(p.src) && (isIdentPart(p.src[q]) || p.src[q] == ' ' || p.src[q] == '\t' || p.src[q] == '"') {
			q++
		}
		if q < len(p.src) && p.src[q] == '{' {
			b := p.block(c.kind)
			if b.kind == nil || !b.kind.many && c.block(b.kind.name) != nil {
				p.fail()
				return
			}
			if c.blocks == nil {
				c.blocks = make([]block, 0, 2)
			}
			c.blocks = append(c.blocks, b)
		} else {
			p.argument(c)
		}
		p.endOfLine()
	}
}

// argument reads name = value without the newline.
func (p *plainParser) argument(c *content) {
	start := p.pos
	name := p.word()
	if p.failed {
		return
	}
	a := c.kind.argNamed(name)
	if a == nil || c.attr(a.name) != nil {
		p.fail()
		return
	}
	attr := attribute{name: a.name, nameRange: p.since(start)}
	p.blanks()
	if p.peek() != '=' {
		p.fail()
		return
	}
	p.pos++
	p.blanks()
	attr.expr = p.expression()
	if c.attrs == nil {
		c.attrs = make([]attribute, 0, 4)
	}
	c.attrs = append(c.attrs, attr)
}

// complete tells whether every required argument is there.
func (c *content) complete() bool {
	for i := range c.kind.args {
		if a := &c.kind.args[i]; a.required && c.attr(a.name) == nil {
			return false
		}
	}
	return true
}

func (k *kind) argNamed(name []byte) *arg {
	for i := range k.args {
		if k.args[i].name == string(name) {
			return &k.args[i]
		}
	}
	return nil
}

func (k *kind) blockNamed(name []byte) *kind {
	for _, b := range k.blocks {
		if b.name == string(name) {
			return b
		}
	}
	return nil
}
