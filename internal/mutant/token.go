package mutant

import (
	"fmt"
	"strings"
)

type kind uint8

const (
	end kind = iota
	name
	keyword
	literal // a number or a string
	symbol
)

// token is one word of a Lua text; comments are left out.
type token struct {
	kind     kind
	text     string
	from, to int
}

var keywords = map[string]bool{
	"and": true, "break": true, "do": true, "else": true, "elseif": true, "end": true, "false": true, "for": true, "function": true,
	"if": true, "in": true, "local": true, "nil": true, "not": true, "or": true, "repeat": true, "return": true, "then": true,
	"true": true, "until": true, "while": true,
}

// symbols of more than one character, the longest first.
var symbols = []string{"...", "..", "==", "~=", "<=", ">="}

// tokens cuts a text; the last token is of kind end.
func tokens(text string) ([]token, error) {
	var out []token
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		rest := text[at:]
		switch {
		case rest == "":
			return append(out, token{end, "end of file", at, at}), nil
		case strings.HasPrefix(rest, "--[["), strings.HasPrefix(rest, "[["), strings.HasPrefix(rest, "[="):
			return nil, fmt.Errorf("line %d: long brackets are not read", line(text, at))
		case strings.HasPrefix(rest, "--"):
			at += len(rest)
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				at += n - len(rest)
			}
			continue
		}
		k, n := symbol, 1
		switch c := rest[0]; {
		case letter(c):
			for k, n = name, 1; n < len(rest) && (letter(rest[n]) || digit(rest[n])); n++ {
			}
			if keywords[rest[:n]] {
				k = keyword
			}
		case digit(c):
			for k, n = literal, 1; n < len(rest) && (letter(rest[n]) || digit(rest[n]) || rest[n] == '.'); n++ {
			}
		case c == '\'' || c == '"':
			k, n = literal, quoted(rest)
			if n == 0 {
				return nil, fmt.Errorf("line %d: a string without end", line(text, at))
			}
		default:
			for _, s := range symbols {
				if strings.HasPrefix(rest, s) {
					n = len(s)
					break
				}
			}
		}
		out = append(out, token{k, rest[:n], at, at + n})
		at += n
	}
}

// quoted is the length of the string that text begins with, 0 when it does not end.
func quoted(text string) int {
	for i := 1; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 0
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func line(text string, at int) int { return strings.Count(text[:at], "\n") + 1 }
