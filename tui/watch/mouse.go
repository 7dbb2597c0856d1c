package watch

import (
	tea "github.com/charmbracelet/bubbletea"
)

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// moused answers the mouse: a click chooses what is under it, the wheel scrolls the pane under it.
func (m *model) moused(e tea.MouseEvent) tea.Cmd {
	if m.asked != nil || m.typing != nil {
		return nil
	}
	if m.help {
		if e.Action == tea.MouseActionPress && !e.IsWheel() {
			m.help = false
		}
		return nil
	}
	l := m.layout()
	p, over := l.at(e.X, e.Y)
	switch {
	case e.IsWheel() && over && e.Action == tea.MouseActionPress:
		switch e.Button {
		case tea.MouseButtonWheelUp:
			m.move(p, 0, -wheelLines)
		case tea.MouseButtonWheelDown:
			m.move(p, 0, wheelLines)
		}
	case e.Action != tea.MouseActionPress || e.Button != tea.MouseButtonLeft:
		return nil
	case l.tabs && e.Y == m.tabRow(l):
		places, _ := m.tabPlaces()
		for t := range tabs {
			if e.X >= places[t] && e.X < places[t+1] {
				cmd := m.open(t)
				m.clamp()
				return tea.Batch(cmd, m.subjectChanged())
			}
		}
		return nil
	case over:
		m.notice = notice{}
		m.focus = p
		if r := l.panes[p]; p == paneList && e.Y > r.y {
			m.click(e.X-r.x, e.Y-r.y-1, r.w)
		}
	default:
		return nil
	}
	m.clamp()
	return m.subjectChanged()
}

func (m *model) tabRow(l layout) int {
	if l.title {
		return 1
	}
	return 0
}

// click chooses the line under a cell of the list, counted below its title.
func (m *model) click(x, y, width int) {
	switch {
	case m.tab == tabJobs && m.arranged == asLayers:
		m.layers.click(x, y-layerHead, width)
	case m.tab == tabJobs && m.treeShown():
		m.tree.click(y)
	case y >= 1: // below the heads of the columns
		c := m.cursor()
		if i := c.top + y - 1; i < m.length() {
			c.at, c.moved = i, true
			m.took(c)
		}
	}
}

func (l *layers) click(x, y, width int) {
	if len(l.cols) == 0 || y < 0 {
		return
	}
	n, each := l.shownColumns(width)
	i := l.left + x/max(1, each)
	if i >= min(l.left+n, len(l.cols)) {
		return
	}
	if at := l.cols[i].cursor.top + y; at < len(l.cols[i].rows) {
		l.col, l.cols[i].cursor.at = i, at
	}
}
