package config

import (
	"bytes"
	"regexp"
	"sync"
)

// splitItems cuts a native-syntax file into its top-level blocks. Nothing of an item with a flaw is parsed; the
// scan goes on at the next line that looks like a block of ours.
func splitItems(src []byte) (items []item, flaws []flaw) {
	s := &scanner{src: src, line: 1, limit: maxNesting}
	for rescans := 0; s.pos < len(src); {
		it, end := s.item()
		switch end {
		case itemEmpty:
			continue
		case itemFlawed:
			flaws = append(flaws, *s.flaw)
			s.flaw = nil
			s.resume(s.pos, s.line)
			if len(flaws) == maxFlaws {
				return items, flaws
			}
			continue
		case itemUnclosed:
			// The parser says what is not closed. It gets the item up to the next one, to keep that one apart.
			it.kind = ""
			s.resume(it.head, it.headLine)
			it.end = s.pos
			if rescans++; rescans > maxRescans {
				s.pos = len(src)
			}
		}
		items = append(items, it)
		if len(items) == maxItems && s.pos < len(src) {
			return items, append(flaws, flaw{summary: sumTooManyJobs, at: it.head, length: 1,
				detail: "One file holds at most 1,000,000 top-level blocks."})
		}
	}
	return items, flaws
}

// itemEnd is how the scan of an item ended.
type itemEnd int

const (
	itemWhole    itemEnd = iota
	itemEmpty            // only space and comments up to the end of the file
	itemFlawed           // see scanner.flaw
	itemUnclosed         // a bracket, string or heredoc is open at the end
)

// item scans the next item.
func (s *scanner) item() (item, itemEnd) {
	it := item{start: s.pos, line: s.line}
	for s.pos < len(s.src) && s.isSpace() && s.flaw == nil {
		s.token()
	}
	if s.pos == len(s.src) && s.flaw == nil {
		return it, itemEmpty
	}
	it.head, it.headLine = s.pos, s.line
	it.header(s.src)
	s.instanced, s.pieces = false, 0
	for s.pos < len(s.src) && s.flaw == nil {
		line := s.line
		s.step()
		if s.line != line && len(s.modes) == 0 && len(s.brackets) == 0 && s.lineStart {
			break
		}
		if s.pos-it.head > maxItem {
			return it, s.tooLarge(it)
		}
	}
	it.end, it.instanced = s.pos, s.instanced
	switch {
	case s.flaw != nil:
		return it, itemFlawed
	case len(s.modes) > 0 || len(s.brackets) > 0:
		return it, itemUnclosed
	}
	s.cost, s.braces = 0, 0
	return it, itemWhole
}

// tooLarge tells an item that is too large from one that is not closed and took in those behind it.
func (s *scanner) tooLarge(it item) itemEnd {
	if nl := bytes.IndexByte(s.src[it.head:s.pos], '\n'); nl >= 0 && ourBlocks().Match(s.src[it.head+nl+1:s.pos]) {
		return itemUnclosed
	}
	s.fail(sumBlockTooLarge, it.head, 1, "One block has at most 1 MiB of text. Put the data into a file and read it with file, jsondecode or csvdecode.")
	return itemFlawed
}

// isSpace tells whether space or a comment begins at pos.
func (s *scanner) isSpace() bool {
	switch s.src[s.pos] {
	case ' ', '\t', '\n', '\r', '#':
		return true
	case '/':
		return s.next() == '/' || s.next() == '*' && s.commentEnd() > 0
	}
	return s.pos == 0 && bytes.HasPrefix(s.src, bom)
}

// header reads a plain header, `kind {` or `kind "label" {`; another one is left to the parser.
func (it *item) header(src []byte) {
	p := it.head
	for p < len(src) && src[p] >= 'a' && src[p] <= 'z' {
		p++
	}
	kind := src[it.head:p]
	p = skipBlanks(src, p)
	var label []byte
	labelEnd := it.head + len(kind)
	if p < len(src) && src[p] == '"' {
		begin := p + 1
		for p++; p < len(src) && (isIdentPart(src[p]) && src[p] < 0x80 || src[p] == '.'); p++ {
		}
		if p == len(src) || src[p] != '"' || p-begin > maxIdentifier {
			return
		}
		label = src[begin:p]
		labelEnd = p + 1
		p = skipBlanks(src, p+1)
	}
	if p < len(src) && src[p] == '{' {
		it.kind, it.label, it.labelEnd = string(kind), string(label), labelEnd
	}
}

func skipBlanks(src []byte, p int) int {
	for p < len(src) && (src[p] == ' ' || src[p] == '\t') {
		p++
	}
	return p
}

// ourBlocks finds lines that begin a top-level block, to go on behind one that is broken.
var ourBlocks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(job|variable|locals|output|queue|workflow|module)[ \t]*["{\w]`)
})

// resume moves to the first block that begins on a line behind from, or to the end of the file.
func (s *scanner) resume(from, line int) {
	s.pos = len(s.src)
	if nl := bytes.IndexByte(s.src[from:], '\n'); nl >= 0 {
		if m := ourBlocks().FindIndex(s.src[from+nl+1:]); m != nil {
			s.pos = from + nl + 1 + m[0]
		}
	}
	s.line = line + bytes.Count(s.src[from:s.pos], []byte{'\n'})
	s.modes, s.brackets, s.cost, s.braces = s.modes[:0], s.brackets[:0], 0, 0
	s.endless = false
}
