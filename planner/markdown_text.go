package planner

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names, payloads, failures and messages come from users. In Markdown they stand in two places only, and can leave neither: in a
// fence that is longer than any run of backticks in it, or in one line of HTML, with everything escaped that means something there.
// Such a line is never parsed as Markdown. What hosts make links and mentions of in plain text (@name, #12, !34) is broken up by a
// space without width; in code and in fences they leave it alone.

// Bounds of texts in a line, in characters.
const (
	maxName     = 200
	maxSentence = 300
)

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "`", "&#96;", "|", "&#124;")

// codeHTML is a text as code in a line of HTML.
func codeHTML(s string, most int) string {
	return "<code>" + htmlEscapes.Replace(plainText(s, most)) + "</code>"
}

// sigils begin what hosts turn into mentions, references and links.
const sigils = "@#!~%$^&:"

// textHTML is a text in a line of HTML.
func textHTML(s string, most int) string {
	var b strings.Builder
	text := plainText(s, most)
	for i, r := range text {
		b.WriteString(htmlEscapes.Replace(string(r)))
		if next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); strings.ContainsRune(sigils, r) && next != ' ' && next != utf8.RuneError {
			b.WriteString("&#8203;")
		}
	}
	return b.String()
}

// details is a part with a title, which is HTML, and a content that shows once it is opened.
func details(title string, open bool, content string) string {
	tag := "<details>"
	if open {
		tag = "<details open>"
	}
	return tag + "<summary>" + title + "</summary>\n\n" + content + "\n</details>\n\n"
}

// fenced is a block of lines as they are, of most bytes; what is more is counted in a last line.
func fenced(language string, lines []string, most int) string {
	var b strings.Builder
	ticks := 2
	for i, l := range lines {
		l = plainLine(l)
		if b.Len()+len(l)+1 > most {
			fmt.Fprintf(&b, "  # (%s not shown)\n", counted(len(lines)-i, "more line", "more lines"))
			break
		}
		ticks = max(ticks, longestRun(l, '`'))
		b.WriteString(l + "\n")
	}
	fence := strings.Repeat("`", ticks+1)
	return fence + language + "\n" + b.String() + fence + "\n"
}

// plainLine makes a text safe for one line of a fence, and keeps its beginning if it is long.
func plainLine(s string) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len() > maxMarkdownLine {
			fmt.Fprintf(&b, "... (%s)", counted(utf8.RuneCountInString(s[i:]), "more character", "more characters"))
			break
		}
		switch {
		case r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError || !unicode.IsPrint(r):
			fmt.Fprintf(&b, "<%x>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func longestRun(s string, of rune) (longest int) {
	run := 0
	for _, r := range s {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
