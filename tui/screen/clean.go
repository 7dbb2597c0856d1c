package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxText bounds the text of one job that is ever cleaned for one line, in bytes: a log line may be a megabyte, a
// terminal line is a few hundred.
const maxText = 4096

// Clean makes a text from outside safe to show in one line of a terminal: escape sequences go as a whole, other
// control characters, line breaks and tabs become spaces, and characters that reorder or hide text are dropped.
func Clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return scrub(s)
}

// scrub is Clean without a bound.
func scrub(s string) string {
	if plainASCII(s) {
		return s
	}
	s = ansi.Strip(s)
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			b.WriteByte(' ')
		case unicode.Is(unicode.Cf, r) && r != '\u200d': // bidirectional overrides, zero-width marks, tags; emoji joiners stay
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainASCII is the common case: nothing to do.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Source makes a line of a file safe like Clean does, but leaves tabs as they are.
func Source(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = Clean(part)
	}
	return strings.Join(parts, "\t")
}

// CleanText makes a text of several lines from outside, such as an error's, safe to write to a terminal.
func CleanText(s string) string {
	if plainASCII(strings.ReplaceAll(s, "\n", "")) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = scrub(line)
	}
	return strings.Join(lines, "\n")
}

// Lines splits a text from outside into lines fit for a terminal, at most limit of them, without empty ones
// at either end.
func Lines(s string, limit int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.Trim(s, "\r\n \t"), "\n") {
		if len(lines) == limit {
			break
		}
		lines = append(lines, strings.TrimRight(Clean(strings.TrimSuffix(line, "\r")), " "))
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}
