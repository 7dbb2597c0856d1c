package approve

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// listLines are as many lines of the list as there is room for.
func (m *model) listLines(room int) []string {
	l := &m.list
	if len(l.entries) == 0 {
		return []string{m.styles.Faint.Render("Nothing changes.")}[:min(1, room)]
	}
	names := m.nameColumn()
	lines := make([]string, 0, room)
	for p := l.top; len(lines) < room; {
		lines = append(lines, m.listLine(p, names))
		next := l.move(p, 1)
		if next == p {
			break
		}
		p = next
	}
	return lines
}

// nameColumn is how wide names may be, so that there is room for the reasons.
func (m *model) nameColumn() int {
	return max(8, min(m.list.changes.nameWidth+2, (m.width-8)*3/5)) // two for the members of groups
}

func (m *model) listLine(p place, names int) string {
	l, plain := &m.list, lipgloss.NewStyle()
	mark, name := " ", plain
	if p == l.cursor {
		mark, name = "▌", m.styles.Title
	}
	pieces := []piece{{mark, m.styles.Busy}}
	e := l.entries[p.at]
	if p.line > 0 {
		b := l.block(p.at)
		pieces = append(pieces, piece{strings.Repeat(" ", blockMargin-1), plain})
		return m.paint(append(pieces, m.looks(b.lines[p.line-1])...), m.width)
	}
	if g, ok := e.head(); ok {
		gr := &l.changes.groups[g]
		symbol, why := gr.words(l.tab)
		pieces = append(pieces, piece{sign(l.unfold.open(g)) + " ", m.styles.Faint})
		pieces = append(pieces, m.symbol(symbol)...)
		return m.paint(append(pieces, piece{" " + pad(shorten(gr.name, names), names) + "  ", name}, piece{why, m.styles.Faint}), m.width)
	}
	c := &l.changes.list[e]
	pieces = append(pieces, piece{sign(l.opened.open(int32(e))) + " ", m.styles.Faint})
	if c.warning != nil {
		return m.paint(append(append(pieces, m.symbol("!")...), piece{" " + c.name, m.styles.Notice}), m.width)
	}
	indent := ""
	if l.grouped(int32(e)) {
		indent = "  "
	}
	pieces = append(pieces, m.symbol(c.action.Symbol())...)
	text := " " + indent + pad(shorten(c.name, names-len(indent)), names-len(indent)) + "  "
	return m.paint(append(pieces, piece{text, name}, piece{c.why(), m.styles.Faint}), m.width)
}

// sign says whether something is open.
func sign(open bool) string {
	if open {
		return "▾"
	}
	return "▸"
}
