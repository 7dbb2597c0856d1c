package planner

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Everything that plans show of names, payloads and failures comes from users, or from whoever can write to Redis. What
// is not quoted passes here, so that nothing but our own colours reaches a terminal as a control sequence.

// plainText makes a text safe for one line: white space of any kind becomes a space, other characters that do not print,
// such as escapes and those that reorder text, their code in brackets. It keeps at most the given number of characters.
func plainText(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(s) {
		if n++; n > most {
			b.WriteString("...")
			break
		}
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == utf8.RuneError || !unicode.IsPrint(r):
			b.WriteString("<" + strconv.FormatInt(int64(r), 16) + ">")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted writes a string as people write it in HCL, with what does not print escaped.
func quoted(s string) string { return strconv.Quote(s) }

// quotedKey writes the name of a member: as it is when it is an identifier, else quoted.
func quotedKey(s string) string {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return quoted(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// printsInLines tells whether a string is best shown line by line: it has several and nothing in them needs an escape.
func printsInLines(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.Contains(s, "\nEOT") {
		return false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && (r == utf8.RuneError || !unicode.IsPrint(r)) {
			return false
		}
	}
	return true
}
