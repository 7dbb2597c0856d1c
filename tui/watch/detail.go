package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// sheet collects the lines of a detail: a name and a value each, the value wrapped below itself.
type sheet struct {
	m     *model
	width int
	lines []string
}

const nameWidth = 11

func (s *sheet) line(name, format string, args ...any) {
	for i, part := range wrapped(fmt.Sprintf(format, args...), max(1, s.width-nameWidth)) {
		if i > 0 {
			name = ""
		}
		s.lines = append(s.lines, s.m.styles.Faint.Render(fill(name, nameWidth))+part)
	}
}

func (s *sheet) plain(style interface{ Render(...string) string }, text string) {
	for _, part := range wrapped(text, max(1, s.width)) {
		s.lines = append(s.lines, style.Render(part))
	}
}

// most bounds how many related things a detail lists.
const most = 20

func (m *model) detailTitle() string {
	switch m.tab {
	case tabQueues:
		if q, ok := m.chosenQueue(); ok {
			return "Queue " + screen.Clean(q.Name)
		}
	case tabWorkers:
		if w, ok := m.chosenWorker(); ok {
			return "Worker " + screen.Clean(w.ID)
		}
	default:
		if r, ok := m.chosen(); ok {
			return r.job.Name
		}
		if w, ok := m.chosenFlow(); ok {
			return w.name
		}
	}
	return "Detail"
}

// detail makes all lines about what the cursor is on.
func (m *model) detail(width int) []string {
	s := &sheet{m: m, width: width}
	switch m.tab {
	case tabQueues:
		m.queueDetail(s)
	case tabWorkers:
		m.workerDetail(s)
	case tabWorkflows:
		m.flowDetail(s)
	default:
		m.jobDetail(s)
	}
	return s.lines
}

func (m *model) jobDetail(s *sheet) {
	r, ok := m.chosen()
	if !ok {
		m.flowDetail(s)
		return
	}
	st := r.job.Status
	text := m.styles.Of(st.State).Render(screen.Mark(st.State)+" "+m.stateNote(st)) + m.stateSince(st)
	if seen := m.scheduleOf(r.job); seen != nil {
		mark, style := m.scheduleMark(seen)
		text = style.Render(mark + " template, " + m.scheduleNote(seen))
	}
	s.lines = append(s.lines, m.styles.Faint.Render(fill("state", nameWidth))+text)
	if seen := m.scheduleOf(r.job); seen != nil {
		m.scheduleDetail(s, seen)
	} else if st.State == conveyor.StateTemplate {
		name := "what it is downstream of"
		if root := m.rootOf(r); root != nil {
			name = root.Name
		}
		s.line("runs", "in the cycles of %s", name)
	}
	if r.job.Cycle != "" {
		s.line("cycle", "%s", r.job.Cycle)
	}
	m.why(s, r)
	if r.job.Failure != "" && st.State != conveyor.StateCompleted {
		for i, line := range screen.Lines(r.job.Failure, 12) {
			name := ""
			if i == 0 {
				name = "failure"
			}
			for _, part := range wrapped(line, max(1, s.width-nameWidth)) {
				s.lines = append(s.lines, m.styles.Faint.Render(fill(name, nameWidth))+m.styles.Bad.Render(part))
				name = ""
			}
		}
	}
	if !m.layout().panes[paneLog].shown() && m.subject.job == r.job && m.subject.inTrouble() {
		for i, line := range m.subject.lastLines(3) {
			name := ""
			if i == 0 {
				name = "log"
			}
			s.lines = append(s.lines, m.styles.Faint.Render(fill(name, nameWidth)+screen.Cut(screen.Clean(line), max(1, s.width-nameWidth))))
		}
	}
	if p := r.job.Progress; p != (conveyor.Progress{}) {
		text := fmt.Sprint(p.Done)
		if percent, ok := p.Percent(); ok {
			text = fmt.Sprintf("%s %d%%, %d of %d", gauge(percent, 100, 16), percent, p.Done, p.Total)
		}
		if p.Text != "" {
			text += ", " + screen.Clean(p.Text)
		}
		s.line("progress", "%s", text)
	}
	if len(m.fleet.workflows()) > 1 {
		s.line("workflow", "%s", r.flow.home().name)
	}
	queue := screen.Clean(queueOf(r.job))
	if st.Priority != 1 {
		queue += ", " + conveyor.PriorityName(int32(st.Priority)) + " priority"
	}
	s.line("queue", "%s", queue)
	if st.Owner != "" {
		s.line("worker", "%s", screen.Clean(st.Owner))
	}
	if st.Fence > 1 || st.Attempts > 0 || st.Lost > 0 {
		s.line("starts", "%d, %d failed, %d lost", st.Fence, st.Attempts, st.Lost)
	}
	if !st.Started.IsZero() {
		s.line("started", "%s, %s", m.stamp(st.Started), ago(m.now, st.Started))
	}
	if !st.Ended.IsZero() && st.State.Ended() {
		s.line("ended", "%s, %s", m.stamp(st.Ended), ago(m.now, st.Ended))
	}
	if !st.DueAt.IsZero() && !st.State.Ended() {
		s.line("due", "%s, in %s", m.stamp(st.DueAt), span(st.DueAt.Sub(m.now)))
	}
	if !st.ExpiresAt.IsZero() {
		s.line("expires", "%s, in %s", m.stamp(st.ExpiresAt), span(st.ExpiresAt.Sub(m.now)))
	}
	if r.job.Type != "" {
		s.line("type", "%s", screen.Clean(r.job.Type))
	}
	if st.Unique != "" {
		s.line("unique", "%s", screen.Clean(st.Unique))
	}
	if st.Opening > 1 {
		s.line("opening", "%d", st.Opening)
	}
	m.related(s, r)
	s.line("uuid", "%s", screen.Clean(st.UUID))
	m.payload(s, r)
}

// payload shows what a job with a type of its own is about, each line as it is: what is left of a long one is in job show.
func (m *model) payload(s *sheet, r row) {
	if m.subject.uuid != r.job.Status.UUID {
		return
	}
	const longest = 100
	name := "payload"
	for _, line := range m.subject.payload[:min(len(m.subject.payload), longest)] {
		s.lines = append(s.lines, m.styles.Faint.Render(fill(name, nameWidth))+screen.Cut(screen.Clean(line), max(1, s.width-nameWidth)))
		name = ""
	}
	if n := len(m.subject.payload) - longest; n > 0 {
		s.line("", "and %d more lines", n)
	}
}

// stateSince says since when, for how long, or when next.
func (m *model) stateSince(s conveyor.Status) string {
	switch {
	case s.State == conveyor.StateRunning:
		text := " for " + board.Clock(board.Lasted(s, m.now))
		if s.Fence > 1 {
			text += fmt.Sprintf(", start %d", s.Fence)
		}
		return text
	case s.State == conveyor.StateScheduled && !s.DueAt.IsZero():
		return " in " + span(s.DueAt.Sub(m.now))
	case s.State == conveyor.StateCompleted && s.Reopened:
		return " again"
	case s.State.Ended() && !s.Started.IsZero() && !s.Reopened:
		return " after " + board.Took(board.Lasted(s, m.now))
	}
	return ""
}

// why says what keeps a job that does not run, where that is known.
func (m *model) why(s *sheet, r row) {
	st := r.job.Status
	note := func(format string, args ...any) {
		for i, part := range wrapped(fmt.Sprintf(format, args...), max(1, s.width-nameWidth)) {
			name := ""
			if i == 0 {
				name = "why"
			}
			s.lines = append(s.lines, m.styles.Faint.Render(fill(name, nameWidth))+m.styles.Notice.Render(part))
		}
	}
	switch st.State {
	case conveyor.StateQueued:
		for _, q := range m.fleet.queues {
			switch {
			case q.Name != st.Queue:
			case q.ByHand:
				note("its queue is paused by hand: p resumes it")
			case q.Paused():
				note("its queue is declared paused")
			case m.fleet.unserved(q):
				note("no worker serves its queue")
			case q.Settings.Concurrency > 0 && q.Running >= int64(q.Settings.Concurrency):
				note("its queue runs as many as it may: %d of %d", q.Running, q.Settings.Concurrency)
			}
		}
	case conveyor.StateHeld:
		if st.Pending > 0 {
			s.line("why", "waits for %s", board.Count(st.Pending, "more job", "more jobs"))
		}
	case conveyor.StateSkipped:
		if st.Cause != "" {
			note("because of %s", m.subject.name(st.Cause))
		}
	case conveyor.StateOnHold:
		note("u releases it")
	case conveyor.StateFailed:
		if st.ChildFailed {
			note("%s failed; its own work succeeded", board.Count(st.FailedChildren, "child", "children"))
		}
	}
}

// related lists what a job waits for and what waits for it.
func (m *model) related(s *sheet, r row) {
	if in := m.subject.inspected; in != nil && m.subject.uuid == r.job.Status.UUID {
		for i, e := range in.Edges[:min(len(in.Edges), most)] {
			name, how := "", ""
			if i == 0 {
				name = "waits for"
			}
			switch {
			case e.Kind != wire.Edge_PREDECESSOR:
				how = "parent, "
			case e.RunIf != wire.Edge_SUCCESS:
				how = "run if " + strings.ToLower(e.RunIf.String()) + ", "
			}
			state := board.StateWord(e.Upstream.State)
			if e.Upstream.State == conveyor.StateUnknown {
				state = "not seen yet"
			}
			s.line(name, "%s %s (%s%s)", screen.Mark(e.Upstream.State), m.subject.name(e.Upstream.UUID), how, state)
		}
		if n := len(in.Edges) - most; n > 0 {
			s.line("", "and %d more", n)
		}
	} else {
		for i, p := range r.job.Above[:min(len(r.job.Above), most)] {
			if int(p) >= len(r.flow.board.Jobs) || p < 0 {
				continue
			}
			name := ""
			if i == 0 {
				name = "waits for"
			}
			j := r.flow.board.Jobs[p]
			s.line(name, "%s %s (%s)", screen.Mark(j.Status.State), j.Name, board.StateWord(j.Status.State))
		}
	}
	if m.subject.job == r.job {
		for i, j := range m.subject.then {
			name := ""
			if i == 0 {
				name = "then"
			}
			if i == most {
				s.line("", "and more")
				break
			}
			s.line(name, "%s %s (%s)", screen.Mark(j.Status.State), j.Name, board.StateWord(j.Status.State))
		}
	}
	if m.subject.err != nil && m.subject.uuid == r.job.Status.UUID {
		s.plain(m.styles.Notice, "Cannot read more of it: "+screen.Clean(m.subject.err.Error()))
	}
}

func (m *model) queueDetail(s *sheet) {
	q, ok := m.chosenQueue()
	if !ok {
		return
	}
	workers := m.fleet.serving(q.Name)
	switch {
	case q.ByHand && q.Settings.Paused:
		s.plain(m.styles.Notice, "Paused by hand and by declaration: no jobs are given out.")
	case q.ByHand:
		s.plain(m.styles.Notice, "Paused by hand: no jobs are given out. p resumes it.")
	case q.Settings.Paused:
		s.plain(m.styles.Notice, "Declared paused: no jobs are given out until its workflow says otherwise.")
	case len(workers) == 0 && q.ready() > 0:
		s.plain(m.styles.Notice, fmt.Sprintf("No worker serves it: %s.", board.Count(int(q.ready()), "job waits", "jobs wait")))
	}
	s.line("ready", "%d (high %d, normal %d, low %d)", q.ready(), q.Depth[2], q.Depth[1], q.Depth[0])
	limit := "no limit"
	if n := q.Settings.Concurrency; n > 0 {
		limit = fmt.Sprintf("limit %d  %s", n, gauge(int(q.Running), n, 16))
	}
	s.line("running", "%d, %s", q.Running, limit)
	starts, ends := q.rates.recent(m.now)
	steps := min(60, max(1, s.width-nameWidth-8))
	s.line("starts", "%s %5s/s", spark(q.rates.series(m.now, steps, true)), zero(rate(starts)))
	s.line("ends", "%s %5s/s", spark(q.rates.series(m.now, steps, false)), zero(rate(ends)))
	share := fmt.Sprintf("weight %d", max(1, q.Settings.Weight))
	if q.Settings.Fair {
		share += ", fair"
	}
	s.line("share", "%s", share)
	if len(q.DeclaredBy) > 0 {
		s.line("declared", "by %s", screen.Clean(strings.Join(q.DeclaredBy, ", ")))
	}
	for i, w := range workers[:min(len(workers), most)] {
		name := ""
		if i == 0 {
			name = "workers"
		}
		load := fmt.Sprintf("%d/%d", w.Load, w.Capacity)
		if w.Bridge != "" {
			load = "bridge"
		}
		s.line(name, "%s %s", screen.Clean(w.ID), load)
	}
	if len(workers) == 0 {
		s.line("workers", "none")
	}
}

func zero(s string) string {
	if s == "-" {
		return "0"
	}
	return s
}

func (m *model) chosenWorker() (conveyor.WorkerInfo, bool) {
	if i := m.others[tabWorkers].at; i < len(m.fleet.workers) {
		return m.fleet.workers[i], true
	}
	return conveyor.WorkerInfo{}, false
}

func (m *model) workerDetail(s *sheet) {
	w, ok := m.chosenWorker()
	if !ok {
		return
	}
	if !w.Alive {
		s.plain(m.styles.Notice, "It does not check in any more: its jobs go to others.")
	}
	if w.Bridge != "" {
		s.line("bridge", "its jobs are run by %s", screen.Clean(w.Bridge))
	} else {
		s.line("load", "%d of %d  %s", w.Load, w.Capacity, gauge(w.Load, w.Capacity, 16))
	}
	s.line("beat", "%s", ago(m.now, w.LastBeat))
	s.line("host", "%s, process %d", screen.Clean(w.Host), w.PID)
	if w.Team != "" {
		s.line("team", "%s", screen.Clean(w.Team))
	}
	s.line("queues", "%s", screen.Clean(strings.Join(w.Queues, ", ")))
	s.line("types", "%s", screen.Clean(strings.Join(w.Types, ", ")))
	if !w.Started.IsZero() {
		s.line("since", "%s", m.stamp(w.Started))
	}
	n := 0
	for _, f := range m.fleet.flows {
		for _, p := range f.members.running {
			j := f.board.Jobs[p]
			if j.Status.Owner != w.ID {
				continue
			}
			name := ""
			if n == 0 {
				name = "runs"
			}
			if n++; n > most {
				s.line("", "and more: enter lists them")
				return
			}
			s.line(name, "%s %s", j.Name, board.Clock(board.Lasted(j.Status, m.now)))
		}
	}
}

// chosenFlow is the workflow that the cursor is on.
func (m *model) chosenFlow() (*flow, bool) {
	if m.tab == tabJobs && m.treeShown() {
		if b := m.tree.branch(); b != nil {
			return b.flow, true
		}
	}
	if m.tab != tabWorkflows {
		return nil, false
	}
	if i, flows := m.others[tabWorkflows].at, m.fleet.workflows(); i < len(flows) {
		return flows[i], true
	}
	return nil, false
}

func (m *model) flowDetail(s *sheet) {
	w, ok := m.chosenFlow()
	if !ok {
		return
	}
	if w.seen.Problem != "" {
		s.plain(m.styles.Notice, "Its state cannot be read: "+screen.Clean(w.seen.Problem))
	}
	sums := w.sums()
	s.lines = append(s.lines, m.styles.Bar(sums[board.Done], sums[board.Failed], w.expected(), max(0, s.width-1)))
	s.plain(m.styles.Faint, w.board.Tally())
	if h := w.seen.Lock; h != nil {
		s.line("lock", "%s by %s since %s", screen.Clean(h.Operation), screen.Clean(h.Who), m.stamp(h.Since))
	}
	for _, warning := range w.board.Warnings {
		s.plain(m.styles.Notice, "Warning: "+screen.Clean(warning.Summary))
	}
	list := func(members []int32, name string) {
		for i, p := range members[:min(len(members), most)] {
			if i > 0 {
				name = ""
			}
			j := w.board.Jobs[p]
			s.line(name, "%s %s %s", screen.Mark(j.Status.State), j.Name, m.clock(j.Status))
		}
		if n := len(members) - most; n > 0 {
			s.line("", "and %d more", n)
		}
	}
	list(w.members.bad, "not ok")
	list(w.members.running, "running")
}

// stamp is a moment in the reader's own time.
func (m *model) stamp(t time.Time) string { return t.In(m.o.Zone).Format("2006-01-02 15:04:05") }
