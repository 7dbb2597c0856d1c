package approve

import (
	tea "github.com/charmbracelet/bubbletea"
)

func (m *model) promptKey(msg tea.KeyMsg) tea.Cmd {
	p := &m.prompt
	switch msg.Type {
	case tea.KeyEsc:
		p.open = false
	case tea.KeyBackspace:
		p.answer.back()
	case tea.KeyCtrlU:
		p.answer.text = ""
	case tea.KeyRunes, tea.KeySpace:
		p.add(msg.Runes)
	case tea.KeyEnter, tea.KeyCtrlJ: // a line break that was sent
		switch p.enter() {
		case approves:
			m.answer = Approved
			return tea.Quit
		case declines:
			m.answer = Declined
			return tea.Quit
		case returns:
			p.open = false
		}
	}
	return nil
}

func (m *model) typingKey(msg tea.KeyMsg) tea.Cmd {
	t := &m.typing
	before := t.input.text
	switch msg.Type {
	case tea.KeyEsc:
		t.open = false
		m.list.restore(t.before)
		return m.search.start(&m.list, "", hit{})
	case tea.KeyEnter, tea.KeyCtrlJ:
		t.open = false
		return nil
	case tea.KeyBackspace:
		t.input.back()
	case tea.KeyCtrlU:
		t.input.text = ""
	case tea.KeyRunes, tea.KeySpace:
		t.input.add(msg.Runes)
	}
	if t.input.text == before {
		return nil
	}
	m.list.restore(t.before)
	return m.search.start(&m.list, t.input.text, t.from)
}

// searched takes what a step of the search has found, and takes the next one.
func (m *model) searched(msg stepMsg) tea.Cmd {
	if !m.search.take(msg) {
		return nil
	}
	if m.search.jump {
		if h, ok := m.search.first(m.list.changes); ok {
			m.search.jump = false
			m.list.reveal(h.number, h.line)
		}
	}
	return m.search.step(&m.list)
}

// step goes to the next hit, or to the one before.
func (m *model) step(forward bool) {
	if !m.search.active() {
		m.notice = "Nothing is looked for yet: / starts a search."
		return
	}
	m.search.jump = false
	if h, ok := m.search.next(m.here(), forward); ok {
		m.list.reveal(h.number, h.line)
	}
}
