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

// How a line of the tree is laid out, in cells.
const (
	gutterCells = 2  // the cursor
	indentCells = 2  // for each level
	stateCells  = 11 // the word for a job's state
)

// body draws the lines of the tree in the window.
func (m model) body(room int) []string {
	if m.tree == nil || len(m.board.Jobs) == 0 {
		return m.empty(room)
	}
	rows := m.tree.Rows(m.top, room)
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = m.line(r)
	}
	return lines
}

// empty is what stands where no jobs are known.
func (m model) empty(room int) []string {
	text := ""
	switch {
	case m.board.Following:
		text = "There are no jobs to follow."
	case m.board.Submit.Total > 0:
		text = "What waits for others is submitted first, so that nothing starts too early."
	}
	if text == "" || room < 1 {
		return nil
	}
	return []string{m.styles.Faint.Render(screen.Cut("  "+text, m.width))}
}

// line draws one row.
func (m model) line(r board.Row) string {
	gutter := "  "
	if !m.following && r.Ref == m.pin && r.Detail == 0 {
		gutter = m.styles.Title.Render("›") + " "
	}
	indent := strings.Repeat(" ", m.indent(r.Depth))
	switch {
	case r.Part != board.PartWhole:
		return gutter + indent + m.part(r)
	case r.Detail > 0:
		return gutter + indent + m.detail(r)
	}
	return gutter + indent + m.job(r)
}

// indent is how far a level stands in; on narrow screens deep levels stand beside one another.
func (m model) indent(depth int) int { return min(depth*indentCells, m.width/4) }

// part draws the line that stands for a part of what is below a job.
func (m model) part(r board.Row) string {
	sums := m.tree.Hidden(r.Ref)
	style, mark := m.styles.Faint, screen.Mark(conveyor.StateHeld)
	switch r.Part {
	case board.PartFinished:
		style, mark = m.styles.Good, screen.Mark(conveyor.StateCompleted)
	case board.PartTroubled:
		style, mark = m.styles.Bad, screen.Mark(conveyor.StateFailed)
	}
	text := sums.String()
	if r.Part == board.PartTroubled && !r.Open {
		text = "and " + text
	}
	if r.Open {
		text += ":"
	}
	return style.Render(mark + " " + text)
}

// job draws a job's own line: its mark and address, its state, and what is known of that.
func (m model) job(r board.Row) string {
	j := m.board.Jobs[r.Place]
	s := j.Status
	style := m.styles.Of(s.State)
	room := m.width - gutterCells - m.indent(r.Depth) - 2
	note := m.note(j)
	if r.Shut {
		below := m.tree.Sums(r.Place)
		note = joined("  ", fmt.Sprintf("+ %s below", board.Thousands(below.Jobs()-1)), note)
	}
	if r.Passed > 0 {
		note = joined("  ", note, "after "+board.Count(r.Passed, "other", "others"))
	}
	name, word := j.Name, word(j)
	names := m.names() - m.indent(r.Depth)
	if room-names < stateCells { // no room for more than the name and its mark
		return style.Render(screen.Mark(s.State)) + " " + screen.Cut(name, room)
	}
	name = screen.Cut(name, names)
	pad := strings.Repeat(" ", max(0, names-ansi.StringWidth(name))+2)
	if note != "" {
		word += strings.Repeat(" ", max(0, stateCells-ansi.StringWidth(word)))
	}
	return style.Render(mark(s)) + " " + name + pad + style.Render(word) + m.styles.Faint.Render(screen.Cut(note, room-names-2-stateCells))
}

// mark is a job's state in one cell; what is tried again has one of its own.
func mark(s conveyor.Status) string {
	if board.KindOf(s) == board.Retrying {
		return "↻"
	}
	return screen.Mark(s.State)
}

// word is a job's state in a word.
func word(j *board.Job) string {
	switch {
	case board.KindOf(j.Status) == board.Retrying:
		return board.Retrying.String()
	case j.Status.State == conveyor.StateRunning && j.Status.CancelRequested:
		return "stopping"
	}
	return board.StateWord(j.Status.State)
}

// names is how wide the column of names is, with its indents: as wide as the longest name, but leaving room for the rest.
func (m model) names() int {
	notes := 20
	if m.width < 60 {
		notes = 6
	}
	return max(10, min(m.nameWidth, m.width-gutterCells-4-stateCells-notes))
}

// note says of a job what its place in the tree and its state do not.
func (m model) note(j *board.Job) string {
	s := j.Status
	switch s.State {
	case conveyor.StateRunning:
		return joined("  ", board.Clock(board.Lasted(s, m.now)), m.progressOf(j), attempt(s), screen.Clean(s.Owner))
	case conveyor.StateScheduled, conveyor.StateQueued:
		if board.KindOf(s) == board.Retrying {
			next := "in " + board.Clock(s.DueAt.Sub(m.now))
			if s.State == conveyor.StateQueued {
				next = "queue " + screen.Clean(s.Queue)
			}
			return joined("  ", next, attempt(s))
		}
		if s.State == conveyor.StateScheduled {
			return "until " + s.DueAt.UTC().Format(time.RFC3339)
		}
		return joined("  ", "queue "+screen.Clean(s.Queue), m.expiry(s))
	case conveyor.StateHeld:
		return joined("  ", m.waitsFor(j), m.expiry(s))
	case conveyor.StateFailed:
		if s.ChildFailed {
			return board.Count(s.FailedChildren, "child failed", "children failed")
		}
		return joined("  ", took(s), tries(s))
	case conveyor.StateSkipped:
		_, why, _ := strings.Cut(board.Ending(s, s.Ended), ": ")
		return why
	case conveyor.StateOnHold:
		return tries(s)
	case conveyor.StateExpired:
		return "waited too long"
	case conveyor.StateCompleted, conveyor.StateCancelled:
		if s.Reopened && s.State == conveyor.StateCompleted {
			return "again"
		}
		return took(s)
	}
	return ""
}

// joined puts together what there is.
func joined(by string, parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, by)
}

func took(s conveyor.Status) string {
	if s.Started.IsZero() || s.Reopened {
		return ""
	}
	return board.Took(board.Lasted(s, s.Ended))
}

// attempt numbers every attempt but the first, and says when a worker was lost.
func attempt(s conveyor.Status) string {
	text := ""
	if s.Attempts > 0 {
		text = fmt.Sprintf("attempt %d", s.Attempts+1)
	}
	if s.Lost > 0 {
		text = joined(", ", text, board.Count(s.Lost, "worker lost", "workers lost"))
	}
	return text
}

// tries says how many attempts a job took, if it was more than one.
func tries(s conveyor.Status) string {
	if s.Attempts < 2 {
		return ""
	}
	return fmt.Sprintf("%d attempts", s.Attempts)
}

// meterCells is how wide the bar of a job's own progress is, where there is room for one.
const meterCells = 10

// progressOf says how far a job has told to be.
func (m model) progressOf(j *board.Job) string {
	p := j.Progress
	text := screen.Clean(p.Text)
	if percent, known := p.Percent(); known {
		share := fmt.Sprintf("%d%%", percent)
		if m.width >= 100 {
			done := percent * meterCells / 100
			share = strings.Repeat("■", done) + strings.Repeat("·", meterCells-done) + " " + share
		}
		return joined(" ", share, text)
	}
	if p.Done > 0 {
		return joined(" ", board.Thousands(int(p.Done))+" done", text)
	}
	return text
}

// othersLooked bounds how many of the jobs that a held one waits for are looked at to name one.
const othersLooked = 64

// waitsFor names what a job still waits for, beside what it stands under.
func (m model) waitsFor(j *board.Job) string {
	if len(j.Above) < 2 {
		return ""
	}
	name, open := "", len(j.Above)-min(len(j.Above), othersLooked)
	for _, place := range j.Above[:min(len(j.Above), othersLooked)] {
		if int(place) >= len(m.board.Jobs) || place < 0 {
			continue
		}
		up := m.board.Jobs[place]
		if up.Status.State.Ended() {
			continue
		}
		if open++; name == "" {
			name = up.Name
		}
	}
	if name == "" {
		return ""
	}
	return "for " + name + more(open-1)
}

// expiry says how long a job may go on waiting, if there is a limit.
func (m model) expiry(s conveyor.Status) string {
	if s.ExpiresAt.IsZero() {
		return ""
	}
	return "expires in " + board.Clock(s.ExpiresAt.Sub(m.now))
}

// detail draws a line below a job whose attempt failed: why, then the end of its log.
func (m model) detail(r board.Row) string {
	j := m.board.Jobs[r.Place]
	room := m.width - gutterCells - m.indent(r.Depth) - 2
	n := r.Detail
	if j.Failure != "" {
		if n == 1 {
			first, _, _ := strings.Cut(strings.TrimSpace(j.Failure), "\n")
			return "  " + m.styles.Of(j.Status.State).Render(screen.Cut(screen.Clean(first), room))
		}
		n--
	}
	tail := board.LastLines(j.Tail, board.DetailTail)
	if n > len(tail) {
		return ""
	}
	return "  " + m.styles.Faint.Render(screen.Cut("│ "+screen.Clean(tail[n-1]), room))
}
