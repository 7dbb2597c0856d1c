package live

import (
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Update folds one message into the model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, ok := screen.Paused(msg, true); ok {
		return m, cmd
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		row := m.row()
		m.width, m.height = max(1, msg.Width), max(1, msg.Height)
		return m.fold().settled(row), nil
	case tickMsg:
		m.now = time.Time(msg)
		if m.began.IsZero() {
			m.began = m.now
		}
		if m.board.Following && m.board.Done == nil {
			m.pace.Sample(m.now, m.board.Settled())
		}
		return m, m.tick(tickEvery)
	case screen.Events:
		return m.events(msg)
	case tea.MouseMsg:
		return m.mouse(msg), nil
	case tea.KeyMsg:
		return m.press(msg)
	}
	return m, nil
}

// press handles the keys of a message.
func (m model) press(msg tea.KeyMsg) (tea.Model, tea.Cmd) {
	var all []tea.Cmd
	for _, k := range screen.Presses(msg) {
		var cmd tea.Cmd
		m, cmd = m.key(k)
		all = append(all, cmd)
	}
	return m, tea.Batch(all...)
}

func (m model) events(msg screen.Events) (tea.Model, tea.Cmd) {
	over, row := msg.Last, m.row()
	for _, e := range msg.Events {
		pinned := m.pinned()
		m.board.Observe(e)
		switch e := e.(type) {
		case applier.Following, board.Roster:
			m = m.follow()
			if pinned != nil { // its place may be another now
				m.pin = board.Ref{Place: -1}
				if j := m.board.Job(pinned.Addr); j != nil {
					m.pin.Place = j.Place
				}
			}
		case applier.JobChanged:
			m = m.changed(m.board.Job(e.Addr))
		case applier.Done:
			over = true
		}
	}
	m = m.settled(row)
	if over {
		return m, tea.Quit
	}
	return m, m.take
}

// follow shows the jobs that are followed now.
func (m model) follow() model {
	m.tree = board.NewTree(m.board, m.folded(), m.tree)
	m.nameWidth, m.started, m.latestBad = 0, nil, -1
	for depth := range board.MaxDepth {
		if n := m.tree.Longest(depth); n > 0 {
			m.nameWidth = max(m.nameWidth, indentCells*depth+n)
		}
	}
	for place := range m.board.Jobs {
		switch m.tree.Kind(place) {
		case board.AtWork:
			m.started = append(m.started, place)
		case board.Unsuccessful:
			m.latestBad = place
		}
	}
	return m
}

// changed takes in a job's new status.
func (m model) changed(j *board.Job) model {
	if m.tree == nil {
		return m.follow()
	}
	m.tree.Changed(j)
	if m.tree.Busy(j.Place) && (len(m.started) == 0 || m.started[len(m.started)-1] != j.Place) {
		m.started = append(m.started, j.Place)
	}
	if board.SectionOf(j.Status.State) == board.Failed {
		m.latestBad = j.Place
	}
	return m
}

// folded tells whether the tree is to be folded.
func (m model) folded() bool {
	switch m.folding {
	case foldAlways:
		return true
	case foldNever:
		return false
	}
	return len(m.board.Jobs) > m.bodyHeight()
}

// fold folds or unfolds the tree if that is due.
func (m model) fold() model {
	if m.tree != nil && m.tree.Folded() != m.folded() {
		m.tree.Fold(m.folded())
	}
	return m
}

func (m model) key(msg tea.KeyMsg) (model, tea.Cmd) {
	page := max(1, m.bodyHeight()-1)
	switch {
	case key.Matches(msg, m.keys.Leave):
		m.stops++
		return m, m.stop(m.stops)
	case key.Matches(msg, m.keys.Quit):
		if m.stops > 0 { // only ctrl+c leaves at once: q may be pressed twice by accident
			return m, nil
		}
		m.stops++
		return m, m.stop(m.stops)
	case key.Matches(msg, m.keys.Suspend):
		return m, m.suspend()
	case key.Matches(msg, m.keys.Help):
		row := m.row()
		m.help.ShowAll = !m.help.ShowAll
		return m.fold().settled(row), nil
	case m.tree == nil || m.tree.Lines() == 0:
	case key.Matches(msg, m.keys.Up):
		return m.move(-1), nil
	case key.Matches(msg, m.keys.Down):
		return m.move(1), nil
	case key.Matches(msg, m.keys.PageUp):
		return m.move(-page), nil
	case key.Matches(msg, m.keys.PageDown):
		return m.move(page), nil
	case key.Matches(msg, m.keys.Top):
		return m.move(-m.tree.Lines()), nil
	case key.Matches(msg, m.keys.Bottom):
		return m.move(m.tree.Lines()), nil
	case key.Matches(msg, m.keys.Toggle):
		return m.turn(m.tree.Toggle), nil
	case key.Matches(msg, m.keys.Open):
		return m.turn(func(r board.Ref) { m.tree.Open(r) }), nil
	case key.Matches(msg, m.keys.Close):
		return m.leave(), nil
	case key.Matches(msg, m.keys.All):
		row := m.row()
		m.folding = foldNever
		if !m.tree.Folded() {
			m.folding = foldAlways
		}
		return m.fold().settled(row), nil
	case key.Matches(msg, m.keys.Next):
		return m.goBad(false), nil
	case key.Matches(msg, m.keys.Previous):
		return m.goBad(true), nil
	case key.Matches(msg, m.keys.Follow):
		m.following = true
		return m.settled(m.row()), nil
	}
	return m, nil
}
