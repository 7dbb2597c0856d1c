package approve

import (
	"fmt"

	"github.com/charmbracelet/lipgloss"

	"github.com/waybill-dev/waybill/tui/screen"
)

// whyHeight is how many links of a chain fit.
func (m *model) whyHeight() int {
	return max(1, m.height-len(m.headLines())-len(m.footLines())-whyHead)
}

// whyHead is how many lines stand above a chain.
const whyHead = 3

func (m *model) whyLines(room int) []string {
	w := &m.why
	lines := []string{m.styles.Title.Render(screen.Cut(w.title(), m.width)), m.styles.Faint.Render(screen.Cut(w.now(), m.width)), ""}
	for i := w.top; i < len(w.links) && len(lines) < room; i++ {
		lines = append(lines, m.whyLine(i))
	}
	if w.awaited {
		lines = append(lines, m.styles.Faint.Render("The causes are being put together ..."))
	}
	if !w.whole && !w.awaited && len(lines) < room {
		lines = append(lines, m.styles.Faint.Render(fmt.Sprintf("    ... the chain goes on; these are its first %s links", grouped(len(w.links)))))
	}
	return lines[:min(len(lines), room)]
}

func (m *model) whyLine(i int) string {
	w, link := &m.why, m.why.links[i]
	mark, name := " ", lipgloss.NewStyle()
	if i == w.cursor {
		mark, name = "▌", m.styles.Title
	}
	r := link.Row
	reason := whyOf(r)
	if link.Again {
		reason += " (as above)"
	}
	pieces := []piece{{mark + " ", m.styles.Busy}, {w.branches[i], m.styles.Faint}}
	pieces = append(pieces, m.symbol(r.Action.Symbol())...)
	pieces = append(pieces, piece{" " + shorten(screen.Clean(r.Addr.String()), max(8, m.width/2)) + "  ", name}, piece{screen.Clean(reason), m.styles.Faint})
	return m.paint(pieces, m.width)
}
