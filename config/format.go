package config

import (
	"bytes"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format lays out a file of the language, or of values of variables, in the one style there is: hcl's, with at most one
// blank line between things, none inside of braces, and no quotes around a lone interpolation. It changes no meaning
// and is idempotent. Files of JSON are left as they are. With errors in the diagnostics the result is src.
func Format(src []byte, filename string) ([]byte, hcl.Diagnostics) {
	if filepath.Ext(filename) == ".json" {
		return src, nil
	}
	var r report
	if len(src) > maxFormat {
		r.error(sumFileTooLarge, wholeFile(filename), "The file has %d MiB; at most %d MiB are formatted. Split it.", len(src)>>20, maxFormat>>20)
		return src, r.diags
	}
	if !checkText(filename, src, &r) {
		return src, r.diags
	}
	s := &source{name: filename, bytes: src}
	s.split(&r)
	if r.failed() {
		return src, r.sorted()
	}
	for i := range s.items {
		it := &s.items[i]
		_, diags := hclsyntax.ParseConfig(src[it.start:it.end], filename, hcl.Pos{Line: it.line, Column: 1, Byte: it.start})
		r.add(diags)
	}
	if r.failed() {
		return src, r.sorted()
	}
	plain := src
	for inner := unwrapInterpolations(plain); len(inner) != len(plain); inner = unwrapInterpolations(plain) {
		plain = inner
	}
	out := trimBlankLines(hclwrite.Format(plain))
	if again := trimBlankLines(hclwrite.Format(out)); !bytes.Equal(again, out) {
		out = again // hclwrite needs a second look at some comments
	}
	if !sameTokens(plain, out) {
		return src, nil // a defect of the formatter must not change what a file means
	}
	return out, nil
}

// maxFormat bounds what is formatted: all its tokens are kept at once, which takes fifty times the size of the file.
const maxFormat = 8 << 20

func lex(src []byte) hclsyntax.Tokens {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	return tokens
}

// sameTokens tells whether two files hold the same but for space and empty lines.
func sameTokens(a, b []byte) bool {
	x, y := significant(lex(a)), significant(lex(b))
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Type != y[i].Type || !bytes.Equal(bytes.TrimSpace(x[i].Bytes), bytes.TrimSpace(y[i].Bytes)) {
			return false
		}
	}
	return true
}

// significant leaves out newlines that follow a newline, and those at the end.
func significant(tokens hclsyntax.Tokens) hclsyntax.Tokens {
	var kept hclsyntax.Tokens
	fresh := true
	for _, t := range tokens {
		newline := t.Type == hclsyntax.TokenNewline
		if !newline || !fresh {
			kept = append(kept, t)
		}
		fresh = newline || t.Type == hclsyntax.TokenComment && bytes.HasSuffix(t.Bytes, []byte{'\n'})
	}
	if n := len(kept); n > 1 && kept[n-2].Type == hclsyntax.TokenNewline {
		kept = append(kept[:n-2], kept[n-1])
	}
	return kept
}

// unwrapInterpolations writes x = "${y}" as x = y, where that is the same.
func unwrapInterpolations(src []byte) []byte {
	tokens := lex(src)
	var out []byte
	from := 0
	for i := 0; i+1 < len(tokens); i++ {
		if tokens[i].Type != hclsyntax.TokenOQuote || tokens[i+1].Type != hclsyntax.TokenTemplateInterp || !valueBegins(tokens[:i]) {
			continue
		}
		end := loneInterpolation(tokens, i)
		if end < 0 {
			continue
		}
		inner := src[tokens[i+1].Range.End.Byte:tokens[end-1].Range.Start.Byte]
		out = append(append(out, src[from:tokens[i].Range.Start.Byte]...), bytes.TrimSpace(inner)...)
		from = tokens[end].Range.End.Byte
		i = end
	}
	if from == 0 {
		return src
	}
	return append(out, src[from:]...)
}

// valueBegins tells whether a value, and not a key or a part of an expression, stands behind these tokens.
func valueBegins(before hclsyntax.Tokens) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i].Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			continue
		case hclsyntax.TokenEqual:
			return i == len(before)-1
		case hclsyntax.TokenOBrack, hclsyntax.TokenComma:
			return true
		}
		return false
	}
	return false
}

// loneInterpolation gives the index of the closing quote when the string that opens at i is one interpolation on one
// line and a value ends behind it, else -1.
func loneInterpolation(tokens hclsyntax.Tokens, i int) int {
	if len(tokens[i+1].Bytes) != 2 { // ${~ trims
		return -1
	}
	depth := 0
	for k := i + 1; k+2 < len(tokens); k++ {
		switch tokens[k].Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenOHeredoc:
			return -1
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			if depth--; depth > 0 {
				continue
			}
			if len(tokens[k].Bytes) != 1 || tokens[k+1].Type != hclsyntax.TokenCQuote || k == i+2 {
				return -1
			}
			switch tokens[k+2].Type {
			case hclsyntax.TokenNewline, hclsyntax.TokenComma, hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenComment, hclsyntax.TokenEOF:
				return k + 1
			}
			return -1
		}
	}
	return -1
}

// trimBlankLines keeps one of several blank lines, and none at the ends of the file and inside of braces.
func trimBlankLines(src []byte) []byte {
	lines := bytes.SplitAfter(src, []byte{'\n'})
	inside := make([]bool, len(lines)+2)  // the line begins inside a heredoc, string or comment
	opened := make([]bool, len(lines)+2)  // the last token of the line opens a brace
	closing := make([]bool, len(lines)+2) // the first token of the line closes one
	first := make([]bool, len(lines)+2)
	for _, t := range lex(src) {
		start, end := t.Range.Start.Line, t.Range.End.Line
		if t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenEOF {
			opened[start] = t.Type == hclsyntax.TokenOBrace
			if !first[start] {
				first[start], closing[start] = true, t.Type == hclsyntax.TokenCBrace
			}
		}
		if end > start && t.Type != hclsyntax.TokenNewline {
			last := end
			if t.Range.End.Column == 1 && t.Type != hclsyntax.TokenStringLit {
				last-- // a comment takes its newline along
			}
			for line := start + 1; line <= last; line++ {
				inside[line] = true
			}
		}
	}
	var out []byte
	blank, begun, afterBrace := false, false, false
	for i, text := range lines {
		line := i + 1
		if !inside[line] && len(bytes.TrimSpace(text)) == 0 {
			blank = len(text) > 0 || blank
			continue
		}
		if blank && begun && !afterBrace && !closing[line] {
			out = append(out, '\n')
		}
		out = append(out, text...)
		blank, begun, afterBrace = false, true, opened[line]
	}
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return out
}
