package approve

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// mouse scrolls with the wheel, and chooses a tab or a line with the left button; a second press on a line opens it.
func (m *model) mouse(e tea.MouseEvent) {
	if m.showHelp || m.showForecast || m.prompt.open || m.typing.open {
		return
	}
	switch {
	case e.Button == tea.MouseButtonWheelUp && m.why.open:
		m.why.move(-wheelLines, m.whyHeight())
	case e.Button == tea.MouseButtonWheelDown && m.why.open:
		m.why.move(wheelLines, m.whyHeight())
	case e.Button == tea.MouseButtonWheelUp:
		m.list.scroll(-wheelLines)
	case e.Button == tea.MouseButtonWheelDown:
		m.list.scroll(wheelLines)
	case e.Button == tea.MouseButtonLeft && e.Action == tea.MouseActionPress && !m.why.open:
		m.click(e.X, e.Y)
	}
}

func (m *model) click(x, y int) {
	head := m.headLines()
	at := len(head) // of the tabs
	if m.roomy() {
		at--
	}
	if y == at-1 && m.height >= 4 {
		which, texts, starts := m.tabTexts()
		for i, t := range which {
			if x >= starts[i] && x < starts[i]+ansi.StringWidth(texts[i]) {
				m.list.choose(t)
			}
		}
		return
	}
	l := &m.list
	if y -= len(head); y < 0 || y >= l.height || len(l.entries) == 0 {
		return
	}
	p := l.move(l.top, y)
	if below := l.move(l.top, y-1); y > 0 && below == p { // below the last line
		return
	}
	if p == l.cursor && p.line == 0 {
		l.turn()
		return
	}
	l.cursor = p
}
