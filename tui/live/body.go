package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// The body is one list of lines: per section a header and its jobs. Only the lines on the screen are made, so its
// cost does not grow with the number of jobs, except for that of failed ones, whose heights differ.

// What is shown of failed jobs until the user asks for all of it, so that they leave room for the running ones.
const (
	failedShown  = 5 // jobs
	failedDetail = 3 // up to so many of them, each shows the end of its log
	failedTail   = 5 // lines of it
)

var sectionNames = [board.Sections]string{"Did not succeed", "Running", "Waiting for a worker or their time", "Waiting for their children", "Waiting for other jobs", "Done"}

// open tells whether a section's jobs are listed below its header.
func (m model) open(s board.Section) bool { return s != board.Done || m.showDone }

// sectionLines is the height of a section, with its header and the empty line after it.
func (m model) sectionLines(s board.Section) int {
	jobs := m.shown(s)
	switch {
	case len(jobs) == 0:
		return 0
	case !m.open(s):
		return 2
	case s == board.Failed:
		n := 2
		for _, place := range jobs {
			n += m.failedLines(m.board.Jobs[place])
		}
		return n
	default:
		return 2 + len(jobs)
	}
}

// bodyLines is the height of the whole body, without the empty line at its end.
func (m model) bodyLines() int {
	n := 0
	for s := range board.Sections {
		n += m.sectionLines(s)
	}
	return max(0, n-1)
}

// body makes lines from to before of the body.
func (m model) body(from, before int) []string {
	var lines []string
	at := 0 // first line of the section
	for s := range board.Sections {
		n := m.sectionLines(s)
		if n > 0 && at < before && at+n > from {
			lines = m.section(lines, s, max(from-at, 0), min(before-at, n))
		}
		at += n
	}
	return lines
}

// shown are the jobs that an open section lists.
func (m model) shown(s board.Section) []int {
	jobs := m.board.Members[s]
	if s == board.Failed && !m.moreFailures {
		jobs = jobs[:min(failedShown, len(jobs))]
	}
	return jobs
}

// section makes lines from to before of a section.
func (m model) section(lines []string, s board.Section, from, before int) []string {
	jobs := m.shown(s)
	if from == 0 && before > 0 {
		lines = append(lines, m.sectionHeader(s, len(m.board.Members[s])))
	}
	end := m.sectionLines(s) - 1
	if s == board.Failed {
		at := 1
		for _, place := range jobs {
			j := m.board.Jobs[place]
			n := m.failedLines(j)
			if at < before && at+n > from {
				made := m.failed(j)
				lines = append(lines, made[max(from-at, 0):min(before-at, n)]...)
			}
			at += n
		}
	} else if m.open(s) {
		for i := max(from, 1); i < min(before, end); i++ {
			lines = append(lines, m.jobLine(m.board.Jobs[jobs[i-1]]))
		}
	}
	if before > end {
		lines = append(lines, "")
	}
	return lines
}

func (m model) sectionHeader(s board.Section, n int) string {
	text := m.styles.Header.Render(sectionNames[s]) + m.styles.Faint.Render(fmt.Sprintf(" %d", n))
	switch {
	case !m.open(s):
		text += m.styles.Faint.Render(fmt.Sprintf("  (%s shows them)", m.keys.Done.Help().Key))
	case s == board.Failed && n > failedDetail && !m.moreFailures:
		text += m.styles.Faint.Render(fmt.Sprintf("  (%s shows all and their logs)", m.keys.Failures.Help().Key))
	}
	return text
}

// detailed tells whether failed jobs show the end of their log.
func (m model) detailed() bool {
	return (len(m.board.Members[board.Failed]) <= failedDetail) != m.moreFailures
}

// failedLines is how many lines failed makes.
func (m model) failedLines(j *board.Job) int {
	n := 1
	if j.Failure != "" {
		n++
	}
	if m.detailed() {
		n += min(failedTail, len(j.Tail))
	}
	return n
}

// failed shows a job that did not succeed, with the first line of the failure and the end of its log.
func (m model) failed(j *board.Job) []string {
	lines := []string{m.jobLine(j)}
	if j.Failure != "" {
		first, _, _ := strings.Cut(strings.TrimSpace(j.Failure), "\n")
		lines = append(lines, "      "+m.styles.Bad.Render(m.cut(screen.Clean(first), 6)))
	}
	if m.detailed() {
		for _, line := range board.LastLines(j.Tail, failedTail) {
			lines = append(lines, "      "+m.styles.Faint.Render(m.cut("│ "+screen.Clean(line), 6)))
		}
	}
	return lines
}

// cut shortens plain text to what is right of an indent.
func (m model) cut(s string, indent int) string {
	return ansi.Truncate(s, max(0, m.width-indent), "…")
}

// jobLine is one job: its mark, its address, and what is known of its state at the right.
func (m model) jobLine(j *board.Job) string {
	s := j.Status
	style := m.styles.Of(s.State)
	note := m.note(j)
	room := m.width - 4
	if w := ansi.StringWidth(note); w > room/2 && room > 0 {
		note = ansi.Truncate(note, room/2, "…")
	}
	name := ansi.Truncate(j.Name, max(0, room-ansi.StringWidth(note)-2), "…")
	gap := max(1, room-ansi.StringWidth(name)-ansi.StringWidth(note))
	return "  " + style.Render(screen.Mark(s.State)) + " " + name + strings.Repeat(" ", gap) + m.styles.Faint.Render(note)
}

// note says of a job what its section does not.
func (m model) note(j *board.Job) string {
	s := j.Status
	switch s.State {
	case conveyor.StateRunning:
		parts := []string{board.Clock(board.Lasted(s, m.now))}
		if s.CancelRequested {
			parts = append([]string{"stopping"}, parts...)
		}
		if s.Fence > 1 {
			parts = append(parts, fmt.Sprintf("start %d", s.Fence))
		}
		if s.Owner != "" {
			parts = append(parts, screen.Clean(s.Owner))
		}
		return strings.Join(parts, "  ")
	case conveyor.StateClosing:
		return "its children are at work"
	case conveyor.StateScheduled:
		if s.Attempts > 0 {
			return fmt.Sprintf("attempt %d failed, next in %s", s.Attempts, board.Clock(s.DueAt.Sub(m.now)))
		}
		return "from " + s.DueAt.UTC().Format(time.RFC3339)
	case conveyor.StateQueued:
		return "queue " + screen.Clean(s.Queue) + m.expiry(s)
	case conveyor.StateHeld:
		if s.Pending > 0 {
			return fmt.Sprintf("%d to come", s.Pending) + m.expiry(s)
		}
		return strings.TrimPrefix(m.expiry(s), "  ")
	case conveyor.StateUnknown:
		return "lost"
	case conveyor.StateTemplate:
		return "template"
	default:
		return lower(board.Ending(s, s.Ended))
	}
}

// expiry says how long a job may go on waiting, if there is a limit.
func (m model) expiry(s conveyor.Status) string {
	if s.ExpiresAt.IsZero() {
		return ""
	}
	return "  expires in " + board.Clock(s.ExpiresAt.Sub(m.now))
}

// lower begins a sentence's words in the middle of a line.
func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
