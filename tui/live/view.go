package live

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// roomy is from how many lines on a screen has empty ones between its parts.
const roomy = 12

// View draws the screen: a head that stays, the tree that scrolls, the keys. It is never wider or taller than the terminal;
// what is least needed goes first when there is little room.
func (m model) View() string {
	head, foot := m.headLines(), m.footLines()
	room := m.height - len(head) - len(foot)
	if room < 0 {
		foot = foot[:max(0, len(foot)+room)]
		room = 0
	}
	body := m.body(room)
	lines := append(head, body...)
	for range room - len(body) {
		lines = append(lines, "")
	}
	return screen.Fit(append(lines, foot...), m.width, m.height)
}

// bodyHeight is how many lines of the tree fit.
func (m model) bodyHeight() int { return max(0, m.height-m.headHeight()-m.footHeight()) }

// headHeight is how many lines headLines makes.
func (m model) headHeight() int {
	n := 3 + len(m.notice())
	if m.height >= roomy {
		n++
	}
	return min(n, m.height)
}

// headLines are the title, the bar, the counts, and what the user should know now.
func (m model) headLines() []string {
	running := ""
	if !m.began.IsZero() {
		running = board.Clock(m.now.Sub(m.began))
	}
	lines := []string{screen.Spread(m.title(), m.styles.Faint.Render(running), m.width), m.bar(), m.counts()}
	for i, notice := range m.notice() {
		style := m.styles.Notice
		if i > 0 {
			style = m.styles.Faint
		}
		lines = append(lines, style.Render(screen.Cut(notice, m.width)))
	}
	if m.height >= roomy {
		lines = append(lines, "")
	}
	return lines[:min(len(lines), m.height)]
}

func (m model) title() string {
	verb := "apply"
	if m.o.Destroy {
		verb = "destroy"
	}
	title := m.styles.Title.Render(strings.TrimSpace("waybill " + verb + " " + screen.Clean(m.board.Opened.Workflow)))
	if m.board.Opened.Store != "" {
		title += m.styles.Faint.Render(" · " + screen.Clean(m.board.Opened.Store))
	}
	return title
}

// notice is the one thing that matters most beside the jobs, and where there is room what to do about it.
func (m model) notice() []string {
	lines := m.news()
	if m.height < roomy {
		return lines[:min(1, len(lines))]
	}
	return lines
}

func (m model) news() []string {
	b := m.board
	switch {
	case b.Done != nil && b.Done.Err != nil:
		return []string{"Ended: " + screen.Clean(b.Done.Err.Error())}
	case b.Done != nil:
		if line, _ := b.Closing(board.Operation{Destroy: m.o.Destroy}); line != "" {
			return []string{line}
		}
	case m.stops > 1:
		return []string{"Leaving..."}
	case m.stops == 1 && m.o.OwnWorker:
		return []string{"Stopping: running jobs are handed back, their attempts are not spent. ctrl+c again leaves at once."}
	case m.stops == 1:
		return []string{"Detaching: the jobs go on. ctrl+c again leaves at once."}
	case b.Away != nil:
		return []string{board.AwayLine(*b.Away), screen.Clean(b.Away.Then)}
	case b.Lock != nil:
		return []string{board.LockLine(*b.Lock)}
	case len(b.Warnings) > 0:
		w := b.Warnings[len(b.Warnings)-1]
		lines := []string{"Warning: " + screen.Clean(w.Summary) + more(len(b.Warnings)-1)}
		return append(lines, strings.Join(screen.Lines(w.Detail, 2), " "))
	}
	return nil
}

// more counts what is left out; "" for nothing.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %s more", board.Thousands(n))
}

// barCells is how wide the bar is at least, if that is possible by saying less, and at most.
const (
	barCellsLeast = 16
	barCellsMost  = 60
)

// bar shows what is settled: the good part, the bad part, the rest; while rows are written it shows those. What is said beside it
// becomes shorter where there is little room.
func (m model) bar() string {
	good, bad, total, words := m.progress()
	label := ""
	for _, label = range words {
		if m.width-ansi.StringWidth(label)-2 >= barCellsLeast {
			break
		}
	}
	room := m.width - ansi.StringWidth(label) - 2
	if room < 4 {
		return label
	}
	return m.styles.Bar(good, bad, total, min(room, barCellsMost)) + "  " + label
}

// progress is how far the run is, with words for it, the most telling first.
func (m model) progress() (good, bad, total int, words []string) {
	b := m.board
	switch {
	case b.Following:
		good, bad, total = b.Sums[board.Done], b.Sums[board.Failed], b.Expected()
		settled := fmt.Sprintf("%s of %s settled", board.Thousands(good+bad), board.Thousands(total))
		remaining := total - good - bad
		if m.tree != nil {
			all := m.tree.Sums(-1)
			remaining -= int(all[board.Timed])
		}
		rate, left := m.pace.Words(remaining)
		return good, bad, total, []string{joined(" · ", settled, rate, left), joined(" · ", settled, left), settled}
	case b.Submit.Total > 0:
		good, total = b.Submit.Done, b.Submit.Total
		return good, 0, total, []string{fmt.Sprintf("%s of %s submitted", board.Thousands(good), board.Thousands(total))}
	}
	return 0, 0, 0, []string{"starting"}
}

// counts are how many jobs are in which state, as wordy as there is room for.
func (m model) counts() string {
	line := ""
	for _, gap := range []string{"   ", "  ", " "} {
		var parts []string
		for _, s := range board.Tallied {
			n := m.board.Counts[s]
			if n == 0 {
				continue
			}
			text := board.Thousands(n) + " " + board.StateWord(s)
			if gap != "  " {
				text = screen.Mark(s) + " " + text
			}
			if gap == " " {
				text = screen.Mark(s) + board.Thousands(n)
			}
			parts = append(parts, m.styles.Of(s).Render(text))
		}
		if line = strings.Join(parts, gap); ansi.StringWidth(line) <= m.width {
			break
		}
	}
	return line
}

// footHeight is how many lines footLines makes.
func (m model) footHeight() int {
	if m.height < 6 {
		return 0
	}
	n := 1
	if m.help.ShowAll {
		n = m.keys.rows()
	}
	if m.height >= roomy {
		n++
	}
	if m.strip() {
		n += 2
	}
	return min(n, m.height/2)
}

// footLines are what should not be overlooked, the keys and where the window is, below an empty line when there is room.
func (m model) footLines() []string {
	if m.height < 6 {
		return nil
	}
	h := m.help
	h.Width = m.width
	var lines []string
	if m.strip() {
		lines = append(lines, "", m.trouble())
	}
	if m.height >= roomy {
		lines = append(lines, "")
	}
	lines = append(lines, strings.Split(strings.TrimRight(h.View(m.shownKeys()), "\n"), "\n")...)
	if last := len(lines) - 1; m.tree != nil && !m.help.ShowAll {
		room := m.bodyHeight()
		if all := m.tree.Lines(); all > room && room > 0 {
			where := fmt.Sprintf("%s-%s of %s", board.Thousands(m.top+1), board.Thousands(min(all, m.top+room)), board.Thousands(all))
			lines[last] = screen.Spread(lines[last], m.styles.Faint.Render(where), m.width)
		}
	}
	return lines[:min(len(lines), m.height/2)]
}

// shownKeys are the keys that do something now.
func (m model) shownKeys() keyMap {
	k := m.keys
	k.Follow.SetEnabled(!m.following || m.help.ShowAll)
	k.Next.SetEnabled(m.board.Sums[board.Failed] > 0 || m.help.ShowAll)
	return k
}

// strip tells whether there is a line that names the latest job that did not succeed: when not all of the tree is seen.
func (m model) strip() bool {
	return m.board.Sums[board.Failed] > 0 && m.height >= roomy && m.latestBad >= 0 && m.latestBad < len(m.board.Jobs) &&
		m.tree.Lines() > m.height-8
}

func (m model) trouble() string {
	j := m.board.Jobs[m.latestBad]
	text := fmt.Sprintf("%s %s %s", screen.Mark(j.Status.State), j.Name, word(j))
	if why := screen.Lines(j.Failure, 1); len(why) > 0 {
		text += ": " + why[0]
	}
	return m.styles.Bad.Render(screen.Cut(text+more(m.board.Sums[board.Failed]-1), m.width))
}
