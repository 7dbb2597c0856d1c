package watch

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// subject is the chosen job and what was read of it by hand: at most one question of each kind is on its way, and is
// given up when another job is chosen.
type subject struct {
	row
	uuid string
	n    int // of the choice: answers for another one come too late

	then      []*board.Job      // some of what waits for it
	names     map[string]string // addresses of what it is related to, by uuid
	resting   bool              // the choice stands long enough to read
	inspected *conveyor.Inspection
	payload   []string // what it is about, in lines
	err       error
	log       joblog

	inspecting, tailing bool
	inspect, tail       bool // to be read anew
	cancels             [2]context.CancelFunc
}

// restMsg tells that a choice has stood for a moment.
type restMsg struct{ n int }

// inspectedMsg and tailMsg bring what was read.
type (
	inspectedMsg struct {
		n       int
		in      *conveyor.Inspection
		payload []string
		err     error
	}
	tailMsg struct {
		n       int
		entries []conveyor.LogEntry
		err     error
	}
	cyclesMsg struct {
		n      int
		cycles []conveyor.Cycle
		err    error
	}
)

// rest is how long a choice must stand before its job is read, so that whoever holds a key down reads but the last one.
const rest = 80 * time.Millisecond

// chosen is the job that the cursor is on.
func (m *model) chosen() (row, bool) {
	switch {
	case m.tab == tabScheduled:
		return at(m.scheduled.rows, m.scheduled.cursor.at)
	case m.tab != tabJobs:
		return row{}, false
	case m.arranged == asTree && m.treeShown():
		return m.tree.chosen()
	case m.arranged == asLayers:
		return m.layers.chosen()
	default:
		return at(m.jobs.rows, m.jobs.cursor.at)
	}
}

func at(rows []row, i int) (row, bool) {
	if i < 0 || i >= len(rows) {
		return row{}, false
	}
	return rows[i], true
}

// subjectChanged follows the cursor: another job, or another generation of it, is read anew.
func (m *model) subjectChanged() tea.Cmd {
	r, ok := m.chosen()
	if !ok {
		if m.tab.hasJobs() {
			m.subject.drop()
			m.subject = subject{n: m.subject.n + 1}
		}
		return nil
	}
	if m.subject.uuid == r.job.Status.UUID && m.subject.flow == r.flow && m.subject.job != nil && m.subject.job.Addr == r.job.Addr {
		if m.subject.job != r.job { // its workflow was listed anew
			m.subject.row = r
			m.subject.relate()
		}
		return m.read()
	}
	m.subject.drop()
	n := m.subject.n + 1
	m.subject = subject{row: r, uuid: r.job.Status.UUID, n: n, log: newLog(m.o.Zone, m.subject.log.wrap), inspect: true, tail: true}
	m.detailTop = 0
	return m.after(rest, func() tea.Msg { return restMsg{n} })
}

// drop gives up what is on its way.
func (s *subject) drop() {
	for i, cancel := range s.cancels {
		if cancel != nil {
			cancel()
		}
		s.cancels[i] = nil
	}
}

// told notes that the store has told of the job: what was read of it is old.
func (m *model) told(c change) {
	if c.flow == m.subject.flow && m.subject.job != nil && c.job.Addr == m.subject.job.Addr {
		m.subject.inspect, m.subject.tail = true, true
	}
}

// inTrouble tells whether the end of the job's log belongs to its detail.
func (s *subject) inTrouble() bool {
	return s.job != nil && board.SectionOf(s.job.Status.State) == board.Failed
}

// lastLines are the last lines that the job wrote, as far as they are known.
func (s *subject) lastLines(n int) []string {
	if s.log.count() == 0 {
		return board.LastLines(s.job.Tail, n)
	}
	var lines []string
	for i := max(0, s.log.count()-n); i < s.log.count(); i++ {
		if line := s.log.lineAt(i); !isMark(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// read asks for what is shown and old.
func (m *model) read() tea.Cmd {
	s := &m.subject
	if !s.resting || s.uuid == "" {
		return nil
	}
	var cmds []tea.Cmd
	l, n, uuid, actions := m.layout(), s.n, s.uuid, m.o.Actions
	if s.inspect && !s.inspecting {
		s.inspect, s.inspecting = false, true
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		s.cancels[0] = cancel
		workflow, addr := s.flow.home().name, s.job.Addr
		cmds = append(cmds, func() tea.Msg {
			defer cancel()
			in, err := actions.Inspect(ctx, uuid)
			var payload []string
			if err == nil && workflow != "" {
				payload, err = actions.Payload(ctx, workflow, addr, uuid)
			}
			return inspectedMsg{n, in, payload, err}
		})
	}
	if s.tail && !s.tailing && (l.panes[paneLog].shown() || s.inTrouble() && l.panes[paneDetail].shown()) {
		s.tail, s.tailing = false, true
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		s.cancels[1] = cancel
		if s.job.Status.State == conveyor.StateTemplate { // it writes nothing: its cycles stand in the place of a log
			cmds = append(cmds, func() tea.Msg {
				defer cancel()
				cycles, err := actions.Cycles(ctx, uuid)
				return cyclesMsg{n, cycles, err}
			})
			return tea.Batch(cmds...)
		}
		after := s.log.at
		cmds = append(cmds, func() tea.Msg {
			defer cancel()
			entries, err := actions.Logs(ctx, uuid, after)
			return tailMsg{n, entries, err}
		})
	}
	return tea.Batch(cmds...)
}

func (m *model) inspected(msg inspectedMsg) tea.Cmd {
	s := &m.subject
	if msg.n != s.n {
		return nil
	}
	s.inspecting, s.err = false, msg.err
	if msg.err == nil {
		s.inspected, s.payload = msg.in, msg.payload
		s.relate()
	}
	return m.read()
}

// relate looks up what waits for the job, and the names of what it waits for. It goes through the whole workflow, so it is
// done once for each answer.
func (s *subject) relate() {
	s.then, s.names = nil, map[string]string{s.job.Status.Cause: ""}
	if s.inspected != nil {
		for _, e := range s.inspected.Edges[:min(len(s.inspected.Edges), most)] {
			s.names[e.Upstream.UUID] = ""
		}
	}
	for _, j := range s.flow.board.Jobs {
		if _, asked := s.names[j.Status.UUID]; asked {
			s.names[j.Status.UUID] = j.Name
		}
		if len(s.then) <= most && slices.Contains(j.Above, int32(s.job.Place)) {
			s.then = append(s.then, j)
		}
	}
}

// name is the address of a job that the chosen one is related to, or its uuid where nobody knows that.
func (s *subject) name(uuid string) string {
	if name := s.names[uuid]; name != "" {
		return name
	}
	return screen.Clean(uuid)
}

// atOnce is how many entries make it likely that there are more.
const atOnce = 100

// cyclesRead takes the cycles of the chosen template as the lines of its log, the first one on top.
func (m *model) cyclesRead(msg cyclesMsg) tea.Cmd {
	s := &m.subject
	if msg.n != s.n {
		return nil
	}
	s.tailing = false
	if msg.err != nil {
		s.log.err = msg.err
		return nil // the next tick asks again
	}
	s.log.read, s.log.err, s.log.follow, s.log.lines = true, nil, false, nil
	if len(msg.cycles) > 0 {
		s.log.lines = m.cycleLog(msg.cycles)
	}
	return m.read()
}

func (m *model) tailed(msg tailMsg) tea.Cmd {
	s := &m.subject
	if msg.n != s.n {
		return nil
	}
	s.tailing = false
	if msg.err != nil {
		s.log.err = msg.err
		return nil // the next tick asks again
	}
	s.log.add(msg.entries)
	if len(msg.entries) >= atOnce {
		s.tail = true
	}
	return m.read()
}
