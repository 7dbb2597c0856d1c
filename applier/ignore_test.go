package applier

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// keeps wants a job to have the key, labels and remove_after of TestIgnoredChild.
func (l *lab) keeps(name string) {
	l.Helper()
	listed, err := l.List(l.Context(), conveyor.ListOptions{Labels: map[string]string{"team": "sales"}, States: conveyor.LiveStates()})
	l.ok(err)
	if len(listed) != 1 || listed[0].UUID != l.record(name).UUID.String() || listed[0].Unique != "noop:k" || listed[0].RemoveAfter != time.Hour {
		l.Errorf("%s is kept as %+v", name, listed)
	}
}

// TestIgnoredChild edits the work and the parents of a child that runs under on_change = ignore: it goes on with the work it
// has, also in its next attempt, and its old parent, which a job that waits for it now waits for, does not wait for it.
func TestIgnoredChild(t *testing.T) {
	for _, closing := range []bool{false, true} {
		t.Run(map[bool]string{false: "running", true: "closing"}[closing], func(t *testing.T) {
			onBoth(t, func(l *lab) {
				ignore := func(j *config.Job) {
					j.OnChange, j.Unique, j.Labels, j.RemoveAfter = config.OnChangeIgnore, "k", map[string]string{"team": "sales"}, time.Hour
				}
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
				l.keeps("b")
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

// TestIgnoredReopenedChild is the same for a child that has ended and reopened meanwhile, of which the engine has no bytes.
func TestIgnoredReopenedChild(t *testing.T) {
	onBoth(t, func(l *lab) {
		b := func(change ...func(*config.Job)) *config.Job {
			return l.job("b", append(change, func(j *config.Job) {
				j.OnChange, j.Unique, j.Labels, j.RemoveAfter = config.OnChangeIgnore, "k", map[string]string{"team": "sales"}, time.Hour
			})...)
		}
		l.declare(l.job("a"), b(l.under("a"), payload("old")))
		l.apply()
		l.work()
		l.declare(l.job("a"), b(l.under("a"), payload("old")), l.job("c", l.under("b"), l.after("d")), l.job("d"))
		l.apply()
		l.declare(l.job("a"), b(payload("new")), l.job("c", l.under("b"), l.after("a")), l.job("d"))
		l.apply()
		l.noChanges()
		l.keeps("b")
		if diff := cmp.Diff("completed closing", l.live("a")+" "+l.live("b")); diff != "" {
			l.Errorf("a and b (-want +got):\n%s", diff)
		}
		l.work()
		l.apply()
		l.work()
		l.noChanges()
	})
}
