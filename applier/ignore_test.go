package applier

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// TestIgnoredChild edits the work and the parents of a child that runs under on_change = ignore: it goes on with the work it
// has, also in its next attempt, and its old parent, which a job that waits for it now waits for, does not wait for it.
func TestIgnoredChild(t *testing.T) {
	for _, closing := range []bool{false, true} {
		t.Run(map[bool]string{false: "running", true: "closing"}[closing], func(t *testing.T) {
			onBoth(t, func(l *lab) {
				ignore := func(j *config.Job) { j.OnChange = config.OnChangeIgnore }
				l.declare(l.job("a"), l.job("b", ignore, payload("old"), l.under("a")), l.job("c", l.under("b"), l.after("d")), l.job("d"))
				l.apply()
				l.end(conveyor.VerdictDone, l.start(1)...) // a
				running := l.start(2)
				i := slices.IndexFunc(running, func(r conveyor.Reservation) bool { return r.Job.Name == "job.b" })
				if i < 0 {
					l.Fatalf("b does not run, but %v", running)
				}
				if closing {
					l.end(conveyor.VerdictDone, running[i])
				}
				l.declare(l.job("a"), l.job("b", ignore, payload("new")), l.job("c", l.under("b"), l.after("a")), l.job("d"))
				l.apply()
				l.noChanges()
				if !closing {
					l.end(conveyor.VerdictBack, running[i])
					again := l.start(1)
					if len(again) != 1 || string(again[0].Job.Payload) != "old" {
						l.Fatalf("the next attempt is of %v", again)
					}
					l.end(conveyor.VerdictDone, again...)
				}
				l.end(conveyor.VerdictDone, running[1-i])
				if diff := cmp.Diff([]string{"c"}, l.work()); diff != "" {
					l.Errorf("what ran then (-want +got):\n%s", diff)
				}
				l.apply()
				if diff := cmp.Diff([]string{"b", "c"}, l.work()); diff != "" {
					l.Errorf("what ran at last (-want +got):\n%s", diff)
				}
				l.noChanges()
			})
		})
	}
}
