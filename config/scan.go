package config

import (
	"bytes"
)

// The bounds of one source. They keep time, memory and stack bounded for hostile input; nothing that people or
// their generators write comes near.
const (
	maxNesting    = 1_000   // brackets, operators and directives on the way to the deepest expression
	maxIdentifier = 1_024   // bytes
	maxItem       = 1 << 20 // bytes of one top-level block
	maxItems      = 1_000_000
	maxPieces     = 20_000 // of literal text of one top-level block: each line of a heredoc, and each dollar and percent sign in text
	maxRescans    = 20     // unclosed blocks of a file after which the rest of it is not looked at
	maxFlaws      = 100    // of one file, likewise
)

// item is one top-level block or attribute of a native-syntax file, found without parsing it. Items cover the file
// from its first to its last line without gaps, so that each can be parsed on its own with the right ranges.
type item struct {
	start, end int // whole lines: end is behind the last line's newline
	line       int // of start, from 1

	head, headLine int    // where the block's type begins
	kind, label    string // of a plain header `kind "label" {`, else ""
	labelEnd       int    // behind the label, as the header's range ends there
	instanced      bool   // the body has count or for_each
}

// flaw is why a scan gave up on an item: a summary for the diagnostic and where it is.
type flaw struct {
	summary summary
	detail  string
	at      int // byte offset
	length  int
}

// scanner splits a file into items and finds what must not reach the parser, whose recursion and token lists
// grow with the input. It reads the language exactly as hclsyntax does, token by token, but keeps nothing.
type scanner struct {
	src  []byte
	pos  int
	line int

	modes    []mode
	brackets []bracket
	cost     int // how deep the parser can be at pos
	braces   int // as hclsyntax counts them, to find the end of template sequences
	limit    int // of cost, to test with less than maxNesting
	peak     int // the highest cost met
	pieces   int // of text, in this item

	fresh     bool // nothing but space since a brace was opened
	lineStart bool // nothing but space since an argument or block can begin
	instanced bool // count or for_each was met at the top of an item's body
	endless   bool // no block comment ends behind pos, so it is not looked for again
	flaw      *flaw
}

// mode is one level of template nesting: a quoted string, a heredoc, or the sequence inside one.
type mode struct {
	kind        modeKind
	at          int    // where it began
	marker      []byte // of a heredoc
	startOfLine bool   // of a heredoc: nothing but literal text since the line began
	braces      int    // of a sequence: the count at which a closing brace ends it
	base        int    // of a sequence: the brackets that are open outside it
	cost        int    // to return to
}

type modeKind uint8

const (
	inString modeKind = iota
	inHeredoc
	inBare // a bare template
	inSequence
)

// forBrace is the brace of { for ... }, in which newlines separate nothing.
const forBrace = 'f'

type bracket struct {
	char byte
	cost int // before it was opened
}

func (s *scanner) fail(sum summary, at, length int, detail string) {
	if s.flaw == nil {
		s.flaw = &flaw{summary: sum, detail: detail, at: at, length: length}
	}
}

// deeper counts one level of recursion of the parser.
func (s *scanner) deeper() {
	s.cost++
	s.peak = max(s.peak, s.cost)
	if s.cost > s.limit {
		s.fail(sumTooDeep, s.pos, 1, "This expression nests brackets, operators or template directives more than 1000 deep. Move parts of it into locals.")
	}
}

func (s *scanner) open(c byte) {
	s.brackets = append(s.brackets, bracket{c, s.cost})
	s.deeper()
	s.pos++
	s.fresh, s.lineStart = c == '{', c == '{'
}

// base is how many brackets are open outside the innermost template sequence.
func (s *scanner) base() int {
	if n := len(s.modes); n > 0 {
		return s.modes[n-1].base
	}
	return 0
}

// close takes the innermost bracket away. A bracket of another shape is a syntax error, which the parser reports.
func (s *scanner) close() {
	s.pos++
	if n := len(s.brackets) - 1; n >= s.base() {
		s.cost = s.brackets[n].cost
		s.brackets = s.brackets[:n]
		s.deeper() // x[a][b][c] nests in the tree although its brackets do not
	}
}

// closeBrace ends a template sequence, or a block or object with all that was left open inside.
func (s *scanner) closeBrace() {
	if n := len(s.modes) - 1; n >= 0 && s.modes[n].kind == inSequence && s.modes[n].braces == s.braces {
		s.braces--
		s.brackets = s.brackets[:s.modes[n].base]
		s.cost = s.modes[n].cost
		s.modes = s.modes[:n]
		s.pos++
		return
	}
	s.braces--
	for n := len(s.brackets) - 1; n > s.base() && s.brackets[n].char != '{' && s.brackets[n].char != forBrace; n-- {
		s.brackets = s.brackets[:n]
	}
	s.close()
}

// separate is met between siblings: what follows is no deeper than the bracket around it.
func (s *scanner) separate() {
	switch n := len(s.brackets); {
	case n > s.base():
		s.cost = s.brackets[n-1].cost + 1
	case len(s.modes) == 0:
		s.cost = 0
	}
}

// newline ends an argument or block, except where the parser ignores it.
func (s *scanner) newline() {
	s.line++
	s.pos++
	s.lineStart = true
	if n := len(s.brackets); n == s.base() && len(s.modes) == 0 || n > s.base() && s.brackets[n-1].char == '{' {
		s.separate()
	}
}

// sequence enters the ${ or %{ at pos.
func (s *scanner) sequence(control bool) {
	s.braces++
	outer := s.cost
	s.deeper()
	s.pos += 2
	if s.pos < len(s.src) && s.src[s.pos] == '~' {
		s.pos++
	}
	s.piece()
	if control {
		outer += directive(s.src[s.pos:])
	}
	s.modes = append(s.modes, mode{kind: inSequence, at: s.pos, braces: s.braces, base: len(s.brackets), cost: max(outer, 0)})
}

// directive tells whether the directive at the head of src opens or closes a level of nesting.
func directive(src []byte) int {
	src = bytes.TrimLeft(src, " \t\r\n")
	switch {
	case bytes.HasPrefix(src, []byte("endif")), bytes.HasPrefix(src, []byte("endfor")):
		return -1
	case bytes.HasPrefix(src, []byte("if")), bytes.HasPrefix(src, []byte("for")):
		return 1
	}
	return 0
}
