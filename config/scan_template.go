package config

import (
	"bytes"
)

// heredoc enters the heredoc at pos; false if there is none.
func (s *scanner) heredoc() bool {
	rest := s.src[s.pos:]
	if !bytes.HasPrefix(rest, []byte("<<")) {
		return false
	}
	n := 2
	if n < len(rest) && rest[n] == '-' {
		n++
	}
	begin := n
	for n < len(rest) && isIdentPart(rest[n]) {
		n++
	}
	marker := rest[begin:n]
	if len(marker) == 0 || !isIdentStart(marker[0]) {
		return false
	}
	if n < len(rest) && rest[n] == '\r' {
		n++
	}
	if n >= len(rest) || rest[n] != '\n' {
		return false
	}
	if bytes.IndexFunc(marker, func(r rune) bool { return r > 127 }) >= 0 {
		s.fail(sumBadCharacter, s.pos+begin, len(marker), "The marker of a heredoc is written in the letters a to z, digits and underscores.")
	}
	s.modes = append(s.modes, mode{kind: inHeredoc, at: s.pos, marker: marker, startOfLine: true, base: len(s.brackets), cost: s.cost})
	s.pos += n + 1
	s.line++
	return true
}

// literal moves over one piece of the text of a template: up to a sequence, the end of a heredoc's line, or the
// end of a quoted string.
func (s *scanner) literal() {
	m := &s.modes[len(s.modes)-1]
	begin := s.pos
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '$' || c == '%':
			if s.next() == '{' {
				m.startOfLine = false
				s.sequence(c == '%')
				return
			}
			m.startOfLine = false
			s.piece()
			s.pos++
			if s.next() == '{' && s.pos < len(s.src) && s.src[s.pos] == c {
				s.pos += 2 // $${ is a literal ${
			}
		case c == '\n':
			s.endOfLine(m, begin)
			return
		case c == '"' && m.kind == inString:
			s.pos++
			s.leave()
			return
		case c == '\\' && m.kind == inString && s.next() != '\n' && s.next() != '\r':
			s.pos += 2
		default:
			s.pos++
		}
	}
	s.pos = len(s.src)
}

// endOfLine handles the newline at pos: text that must not have one, or the end of a heredoc.
func (s *scanner) endOfLine(m *mode, begin int) {
	if m.kind == inString {
		s.fail(sumMultilineString, m.at, 1, "A quoted string has to end on the line it begins on. Is the closing quote missing? "+
			"A newline inside is written as \\n; text of several lines as a heredoc: <<EOT, the lines, and EOT on a line of its own.")
	}
	if m.kind == inHeredoc && m.startOfLine && bytes.Equal(bytes.TrimSpace(s.src[begin:s.pos]), m.marker) {
		s.leave()
		s.newline()
		return
	}
	m.startOfLine = true
	s.piece()
	s.line++
	s.pos++
}

// piece counts a piece of text, or what is put between two. The parser melds pieces with those around them, which takes it the square of
// their number.
func (s *scanner) piece() {
	if s.pieces++; s.pieces > maxPieces {
		s.fail(sumBlockTooLarge, s.pos, 1, "The text in one block has at most 20,000 lines, dollar and percent signs. Put it into a file and read it with file().")
	}
}

// leave ends the innermost string or heredoc.
func (s *scanner) leave() {
	n := len(s.modes) - 1
	s.cost = s.modes[n].cost
	s.modes = s.modes[:n]
}

// step moves over one token or piece of text.
func (s *scanner) step() {
	if n := len(s.modes) - 1; n >= 0 && s.modes[n].kind != inSequence {
		s.literal()
		return
	}
	s.token()
}

// scanTemplate looks for what must not reach the parser in a bare template, as in a JSON string or a template file.
func scanTemplate(src []byte) *flaw {
	s := &scanner{src: src, line: 1, limit: maxNesting, modes: []mode{{kind: inBare}}}
	return s.all()
}

// scanExpression looks for what must not reach the parser in an expression, as given to -var.
func scanExpression(src []byte) *flaw {
	s := &scanner{src: src, line: 1, limit: maxNesting, brackets: []bracket{{char: '('}}}
	return s.all()
}

func (s *scanner) all() *flaw {
	for s.pos < len(s.src) && s.flaw == nil {
		s.step()
	}
	return s.flaw
}
