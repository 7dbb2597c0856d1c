package approve

import (
	"sort"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// hit is a line that a search has found: one of a change's block, or the change's own, onItself.
type hit struct{ number, line int32 }

func (h hit) before(o hit) bool {
	return h.number < o.number || h.number == o.number && h.line < o.line
}

// pattern is what is looked for. Without capital letters it does not distinguish them.
type pattern struct {
	text string
	fold bool
}

func newPattern(s string) pattern {
	return pattern{text: s, fold: !strings.ContainsFunc(s, unicode.IsUpper)}
}

func (p pattern) in(s string) bool {
	if p.fold {
		s = strings.ToLower(s)
	}
	return strings.Contains(s, p.text)
}

// ranges are the byte ranges of a line in which the pattern stands.
func (p pattern) ranges(s string) (found [][2]int) {
	if p.text == "" {
		return nil
	}
	if p.fold {
		if lower := strings.ToLower(s); len(lower) == len(s) { // else offsets would not fit
			s = lower
		}
	}
	for at := 0; ; {
		i := strings.Index(s[at:], p.text)
		if i < 0 {
			return found
		}
		found = append(found, [2]int{at + i, at + i + len(p.text)})
		at += i + len(p.text)
	}
}

// search is one search through the changes of a tab. It goes step by step, each step a command, from the cursor to the
// end and on from the beginning, and ends early when another takes its place.
type search struct {
	pattern    pattern
	generation int // steps of earlier searches are not heard
	from       hit // where it began
	scanned    int // changes
	early      []hit
	late       []hit // those from where it began; all of early stand before all of late
	jump       bool  // the cursor waits for the first one
}

// A step looks at so many changes at most, or at so many bytes of text, whichever is less: a few milliseconds.
const (
	stepChanges = 512
	stepBytes   = 1 << 19
)

// stepMsg is what one step has found.
type stepMsg struct {
	generation int
	scanned    int // changes that the search has looked at, with this step
	hits       []hit
}

// start begins a search from a place. The empty text ends the one there was.
func (s *search) start(l *list, text string, from hit) tea.Cmd {
	*s = search{pattern: newPattern(text), generation: s.generation + 1, from: from, jump: true}
	if text == "" {
		return nil
	}
	return s.step(l)
}

// step is the command for the next step, nil at the end. It reads what never changes.
func (s *search) step(l *list) tea.Cmd {
	c, p, t, width, generation, from, scanned := l.changes, s.pattern, l.tab, l.width, s.generation, int(s.from.number), s.scanned
	if scanned >= len(c.list) {
		return nil
	}
	return func() tea.Msg {
		msg := stepMsg{generation: generation}
		end, bytes := min(scanned+stepChanges, len(c.list)), 0
		for ; scanned < end && bytes < stepBytes; scanned++ {
			number := int32((from + scanned) % len(c.list))
			if c.list[number].in(t) {
				bytes += c.find(number, width, p.in, func(line int32) { msg.hits = append(msg.hits, hit{number, line}) })
			}
		}
		msg.scanned = scanned
		return msg
	}
}

// take adds what a step has found; ok is false for a step of an earlier search.
func (s *search) take(msg stepMsg) (ok bool) {
	if msg.generation != s.generation {
		return false
	}
	s.scanned = msg.scanned
	for _, h := range msg.hits {
		if h.number < s.from.number {
			s.early = append(s.early, h)
		} else {
			s.late = append(s.late, h)
		}
	}
	return true
}

func (s *search) active() bool { return s.pattern.text != "" }

func (s *search) running(c *changes) bool { return s.active() && s.scanned < len(c.list) }

func (s *search) hits() int { return len(s.early) + len(s.late) }

func (s *search) hit(i int) hit {
	if i < len(s.early) {
		return s.early[i]
	}
	return s.late[i-len(s.early)]
}

// at is the number of the first hit that does not stand before a place.
func (s *search) at(p hit) int {
	return sort.Search(s.hits(), func(i int) bool { return !s.hit(i).before(p) })
}

// next is the hit after a place, or before it, round the ends; ok is false when there is none.
func (s *search) next(p hit, forward bool) (h hit, ok bool) {
	n := s.hits()
	if n == 0 {
		return hit{}, false
	}
	i := s.at(p)
	switch {
	case !forward:
		i += n - 1
	case i < n && s.hit(i) == p:
		i++
	}
	return s.hit(i % n), true
}

// first is the hit that a search goes to, where it began or the next one; ok is false as long as it is not known.
func (s *search) first(c *changes) (h hit, ok bool) {
	n := s.hits()
	i := s.at(s.from)
	wrapped := s.scanned > len(c.list)-int(s.from.number) || !s.running(c)
	if n == 0 || i == n && !wrapped {
		return hit{}, false
	}
	return s.hit(i % n), true
}
