package applier

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

var errForbidden = errors.New("forbidden")

// noReplacing denies plans that replace a job, and takes note of what it is asked.
func noReplacing(asked *[]string) func(*planner.Plan) error {
	return func(p *planner.Plan) error {
		*asked = append(*asked, fmt.Sprint(summaryOf(p)))
		for _, r := range p.Rows {
			if r.Action == planner.Replace {
				return errForbidden
			}
		}
		return nil
	}
}

func summaryOf(p *planner.Plan) [3]int {
	add, change, destroy := p.Summary()
	return [3]int{add, change, destroy}
}

// TestJudgedAnew: a plan that was allowed is denied once somebody else's apply, or the progress of a job, has made another of it.
func TestJudgedAnew(t *testing.T) {
	for _, row := range []struct {
		name   string
		late   bool // it happens when the rows are about to be written
		happen func(l *lab)
		asked  []string
		done   int
	}{
		{name: "nothing happens", happen: func(*lab) {}},
		{name: "another apply", asked: []string{"[1 0 1]"}, happen: func(l *lab) {
			l.end(conveyor.VerdictDone, l.start(1)...)
			other := l.another()
			other.declare(l.job("a", payload("other")))
			other.apply()
			l.end(conveyor.VerdictDone, l.start(1)...)
		}},
		{name: "the job ends before the lock is held", asked: []string{"[1 0 1]"}, happen: func(l *lab) { l.end(conveyor.VerdictDone, l.start(1)...) }},
		{name: "the job ends when the rows are written", late: true, asked: []string{"[1 0 1]"}, happen: func(l *lab) { l.end(conveyor.VerdictDone, l.start(1)...) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(l.job("a"))
				l.apply()
				l.declare(l.job("a", payload("2")))
				plan := l.plan() // an update in place: it waits
				before := l.record("a")
				var asked []string
				l.run.Judge = noReplacing(&asked)
				once := false
				if !row.late {
					row.happen(l)
				} else {
					l.run.probe = func(phase string) {
						if phase == "rows" && !once {
							once = true
							row.happen(l)
						}
					}
				}
				stands := l.state().Records["job.a"].Version
				_, err := l.carryOut(l.Context(), plan)
				if diff := cmp.Diff(row.asked, asked); diff != "" {
					l.Errorf("asked (-want +got):\n%s", diff)
				}
				if len(row.asked) == 0 {
					l.ok(err)
					return
				}
				var denied *DeniedError
				if !errors.As(err, &denied) || !errors.Is(err, errForbidden) || denied.Done != 0 {
					l.Fatalf("got %v", err)
				}
				if after := l.record("a"); after.Version != stands || row.late && after.UUID != before.UUID {
					l.Errorf("the record has version %d, want %d", after.Version, stands)
				}
			})
		})
	}
}

// TestJudgeBeforeApprove: what is denied is not asked about.
func TestJudgeBeforeApprove(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		plan := l.plan()
		other := l.another()
		other.declare(l.job("a", payload("other")), l.job("b"))
		other.apply()
		l.run.Judge = func(*planner.Plan) error { return errForbidden }
		l.run.Approve = func(context.Context, *planner.Plan) (bool, error) { return true, errors.New("asked") }
		if _, err := l.carryOut(l.Context(), plan); !errors.Is(err, errForbidden) {
			l.Errorf("got %v", err)
		}
		if n := len(l.state().Records); n != 2 {
			l.Errorf("%d records, want 2", n)
		}
	})
}
