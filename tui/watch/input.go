package watch

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// press answers the keys of a message. Letters go into the filter together, so that it is searched for once.
func (m *model) press(msg tea.KeyMsg) tea.Cmd {
	var all []tea.Cmd
	presses := screen.Presses(msg)
	for i, k := range presses {
		if m.stops > 0 && !key.Matches(k, m.keys.Leave) { // whoever leaves does nothing more
			break
		}
		if m.typing != nil && len(presses) > 1 {
			k.Runes = msg.Runes[i:]
			all = append(all, m.key(k))
			break
		}
		all = append(all, m.key(k))
	}
	return tea.Batch(all...)
}

// key answers a key: to a question, into the filter, or as a command.
func (m *model) key(msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Leave):
		return m.stop()
	case key.Matches(msg, k.Suspend):
		return m.suspend()
	case m.asked != nil:
		switch {
		case key.Matches(msg, k.Yes):
			return m.act()
		case key.Matches(msg, k.No):
			m.asked = nil
		}
		return nil
	case m.typing != nil:
		return m.typed(msg)
	case m.help:
		m.helpKey(msg)
		return nil
	}
	m.notice = notice{}
	cmd := m.command(msg)
	m.clamp()
	return tea.Batch(cmd, m.subjectChanged())
}

func (m *model) command(msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	for t := range tabs {
		if key.Matches(msg, k.Tabs[t]) {
			return m.open(t)
		}
	}
	switch {
	case key.Matches(msg, k.Quit):
		return m.stop()
	case key.Matches(msg, k.Help):
		m.help, m.helpTop = true, 0
	case key.Matches(msg, k.Next):
		m.turn(1)
	case key.Matches(msg, k.Previous):
		m.turn(-1)
	case key.Matches(msg, k.Open):
		return m.enter()
	case key.Matches(msg, k.Back):
		return m.back()
	case key.Matches(msg, k.Zoom):
		m.alone = !m.alone
	case key.Matches(msg, k.Filter):
		if m.tab != tabScheduled {
			m.tab = tabJobs
		}
		m.focus, m.alone = paneList, false
		text := m.finder(m.tab).filter.text
		m.typing = &text
	case key.Matches(msg, k.Sort):
		m.jobs.order = (m.jobs.order + 1) % orders
		m.jobs.cursor.moved = true
		return m.ask(tabJobs)
	case key.Matches(msg, k.Arrange):
		m.arrange()
	case key.Matches(msg, k.Failure):
		m.nextFailure()
	case key.Matches(msg, k.Retry), key.Matches(msg, k.Cancel), key.Matches(msg, k.Release):
		m.askJob(m.deedOf(msg))
	case key.Matches(msg, k.Pause):
		m.askQueue()
	case key.Matches(msg, k.Cycles):
		return m.cyclesOfChosen()
	case key.Matches(msg, k.Follow):
		m.subject.log.follow = !m.subject.log.follow
		if r := m.layout().panes[paneLog]; !m.subject.log.follow {
			m.subject.log.top = m.subject.log.last(r.w-1, r.h-1)
		}
	case key.Matches(msg, k.Wrap):
		m.subject.log.wrap, m.subject.log.right = !m.subject.log.wrap, 0
	case key.Matches(msg, k.Mouse):
		m.mouse = !m.mouse
		if m.mouse {
			return tea.EnableMouseCellMotion
		}
		m.say(false, "The mouse selects text now; %s gives it back.", k.Mouse.Help().Key)
		return tea.DisableMouse
	default:
		m.motion(msg)
	}
	return nil
}

func (m *model) deedOf(msg tea.KeyMsg) *deed {
	switch {
	case key.Matches(msg, m.keys.Retry):
		return retry
	case key.Matches(msg, m.keys.Cancel):
		return cancel
	}
	return release
}

// motion moves in the focused pane.
func (m *model) motion(msg tea.KeyMsg) {
	k, page := m.keys, max(1, m.layout().panes[m.focus].h-3)
	switch {
	case key.Matches(msg, k.Up):
		m.move(m.focus, 0, -1)
	case key.Matches(msg, k.Down):
		m.move(m.focus, 0, 1)
	case key.Matches(msg, k.PageUp):
		m.move(m.focus, 0, -page)
	case key.Matches(msg, k.PageDown):
		m.move(m.focus, 0, page)
	case key.Matches(msg, k.Top):
		m.move(m.focus, 0, -far)
	case key.Matches(msg, k.Bottom):
		m.move(m.focus, 0, far)
	case key.Matches(msg, k.Left):
		m.move(m.focus, -1, 0)
	case key.Matches(msg, k.Right):
		m.move(m.focus, 1, 0)
	case key.Matches(msg, k.Fold):
		if m.tab == tabJobs && m.focus == paneList && m.treeShown() {
			m.tree.toggle()
		} else {
			m.move(m.focus, 0, page)
		}
	}
}

// far is more lines than any list has.
const far = 1 << 30

// move goes through a pane: in a list with the cursor, elsewhere by scrolling.
func (m *model) move(p pane, dx, dy int) {
	r := m.layout().panes[p]
	switch p {
	case paneDetail:
		m.detailTop = max(0, m.detailTop+dy)
	case paneLog:
		if dx != 0 && !m.subject.log.wrap {
			m.subject.log.right = max(0, m.subject.log.right+dx*8)
		}
		m.subject.log.scroll(dy, r.w-1, r.h-1)
	default:
		switch {
		case m.tab == tabJobs && m.arranged == asLayers:
			m.layers.move(dx, dy)
		case m.tab == tabJobs && m.treeShown():
			m.tree.move(dx, dy)
		default:
			c := m.cursor()
			c.at, c.moved = max(0, min(c.at+dy, m.length()-1)), true
			m.took(c)
		}
	}
}

// took notes which job the cursor is on now.
func (m *model) took(c *cursor) {
	if m.tab.hasJobs() {
		if r, ok := at(m.finder(m.tab).rows, c.at); ok {
			c.key = r.key()
		}
	}
}

// cursor is that of the open tab's list.
func (m *model) cursor() *cursor {
	if m.tab.hasJobs() {
		return &m.finder(m.tab).cursor
	}
	return &m.others[m.tab]
}

// length is how many lines the open tab's list has.
func (m *model) length() int {
	if m.tab.hasJobs() {
		return len(m.finder(m.tab).rows)
	}
	return m.tableLength(m.tab)
}

// clamp keeps cursors on their lists and in what is shown of them.
func (m *model) clamp() {
	if m.focus == paneLog && !m.tab.hasJobs() {
		m.focus = paneList
	}
	l := m.layout()
	r := l.panes[paneList]
	if r.shown() {
		switch {
		case m.tab == tabJobs && m.arranged == asLayers:
			m.layers.place(r.w, r.h-1)
		case m.tab == tabJobs && m.treeShown():
			m.tree.show(r.h - 1)
		default:
			m.cursor().show(m.length(), r.h-2) // a title and the heads of the columns
		}
	}
	if r := l.panes[paneDetail]; r.shown() && m.detailTop > 0 {
		m.detailTop = max(0, min(m.detailTop, len(m.detail(r.w-1))-(r.h-1)))
	}
}

// open shows a tab.
func (m *model) open(t tab) tea.Cmd {
	if m.tab == t {
		m.focus, m.alone = paneList, false
		return nil
	}
	m.tab, m.focus, m.alone, m.detailTop = t, paneList, false, 0
	if t.hasJobs() {
		return m.ask(t)
	}
	return nil
}

// turn gives the keys to the next pane of those that this tab has.
func (m *model) turn(by int) {
	n := panes
	if !m.tab.hasJobs() {
		n = paneLog
	}
	m.focus = pane((int(m.focus) + by + int(n)) % int(n))
}

// enter goes into what the cursor is on.
func (m *model) enter() tea.Cmd {
	switch {
	case m.focus == paneDetail && m.tab.hasJobs():
		m.focus = paneLog
	case m.focus != paneList:
		m.alone = !m.alone
	case m.tab == tabWorkflows:
		if w, ok := m.chosenFlow(); ok {
			return m.look(filter{}, w.key, true)
		}
	case m.tab == tabQueues:
		if q, ok := m.chosenQueue(); ok {
			return m.look(parseFilter("queue:"+q.Name), "", false)
		}
	case m.tab == tabWorkers:
		if w, ok := m.chosenWorker(); ok {
			return m.look(parseFilter("worker:"+w.ID), "", false)
		}
	case m.tab == tabJobs && m.treeShown() && m.tree.onFold():
		m.tree.toggle()
	default:
		if _, ok := m.chosen(); ok {
			m.focus = paneDetail
		}
	}
	return nil
}

// look opens the jobs that a filter and a workflow choose.
func (m *model) look(f filter, scope string, scoped bool) tea.Cmd {
	m.tab, m.focus, m.alone = tabJobs, paneList, false
	m.jobs.filter, m.jobs.scope, m.jobs.scoped = f, scope, scoped
	m.jobs.cursor = cursor{}
	m.layers.flow = nil
	return m.ask(tabJobs)
}

// back undoes the latest narrowing: a pane alone, a pane, a filter, a workflow.
func (m *model) back() tea.Cmd {
	f := m.finder(m.tab)
	switch {
	case m.alone:
		m.alone = false
	case m.focus != paneList:
		m.focus--
	case m.tab.hasJobs() && f.filter.text != "":
		f.filter = filter{}
		f.cursor.moved = true
		return m.ask(m.tab)
	case m.tab == tabJobs && f.scoped:
		f.scoped, f.scope = false, ""
		f.cursor.moved = true
		return m.ask(tabJobs)
	}
	return nil
}

// arrange shows the jobs in the next way.
func (m *model) arrange() {
	if m.tab != tabJobs {
		return
	}
	chosen, ok := m.chosen()
	if w, on := m.chosenFlow(); ok {
		m.layers.flow = chosen.flow
	} else if on {
		m.layers.flow = w
	}
	m.arranged = (m.arranged + 1) % arrangements
	m.focus = paneList
	m.rearrange()
	if ok {
		m.point(chosen.key())
	}
}

// rearrange makes what is arranged of the found rows anew.
func (m *model) rearrange() {
	switch {
	case m.arranged == asLayers:
		m.arrangeLayers()
	case m.arranged == asTree:
		m.arrangeTree()
	}
}

// point puts every cursor on a job.
func (m *model) point(key jobKey) {
	c := &m.jobs.cursor
	for i, r := range m.jobs.rows {
		if r.key() == key {
			c.at, c.key, c.moved = i, key, true
			break
		}
	}
	if m.arranged == asLayers && !m.layers.choose(key) {
		if w := m.fleet.byName[key.flow]; w != nil && w != m.layers.flow {
			m.layers.flow = w
			m.arrangeLayers()
			m.layers.choose(key)
		}
	}
	if m.treeShown() {
		m.tree.choose(key)
	}
}

// nextFailure goes to the next job below that somebody has to look at, from the top again at the end.
func (m *model) nextFailure() {
	if m.tab != tabJobs {
		return
	}
	var start int
	if r, ok := m.chosen(); ok {
		for i, o := range m.jobs.rows {
			if o == r {
				start = i
				break
			}
		}
	}
	n := len(m.jobs.rows)
	for i := 1; i <= n; i++ {
		if r := m.jobs.rows[(start+i)%n]; board.Standing(r.job.Status) == board.Failed {
			m.focus = paneList
			m.point(r.key())
			return
		}
	}
	m.say(false, "No job failed here.")
}

// typed edits the filter; the list follows each letter.
func (m *model) typed(msg tea.KeyMsg) tea.Cmd {
	text := *m.typing
	switch msg.Type {
	case tea.KeyEnter:
		m.typing = nil
		m.clamp()
		return nil
	case tea.KeyEsc:
		m.typing = nil
		text = ""
	case tea.KeyBackspace:
		if text == "" {
			m.typing = nil
			return nil
		}
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	case tea.KeyCtrlU:
		text = ""
	case tea.KeyCtrlW:
		for text != "" && text[len(text)-1] == ' ' {
			text = text[:len(text)-1]
		}
		for text != "" && text[len(text)-1] != ' ' {
			text = text[:len(text)-1]
		}
	case tea.KeyUp, tea.KeyDown:
		m.motion(msg)
		m.clamp()
		return m.subjectChanged()
	case tea.KeyRunes, tea.KeySpace:
		for _, r := range msg.Runes {
			if unicode.IsPrint(r) && len(text) < 200 {
				text += string(r)
			}
		}
	default:
		return nil
	}
	if m.typing != nil {
		m.typing = &text
	}
	f := m.finder(m.tab)
	f.filter = parseFilter(text)
	cmd := m.ask(m.tab)
	m.clamp()
	return tea.Batch(cmd, m.subjectChanged())
}
