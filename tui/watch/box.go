package watch

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// questionBox asks for a yes.
func (m *model) questionBox() []string {
	q := m.asked
	width := min(m.width, 64)
	inner := max(1, width-4)
	var lines []string
	for _, line := range wrapped(fmt.Sprintf("%s %s?", q.deed.verb, q.name), inner) {
		lines = append(lines, m.styles.Title.Render(line))
	}
	lines = append(lines, wrapped(q.follows, inner)...)
	keys := fmt.Sprintf("%s %s    %s %s", m.styles.Title.Render(m.keys.Yes.Help().Key), m.keys.Yes.Help().Desc,
		m.styles.Title.Render(m.keys.No.Help().Key), m.keys.No.Help().Desc)
	return m.framed("Sure?", append(lines, "", keys), width)
}

// helpLines are the keys by subject and what the marks mean.
func (m *model) helpLines(width int) []string {
	var blocks [][]string
	for _, c := range m.keys.helpColumns() {
		lines := []string{m.styles.Title.Render(c.name)}
		for _, b := range c.keys {
			lines = append(lines, m.styles.Title.Render(fill(b.Help().Key, 10))+" "+b.Help().Desc)
		}
		blocks = append(blocks, lines)
	}
	marks := []string{m.styles.Title.Render("Marks")}
	for _, s := range []conveyor.State{conveyor.StateRunning, conveyor.StateCompleted, conveyor.StateFailed, conveyor.StateOnHold, conveyor.StateScheduled,
		conveyor.StateQueued, conveyor.StateHeld, conveyor.StateClosing, conveyor.StateSkipped} {
		marks = append(marks, fill(m.styles.Of(s).Render(screen.Mark(s)), 3)+markWords[s])
	}
	marks = append(marks, fill("•", 3)+"in layers: linked to the chosen")
	blocks = append(blocks, marks)
	filter := []string{m.styles.Title.Render("Filter"), "load eu", "  both in the address", "state:failed", "queue:etl  worker:w1", "type:exec  workflow:sales",
		"cycle:nightly@2026-11-21",
		"-state:done  not these"}
	blocks = append(blocks, filter)

	const each = 34
	n := max(1, min(width/each, 3))
	columns := make([][]string, n)
	for _, b := range blocks { // each where there is most room
		to := 0
		for i := range columns {
			if len(columns[i]) < len(columns[to]) {
				to = i
			}
		}
		if len(columns[to]) > 0 {
			columns[to] = append(columns[to], "")
		}
		columns[to] = append(columns[to], b...)
	}
	high := 0
	for _, c := range columns {
		high = max(high, len(c))
	}
	lines := make([]string, high)
	for y := range high {
		for i, c := range columns {
			cell := ""
			if y < len(c) {
				cell = c[y]
			}
			if i < n-1 {
				cell = fill(cell, width/n)
			}
			lines[y] += cell
		}
	}
	return lines
}

var markWords = map[conveyor.State]string{
	conveyor.StateRunning: "running", conveyor.StateCompleted: "completed", conveyor.StateFailed: "failed", conveyor.StateOnHold: "on hold",
	conveyor.StateScheduled: "waits for its time", conveyor.StateQueued: "waits for a worker", conveyor.StateHeld: "waits for other jobs",
	conveyor.StateClosing: "waits for its children", conveyor.StateSkipped: "skipped, cancelled, expired",
}

// helpBox shows as much of the help as fits, from the line that it was scrolled to.
func (m *model) helpBox(height int) []string {
	width := min(m.width, 112)
	lines := m.helpLines(max(1, width-4))
	room := max(1, height-2)
	m.helpTop = max(0, min(m.helpTop, len(lines)-room))
	shown := lines[m.helpTop:min(len(lines), m.helpTop+room)]
	title := "Help · esc closes"
	if len(lines) > room {
		title = "Help · up/down scroll, esc closes"
	}
	for i := range shown {
		if ansi.StringWidth(shown[i]) > width-4 {
			shown[i] = screen.Cut(shown[i], width-4)
		}
	}
	return m.framed(title, shown, width)
}

func (m *model) helpKey(msg tea.KeyMsg) {
	k := m.keys
	switch {
	case key.Matches(msg, k.Up):
		m.helpTop = max(0, m.helpTop-1)
	case key.Matches(msg, k.Down):
		m.helpTop++
	case key.Matches(msg, k.PageUp):
		m.helpTop = max(0, m.helpTop-10)
	case key.Matches(msg, k.PageDown), key.Matches(msg, k.Fold):
		m.helpTop += 10
	case key.Matches(msg, k.Help), key.Matches(msg, k.Back), key.Matches(msg, k.Quit), key.Matches(msg, k.Open):
		m.help = false
	}
}

// logTitle heads the log with how it is shown.
func (m *model) logTitle(r rect) (title, note string) {
	l := &m.subject.log
	title = "Log"
	if row, ok := m.chosen(); ok {
		if row.job.Status.State == conveyor.StateTemplate {
			if n := l.count(); n > 1 {
				note = board.Count(n-1, "cycle", "cycles")
			}
			return "Cycles of " + row.job.Name, note
		}
		title += " of " + row.job.Name
	}
	var notes []string
	if n := l.count(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d lines", l.left+n))
	}
	if l.follow {
		notes = append(notes, "following")
	} else if l.count() > 0 {
		notes = append(notes, fmt.Sprintf("line %d", l.left+l.top+1))
	}
	if l.wrap {
		notes = append(notes, "wrapped")
	}
	return title, strings.Join(notes, ", ")
}

// logLines draws the log of the chosen job.
func (m *model) logLines(width, height int) []string {
	l := &m.subject.log
	var text string
	switch {
	case m.subject.job == nil:
		text = "Choose a job to see what it writes."
	case l.err != nil:
		text = "Cannot read the log: " + screen.Clean(l.err.Error()) + ". Asking again..."
	case l.count() > 0:
		lines := l.view(width, height)
		for i, line := range lines {
			if isMark(line) {
				lines[i] = m.styles.Faint.Render(line)
			}
		}
		return lines
	case !l.read:
		text = "Reading..."
	case m.subject.job.Status.State == conveyor.StateTemplate:
		text = "It has had no cycle yet."
	case m.subject.job.Status.Fence == 0:
		text = "It has not started yet."
	default:
		text = "It has written nothing."
	}
	var lines []string
	for _, line := range wrapped(text, max(1, width)) {
		lines = append(lines, m.styles.Faint.Render(line))
	}
	return lines
}
