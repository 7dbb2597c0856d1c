package watch

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// TestLongListIsSortedBesideTheView finds no sorting in the view's own messages.
func TestLongListIsSortedBesideTheView(t *testing.T) {
	t.Parallel()
	const jobs = 3 * perStep
	m := big(jobs, "t", "t")
	m.jobs.order = byUrgency
	cmd := m.ask(tabJobs)
	s, beside := m.jobs.underway, false
	for s.sorted == beside && cmd != nil {
		for _, msg := range results(cmd) {
			beside = s.sorted
			_, cmd = m.Update(msg)
		}
	}
	if !beside || s.sorted != beside || m.jobs.underway != nil {
		t.Errorf("sorted beside the view: %v, at all: %v, still searching: %v", beside, s.sorted, m.jobs.underway != nil)
	}
	ascending := slices.IsSortedFunc(m.jobs.rows, func(a, b row) int {
		return int(board.Standing(a.job.Status)) - int(board.Standing(b.job.Status))
	})
	if len(m.jobs.rows) != jobs || !ascending {
		t.Errorf("%d jobs are listed, in order: %v", len(m.jobs.rows), ascending)
	}
}

// TestLooseNames: jobs of no workflow go by what they were called when they belonged to one, and those that were removed are no failures.
func TestLooseNames(t *testing.T) {
	t.Parallel()
	f := newFleet()
	f.observe(applier.WorkflowsSeen{Workflows: []applier.WorkflowSeen{{Jobs: 2, Counts: applier.StateCounts{conveyor.StateCancelled: 1, conveyor.StateRunning: 1}}}})
	f.observe(applier.LooseSeen{Total: 2, Names: map[string]string{"a": "job.nightly"}, Jobs: []conveyor.Status{
		{UUID: "a", State: conveyor.StateCancelled}, {UUID: "b", State: conveyor.StateRunning}}})
	w := f.byName[""]
	if w.board.Jobs[0].Name != "job.nightly" || w.board.Jobs[1].Name != "b" {
		t.Errorf("they are called %q and %q", w.board.Jobs[0].Name, w.board.Jobs[1].Name)
	}
	if n := w.sums()[board.SectionOf(conveyor.StateCancelled)]; n != 0 {
		t.Errorf("%d are counted as not ok", n)
	}
}

// TestFollowsRenamedWorkflow carries the workflow that is looked at over to another name: its jobs stay in view.
func TestFollowsRenamedWorkflow(t *testing.T) {
	t.Parallel()
	m := play(testModel(&desk{}), tickMsg(script.Noon), shop(t))
	m.look(parseFilter(""), "sales", true)
	var jobs applier.OfWorkflow
	for _, e := range shop(t) {
		if of, is := e.(applier.OfWorkflow); is && of.Workflow == "sales" {
			if _, lists := of.Event.(applier.Following); lists {
				jobs = of
			}
		}
	}
	jobs.Workflow = "turnover"
	listed := applier.WorkflowSeen{Name: "turnover", Former: "sales", Jobs: 8}
	m = play(m, jobs, seen(applier.WorkflowSeen{Name: "sales", Jobs: 8}, listed))
	if m.jobs.scope != "sales" {
		t.Errorf("the view follows to %q while the workflow is there", m.jobs.scope)
	}
	m = play(m, seen(listed))
	if title, _ := m.listTitle(); m.jobs.scope != "turnover" || !strings.HasPrefix(title, "Jobs of turnover") || len(m.jobs.rows) == 0 {
		t.Errorf("%q shows %d jobs of %q", title, len(m.jobs.rows), m.jobs.scope)
	}
	if want := "Workflow sales is called turnover now."; m.notice.text != want {
		t.Errorf("says %q, want %q", m.notice.text, want)
	}
}
