package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// schedulesSeen takes the schedules and gates as they stand.
func (f *fleet) schedulesSeen(e applier.SchedulesSeen) {
	prior := f.schedules
	f.schedules, f.scheduleTotal, f.rescheduled = make(map[string]*applier.ScheduleSeen, len(e.Schedules)), e.Total, true
	for i := range e.Schedules {
		s := &e.Schedules[i]
		f.schedules[s.Template.UUID] = s
		if old := prior[s.Template.UUID]; old == nil || !sameCycles(old, s) {
			f.cycled = append(f.cycled, s.Template.UUID)
		}
	}
}

// sameCycles tells whether the history of a template is what it was.
func sameCycles(a, b *applier.ScheduleSeen) bool {
	if a.Last != b.Last || a.Template.Paused != b.Template.Paused || len(a.Template.Live) != len(b.Template.Live) {
		return false
	}
	for i, c := range a.Template.Live {
		if c != b.Template.Live[i] {
			return false
		}
	}
	return true
}

// scheduleOf is the schedule or gate of a job; nil for another job.
func (m *model) scheduleOf(j *board.Job) *applier.ScheduleSeen {
	if j.Status.State != conveyor.StateTemplate {
		return nil
	}
	return m.fleet.schedules[j.Status.UUID]
}

// rootOf is the recorded template in whose cycles a template downstream of it runs; nil where that is not known.
func (m *model) rootOf(r row) *board.Job {
	j := r.job
	for range board.MaxDepth {
		var up *board.Job
		for _, p := range j.Above {
			if int(p) < len(r.flow.board.Jobs) && p >= 0 && isTemplate(r.flow.board.Jobs[p].Status) {
				up = r.flow.board.Jobs[p]
				break
			}
		}
		if up == nil || m.scheduleOf(up) != nil {
			return up
		}
		j = up
	}
	return nil
}

// scheduleMark is how a schedule or gate stands, in one cell.
func (m *model) scheduleMark(s *applier.ScheduleSeen) (mark string, style interface{ Render(...string) string }) {
	switch t := &s.Template; {
	case t.OnHold:
		return screen.Mark(conveyor.StateOnHold), m.styles.Bad
	case t.Paused, t.Disabled:
		return "‖", m.styles.Notice
	case len(t.Live) > 0:
		return screen.Mark(conveyor.StateRunning), m.styles.Busy
	case s.Last.Outcome == conveyor.CycleFailed:
		return screen.Mark(conveyor.StateFailed), m.styles.Bad
	}
	return screen.Mark(conveyor.StateScheduled), m.styles.Faint
}

// scheduleNote says in few words what a schedule or gate does, or what came of its latest cycle.
func (m *model) scheduleNote(s *applier.ScheduleSeen) string {
	t := &s.Template
	if n := len(t.Live); n > 0 {
		if n > 1 {
			return fmt.Sprintf("%d cycles run", n)
		}
		return "runs, " + m.progressOf(t, t.Live[0])
	}
	switch {
	case t.OnHold:
		return "on hold"
	case t.Disabled:
		return "off"
	case t.Paused:
		return "paused"
	case s.Last.Tick.IsZero():
		return "no cycle yet"
	}
	return board.OutcomeText(s.Last) + " " + ago(m.now, endOf(s.Last))
}

// endOf is when a cycle ended; of a tick that made none, when that was found.
func endOf(c conveyor.Cycle) time.Time {
	if c.Ended.IsZero() {
		return c.Tick
	}
	return c.Ended
}

// progressOf is how far a cycle is: how many of the jobs that it made so far are over.
func (m *model) progressOf(t *conveyor.Template, c conveyor.Cycle) string {
	workflow := ""
	if seen := m.fleet.schedules[t.UUID]; seen != nil {
		workflow = seen.Workflow
	}
	return fmt.Sprintf("%d of %d", min(m.fleet.overIn(workflow, t.UUID, c.Tick), c.Jobs), c.Jobs)
}

// scheduleIn is how long until a schedule fires, and when that is.
func (m *model) scheduleIn(s *applier.ScheduleSeen) (at, in string) {
	switch t := &s.Template; {
	case t.Kind == conveyor.TemplateGated && board.Stopped(*t) == "":
		open := 0
		for _, g := range t.Gate {
			if g.Flipped {
				open++
			}
		}
		return fmt.Sprintf("gate %d of %d", open, len(t.Gate)), ""
	case t.Next.IsZero():
		return "", ""
	case !t.Next.After(m.now):
		return m.stamp(t.Next), "due"
	default:
		return m.stamp(t.Next), span(t.Next.Sub(m.now))
	}
}

// scheduleDetail is what there is to say of a schedule or gate.
func (m *model) scheduleDetail(s *sheet, seen *applier.ScheduleSeen) {
	t := &seen.Template
	zone := board.Zone(t.When)
	switch {
	case t.Kind == conveyor.TemplateGated:
		s.line("runs", "when its gate opens")
	default:
		s.line("runs", "%s", board.Recurrence(t.When))
	}
	notice := func(text string) {
		for i, part := range wrapped(text, max(1, s.width-nameWidth)) {
			name := ""
			if i == 0 {
				name = "why"
			}
			s.lines = append(s.lines, m.styles.Faint.Render(fill(name, nameWidth))+m.styles.Notice.Render(part))
		}
	}
	switch {
	case t.OnHold:
		notice("on hold: it has had all its cycles. u lets it begin to count anew")
	case t.Disabled:
		notice("declared off (enabled = false)")
	case t.Paused:
		notice("paused by hand: p lets it go on")
	}
	for _, c := range t.Live {
		text := fmt.Sprintf("%s %s, %s over", screen.Mark(conveyor.StateRunning), tickOf(c), m.progressOf(t, c))
		if c.Failed > 0 {
			text += fmt.Sprintf(", %d failed", c.Failed)
		}
		s.line("cycle", "%s, for %s", text, board.Clock(m.now.Sub(c.Began)))
	}
	name := "next"
	if since := board.Overdue(*t, m.now); !since.IsZero() {
		s.line("overdue", "since %s: no worker has been there", board.At(since, m.now, zone))
	}
	for _, tick := range board.NextTimes(*t, m.now, 3) {
		s.line(name, "%s, in %s", board.At(tick, m.now, zone), span(tick.Sub(m.now)))
		name = ""
	}
	if text := board.BacklogText(*t); text != "" {
		s.line("backfill", "%s", text)
	}
	name = "gate"
	for _, g := range t.Gate {
		state := "∙ " + screen.Clean(g.Label)
		switch {
		case g.Flipped:
			state = "✓ " + screen.Clean(g.Label)
		case g.Failed != "":
			state = "✗ " + screen.Clean(g.Label) + ", the last job with it failed"
		}
		s.line(name, "%s", state)
		name = ""
	}
	if !seen.Last.Tick.IsZero() {
		s.line("last", "%s, %s", board.OutcomeText(seen.Last), ago(m.now, endOf(seen.Last)))
	}
	if t.Kind == conveyor.TemplateScheduled {
		s.line("overlap", "%s, catchup %s", strings.ToLower(t.Overlap.String()), strings.ToLower(t.Catchup.String()))
	}
	if t.MaxCycles > 0 {
		s.line("cycles", "%d of %d", t.Cycles, t.MaxCycles)
	}
	if len(t.Sync) > 0 {
		s.line("sync", "%s", screen.Clean(board.SyncText(t.Sync)))
	}
}

// tickOf is the tick of a cycle as addresses have it.
func tickOf(c conveyor.Cycle) string { return c.Tick.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// cycleLog are the cycles of a template as lines, the latest first.
func (m *model) cycleLog(cycles []conveyor.Cycle) []string {
	columns := []column{{head: "CYCLE", width: 24}, {head: "OUTCOME", width: 14}, {head: "TOOK", width: 6, right: true},
		{head: "JOBS", width: 5, right: true}, {head: "FAILED", width: 6, right: true}, {head: "BEGAN", width: 19}}
	lines := []string{"── " + tableLine(columns, heads(columns))}
	for _, c := range cycles {
		cells := []string{tickOf(c), board.OutcomeText(c), "", "", "", ""}
		if c.Jobs > 0 || c.Outcome == conveyor.CycleLive {
			cells[3], cells[4], cells[5] = fmt.Sprint(c.Jobs), fmt.Sprint(c.Failed), m.stamp(c.Began)
			if !c.Ended.IsZero() {
				cells[2] = board.Took(c.Ended.Sub(c.Began))
			}
		}
		mark := "∙"
		switch {
		case c.Outcome == conveyor.CycleLive:
			mark = screen.Mark(conveyor.StateRunning)
		case c.Outcome == conveyor.CycleCompleted:
			mark = screen.Mark(conveyor.StateCompleted)
		case c.Outcome == conveyor.CycleFailed:
			mark = screen.Mark(conveyor.StateFailed)
		case c.Outcome != conveyor.CycleMissed:
			mark = "–"
		}
		lines = append(lines, mark+"  "+tableLine(columns, cells))
	}
	return lines
}
