package approve

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/tui/screen"
)

// Update folds one message into the model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, ok := screen.Paused(msg, true); ok {
		return m, cmd
	}
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		cmd = m.resize(max(1, msg.Width), max(1, msg.Height))
	case stepMsg:
		cmd = m.searched(msg)
	case blockMsg:
		m.list.drawn(msg)
	case chainsMsg:
		m.chains = msg.chains
		if m.why.awaited {
			m.why.explain(m.chains, m.why.row)
		}
	case tea.MouseMsg:
		m.mouse(tea.MouseEvent(msg))
	case tea.KeyMsg:
		cmd = m.press(msg)
	default:
		return m, nil
	}
	m.layOut()
	if l := &m.list; len(l.entries) > 0 {
		l.move(l.top, l.height) // all that will be seen is asked for
		if len(l.blocks.wanted) > 0 {
			cmd = tea.Batch(cmd, l.blocks.draw(l.changes))
		}
	}
	return m, cmd
}

// resize keeps the cursor at the line that it is at. A search starts anew, since long changes take other lines now.
func (m *model) resize(width, height int) tea.Cmd {
	at := m.here()
	before := m.list.width
	m.width, m.height = width, height
	m.layOut()
	if before == m.list.width || len(m.list.entries) == 0 {
		return nil
	}
	if at.line != onItself {
		at.line = m.list.changes.sameLine(at, before, m.list.width)
		m.list.reveal(at.number, at.line)
	}
	if !m.search.active() {
		return nil
	}
	jump := m.search.jump
	cmd := m.search.start(&m.list, m.search.pattern.text, at)
	m.search.jump = jump
	return cmd
}

// press handles the keys of a message.
func (m *model) press(msg tea.KeyMsg) tea.Cmd {
	m.notice = ""
	var all []tea.Cmd
	for _, k := range screen.Presses(msg) {
		all = append(all, m.key(k))
		m.layOut()
	}
	return tea.Batch(all...)
}

func (m *model) key(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.keys.Leave):
		m.answer = Interrupted
		return tea.Quit
	case key.Matches(msg, m.keys.Suspend):
		return m.suspend()
	case m.prompt.open:
		return m.promptKey(msg)
	case m.typing.open:
		return m.typingKey(msg)
	case msg.Paste: // keys are pressed, not pasted
		return nil
	case m.showHelp, m.showForecast:
		m.showHelp, m.showForecast = false, false
		if !key.Matches(msg, m.keys.Approve) {
			return nil
		}
		fallthrough
	case key.Matches(msg, m.keys.Approve):
		m.why.open = false
		m.prompt = prompt{open: true}
		m.prompt.add([]rune{'y'})
		return nil
	case m.why.open:
		m.whyKey(msg)
		return nil
	}
	return m.listKey(msg)
}

func (m *model) listKey(msg tea.KeyMsg) tea.Cmd {
	l, k := &m.list, &m.keys
	page := max(1, l.height-1)
	switch {
	case key.Matches(msg, k.Decline):
		if msg.Type == tea.KeyEsc && m.search.active() {
			return m.search.start(l, "", hit{})
		}
		m.answer = Declined
		return tea.Quit
	case len(l.entries) == 0:
	case key.Matches(msg, k.Up):
		l.cursor = l.move(l.cursor, -1)
	case key.Matches(msg, k.Down):
		l.cursor = l.move(l.cursor, 1)
	case key.Matches(msg, k.PageUp):
		l.cursor, l.top = l.move(l.cursor, -page), l.move(l.top, -page)
	case key.Matches(msg, k.PageDown):
		l.cursor, l.top = l.move(l.cursor, page), l.move(l.top, page)
	case key.Matches(msg, k.Top):
		l.cursor = place{}
	case key.Matches(msg, k.End):
		l.cursor = l.last()
	case key.Matches(msg, k.NextChange):
		l.cursor = place{at: min(l.cursor.at+1, len(l.entries)-1)}
	case key.Matches(msg, k.PriorChange):
		if l.cursor.line == 0 {
			l.cursor.at = max(0, l.cursor.at-1)
		}
		l.cursor.line = 0
	case key.Matches(msg, k.Turn):
		l.turn()
	case key.Matches(msg, k.Open):
		l.open()
	case key.Matches(msg, k.Close):
		l.close()
	case key.Matches(msg, k.OpenAll):
		l.openAll(true)
	case key.Matches(msg, k.CloseAll):
		l.openAll(false)
	case key.Matches(msg, k.NextTab):
		return m.choose(m.nextTab(1))
	case key.Matches(msg, k.PriorTab):
		return m.choose(m.nextTab(-1))
	case key.Matches(msg, k.Search):
		m.typing = typing{open: true, from: m.here(), before: l.bookmark()}
		return m.search.start(l, "", hit{})
	case key.Matches(msg, k.Next):
		m.step(true)
	case key.Matches(msg, k.Prior):
		m.step(false)
	case key.Matches(msg, k.Why):
		m.explain()
	case key.Matches(msg, k.Forecast):
		if m.o.Plan.Forecast == nil {
			m.notice = "There is no forecast: nothing starts."
			return nil
		}
		m.showForecast = true
	case key.Matches(msg, k.Help):
		m.showHelp = true
	default:
		for t := range tabs {
			if key.Matches(msg, k.Tabs[t]) {
				if l.changes.counts[t] == 0 {
					m.notice = "Nothing here is to " + tabWords[t] + "."
					return nil
				}
				return m.choose(t)
			}
		}
	}
	return nil
}

// nextTab is the next tab, or the one before, that lists something.
func (m *model) nextTab(by int) tab {
	t := int(m.list.tab)
	for {
		t = (t + by + int(tabs)) % int(tabs)
		if t == int(tabAll) || m.list.changes.counts[t] > 0 {
			return tab(t)
		}
	}
}

// choose lists another tab, in which a search goes on.
func (m *model) choose(t tab) tea.Cmd {
	m.list.choose(t)
	if !m.search.active() {
		return nil
	}
	cmd := m.search.start(&m.list, m.search.pattern.text, m.here())
	m.search.jump = false
	return cmd
}

// explain opens the causes of the change under the cursor.
func (m *model) explain() {
	number, ok := m.list.current()
	if !ok {
		m.notice = "This is a group: open it, and ask about one of its jobs."
		return
	}
	row := m.list.changes.list[number].row
	if row == nil {
		m.notice = "Its reason is that the configuration differs from what is stored. enter shows how."
		return
	}
	m.why = why{open: true, row: row, awaited: true}
	if m.chains != nil {
		m.why.explain(m.chains, row)
	}
}

func (m *model) whyKey(msg tea.KeyMsg) {
	w, k, height := &m.why, &m.keys, m.whyHeight()
	switch {
	case key.Matches(msg, k.Decline, k.Why, k.Close):
		w.open = false
	case key.Matches(msg, k.Up):
		w.move(-1, height)
	case key.Matches(msg, k.Down):
		w.move(1, height)
	case key.Matches(msg, k.PageUp):
		w.move(-height, height)
	case key.Matches(msg, k.PageDown):
		w.move(height, height)
	case key.Matches(msg, k.Top):
		w.move(-len(w.links), height)
	case key.Matches(msg, k.End):
		w.move(len(w.links), height)
	case key.Matches(msg, k.Turn, k.Open) && len(w.links) > 0:
		if number, ok := m.list.changes.of(w.links[w.cursor].Row); ok {
			w.open = false
			m.list.reveal(number, onItself)
		}
	}
}
