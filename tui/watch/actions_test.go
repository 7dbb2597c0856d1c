package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/internal/script"
	"github.com/waybill-dev/waybill/tui/screen"
)

// TestActions asks for actions on a namespace in trouble: what is done, and what is said.
func TestActions(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("retry: %w", conveyor.ErrState)
	tests := []struct {
		name string
		keys []any
		fail error
		done []string
		says string // a part of the notice, or of the question
	}{
		{name: "a retry is asked", keys: []any{"n", "n", "r"}, says: `Retry job.extract["us"]?`},
		{name: "no", keys: []any{"n", "n", "r", "n"}},
		{name: "escape is no", keys: []any{"n", "n", "r", "esc"}},
		{name: "other keys do nothing", keys: []any{"n", "n", "r", "down", "x", "enter"}, says: `Retry job.extract["us"]?`},
		{name: "a retry", keys: []any{"n", "n", "r", "y"}, done: []string{`retry uuid-of-job.extract["us"]`}, says: `job.extract["us"] runs again.`},
		{name: "a retry of what runs", keys: flat("/", typed("clean eu"), "enter", "r"), says: "Cannot retry job.clean[\"eu\"]: only a job that failed"},
		{name: "a retry that is refused", keys: []any{"n", "n", "r", "y"}, fail: refused, done: []string{`retry uuid-of-job.extract["us"]`},
			says: "has moved on meanwhile: it is failed. Nothing was changed."},
		{name: "a retry that fails", keys: []any{"n", "n", "r", "y"}, fail: conveyor.ErrUnavailable, done: []string{`retry uuid-of-job.extract["us"]`},
			says: `Cannot retry job.extract["us"]: redis unavailable`},
		{name: "a cancel says what follows", keys: flat("/", typed("clean eu"), "enter", "x"), says: "2 jobs wait for"},
		{name: "a cancel of what runs", keys: flat("/", typed("clean eu"), "enter", "x", "y"), done: []string{`cancel uuid-of-job.clean["eu"]`},
			says: `job.clean["eu"] is told to stop.`},
		{name: "a cancel of what is over", keys: flat("/", typed("extract eu"), "enter", "x"), says: "it is over"},
		{name: "a release", keys: []any{"n", "u", "y"}, done: []string{"release uuid-of-job.check"}, says: "job.check is queued."},
		{name: "a release of what is not held", keys: []any{"n", "n", "u"}, says: "it is not on hold"},
		{name: "a pause is asked", keys: []any{"2", "down", "p"}, says: "Pause queue etl?"},
		{name: "a pause", keys: []any{"2", "down", "p", "y"}, done: []string{"pause etl"}, says: "Queue etl is paused."},
		{name: "a resumption", keys: []any{queues(59, true), "2", "down", "p", "y"}, done: []string{"resume etl"}, says: "Queue etl is open."},
		{name: "a pause of a job's queue", keys: []any{"n", "n", "p", "y"}, done: []string{"pause etl"}, says: "Queue etl is paused."},
		{name: "keys that come at once", keys: []any{"nnry"}, done: []string{`retry uuid-of-job.extract["us"]`}, says: `job.extract["us"] runs again.`},
		{name: "a filter that comes at once", keys: []any{"/cleaneu", "backspace", "backspace", "space", "eu", "enter", "x"}, says: "2 jobs wait for"},
		{name: "who leaves does nothing more", keys: []any{"nnqry"}},
		{name: "what is pasted is no key", keys: []any{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("nnry"), Paste: true}}},
		{name: "no job on the line of a workflow", keys: []any{"r"}, says: "No job is chosen."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{logs: written(), fail: tt.fail}
			m := play(testModel(d), append([]any{tea.WindowSizeMsg{Width: 100, Height: 40}, tickMsg(script.Noon), shop(t)}, tt.keys...)...)
			if diff := cmp.Diff(tt.done, d.done); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			got := m.notice.text
			if m.asked != nil {
				got = strings.Join(m.questionBox(), "\n")
			}
			if !strings.Contains(got, tt.says) || tt.says == "" && got != "" {
				t.Errorf("it says %q, want %q", got, tt.says)
			}
		})
	}
}

// TestOneActionAtATime asks for a second action before the first one is answered.
func TestOneActionAtATime(t *testing.T) {
	t.Parallel()
	m := play(testModel(&desk{}), tickMsg(script.Noon), shop(t), "n", "n", "r")
	_, first := m.Update(keyMsg("y"))
	play(m, "n", "u")
	if m.asked != nil || !strings.Contains(m.notice.text, "not answered yet") {
		t.Errorf("asked %v, says %q", m.asked, m.notice.text)
	}
	run(m, first)
	if play(m, "u"); m.asked == nil {
		t.Error("the next action is not asked after the first one was answered")
	}
}

// TestMovedWhileAsked changes the job of a question: the question is taken back, and nothing is done.
func TestMovedWhileAsked(t *testing.T) {
	t.Parallel()
	d := &desk{}
	m := play(testModel(d), tickMsg(script.Noon), shop(t), "n", "n", "r", moved(t), "y")
	if len(d.done) > 0 || !strings.Contains(m.notice.text, "has moved on meanwhile: it is running") && m.notice.text != "" {
		t.Errorf("done %v, says %q", d.done, m.notice.text)
	}
}

// TestReadsOneJob holds what is read by hand to one call of a kind at a time, and to the job that is chosen.
func TestReadsOneJob(t *testing.T) {
	t.Parallel()
	m := play(testModel(&desk{logs: written()}), tea.WindowSizeMsg{Width: 140, Height: 40}, tickMsg(script.Noon), shop(t), "n", "n")
	if got := m.subject.log.count(); got != 18 {
		t.Fatalf("%d lines of log, want 18", got)
	}
	_, cmd := m.Update(screen.Events{Events: []applier.Event{moved2(t, 5)}})
	if cmd == nil || !m.subject.inspecting || !m.subject.tailing {
		t.Fatalf("a change is not read: inspecting %v, tailing %v", m.subject.inspecting, m.subject.tailing)
	}
	if m.read() != nil {
		t.Error("it reads the same twice at once")
	}
	before := m.subject.n
	play(m, "down")
	if m.subject.n == before || m.subject.inspecting && m.subject.uuid == "" {
		t.Error("another job is not read")
	}
	lines := m.subject.log.count()
	run(m, cmd) // the answers for the job before come late
	if m.subject.log.count() != lines {
		t.Error("the log of another job is shown")
	}
}

func moved2(t *testing.T, fence int64) applier.Event {
	e := moved(t).(applier.OfWorkflow)
	c := e.Event.(applier.JobChanged)
	c.Status.Fence = fence
	e.Event = c
	return e
}

// TestCursorStaysWithItsJob lets jobs come and go around the chosen one.
func TestCursorStaysWithItsJob(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]any{{"t", "t"}, {"t", "t", "s"}, {"t", "t", "s", "s"}, {"t", "t", "s", "s", "s"}, {}, {"t"}} {
		m := play(testModel(&desk{}), tickMsg(script.Noon), shop(t))
		play(m, keys...)
		m.point(jobKey{"sales", script.Addr(t, `job.extract["us"]`)})
		want, _ := m.chosen()
		other := followed(t, []node{{`job.a`, 0, "etl", nil, held}, {`job.b`, 0, "etl", nil, held}})
		events := []applier.Event{
			seen(applier.WorkflowSeen{Name: "aaa", Jobs: 2}, applier.WorkflowSeen{Name: "billing", Jobs: 4}, applier.WorkflowSeen{Name: "sales", Jobs: 8}),
			applier.OfWorkflow{Workflow: "aaa", Event: other},
		}
		play(m, events)
		if got, _ := m.chosen(); got.key() != want.key() {
			t.Errorf("keys %v: the cursor went from %v to %v when a workflow came", keys, want.key(), got.key())
		}
		play(m, moved(t))
		if got, _ := m.chosen(); got.key() != want.key() {
			t.Errorf("keys %v: the cursor went from %v to %v when its job ran", keys, want.key(), got.key())
		}
		play(m, seen(applier.WorkflowSeen{Name: "sales", Jobs: 8}))
		if got, _ := m.chosen(); got.key() != want.key() {
			t.Errorf("keys %v: the cursor went from %v to %v when workflows went", keys, want.key(), got.key())
		}
	}
}

// TestMouse clicks and turns the wheel.
func TestMouse(t *testing.T) {
	t.Parallel()
	click := func(x, y int) tea.Msg {
		return tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
	}
	wheel := func(x, y int, b tea.MouseButton) tea.Msg {
		return tea.MouseMsg{X: x, Y: y, Button: b, Action: tea.MouseActionPress}
	}
	start := func(msgs ...any) *model {
		return play(testModel(&desk{logs: written()}), append([]any{tea.WindowSizeMsg{Width: 140, Height: 40}, tickMsg(script.Noon), shop(t)}, msgs...)...)
	}
	m := start(click(14, 1))
	if m.tab != tabQueues {
		t.Errorf("a click on the second tab opens tab %d", m.tab)
	}
	if play(m, click(5, 6)); m.others[tabQueues].at != 2 {
		t.Errorf("a click on the third queue chooses %d", m.others[tabQueues].at)
	}
	m = start("t", "t", click(5, 9))
	if r, _ := m.chosen(); r.job.Name != `job.extract["us"]` {
		t.Errorf("a click chooses %s", r.job.Name)
	}
	if play(m, click(100, 30)); m.focus != paneLog {
		t.Errorf("a click on the log gives the keys to pane %d", m.focus)
	}
	m = start("t", "t", "n", "n", "z")
	play(m, "z", tea.WindowSizeMsg{Width: 140, Height: 26}, wheel(100, 20, tea.MouseButtonWheelUp))
	if m.subject.log.follow || m.focus != paneList {
		t.Errorf("the wheel over the log: follows %v, keys go to pane %d", m.subject.log.follow, m.focus)
	}
	play(m, wheel(100, 20, tea.MouseButtonWheelDown), wheel(100, 20, tea.MouseButtonWheelDown))
	if !m.subject.log.follow {
		t.Error("the log does not follow again at its end")
	}
	m = start(click(3, 5)) // the line of job.check
	if r, ok := m.chosen(); !ok || r.job.Name != "job.check" {
		t.Errorf("a click in the tree chooses %v", r.job)
	}
	m = start("5", "down", "enter", "t", click(40, 5))
	if r, ok := m.chosen(); !ok || r.job.Name != `job.clean["eu"]` {
		t.Errorf("a click in the layers chooses %v", r.job)
	}
}

// TestFilter narrows the jobs by words.
func TestFilter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"extract", []string{`job.extract["eu"]`, `job.extract["us"]`}},
		{"EXTRACT us", []string{`job.extract["us"]`}},
		{"state:failed", []string{`job.extract["us"]`}},
		{"state:on", []string{`job.check`}},
		{"state:held", []string{"job.load", "job.report"}},
		{"state:waiting", []string{"job.load", "job.report"}},
		{"queue:billing", []string{"job.collect", "job.check"}},
		{"worker:build", []string{`job.clean["eu"]`}},
		{"workflow:bill state:queued", []string{"job.send[0]", "job.send[1]"}},
		{"sales -state:scheduled -eu !us -load", []string{"job.report"}},
		{"type:exec late", []string{"job.late"}},
		{"type:http", nil},
		{"state:", []string{"job.collect", "job.check", "job.send[0]", "job.send[1]", `job.extract["eu"]`, `job.extract["us"]`, `job.clean["eu"]`,
			`job.clean["us"]`, "job.load", "job.report", "job.late", "job.fetch"}},
	}
	for _, tt := range tests {
		m := play(testModel(&desk{}), flat(tickMsg(script.Noon), any(shop(t)), "/", typed(tt.text), "enter")...)
		var got []string
		for _, r := range m.jobs.rows {
			got = append(got, r.job.Name)
		}
		if tt.want != nil {
			slices.Sort(tt.want)
		}
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("/%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestSearchFollowsChanges compares what a list shows after changes with a search made anew, on a namespace that is searched in
// steps.
func TestSearchFollowsChanges(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "state:running", "-state:done", "9"} {
		for range orders {
			m := big(12_000, flat("t", "t", "/", typed(text), "enter", "s")...)
			seq := int64(0)
			for range 5 {
				play(m, changes(12_000, &seq))
			}
			got := m.jobs.rows
			run(m, m.ask(tabJobs))
			if !slices.Equal(got, m.jobs.rows) {
				t.Errorf("/%s by %s: %d rows, anew %d", text, orderNames[m.jobs.order], len(got), len(m.jobs.rows))
			}
		}
	}
}
