package live

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/tui/board"
)

// The tree is seen through a window that is held by a pin: one line of the tree that stays where it is on the screen while
// others come and go above it. While the view follows, that is the job that has run the longest; once the user moves, it is
// the cursor.

// row is the line of the screen that the pin stands on.
func (m model) row() int {
	if m.tree == nil {
		return 0
	}
	return m.tree.Line(m.pin) - m.top
}

// pinned is the job that the pin belongs to, or nil.
func (m model) pinned() *board.Job {
	if m.pin.Place < 0 || m.pin.Place >= len(m.board.Jobs) {
		return nil
	}
	return m.board.Jobs[m.pin.Place]
}

// settled moves the window after the tree has changed, so that the pin stands on the same row as before.
func (m model) settled(row int) model {
	if m.tree == nil {
		return m
	}
	room := m.bodyHeight()
	if m.following {
		if !m.tree.Busy(m.pin.Place) || m.pin.Part != board.PartWhole {
			m, row = m.repin(row, room)
		}
	} else {
		m.pin = m.tree.Seen(m.pin)
	}
	m.top = m.tree.Line(m.pin) - max(0, min(row, room-1))
	return m.clamped()
}

// repin pins the job that has run the longest. While none runs, the window stays.
func (m model) repin(row, room int) (model, int) {
	for len(m.started) > 0 && !m.tree.Busy(m.started[0]) {
		m.started = m.started[1:]
	}
	if len(m.started) == 0 {
		return m, row
	}
	m.pin = board.Ref{Place: m.started[0]}
	row = m.tree.Line(m.pin) - m.top
	if row < 0 || row >= room-room/4 {
		row = room / 3
	}
	return m, row
}

// clamped keeps the window inside the tree.
func (m model) clamped() model {
	m.top = max(0, min(m.top, m.tree.Lines()-m.bodyHeight()))
	return m
}

// taken gives the window to the user: the cursor begins where the view was.
func (m model) taken() model {
	if !m.following {
		return m
	}
	m.following = false
	if row := m.row(); row < 0 || row >= m.bodyHeight() {
		m.pin = m.refAt(m.top)
	}
	m.pin = m.tree.Seen(m.pin)
	return m
}

// refAt is what stands on a line of the tree, or on the nearest one.
func (m model) refAt(line int) board.Ref {
	rows := m.tree.Rows(max(0, min(line, m.tree.Lines()-1)), 1)
	if len(rows) == 0 {
		return board.Ref{Place: -1}
	}
	return rows[0].Ref
}

// move moves the cursor by so many lines, past the details of a job at once.
func (m model) move(by int) model {
	m = m.taken()
	from := m.tree.Line(m.pin)
	line := max(0, min(from+by, m.tree.Lines()-1))
	ref := m.refAt(line)
	for by > 0 && ref == m.pin && line < m.tree.Lines()-1 {
		line++
		ref = m.refAt(line)
	}
	m.pin = ref
	return m.shown()
}

// shown moves the window so far that the cursor is in it, with its details.
func (m model) shown() model {
	room := m.bodyHeight()
	line := m.tree.Line(m.pin)
	last := line + m.tree.Details(m.pin)
	if last >= m.top+room {
		m.top = last - room + 1
	}
	m.top = min(m.top, line)
	return m.clamped()
}

// turn opens or closes something at the cursor, which stays where it is.
func (m model) turn(do func(board.Ref)) model {
	m = m.taken()
	row := m.row()
	do(m.pin)
	return m.settled(row).shown()
}

// leave closes what stands below the cursor, or goes up to what it stands under.
func (m model) leave() model {
	m = m.taken()
	row := m.row()
	if m.tree.Close(m.pin) {
		return m.settled(row).shown()
	}
	if up, ok := m.tree.Above(m.pin); ok {
		m.pin = up
	}
	return m.shown()
}

// goBad goes to the next job that did not succeed, and opens what hides it.
func (m model) goBad(back bool) model {
	m = m.taken()
	place, found := m.tree.NextTrouble(m.pin.Place, back)
	if !found {
		return m
	}
	m.tree.Reveal(place)
	m.pin = board.Ref{Place: place}
	if row := m.row(); row < 0 || row+m.tree.Details(m.pin) >= m.bodyHeight() {
		m.top = m.tree.Line(m.pin) - m.bodyHeight()/3
	}
	return m.clamped().shown()
}

// wheelLines is how far a notch of the wheel goes.
const wheelLines = 3

// mouse scrolls, and opens or closes what is clicked at.
func (m model) mouse(msg tea.MouseMsg) model {
	if m.tree == nil || m.tree.Lines() == 0 {
		return m
	}
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		return m.scrolled(-wheelLines)
	case msg.Button == tea.MouseButtonWheelDown:
		return m.scrolled(wheelLines)
	case msg.Button != tea.MouseButtonLeft || msg.Action != tea.MouseActionPress:
		return m
	}
	row := msg.Y - len(m.headLines())
	if row < 0 || row >= min(m.bodyHeight(), m.tree.Lines()-m.top) {
		return m
	}
	m = m.taken()
	m.pin = m.refAt(m.top + row)
	return m.turn(m.tree.Toggle)
}

// scrolled moves the window, and the cursor only if it would leave it.
func (m model) scrolled(by int) model {
	m = m.taken()
	m.top += by
	m = m.clamped()
	line := m.tree.Line(m.pin)
	if seen := max(m.top, min(line, m.top+m.bodyHeight()-1)); seen != line {
		m.pin = m.refAt(seen)
	}
	return m
}
