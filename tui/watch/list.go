package watch

import (
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// list draws the lines of the open tab.
func (m *model) list(width, height int) []string {
	if height <= 0 {
		return nil
	}
	switch m.tab {
	case tabQueues:
		return m.queueLines(width, height)
	case tabWorkers:
		return m.workerLines(width, height)
	case tabWorkflows:
		return m.flowLines(width, height)
	case tabScheduled:
		return m.scheduledLines(width, height)
	}
	switch {
	case m.arranged == asLayers:
		return m.layerLines(width, height)
	case m.treeShown():
		return m.treeLines(width, height)
	default:
		return m.jobLines(width, height)
	}
}

// listTitle heads the open tab.
func (m *model) listTitle() (title, note string) {
	if m.tab != tabJobs && m.tab != tabScheduled {
		return tabNames[m.tab], ""
	}
	f := m.finder(m.tab)
	title = tabNames[m.tab]
	if f.scoped {
		name := f.scope
		if name == "" {
			name = loose
		}
		title += " of " + screen.Clean(name)
	}
	if m.tab == tabJobs {
		jobs := title
		title += " · " + arrangementNames[m.arranged]
		switch {
		case m.arranged == asLayers && m.layers.flow != nil && !f.scoped:
			title += " of " + m.layers.flow.name
		case m.arranged == asTree && !m.treeShown():
			title = jobs + " · list"
		}
		if m.arranged != asTree {
			title += ", by " + orderNames[f.order]
		}
	}
	if !f.filter.empty() {
		note = fmt.Sprintf("/%s · %d", screen.Clean(f.filter.text), len(f.rows))
	}
	if f.underway != nil && len(m.fleet.flows) > 0 && m.total() > perStep {
		note += " · searching"
	}
	return title, note
}

// nothing says why a list is empty, and what to do about it.
func (m *model) nothing(width, height int) []string {
	var text string
	f := m.finder(m.tab)
	switch {
	case !m.fleet.listed:
		text = "Reading the namespace..."
	case m.tab.hasJobs() && f.underway != nil:
		text = "Searching..."
	case m.tab.hasJobs() && !f.filter.empty():
		text = fmt.Sprintf("No job matches /%s. Press esc to see all.", screen.Clean(f.filter.text))
	case m.tab == tabScheduled:
		text = "Nothing waits for a time. Jobs with a schedule or a gate, with run_at, and those that are tried again after a pause are listed here by their time."
	case m.tab == tabQueues:
		text = "There are no queues: no job is ready, none has settings, and no worker is there."
	case m.tab == tabWorkers:
		text = "No worker is there, so nothing runs. Start one with: waybill worker DIR"
	case m.tab == tabJobs && f.scoped:
		text = "This workflow has no jobs. Press esc to see all workflows."
	default:
		text = "Nothing was applied here yet. What \"waybill apply DIR\" submits appears at once."
	}
	lines := []string{""}
	for _, line := range wrapped(text, max(1, width-2)) {
		lines = append(lines, " "+m.styles.Faint.Render(line))
	}
	return lines[:min(len(lines), height)]
}

// jobLines draws jobs one below the other.
func (m *model) jobLines(width, height int) []string {
	f := &m.jobs
	if len(f.rows) == 0 {
		return m.nothing(width, height)
	}
	several := !f.scoped && len(m.fleet.workflows()) > 1
	columns := jobColumns(width-3, several)
	lines := []string{m.styles.Faint.Render("   " + tableLine(columns, heads(columns)))}
	for i := f.cursor.top; i < min(f.cursor.top+height-1, len(f.rows)); i++ {
		r := f.rows[i]
		s := r.job.Status
		cells := []string{r.job.Name, r.flow.home().name, m.stateNote(s), screen.Clean(queueOf(r.job)), screen.Clean(s.Owner), m.clock(s)}
		lines = append(lines, m.jobRow(columns, cells, s.State, width, i == f.cursor.at))
	}
	return lines
}

// jobColumns are what a list of jobs has room for.
func jobColumns(width int, several bool) []column {
	columns := []column{{head: "JOB"}, {head: "WORKFLOW"}, {head: "STATE", width: 11}, {head: "QUEUE"}, {head: "WORKER"}, {head: "TIME", width: 8, right: true}}
	if several && width >= 60 {
		columns[1].width = min(18, width/6)
	}
	if width >= 74 {
		columns[3].width = min(16, width/7)
	}
	if width >= 100 {
		columns[4].width = min(24, width/6)
	}
	if width < 34 {
		columns[5].width = 0
	}
	if width < 24 {
		columns[2].width = 0
	}
	columns[0].width = max(1, width-taken(columns)-2)
	return columns
}

// jobRow draws a job: the cursor, its mark, its cells.
func (m *model) jobRow(columns []column, cells []string, state conveyor.State, width int, chosen bool) string {
	line := tableLine(columns, cells)
	if chosen {
		return m.styles.choice(m.focus == paneList).Render(fill("▸"+screen.Mark(state)+" "+line, width))
	}
	name := fill(cells[0], columns[0].width)
	rest := ansi.TruncateLeft(line, columns[0].width, "")
	return " " + m.styles.Of(state).Render(screen.Mark(state)) + " " + name + m.styles.Faint.Render(rest)
}

// stateNote is a state in a word or two.
func (m *model) stateNote(s conveyor.Status) string {
	switch {
	case s.CancelRequested && !s.State.Ended():
		return "stopping"
	case s.State == conveyor.StateScheduled && s.Attempts > 0:
		return "to retry"
	case s.State == conveyor.StateClosing:
		return "children"
	case s.State == conveyor.StateTemplate:
		if seen := m.fleet.schedules[s.UUID]; seen != nil && board.Stopped(seen.Template) != "" {
			return board.Stopped(seen.Template)
		}
	}
	return board.StateWord(s.State)
}

// clock is how long a job ran or runs, or how long it waits for its time.
func (m *model) clock(s conveyor.Status) string {
	switch {
	case s.State == conveyor.StateScheduled && !s.DueAt.IsZero():
		return "in " + span(s.DueAt.Sub(m.now))
	case s.State == conveyor.StateTemplate:
		if seen := m.fleet.schedules[s.UUID]; seen != nil && seen.Template.Next.After(m.now) {
			return "in " + span(seen.Template.Next.Sub(m.now))
		}
	case s.State == conveyor.StateRunning:
		return board.Clock(board.Lasted(s, m.now))
	case s.State.Ended() && !s.Started.IsZero(), s.State == conveyor.StateClosing:
		return board.Took(board.Lasted(s, m.now))
	}
	return ""
}

// span is a distance in time in at most five cells.
func span(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	days := int(d.Hours() / 24)
	if days < 1000 {
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dy", days/365)
}

// scheduleRow draws a schedule or a gate.
func (m *model) scheduleRow(columns []column, r row, seen *applier.ScheduleSeen, width int, chosen bool) string {
	mark, style := m.scheduleMark(seen)
	at, in := m.scheduleIn(seen)
	if columns[2].width < len(at) && len(at) == len("2006-01-02 15:04:05") {
		at = at[11:]
	}
	cells := []string{r.job.Name, r.flow.home().name, at, in, m.scheduleNote(seen)}
	line := tableLine(columns, cells)
	if chosen {
		return m.styles.choice(m.focus == paneList).Render(fill("▸"+mark+" "+line, width))
	}
	return " " + style.Render(mark) + " " + fill(cells[0], columns[0].width) + m.styles.Faint.Render(ansi.TruncateLeft(line, columns[0].width, ""))
}

// scheduledLines draws what waits for a time, the next first.
func (m *model) scheduledLines(width, height int) []string {
	f := &m.scheduled
	if len(f.rows) == 0 {
		return m.nothing(width, height)
	}
	columns := []column{{head: "JOB"}, {head: "WORKFLOW"}, {head: "AT", width: 19}, {head: "IN", width: 6, right: true}, {head: "WHY, LAST", width: 18}}
	if len(m.fleet.workflows()) > 1 && width >= 76 {
		columns[1].width = min(18, width/6)
	}
	if width < 60 {
		columns[2].width, columns[4].width = 8, 0
	}
	if width < 34 {
		columns[2].width = 0
	}
	columns[0].width = max(1, width-3-taken(columns)-2)
	lines := []string{m.styles.Faint.Render("   " + tableLine(columns, heads(columns)))}
	for i := f.cursor.top; i < min(f.cursor.top+height-1, len(f.rows)); i++ {
		r := f.rows[i]
		s := r.job.Status
		if seen := m.scheduleOf(r.job); seen != nil {
			lines = append(lines, m.scheduleRow(columns, r, seen, width, i == f.cursor.at))
			continue
		}
		why := "run_at"
		switch {
		case s.State == conveyor.StateHeld:
			why = "and for jobs"
		case s.Attempts > 0:
			why = fmt.Sprintf("attempt %d", s.Attempts+1)
		}
		at := m.stamp(s.DueAt)
		if columns[2].width < len(at) {
			at = at[11:]
		}
		in := span(s.DueAt.Sub(m.now))
		if !s.DueAt.After(m.now) {
			in = "due"
		}
		cells := []string{r.job.Name, r.flow.home().name, at, in, why}
		lines = append(lines, m.jobRow(columns, cells, s.State, width, i == f.cursor.at))
	}
	return lines
}
