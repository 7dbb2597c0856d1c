package watch

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// View draws the screen. It is never wider or taller than the terminal; only lines that are shown are made.
func (m *model) View() string {
	l := m.layout()
	lines := make([]string, 0, m.height)
	if l.title {
		lines = append(lines, m.titleLine())
	}
	if l.tabs {
		lines = append(lines, m.tabLine())
	}
	lines = append(lines, m.body(l)...)
	switch {
	case m.asked != nil:
		lines = over(lines, m.questionBox(), m.width)
	case m.help:
		lines = over(lines, m.helpBox(len(lines)), m.width)
	}
	return screen.Fit(append(lines, m.foot()...), m.width, m.height)
}

// body draws the panes side by side.
func (m *model) body(l layout) []string {
	var drawn [panes][]string
	for p, r := range l.panes {
		if r.shown() {
			drawn[p] = m.pane(pane(p), r)
		}
	}
	first := l.foot
	for _, r := range l.panes {
		if r.shown() {
			first = min(first, r.y)
		}
	}
	lines := make([]string, 0, max(0, l.foot-first))
	for y := first; y < l.foot; y++ {
		line, x := "", 0
		for p, r := range l.panes {
			if !r.shown() || y < r.y || y >= r.y+r.h {
				continue
			}
			if r.x > x {
				line += m.styles.Faint.Render(joint(y == r.y, y == first))
			}
			cell := ""
			if y-r.y < len(drawn[p]) {
				cell = drawn[p][y-r.y]
			}
			line += fill(cell, r.w)
			x = r.x + r.w
		}
		lines = append(lines, line)
	}
	return lines
}

// joint is what stands between two panes side by side: beside a title it joins the line of that.
func joint(title, top bool) string {
	switch {
	case title && top:
		return "┬"
	case title:
		return "├"
	}
	return "│"
}

// pane draws one pane with its title.
func (m *model) pane(p pane, r rect) []string {
	focused := m.focus == p && m.asked == nil && !m.help
	var title, note string
	var lines []string
	switch p {
	case paneList:
		title, note = m.listTitle()
		lines = m.list(r.w, r.h-1)
	case paneDetail:
		title = m.detailTitle()
		made := m.detail(r.w - 1)
		top := max(0, min(m.detailTop, len(made)-(r.h-1)))
		if over := len(made) - (r.h - 1) - top; over > 0 {
			note = fmt.Sprintf("%d more", over)
		}
		for _, line := range made[top:] {
			lines = append(lines, " "+line)
		}
	default:
		title, note = m.logTitle(r)
		for _, line := range m.logLines(r.w-1, r.h-1) {
			lines = append(lines, " "+line)
		}
	}
	if len(lines) > r.h-1 {
		lines = lines[:max(0, r.h-1)]
	}
	return append([]string{m.rule(title, note, r.w, focused)}, lines...)
}

func (m *model) titleLine() string {
	title := m.styles.Title.Render("waybill watch")
	if m.o.Namespace != "" {
		title += m.styles.Title.Render(" " + screen.Clean(m.o.Namespace))
	}
	if s := m.fleet.opened.Store; s != "" {
		title += m.styles.Faint.Render(" · " + screen.Clean(s))
	}
	return screen.Spread(title, m.tally(m.fleet.counts), m.width)
}

// tally is what a namespace or a workflow has, in few words.
func (m *model) tally(counts applier.StateCounts) string {
	var sums [board.Sections]int
	for s, n := range counts {
		sums[board.SectionOf(conveyor.State(s))] += n
	}
	var parts []string
	part := func(n int, state conveyor.State, word string) {
		if n > 0 && m.width < wideEnough {
			parts = append(parts, m.styles.Of(state).Render(fmt.Sprintf("%s %d", screen.Mark(state), n)))
		} else if n > 0 {
			parts = append(parts, m.styles.Of(state).Render(fmt.Sprintf("%s %d %s", screen.Mark(state), n, word)))
		}
	}
	part(sums[board.Failed], conveyor.StateFailed, "not ok")
	part(sums[board.Running], conveyor.StateRunning, "running")
	templates := counts[conveyor.StateTemplate] // wait for nothing, and have a tab of their own
	part(sums[board.Waiting]+sums[board.Held]+sums[board.Closing]-templates, conveyor.StateHeld, "waiting")
	part(sums[board.Done], conveyor.StateCompleted, "done")
	return strings.Join(parts, "  ")
}

// tabText is a tab as its line shows it, without its brackets.
func (m *model) tabText(t tab, short bool) string {
	n := 0
	switch t {
	case tabJobs:
		for _, c := range m.fleet.counts {
			n += c
		}
	case tabQueues:
		n = len(m.fleet.queues)
	case tabWorkers:
		n = len(m.fleet.workers)
	case tabScheduled:
		n = m.fleet.counts[conveyor.StateScheduled] + m.fleet.scheduleTotal
	case tabWorkflows:
		n = len(m.fleet.workflows())
	}
	text := fmt.Sprintf("%d %s", t+1, tabNames[t])
	if !short {
		text += fmt.Sprintf(" %d", n)
	}
	if t == tabQueues && m.fleet.attention() > 0 {
		text += "!"
	}
	return text
}

// tabPlaces are the first cell of each tab and the one after the last.
func (m *model) tabPlaces() (places [tabs + 1]int, short bool) {
	for _, short = range []bool{false, true} {
		x := 0
		for t := range tabs {
			places[t] = x
			x += ansi.StringWidth(m.tabText(t, short)) + 2
		}
		places[tabs] = x
		if x <= m.width {
			break
		}
	}
	return places, short
}

func (m *model) tabLine() string {
	_, short := m.tabPlaces()
	line := ""
	for t := range tabs {
		if text := m.tabText(t, short); t == m.tab {
			line += m.styles.selected.Render("[" + text + "]")
		} else {
			line += m.styles.Faint.Render(" " + text + " ")
		}
	}
	return line
}

// foot is the last lines of the screen: what the user should know now, and the keys that do something here.
func (m *model) foot() []string {
	if m.height < 3 {
		return nil
	}
	var lines []string
	if text, bad := m.message(); text != "" {
		style := m.styles.Title
		if bad {
			style = m.styles.Notice
		}
		text = screen.Cut(text, max(0, m.width*2-4))
		for _, line := range wrapped(text, m.width) {
			lines = append(lines, style.Render(line))
		}
		lines = lines[:min(len(lines), 2)]
	}
	if m.typing != nil {
		return append(lines, screen.Cut(m.typingLine(), m.width))
	}
	if m.height < 6 {
		return lines[:min(len(lines), 1)]
	}
	return append(lines, m.keyLine())
}

// message is the one thing that matters most beside the lists.
func (m *model) message() (text string, bad bool) {
	f := m.fleet
	switch {
	case m.stops > 0:
		return "Leaving...", false
	case f.away != nil:
		return fmt.Sprintf("The store has not answered for %s; asking again... What is shown may be old.", board.Elapsed(f.away.For)), true
	case m.notice.text != "":
		return m.notice.text, m.notice.bad
	}
	return "", false
}

func (m *model) typingLine() string {
	text := *m.typing
	room := m.width - 4
	if w := ansi.StringWidth(text); w > room && room > 0 {
		text = ansi.TruncateLeft(text, w-room, "…")
	}
	line := m.styles.Title.Render("/ ") + text + m.styles.selected.Render(" ")
	hint := m.styles.Faint.Render("words, state: queue: worker: type: · enter keeps, esc clears")
	if ansi.StringWidth(line)+ansi.StringWidth(hint)+2 <= m.width {
		line = screen.Spread(line, hint, m.width)
	}
	return line
}

// seenOf is the schedule or gate of the chosen row.
func (m *model) seenOf(r row, ok bool) *applier.ScheduleSeen {
	if !ok || !m.tab.hasJobs() || m.focus == paneLog {
		return nil
	}
	return m.scheduleOf(r.job)
}

// relabelled is a key with another word.
func relabelled(b key.Binding, word string) key.Binding {
	return key.NewBinding(key.WithKeys(b.Keys()...), key.WithHelp(b.Help().Key, word))
}

// keyLine names the keys that matter here.
func (m *model) keyLine() string {
	k := m.keys
	var shown []key.Binding
	r, ok := m.chosen()
	switch {
	case m.asked != nil:
		shown = []key.Binding{k.Yes, k.No}
	case m.focus == paneLog:
		shown = []key.Binding{k.move, k.Follow, k.Wrap, k.Zoom, k.panes}
	case m.tab == tabQueues:
		shown = []key.Binding{k.move, k.Open, k.Pause}
	case m.tab.hasJobs():
		shown = []key.Binding{k.move, k.Open, k.panes}
		if m.tab == tabJobs {
			shown = append(shown, k.Filter, k.Arrange)
			if !m.treeShown() {
				shown = append(shown, k.Sort)
			}
		}
	default:
		shown = []key.Binding{k.move, k.Open}
	}
	if seen := m.seenOf(r, ok); seen != nil && m.asked == nil {
		run, pause := relabelled(k.Retry, "run"), relabelled(k.Pause, "pause")
		if seen.Template.Paused {
			pause = relabelled(k.Pause, "resume")
		}
		mine := []key.Binding{run, pause, relabelled(k.Cycles, "its jobs")}
		if seen.Template.OnHold {
			mine = append([]key.Binding{relabelled(k.Release, "release")}, mine[1:]...)
		}
		shown = append(shown[:1:1], append(mine, shown[1:]...)...)
	} else if ok && m.asked == nil && m.tab.hasJobs() {
		for _, d := range []struct {
			deed *deed
			key  key.Binding
		}{{retry, relabelled(k.Retry, "retry")}, {release, k.Release}, {cancel, k.Cancel}} {
			if d.deed.can(r.job.Status) {
				shown = append(shown[:1:1], append([]key.Binding{d.key}, shown[1:]...)...)
			}
		}
	}
	if m.asked == nil {
		shown = append([]key.Binding{k.Help, k.Quit}, shown...)
	}
	line := ""
	for _, b := range shown {
		part := m.styles.Title.Render(b.Help().Key) + " " + m.styles.Faint.Render(b.Help().Desc)
		if line != "" {
			part = line + m.styles.Faint.Render(" · ") + part
		}
		if ansi.StringWidth(part) > m.width {
			break
		}
		line = part
	}
	return line
}
