package mutant

import (
	"fmt"
	"strings"
)

// Mutant is one mistake.
type Mutant struct {
	// ID is "<file>:<function>:<what>:<n>", where what is `drop` (a statement, or one target of an assignment to several),
	// `true` or `false` (what a condition is taken to be) or `without` (an operand of a condition). n counts the mutants of
	// a function that are alike in Text and in what: an edit elsewhere renames none.
	ID   string
	Text string // the line that it changes
	Line int    // from 1

	at   span
	with string
	told mark
}

// Find returns the mutants of a file in the order of its text.
func Find(file, text string) ([]Mutant, error) {
	list, err := tokens(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &parser{text: text, list: list}
	p.block()
	if p.err == nil && p.peek().kind != end {
		p.err = fmt.Errorf("line %d: %q where a statement should be", line(text, p.peek().from), p.peek().text)
	}
	if p.err != nil {
		return nil, fmt.Errorf("%s: %w", file, p.err)
	}
	count := map[string]int{}
	for i := range p.found {
		m := &p.found[i]
		alike := m.ID + "\n" + m.Text
		count[alike]++
		m.ID = fmt.Sprintf("%s:%s:%d", file, m.ID, count[alike])
	}
	return p.found, nil
}

// Apply makes the mistake in the text that the mutant was found in.
func (m Mutant) Apply(text string) string { return text[:m.at.from] + m.with + text[m.at.to:] }

func (p *parser) note(what string, at span, with string, told mark) {
	if p.err != nil {
		return
	}
	function := "main"
	if len(p.in) > 0 {
		function = p.in[len(p.in)-1]
	}
	from := strings.LastIndexByte(p.text[:at.from], '\n') + 1
	to := len(p.text)
	if n := strings.IndexByte(p.text[at.from:], '\n'); n >= 0 {
		to = at.from + n
	}
	p.found = append(p.found, Mutant{
		ID: function + ":" + what, Text: strings.TrimSpace(p.text[from:to]), Line: line(p.text, at.from), at: at, with: with, told: told,
	})
}

func (p *parser) cut(s span) string { return strings.Join(strings.Fields(p.text[s.from:s.to]), " ") }

// without joins all spans but one.
func (p *parser) without(list []span, gone int) string {
	var kept []string
	for i, s := range list {
		if i != gone {
			kept = append(kept, p.text[s.from:s.to])
		}
	}
	return strings.Join(kept, ", ")
}
