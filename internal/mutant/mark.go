package mutant

import (
	"fmt"
	"slices"
	"strings"
)

// moment is when a mutant differs from the text that it was found in: when its statement is reached, when what stands at its
// place is true, or when it is not.
type moment uint8

const (
	reached moment = 1 << iota
	wasTrue
	wasFalse
)

// mark is where and when a text tells that a mutant differs.
type mark struct {
	span
	when moment
}

// prelude makes the function that tells of a mark, once in a run each. It stands in KEYS, which a script may add to and which is
// new for each run: it needs no local, of which a script has 200 at most.
const prelude = "if not KEYS.mark then local told = {} KEYS.mark = function(m) " +
	"if not told[m] then told[m] = true redis.call('ECHO', m) end return true end end "

// Mark returns the text with calls of `redis.call('ECHO', <sign><n>)`, which change nothing else: n counts in found, which are
// mutants of that text. A run that makes no such call for a mutant does the same with it, since there is one when
// the mutant differs: before a statement that it drops, when a condition is not what it decides in advance, and when an
// operand that it leaves out has decided a chain. Where an expression calls functions that may do more than answer,
// it differs whenever that is evaluated.
func Mark(text, sign string, found []Mutant) string {
	var marks []mark
	told := map[mark][]string{}
	for n, m := range found {
		for _, when := range []moment{reached, wasTrue, wasFalse} {
			if m.told.when&when != 0 {
				told[mark{m.told.span, when}] = append(told[mark{m.told.span, when}], fmt.Sprintf("KEYS.mark('%s%d')", sign, n))
			}
		}
		if at := (mark{span: m.told.span}); !slices.Contains(marks, at) {
			marks = append(marks, at)
		}
	}
	// The longer of two that begin or end at the same place is around the other.
	slices.SortStableFunc(marks, func(a, b mark) int { return (b.to - b.from) - (a.to - a.from) })
	before, after := make([]string, len(text)+1), make([]string, len(text)+1)
	for _, at := range marks {
		calls := func(when moment, between string) string { return strings.Join(told[mark{at.span, when}], between) }
		if s := calls(reached, "; "); s != "" {
			before[at.from] += s + "; "
			continue
		}
		left, right := "((", ")"
		if s := calls(wasTrue, " and "); s != "" {
			right += " and " + s
		}
		if s := calls(wasFalse, " and "); s != "" {
			left, right = left+"(", right+") or not ("+s+")"
		}
		before[at.from] += left
		after[at.to] = right + ")" + after[at.to]
	}
	var b strings.Builder
	b.WriteString(prelude)
	for i := range len(text) + 1 {
		b.WriteString(after[i] + before[i])
		b.WriteString(text[i:min(i+1, len(text))])
	}
	return b.String()
}

// answers are the functions that do nothing but answer, as the scripts call them.
var answers = []string{"find", "match", "sub", "gsub", "tonumber", "type", "next", "min", "max", "floor", "char", "format", "rep"}

// differs is when a mutant does that leaves out what stands at a place.
func (p *parser) differs(at span, when moment) mark {
	for _, from := range p.calls {
		if from >= at.from && from < at.to {
			return mark{at, wasTrue | wasFalse}
		}
	}
	return mark{at, when}
}
