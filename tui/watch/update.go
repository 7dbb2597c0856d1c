package watch

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Update folds one message into the model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, ok := screen.Paused(msg, m.mouse); ok {
		return m, cmd
	}
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(1, msg.Width), max(1, msg.Height)
		m.clamp()
		cmd = m.read()
	case tickMsg:
		cmd = m.ticked(time.Time(msg))
	case screen.Events:
		cmd = m.events(msg)
	case tea.KeyMsg:
		cmd = m.press(msg)
	case tea.MouseMsg:
		cmd = m.moused(tea.MouseEvent(msg))
	case foundMsg:
		cmd = m.find(msg.tab, msg.search)
	case sortedMsg:
		cmd = m.sorted(msg)
	case againMsg:
		m.finder(msg.tab).waiting = false
		if f := m.finder(msg.tab); f.stale && f.underway == nil && m.tab == msg.tab {
			cmd = m.ask(msg.tab)
		}
	case restMsg:
		if msg.n == m.subject.n {
			m.subject.resting = true
			m.subject.relate()
			cmd = m.read()
		}
	case inspectedMsg:
		cmd = m.inspected(msg)
	case tailMsg:
		cmd = m.tailed(msg)
	case cyclesMsg:
		cmd = m.cyclesRead(msg)
	case actedMsg:
		cmd = m.acted(msg)
	}
	return m, cmd
}

func (m *model) ticked(now time.Time) tea.Cmd {
	m.now = now
	if m.notice.at.IsZero() {
		m.notice.at = now
	}
	if m.notice.text != "" && now.Sub(m.notice.at) > noticeFor {
		m.notice = notice{}
	}
	cmds := []tea.Cmd{m.tick(tickEvery)}
	if s := &m.subject; s.job != nil {
		if s.job.Status.State == conveyor.StateRunning || s.log.err != nil {
			s.tail = true
		}
		if s.err != nil {
			s.inspect = true
		}
		cmds = append(cmds, m.read())
	}
	if m.jobs.order == byDuration && m.tab == tabJobs {
		m.jobs.stale = true
		cmds = append(cmds, m.freshen(tabJobs, m.total() <= promptly))
	}
	return tea.Batch(cmds...)
}

func (m *model) events(msg screen.Events) tea.Cmd {
	f := m.fleet
	lists, anchor := f.lists, m.anchor()
	for _, e := range msg.Events {
		f.observe(e)
	}
	f.settleCycles()
	if next := f.successor(m.jobs.scope); m.jobs.scoped && next != "" {
		m.say(false, "Workflow %s is called %s now.", m.jobs.scope, next)
		m.jobs.scope, m.layers.flow = next, nil
		f.lists++
	}
	m.anchored(anchor)
	if w := f.warning; w != nil {
		m.say(true, "Warning: %s", w.Summary)
		f.warning = nil
	}
	gone := f.lists != lists
	cmds := []tea.Cmd{m.refresh(gone)}
	if f.rescheduled {
		f.rescheduled = false
		if m.scheduled.stale = true; !gone && m.tab == tabScheduled && m.scheduled.underway == nil {
			cmds = append(cmds, m.freshen(tabScheduled, true))
		}
	}
	for _, uuid := range f.cycled {
		m.subject.tail = m.subject.tail || m.subject.uuid == uuid
	}
	f.cycled = nil
	for _, c := range f.changed {
		m.told(c)
		m.layers.changed(c)
	}
	m.treeChanged(f.changed)
	clear(f.changed)
	f.changed = f.changed[:0]
	m.moved()
	m.clamp()
	cmds = append(cmds, m.subjectChanged())
	if msg.Last {
		m.subject.drop()
		return tea.Quit
	}
	return tea.Batch(append(cmds, m.take)...)
}

// anchor names the lines that the cursors of tables are on.
func (m *model) anchor() (names [tabs]string) {
	for t := range tabs {
		names[t] = m.lineName(t, m.others[t].at)
	}
	return names
}

// anchored puts the cursors of tables back on their lines after these have moved.
func (m *model) anchored(names [tabs]string) {
	for t, name := range names {
		c := &m.others[t]
		if !c.moved || m.lineName(tab(t), c.at) == name {
			continue
		}
		for i := range m.tableLength(tab(t)) {
			if m.lineName(tab(t), i) == name {
				c.top, c.at = c.top+i-c.at, i
				break
			}
		}
	}
}

func (m *model) tableLength(t tab) int {
	switch t {
	case tabQueues:
		return len(m.fleet.queues)
	case tabWorkers:
		return len(m.fleet.workers)
	case tabWorkflows:
		return len(m.fleet.workflows())
	}
	return 0
}

// lineName is what stands on a line of a table.
func (m *model) lineName(t tab, i int) string {
	switch {
	case i >= m.tableLength(t):
		return ""
	case t == tabQueues:
		return m.fleet.queues[i].Name
	case t == tabWorkers:
		return m.fleet.workers[i].ID
	}
	return m.fleet.workflows()[i].key
}
