package watch

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// finder keeps the answer of a query fresh while jobs change.
type finder struct {
	query
	rows     []row
	cursor   cursor
	underway *search
	stale    bool // jobs have changed since the search underway, or the last one, began
	waiting  bool // a retryMsg is on its way
}

// foundMsg lets a search go on.
type foundMsg struct {
	tab    tab
	search *search
}

// againMsg lets a list that jobs have changed in be made anew.
type againMsg struct{ tab tab }

// sortedMsg brings the order of a workflow's addresses.
type sortedMsg struct {
	flow  *flow
	lists int
	order []int32
}

const (
	// promptly is how many jobs are searched anew with each frame in which some change; of more it is every pause.
	promptly = 5_000
	pause    = 500 * time.Millisecond
)

// ask begins the search of a tab's list anew.
func (m *model) ask(t tab) tea.Cmd {
	f := m.finder(t)
	f.stale = false
	f.underway = &search{query: f.query, lists: m.fleet.lists, now: m.now}
	return m.find(t, f.underway)
}

// find takes a search one step on.
func (m *model) find(t tab, s *search) tea.Cmd {
	f := m.finder(t)
	switch {
	case f.underway != s:
		return nil
	case s.lists != m.fleet.lists:
		return m.ask(t)
	}
	if w := s.ready(m.fleet); w != nil {
		jobs, lists := w.board.Jobs, m.fleet.lists
		return func() tea.Msg { return sortedMsg{w, lists, addressOrder(jobs)} }
	}
	if !s.step(m.fleet) {
		return func() tea.Msg { return foundMsg{t, s} }
	}
	if !s.sorted {
		if s.moves() && len(s.rows) > perStep {
			return func() tea.Msg {
				s.sort()
				return foundMsg{t, s}
			}
		}
		s.sort()
	}
	f.rows, f.underway = s.rows, nil
	if t == tabJobs {
		m.rearrange()
	}
	f.cursor.settle(len(f.rows), func(i int) jobKey { return f.rows[i].key() })
	m.clamp()
	return m.subjectChanged()
}

// sorted takes the order of addresses and goes on with whoever waited for it.
func (m *model) sorted(msg sortedMsg) tea.Cmd {
	if msg.lists == m.fleet.lists && len(msg.order) == len(msg.flow.board.Jobs) {
		msg.flow.byName = msg.order
	}
	if f := m.finder(tabJobs); f.underway != nil {
		return m.find(tabJobs, f.underway)
	}
	return nil
}

// refresh makes lists anew after events: at once what is small, after a pause what is large. gone tells that lists of jobs
// were replaced, so that what is shown is void.
func (m *model) refresh(gone bool) tea.Cmd {
	var cmds []tea.Cmd
	for _, t := range []tab{tabJobs, tabScheduled} {
		f := m.finder(t)
		if !gone && (len(m.fleet.changed) == 0 || !f.moves() && !f.narrows()) {
			continue
		}
		f.stale = true
		if f.underway != nil && !gone || t != m.tab && !gone {
			continue
		}
		cmds = append(cmds, m.freshen(t, gone || m.total() <= promptly))
	}
	return tea.Batch(cmds...)
}

// freshen makes a stale list anew, now or soon.
func (m *model) freshen(t tab, now bool) tea.Cmd {
	f := m.finder(t)
	switch {
	case !f.stale || f.waiting && !now:
		return nil
	case now:
		return m.ask(t)
	}
	f.waiting = true
	return m.after(pause, func() tea.Msg { return againMsg{t} })
}

// total is how many jobs are known.
func (m *model) total() int {
	n := 0
	for _, w := range m.fleet.flows {
		n += len(w.board.Jobs)
	}
	return n
}

func (m *model) finder(t tab) *finder {
	if t == tabScheduled {
		return &m.scheduled
	}
	return &m.jobs
}
