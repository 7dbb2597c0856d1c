package live

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
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
	return screen.Fit(lines, m.width, m.height)
}

// bodyHeight is how many lines of the body fit.
func (m model) bodyHeight() int { return max(0, m.height-len(m.headLines())-len(m.footLines())) }

// headLines are the title, the bar, the counts, and what the user should know now.
func (m model) headLines() []string {
	running := ""
	if !m.began.IsZero() {
		running = board.Clock(m.now.Sub(m.began))
	}
	lines := []string{screen.Spread(m.title(), m.styles.Faint.Render(running), m.width), m.bar(), m.counts()}
	if notice := m.notice(); notice != "" {
		lines = append(lines, m.styles.Notice.Render(ansi.Truncate(notice, m.width, "…")))
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
	title := m.styles.Title.Render(strings.TrimSpace("waybill " + verb + " " + screen.Clean(m.board.Opened.Workflow)))
	if m.board.Opened.Store != "" {
		title += m.styles.Faint.Render(" · " + screen.Clean(m.board.Opened.Store))
	}
	return title
}

// notice is the one thing that matters most beside the jobs.
func (m model) notice() string {
	b := m.board
	switch {
	case b.Done != nil && b.Done.Err != nil:
		return "Ended: " + screen.Clean(b.Done.Err.Error())
	case b.Done != nil && m.o.Watch:
		line, _ := b.Closing(board.Operation{Watch: true})
		return line
	case m.stops > 1:
		return "Leaving..."
	case m.stops == 1 && m.o.OwnWorker:
		return "Stopping: running jobs are handed back, their attempts are not spent. ctrl+c again leaves at once."
	case m.stops == 1 && !m.o.Watch:
		return "Detaching: the jobs go on. ctrl+c again leaves at once."
	case b.Away != nil:
		return board.AwayLine(*b.Away)
	case b.Lock != nil:
		return board.LockLine(*b.Lock)
	case len(b.Warnings) > 0:
		w := b.Warnings[len(b.Warnings)-1]
		return "Warning: " + screen.Clean(w.Summary) + more(len(b.Warnings)-1)
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
	return m.styles.Bar(good, bad, total, room) + " " + label
}

func (m model) progress() (label string, good, bad, total int) {
	b := m.board
	switch {
	case b.Following:
		good, bad, total = len(b.Members[board.Done]), len(b.Members[board.Failed]), len(b.Jobs)
		label = fmt.Sprintf("%d/%d settled", good+bad, total)
	case b.Submit.Total > 0:
		good, total = b.Submit.Done, b.Submit.Total
		label = fmt.Sprintf("%d/%d submitted", good, total)
	default:
		label = "starting"
	}
	return label, good, bad, total
}

func (m model) counts() string {
	var parts []string
	for _, s := range board.Tallied {
		if n := m.board.Counts[s]; n > 0 {
			parts = append(parts, m.styles.Of(s).Render(fmt.Sprintf("%d %s", n, board.StateWord(s))))
		}
	}
	return strings.Join(parts, m.styles.Faint.Render(" · "))
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
