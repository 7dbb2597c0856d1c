package watch

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// deed is something that the view can do to a job or a queue.
type deed struct {
	verb   string // what is asked
	past   string // what is said when it is done, after the name
	follow func(m *model, r row) string
	can    func(conveyor.Status) bool
	why    string // why it cannot be done to other jobs
	do     func(a Actions, ctx context.Context, name string) error
}

var (
	retry = &deed{verb: "Retry", past: "runs again",
		follow: func(*model, row) string {
			return "It runs again, with all its attempts. What was skipped because it failed stays skipped: applying the workflow again runs that too."
		},
		can: func(s conveyor.Status) bool { return s.State == conveyor.StateFailed && !s.ChildFailed },
		why: "only a job that failed by itself can be tried again",
		do:  func(a Actions, ctx context.Context, uuid string) error { return a.Retry(ctx, uuid) }}
	cancel = &deed{verb: "Cancel", past: "is cancelled", follow: cancelled,
		can: func(s conveyor.Status) bool {
			return s.State != conveyor.StateUnknown && !s.State.Ended() && !s.CancelRequested && !isTemplate(s)
		},
		why: "it is over, or told to stop already",
		do:  func(a Actions, ctx context.Context, uuid string) error { return a.Cancel(ctx, uuid) }}
	release = &deed{verb: "Release", past: "is queued",
		follow: func(*model, row) string { return "It is queued again, with all its attempts." },
		can:    func(s conveyor.Status) bool { return s.State == conveyor.StateOnHold },
		why:    "it is not on hold",
		do:     func(a Actions, ctx context.Context, uuid string) error { return a.Release(ctx, uuid) }}
	pauseQueue = &deed{verb: "Pause queue", past: "is paused",
		do: func(a Actions, ctx context.Context, name string) error { return a.PauseQueue(ctx, name) }}
	resumeQueue = &deed{verb: "Resume queue", past: "is open",
		do: func(a Actions, ctx context.Context, name string) error { return a.ResumeQueue(ctx, name) }}
)

// question is an action that waits for a yes.
type question struct {
	deed    *deed
	name    string // of the job or queue, for people
	target  string // its uuid, or the queue
	follows string
	row     row             // of a job
	status  conveyor.Status // when it was asked
}

// actedMsg tells what came of an action.
type actedMsg struct {
	question question
	err      error
}

// ask puts the question for an action on the chosen job.
func (m *model) askJob(d *deed) {
	r, ok := m.chosen()
	switch {
	case m.acting:
		m.say(true, "The action before is not answered yet.")
	case !ok:
		m.say(true, "No job is chosen.")
	case isTemplate(r.job.Status):
		m.askTemplate(d, r)
	case !d.can(r.job.Status):
		m.say(true, "Cannot %s %s: %s. It is %s.", lower(d.verb), r.job.Name, d.why, board.StateWord(r.job.Status.State))
	default:
		m.asked = &question{deed: d, name: r.job.Name, target: r.job.Status.UUID, row: r, status: r.job.Status, follows: d.follow(m, r)}
	}
}

// askQueue puts the question for pausing or resuming the chosen schedule or queue, or the queue of the chosen job.
func (m *model) askQueue() {
	if r, ok := m.chosenSchedule(); ok && !m.acting {
		m.askTemplate(nil, r)
		return
	}
	q, ok := m.chosenQueue()
	switch {
	case m.acting:
		m.say(true, "The action before is not answered yet.")
		return
	case !ok:
		m.say(true, "No queue is chosen: press %s and choose one.", m.keys.Tabs[tabQueues].Help().Key)
		return
	}
	d, follows := pauseQueue, "It gives out no more jobs until it is resumed; jobs that run go on, and jobs may be added."
	switch {
	case q.ByHand && q.Settings.Paused:
		d, follows = resumeQueue, "The pause by hand ends. It stays paused all the same, for its workflow declares it so."
	case q.ByHand:
		d, follows = resumeQueue, fmt.Sprintf("It gives out jobs again; %s.", board.Count(int(q.ready()), "waits", "wait"))
	case q.Settings.Paused:
		m.say(true, "Queue %s is declared paused: change its queue block and apply it.", screen.Clean(q.Name))
		return
	}
	m.asked = &question{deed: d, name: screen.Clean(q.Name), target: q.Name, follows: follows}
}

// chosenQueue is the queue that the cursor is on; elsewhere, that of the chosen job.
func (m *model) chosenQueue() (queue, bool) {
	name := ""
	if m.tab == tabQueues {
		if i := m.others[tabQueues].at; i < len(m.fleet.queues) {
			return m.fleet.queues[i], true
		}
		return queue{}, false
	}
	if r, ok := m.chosen(); ok {
		name = queueOf(r.job)
	}
	for _, q := range m.fleet.queues {
		if q.Name == name && name != "" {
			return q, true
		}
	}
	return queue{}, false
}

// moved tells whether the job of a question is not any more what it was when it was asked.
func (q *question) moved() bool {
	s := q.status
	if q.row.job == nil {
		return false
	}
	now := q.row.flow.board.Job(q.row.job.Addr)
	return now == nil || now.Status.UUID != s.UUID || now.Status.State != s.State || now.Status.Fence != s.Fence || now.Status.Opening != s.Opening
}

// isNow says what has become of the job of a question.
func (q *question) isNow() string {
	if q.row.job == nil {
		return ""
	}
	now := q.row.flow.board.Job(q.row.job.Addr)
	switch {
	case now == nil:
		return "it is gone"
	case now.Status.UUID != q.status.UUID:
		return "it was submitted anew and is " + board.StateWord(now.Status.State)
	default:
		return "it is " + board.StateWord(now.Status.State)
	}
}

// moved takes a question back whose job has moved on while it was asked.
func (m *model) moved() {
	if q := m.asked; q != nil && q.moved() {
		m.asked = nil
		m.say(true, "%s has moved on meanwhile: %s. Nothing was changed.", q.name, q.isNow())
	}
}

// act does what was asked.
func (m *model) act() tea.Cmd {
	q := *m.asked
	m.asked, m.acting = nil, true
	m.say(false, "%s %s...", q.deed.verb, q.name)
	actions := m.o.Actions
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		return actedMsg{q, q.deed.do(actions, ctx, q.target)}
	}
}

func (m *model) acted(msg actedMsg) tea.Cmd {
	q, err := msg.question, msg.err
	m.acting = false
	switch {
	case err == nil && q.deed == cancel && q.status.State == conveyor.StateRunning:
		m.say(false, "%s is told to stop.", q.name)
	case err == nil && q.row.job == nil:
		m.say(false, "Queue %s %s.", q.name, q.deed.past)
		for i := range m.fleet.queues { // an idle namespace is looked at but now and then
			if m.fleet.queues[i].Name == q.target {
				m.fleet.queues[i].ByHand = q.deed == pauseQueue
			}
		}
	case err == nil:
		m.say(false, "%s %s.", q.name, q.deed.past)
	case errors.Is(err, conveyor.ErrNotTemplate), errors.Is(err, conveyor.ErrState), errors.Is(err, conveyor.ErrNotFound):
		m.say(true, "%s has moved on meanwhile: %s. Nothing was changed.", q.name, q.isNow())
	default:
		m.say(true, "Cannot %s %s: %v", lower(q.deed.verb), q.name, err)
	}
	m.subject.inspect, m.subject.tail = true, true
	return m.read()
}

// say puts a notice.
func (m *model) say(bad bool, format string, args ...any) {
	m.notice = notice{text: screen.Clean(fmt.Sprintf(format, args...)), bad: bad, at: m.now}
}

// cancelled says what follows from cancelling a job.
func cancelled(_ *model, r row) string {
	text := "It is over at once."
	if r.job.Status.State == conveyor.StateRunning {
		text = "It is told to stop, and is over when it has."
	}
	switch n := downstream(r); {
	case n == 1:
		text += " 1 job waits for it: it is skipped, unless it waits for a failure or an end."
	case n > 1:
		text += fmt.Sprintf(" %d jobs wait for it or for one another: they are skipped, unless they wait for a failure or an end.", n)
	}
	return text
}
