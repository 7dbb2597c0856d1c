package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/conveyor"
)

// View draws the screen: a head that stays, a body that scrolls, the keys. It is never wider or taller than the
// terminal; what is least needed goes first when there is little room.
func (m model) View() string {
	head, foot := m.headLines(), m.footLines()
	room := m.height - len(head) - len(foot)
	if room < 0 {
		foot = foot[:max(0, len(foot)+room)]
		room = 0
	}
	lines := head
	body := m.body(m.top, m.top+room)
	lines = append(lines, body...)
	for range room - len(body) {
		lines = append(lines, "")
	}
	lines = append(lines, foot...)
	return fit(lines, m.width, m.height)
}

// fit cuts lines to the terminal's size.
func fit(lines []string, width, height int) string {
	if len(lines) > height {
		lines = lines[:height]
	}
	cut := make([]string, len(lines))
	for i, line := range lines {
		if ansi.StringWidth(line) > width {
			line = ansi.Truncate(line, width, "…")
		}
		cut[i] = line
	}
	return strings.Join(cut, "\n")
}

// bodyHeight is how many lines of the body fit.
func (m model) bodyHeight() int { return max(0, m.height-len(m.headLines())-len(m.footLines())) }

// headLines are the title, the bar, the counts, and what the user should know now.
func (m model) headLines() []string {
	running := ""
	if !m.began.IsZero() {
		running = clock(m.now.Sub(m.began))
	}
	lines := []string{m.spread(m.title(), m.styles.faint.Render(running)), m.bar(), m.counts()}
	if notice := m.notice(); notice != "" {
		lines = append(lines, m.styles.notice.Render(ansi.Truncate(notice, m.width, "…")))
	}
	if m.height >= 12 {
		lines = append(lines, "")
	}
	if over := len(lines) - m.height; over > 0 {
		lines = lines[:m.height]
	}
	return lines
}

func (m model) title() string {
	verb := "apply"
	switch {
	case m.o.Watch:
		verb = "watch"
	case m.o.Destroy:
		verb = "destroy"
	}
	title := m.styles.title.Render(strings.TrimSpace("waybill " + verb + " " + clean(m.board.opened.Workflow)))
	if m.board.opened.Store != "" {
		title += m.styles.faint.Render(" · " + clean(m.board.opened.Store))
	}
	return title
}

// notice is the one thing that matters most beside the jobs.
func (m model) notice() string {
	b := m.board
	switch {
	case b.done != nil && b.done.Err != nil:
		return "Ended: " + clean(b.done.Err.Error())
	case b.done != nil && m.o.Watch:
		line, _ := b.closing(operation{watch: true})
		return line
	case m.stops > 1:
		return "Leaving..."
	case m.stops == 1 && m.o.OwnWorker:
		return "Stopping: running jobs are handed back, their attempts are not spent. ctrl+c again leaves at once."
	case m.stops == 1 && !m.o.Watch:
		return "Detaching: the jobs go on. ctrl+c again leaves at once."
	case b.away != nil:
		return awayLine(*b.away)
	case b.lock != nil:
		return lockLine(*b.lock)
	case len(b.warnings) > 0:
		w := b.warnings[len(b.warnings)-1]
		return "Warning: " + clean(w.Summary) + more(len(b.warnings)-1)
	}
	return ""
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// bar shows what is settled: the good part, the bad part, the rest; while rows are written it shows those.
func (m model) bar() string {
	label, good, bad, total := m.progress()
	room := m.width - ansi.StringWidth(label) - 1
	if room < 4 {
		return label
	}
	goodCells, badCells := cells(good, total, room), 0
	if bad > 0 {
		badCells = max(1, cells(good+bad, total, room)-goodCells)
		goodCells = min(goodCells, room-badCells)
	}
	return m.styles.good.Render(strings.Repeat("█", goodCells)) + m.styles.bad.Render(strings.Repeat("█", badCells)) +
		m.styles.barRest.Render(strings.Repeat("░", room-goodCells-badCells)) + " " + label
}

func (m model) progress() (label string, good, bad, total int) {
	b := m.board
	switch {
	case b.following:
		good, bad, total = len(b.members[sectionDone]), len(b.members[sectionFailed]), len(b.jobs)
		label = fmt.Sprintf("%d/%d settled", good+bad, total)
	case b.submit.Total > 0:
		good, total = b.submit.Done, b.submit.Total
		label = fmt.Sprintf("%d/%d submitted", good, total)
	default:
		label = "starting"
	}
	return label, good, bad, total
}

// cells is the share n of total in a bar of width cells; full only when n is.
func cells(n, total, width int) int {
	if total <= 0 || n <= 0 {
		return 0
	}
	if n >= total {
		return width
	}
	return int(int64(n) * int64(width) / int64(total))
}

func (m model) counts() string {
	var parts []string
	for _, s := range tallied {
		if n := m.board.counts[s]; n > 0 {
			parts = append(parts, m.styles.of(s).Render(fmt.Sprintf("%d %s", n, stateWord(s))))
		}
	}
	return strings.Join(parts, m.styles.faint.Render(" · "))
}

// footLines are the keys, below an empty line when there is room.
func (m model) footLines() []string {
	if m.height < 6 {
		return nil
	}
	h := m.help
	h.Width = m.width
	text := helpText(h, m.keys)
	lines := strings.Split(text, "\n")
	if m.height >= 12 {
		lines = append([]string{""}, lines...)
	}
	if len(lines) > m.height/2 {
		lines = lines[:m.height/2]
	}
	return lines
}

func helpText(h help.Model, k keyMap) string { return strings.TrimRight(h.View(k), "\n") }

// spread puts one text left and one right.
func (m model) spread(left, right string) string {
	rw := ansi.StringWidth(right)
	room := m.width - rw - 1
	if room < 10 {
		return ansi.Truncate(left, m.width, "…")
	}
	left = ansi.Truncate(left, room, "…")
	return left + strings.Repeat(" ", m.width-rw-ansi.StringWidth(left)) + right
}

// stateMark is a job's state in one cell.
func stateMark(s conveyor.State) string {
	switch s {
	case conveyor.StateCompleted:
		return "✓"
	case conveyor.StateFailed:
		return "✗"
	case conveyor.StateRunning:
		return "▶"
	case conveyor.StateClosing:
		return "◆"
	case conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateSkipped, conveyor.StateObsolete:
		return "–"
	case conveyor.StateOnHold:
		return "!"
	case conveyor.StateScheduled:
		return "◷"
	case conveyor.StateQueued:
		return "·"
	default:
		return "∙"
	}
}
