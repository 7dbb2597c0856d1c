package live

import (
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Update folds one message into the model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(1, msg.Width), max(1, msg.Height)
		return m.clamped(), nil
	case tickMsg:
		m.now = time.Time(msg)
		if m.began.IsZero() {
			m.began = m.now
		}
		return m, m.tick(tickEvery)
	case screen.Events:
		return m.events(msg)
	case tea.KeyMsg:
		return m.key(msg)
	}
	return m, nil
}

func (m model) events(msg screen.Events) (tea.Model, tea.Cmd) {
	over := msg.Last
	for _, e := range msg.Events {
		m.board.Observe(e)
		if _, done := e.(applier.Done); done && !m.o.Watch {
			over = true
		}
	}
	m = m.clamped()
	if over {
		return m, tea.Quit
	}
	return m, m.take
}

func (m model) key(msg tea.KeyMsg) (tea.Model, tea.Cmd) {
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
		return m, tea.Suspend
	case key.Matches(msg, m.keys.Up):
		m.top--
	case key.Matches(msg, m.keys.Down):
		m.top++
	case key.Matches(msg, m.keys.PageUp):
		m.top -= page
	case key.Matches(msg, m.keys.PageDown):
		m.top += page
	case key.Matches(msg, m.keys.Top):
		m.top = 0
	case key.Matches(msg, m.keys.Bottom):
		m.top = m.bodyLines()
	case key.Matches(msg, m.keys.Failures):
		m.moreFailures = !m.moreFailures
	case key.Matches(msg, m.keys.Done):
		m.showDone = !m.showDone
	case key.Matches(msg, m.keys.Help):
		m.help.ShowAll = !m.help.ShowAll
	}
	return m.clamped(), nil
}

// clamped keeps the body's first shown line inside the body.
func (m model) clamped() model {
	m.top = max(0, min(m.top, m.bodyLines()-m.bodyHeight()))
	return m
}
