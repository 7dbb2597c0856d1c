package watch

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/tui/board"
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
		return int(board.SectionOf(a.job.Status.State)) - int(board.SectionOf(b.job.Status.State))
	})
	if len(m.jobs.rows) != jobs || !ascending {
		t.Errorf("%d jobs are listed, in order: %v", len(m.jobs.rows), ascending)
	}
}
