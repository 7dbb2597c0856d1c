package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// queueLines draws the queues.
func (m *model) queueLines(width, height int) []string {
	queues := m.fleet.queues
	if len(queues) == 0 {
		return m.nothing(width, height)
	}
	columns := queueColumns(width - 3)
	lines := []string{m.styles.Faint.Render("   " + tableLine(columns, heads(columns)))}
	c := &m.others[tabQueues]
	for i := c.top; i < min(c.top+height-1, len(queues)); i++ {
		q := queues[i]
		running := fmt.Sprint(q.Running)
		if q.Settings.Concurrency > 0 {
			running += fmt.Sprintf("/%d", q.Settings.Concurrency)
		}
		_, ends := q.rates.recent(m.now)
		state, mark, style := "open", " ", m.styles.Faint
		switch {
		case q.Paused():
			state, mark, style = "paused", "‖", m.styles.Notice
		case m.fleet.unserved(q):
			state, mark, style = "no worker", "!", m.styles.Bad
		case q.Running > 0:
			mark, style = screen.Mark(conveyor.StateRunning), m.styles.Busy
		}
		cells := []string{screen.Clean(q.Name), fmt.Sprint(q.ready()), fmt.Sprint(q.Depth[2]), fmt.Sprint(q.Depth[1]), fmt.Sprint(q.Depth[0]), running,
			fmt.Sprint(len(m.fleet.serving(q.Name))), spark(q.rates.series(m.now, columns[7].width, false)), rate(ends), state}
		lines = append(lines, m.tableRow(columns, cells, mark, style, width, i == c.at))
	}
	return lines
}

// queueColumns are what a list of queues has room for; what is least needed goes first.
func queueColumns(width int) []column {
	columns := []column{{head: "QUEUE"}, {head: "READY", width: 7, right: true}, {head: "HIGH", width: 6, right: true}, {head: "NORMAL", width: 6, right: true},
		{head: "LOW", width: 6, right: true}, {head: "RUNNING", width: 9, right: true}, {head: "WORKERS", width: 7, right: true},
		{head: "LAST 2 MIN", width: 24}, {head: "ENDS/S", width: 6, right: true}, {head: "STATE", width: 9}}
	const name = 16
	for _, less := range []struct{ column, width int }{{7, 12}, {2, 0}, {3, 0}, {4, 0}, {6, 0}, {8, 0}, {7, 10}, {7, 0}, {9, 0}, {5, 0}, {1, 0}} {
		if taken(columns)+2+name <= width {
			break
		}
		columns[less.column].width = less.width
	}
	columns[0].width = max(1, min(40, width-taken(columns)-2))
	return columns
}

// rate is a number of jobs a second.
func rate(v float64) string {
	switch {
	case v <= 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// tableRow draws a line of a table with its mark.
func (m *model) tableRow(columns []column, cells []string, mark string, style interface{ Render(...string) string }, width int, chosen bool) string {
	line := tableLine(columns, cells)
	if chosen {
		return m.styles.choice(m.focus == paneList).Render(fill("▸"+mark+" "+line, width))
	}
	return " " + style.Render(mark) + " " + line
}

// workerLines draws the workers.
func (m *model) workerLines(width, height int) []string {
	workers := m.fleet.workers
	if len(workers) == 0 {
		return m.nothing(width, height)
	}
	columns := []column{{head: "WORKER"}, {head: "HOST"}, {head: "LOAD", width: 7, right: true}, {head: ""}, {head: "BEAT", width: 8, right: true},
		{head: "UP", right: true}, {head: "QUEUES"}}
	if width >= 60 {
		columns[3].width, columns[6].width = 10, min(24, width/4)
	}
	if width >= 100 {
		columns[1].width = 14
	}
	if width >= 90 {
		columns[5].width = 5
	}
	columns[0].width = max(1, width-3-taken(columns)-2)
	lines := []string{m.styles.Faint.Render("   " + tableLine(columns, heads(columns)))}
	c := &m.others[tabWorkers]
	for i := c.top; i < min(c.top+height-1, len(workers)); i++ {
		w := workers[i]
		mark, style := "✓", m.styles.Good
		switch {
		case !w.Alive:
			mark, style = "✗", m.styles.Bad
		case w.Load > 0:
			mark, style = screen.Mark(conveyor.StateRunning), m.styles.Busy
		}
		cells := []string{screen.Clean(w.ID), screen.Clean(w.Host), fmt.Sprintf("%d/%d", w.Load, w.Capacity), gauge(w.Load, w.Capacity, columns[3].width),
			ago(m.now, w.LastBeat), span(m.now.Sub(w.Started)), screen.Clean(strings.Join(w.Queues, ", "))}
		if w.Started.IsZero() {
			cells[5] = ""
		}
		if w.Bridge != "" {
			cells[2], cells[3] = "bridge", ""
		}
		lines = append(lines, m.tableRow(columns, cells, mark, style, width, i == c.at))
	}
	return lines
}

// gauge shows n of total in so many cells.
func gauge(n, total, width int) string {
	if width <= 0 {
		return ""
	}
	full := 0
	if total > 0 {
		full = min(width, max(0, n)*width/total)
		if n > 0 {
			full = max(1, full)
		}
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// ago is how long ago something was.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return "never"
	}
	if d := now.Sub(then); d >= time.Second {
		return span(d) + " ago"
	}
	return "now"
}

// flowLines draws the workflows.
func (m *model) flowLines(width, height int) []string {
	flows := m.fleet.workflows()
	if len(flows) == 0 {
		return m.nothing(width, height)
	}
	columns := []column{{head: "WORKFLOW"}, {head: "JOBS", width: 6, right: true}, {head: "DONE"}, {head: "NOT OK", width: 6, right: true},
		{head: "RUNNING", width: 7, right: true}, {head: "WAITING", right: true}, {head: "LOCK"}}
	if width >= 56 {
		columns[2].width, columns[5].width = 12, 7
	}
	if width >= 90 {
		columns[2].width, columns[6].width = 20, 22
	}
	columns[0].width = max(1, width-3-taken(columns)-2)
	lines := []string{m.styles.Faint.Render("   " + tableLine(columns, heads(columns)))}
	c := &m.others[tabWorkflows]
	for i := c.top; i < min(c.top+height-1, len(flows)); i++ {
		w := flows[i]
		s := w.sums()
		jobs := w.expected()
		mark, style := " ", m.styles.Faint
		switch {
		case s[board.Failed] > 0 || w.seen.Problem != "":
			mark, style = screen.Mark(conveyor.StateFailed), m.styles.Bad
		case s[board.Running]+s[board.Closing] > 0:
			mark, style = screen.Mark(conveyor.StateRunning), m.styles.Busy
		case jobs > 0 && s[board.Done] == jobs:
			mark, style = screen.Mark(conveyor.StateCompleted), m.styles.Good
		}
		lock := ""
		if h := w.seen.Lock; h != nil {
			lock = screen.Clean(h.Operation + " by " + h.Who)
		}
		cells := []string{w.name, fmt.Sprint(w.seen.Jobs), gauge(s[board.Done], jobs, columns[2].width), fmt.Sprint(s[board.Failed]),
			fmt.Sprint(s[board.Running]), fmt.Sprint(s[board.Waiting] + s[board.Held] + s[board.Closing]), lock}
		lines = append(lines, m.tableRow(columns, cells, mark, style, width, i == c.at))
	}
	return lines
}

// expected is how many of a workflow's jobs settle some time: templates never do.
func (w *flow) expected() int { return w.seen.Jobs - w.seen.Counts[conveyor.StateTemplate] }

// sums counts a workflow's jobs by sections, without templates: these wait for nobody and never end.
func (w *flow) sums() (sums [board.Sections]int) {
	for s, n := range w.seen.Counts {
		if conveyor.State(s) != conveyor.StateTemplate {
			sums[board.SectionOf(w.counted(conveyor.State(s)))] += n
		}
	}
	return sums
}

// counted is the state that a job of the list counts as. An occurrence is cancelled when a later cycle takes its place, and a job that
// belongs to no workflow when an apply removed it, or somebody gives it up: that is no failure, and counts as if it were obsolete.
func (w *flow) counted(s conveyor.State) conveyor.State {
	if (w.of != nil || w.key == "") && s == conveyor.StateCancelled {
		return conveyor.StateObsolete
	}
	return s
}
