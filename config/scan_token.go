package config

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// token moves over one token of the language outside templates.
func (s *scanner) token() {
	c := s.src[s.pos]
	switch {
	case c == ' ' || c == '\t':
		for s.pos++; s.pos < len(s.src) && s.src[s.pos] == ' '; s.pos++ {
		}
	case c == '\n':
		s.newline()
	case c == '\r' || c == '#' || c == '/':
		s.space(c)
	default:
		fresh, lineStart := s.fresh, s.lineStart
		s.fresh, s.lineStart = false, false
		switch {
		case isIdentStart(c):
			s.identifier(fresh, lineStart)
		case c >= '0' && c <= '9':
			s.number()
		default:
			s.symbol(c)
		}
	}
}

func (s *scanner) symbol(c byte) {
	switch c {
	case '"':
		s.modes = append(s.modes, mode{kind: inString, at: s.pos, base: len(s.brackets), cost: s.cost})
		s.pos++
	case '<':
		if !s.heredoc() {
			s.deeper()
			s.pos++
		}
	case '{':
		s.braces++
		s.open(c)
	case '(', '[':
		s.open(c)
	case '}':
		s.closeBrace()
	case ')', ']':
		s.close()
	case ',':
		s.separate()
		s.pos++
	case '?', '!', '-', '+', '*', '%', '&', '|', '>', '=', '^':
		s.deeper()
		s.pos++
	case '~':
		s.pos++
		if s.pos < len(s.src) && s.src[s.pos] == '}' {
			s.closeBrace()
		}
	case '.', ':', ';', '`', '\'':
		s.pos++
	default:
		s.fail(sumBadCharacter, s.pos, 1, "This character is not part of the language outside of quoted strings and comments.")
		s.pos++
	}
}

// space moves over a carriage return or comment, or a slash that begins none.
func (s *scanner) space(c byte) {
	switch next := s.next(); {
	case c == '\r':
		if next != '\n' {
			s.fail(sumBadCharacter, s.pos, 1, "A carriage return only belongs in front of a newline.")
		}
		s.pos++
	case c == '#' || next == '/':
		s.comment()
	case next != '*' || !s.blockComment():
		s.deeper()
		s.pos++
	}
}

func (s *scanner) next() byte {
	if s.pos+1 < len(s.src) {
		return s.src[s.pos+1]
	}
	return 0
}

// comment moves behind a comment of one line, newline included.
func (s *scanner) comment() {
	n := bytes.IndexByte(s.src[s.pos:], '\n')
	if n < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += n
	s.newline()
}

// blockComment moves behind /* */. Without its end it is no comment but the symbols / and *, as for hclsyntax.
func (s *scanner) blockComment() bool {
	end := s.commentEnd()
	if end == 0 {
		return false
	}
	s.line += bytes.Count(s.src[s.pos:end], []byte{'\n'})
	s.pos = end
	return true
}

// commentEnd is the offset behind the block comment that begins at pos, 0 if it has no end.
func (s *scanner) commentEnd() int {
	if s.endless {
		return 0
	}
	n := bytes.Index(s.src[s.pos+2:], []byte("*/"))
	s.endless = n < 0
	if s.endless {
		return 0
	}
	return s.pos + 2 + n + 2
}

// identifier moves behind a name. What looks like one but is not, such as an em dash, is reported.
func (s *scanner) identifier(fresh, lineStart bool) {
	start := s.pos
	for s.pos < len(s.src) && isIdentPart(s.src[s.pos]) {
		if s.src[s.pos] < utf8.RuneSelf {
			s.pos++
			continue
		}
		r, n := utf8.DecodeRune(s.src[s.pos:])
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc) {
			if bytes.HasPrefix(s.src[s.pos:], bom) && s.pos == 0 {
				s.pos += n
				return
			}
			s.fail(sumBadCharacter, s.pos, n, "This character is not part of the language outside of quoted strings and comments. Quotes are written as \", dashes as -.")
			s.pos += n
			return
		}
		s.pos += n
	}
	if s.pos-start > maxIdentifier {
		s.fail(sumNameTooLong, start, 1, "This name is longer than 1024 bytes.")
	}
	switch name := string(s.src[start:s.pos]); {
	case fresh && name == "for" && len(s.brackets) > s.base():
		s.brackets[len(s.brackets)-1].char = forBrace
	case lineStart && len(s.brackets) == 1 && len(s.modes) == 0 && (name == "count" || name == "for_each") && s.assigned():
		s.instanced = true
	}
}

// assigned tells whether an equals sign comes next, after spaces and comments.
func (s *scanner) assigned() bool {
	rest := s.src[s.pos:]
	for {
		rest = bytes.TrimLeft(rest, " \t")
		comment, ok := bytes.CutPrefix(rest, []byte("/*"))
		if !ok {
			return bytes.HasPrefix(rest, []byte("="))
		}
		_, rest, _ = bytes.Cut(comment, []byte("*/"))
	}
}

// number moves over digits; the letters and dots of 1.5e3 are harmless wherever they are taken for.
func (s *scanner) number() {
	start := s.pos
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		exponent := (c == '+' || c == '-') && (s.src[s.pos-1] == 'e' || s.src[s.pos-1] == 'E') &&
			s.pos+1 < len(s.src) && s.src[s.pos+1] >= '0' && s.src[s.pos+1] <= '9'
		digitAfterE := (c == 'e' || c == 'E') && s.pos+1 < len(s.src) &&
			(s.src[s.pos+1] >= '0' && s.src[s.pos+1] <= '9' || s.src[s.pos+1] == '+' || s.src[s.pos+1] == '-')
		if (c < '0' || c > '9') && c != '.' && !exponent && !digitAfterE {
			break
		}
		s.pos++
	}
	text := s.src[start:s.pos]
	if e := bytes.IndexAny(text, "eE"); s.pos-start > maxIdentifier || e >= 0 && len(bytes.Trim(text[e+1:], "+-0")) > 4 {
		s.fail(sumNumberTooLarge, start, s.pos-start, "Numbers have at most 1024 digits and an exponent of at most four.")
	}
}

var bom = []byte("\uFEFF")

func isIdentStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isIdentPart(c byte) bool { return isIdentStart(c) || c >= '0' && c <= '9' || c == '-' }
