package approve

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/planner"
)

// piece is a part of a line that looks alike.
type piece struct {
	text  string
	style lipgloss.Style
}

// paint draws a line of at most width cells. What the search looks for stands out in it.
func (m *model) paint(pieces []piece, width int) string {
	var text strings.Builder
	for _, p := range pieces {
		text.WriteString(p.text)
	}
	found := m.search.pattern.ranges(text.String())
	var b strings.Builder
	at := 0 // in text
	for _, p := range pieces {
		start, end := at, at+len(p.text)
		for start < end {
			for len(found) > 0 && found[0][1] <= start {
				found = found[1:]
			}
			switch {
			case len(found) == 0 || found[0][0] >= end:
				b.WriteString(p.style.Render(p.text[start-at:]))
				start = end
			case found[0][0] > start:
				b.WriteString(p.style.Render(p.text[start-at : found[0][0]-at]))
				start = found[0][0]
			default:
				stop := min(end, found[0][1])
				b.WriteString(m.styles.hit.Render(p.text[start-at : stop-at]))
				start = stop
			}
		}
		at = end
	}
	if ansi.StringWidth(text.String()) > width {
		return ansi.Truncate(b.String(), width, "…")
	}
	return b.String()
}

// looks are a planner's line in the view's styles.
func (m *model) looks(line planner.Line) []piece {
	pieces := make([]piece, len(line))
	for i, s := range line {
		pieces[i] = piece{s.Text, m.look(s.Look)}
	}
	return pieces
}

func (m *model) look(l planner.Look) lipgloss.Style {
	switch l {
	case planner.Strong:
		return m.styles.Title
	case planner.Added:
		return m.styles.Good
	case planner.Removed:
		return m.styles.Bad
	case planner.Changed:
		return m.styles.Notice
	default:
		return lipgloss.NewStyle()
	}
}

// symbol is an action's sign in three cells, coloured as the planner does.
func (m *model) symbol(s string) []piece {
	switch s {
	case "-/+":
		return []piece{{"-", m.styles.Bad}, {"/", lipgloss.NewStyle()}, {"+", m.styles.Good}}
	case "+":
		return []piece{{"  +", m.styles.Good}}
	case "-":
		return []piece{{"  -", m.styles.Bad}}
	case "~", "!":
		return []piece{{"  " + s, m.styles.Notice}}
	default:
		return []piece{{strings.Repeat(" ", 3-len(s)) + s, lipgloss.NewStyle()}}
	}
}

// shorten leaves out the middle of a text that is wider than width cells: of an address both ends matter.
func shorten(s string, width int) string {
	w := ansi.StringWidth(s)
	if w <= width {
		return s
	}
	if width < 4 {
		return ansi.Truncate(s, max(0, width), "…")
	}
	tail := (width - 1) / 2
	return ansi.Truncate(s, width-1-tail, "") + "…" + ansi.TruncateLeft(s, w-tail, "")
}

// pad fills a text up to width cells.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}
