package applier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// replans collects the plans that were made anew under the lock.
type replans struct {
	mu    sync.Mutex
	plans []*planner.Plan
}

func (r *replans) Observe(e Event) {
	if e, ok := e.(Replanned); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.plans = append(r.plans, e.Plan)
	}
}

// TestTwoApplies has one apply wait for the lock of another with the same plan: it sees that there is nothing left to do.
func TestTwoApplies(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(salesLike(l, "1", "old")...)
		second := l.another()
		seen := &replans{}
		second.run.Observer = seen
		second.run.Approve = func(context.Context, *planner.Plan) (bool, error) {
			return false, errors.New("asked although nothing is left to do")
		}
		plan := second.plan()
		type outcome struct {
			result Result
			err    error
		}
		got := make(chan outcome, 1)
		started := false
		l.run.probe = func(phase string) {
			if phase == "lock" || started {
				return
			}
			started = true
			waits, once := make(chan struct{}), sync.Once{}
			second.run.Observer = observerFunc(func(e Event) {
				if _, ok := e.(LockWaiting); ok {
					once.Do(func() { close(waits) })
				}
				seen.Observe(e)
			})
			go func() {
				r, err := second.carryOut(l.Context(), plan)
				got <- outcome{r, err}
			}()
			<-waits
		}
		first := l.apply()
		if first.Added != len(l.workflow.Jobs) {
			l.Errorf("the first added %d jobs, want %d", first.Added, len(l.workflow.Jobs))
		}
		o := <-got
		l.ok(o.err)
		if o.result.Added+o.result.Changed+o.result.Destroyed != 0 || len(seen.plans) != 1 || !seen.plans[0].Empty() {
			l.Errorf("the second did something: %+v, plans %v", o.result, seen.plans)
		}
		if names := l.work(); len(names) != len(l.workflow.Jobs) {
			l.Errorf("%q ran, want each of %d jobs once", names, len(l.workflow.Jobs))
		}
	})
}

func TestSecondApplyFailsWithHolder(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		_, held := mustLock(l.T, l.Client, "apply")
		l.run.LockTimeout = -1
		_, err := l.tryApply(l.Context())
		var locked *LockedError
		if !errors.As(err, &locked) || locked.Holder.Token != held.token || locked.Holder.Who != "apply@host" {
			l.Errorf("got %v, want *LockedError with the holder", err)
		}
		if n := len(l.state().Records); n != 0 {
			l.Errorf("%d records were written", n)
		}
	})
}

// TestPlanOfAMovedState applies a plan that another apply has overtaken.
func TestPlanOfAMovedState(t *testing.T) {
	tests := map[string]struct {
		theirs  func(l *lab) []*config.Job // applied between plan and apply
		saved   bool
		approve bool
		asked   bool
		stale   []string // of a saved plan that fails
		err     error
		records []string
	}{
		"a changed plan is asked again": {
			theirs: func(l *lab) []*config.Job { return []*config.Job{l.job("a", payload("theirs"))} }, approve: true, asked: true,
			records: []string{"job.a", "job.b"},
		},
		"and can be refused": {
			theirs: func(l *lab) []*config.Job { return []*config.Job{l.job("a", payload("theirs"))} }, asked: true, err: ErrDeclined,
			records: []string{"job.a"},
		},
		"what differs elsewhere is asked too": {
			theirs: func(l *lab) []*config.Job { return []*config.Job{l.job("c")} }, approve: true, asked: true,
			records: []string{"job.a", "job.b"},
		},
		"a saved plan is stale": {
			theirs: func(l *lab) []*config.Job { return []*config.Job{l.job("a", payload("theirs"))} }, saved: true, stale: []string{"job.a"},
			records: []string{"job.a"},
		},
		"moves elsewhere do not matter to it": {
			theirs: func(l *lab) []*config.Job { return []*config.Job{l.job("c")} }, saved: true,
			records: []string{"job.a", "job.b", "job.c"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				// Another workflow of this name was here before, so that a lineage exists.
				l.declare(l.job("z"))
				l.apply()
				l.destroy()
				l.declare(l.job("a"), l.job("b"))
				plan := l.plan()
				theirs := l.another()
				theirs.declare(test.theirs(l)...)
				theirs.apply()

				asked := false
				l.run.Saved = test.saved
				l.run.Approve = func(_ context.Context, p *planner.Plan) (bool, error) {
					asked = true
					if p.Empty() {
						l.Error("asked to approve nothing")
					}
					return test.approve, nil
				}
				_, err := l.carryOut(l.Context(), plan)
				var stale *StaleError
				switch {
				case test.stale != nil:
					if !errors.As(err, &stale) || !strings.HasPrefix(err.Error(), "Saved plan is stale") {
						l.Fatalf("got %v, want *StaleError", err)
					}
					var names []string
					for _, a := range stale.Addrs {
						names = append(names, a.String())
					}
					if diff := cmp.Diff(test.stale, names); diff != "" {
						l.Errorf("stale (-want +got):\n%s", diff)
					}
				case !errors.Is(err, test.err):
					l.Fatalf("got %v, want %v", err, test.err)
				}
				if asked != test.asked {
					l.Errorf("asked: %t, want %t", asked, test.asked)
				}
				var records []string
				for address := range l.state().Records {
					records = append(records, address)
				}
				slices.Sort(records)
				if diff := cmp.Diff(test.records, records); diff != "" {
					l.Errorf("records (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestLostLock takes the lock away in the middle of an apply, by force or by an apply that came after the lease had run
// out. The holder's next batch is refused, it says so, and has changed nothing since.
func TestLostLock(t *testing.T) {
	takers := map[string]func(l *lab, token string){
		"force-unlock": func(l *lab, token string) { l.ok(ForceUnlock(l.Context(), l.Client, "w", token)) },
		"another apply": func(l *lab, _ string) {
			l.expireLock()
			other := l.another()
			other.declare(l.job("other"))
			other.apply()
		},
	}
	for name, take := range takers {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(salesLike(l, "1", "old")...)
				writes, was := 0, map[string]any{}
				l.run.batch = 2
				l.run.probe = func(phase string) {
					if phase != "rows" {
						return
					}
					if writes++; writes == 3 {
						holder, err := ReadLock(l.Context(), l.Client, "w")
						l.ok(err)
						take(l, holder.Token)
						was = l.dump()
					}
				}
				_, err := l.tryApply(l.Context())
				if !errors.Is(err, ErrLockLost) {
					l.Fatalf("got %v, want %v", err, ErrLockLost)
				}
				if diff := cmp.Diff(was, l.dump()); diff != "" {
					l.Errorf("something was written without the lock (-before +after):\n%s", diff)
				}
				l.run.probe = nil
				l.apply()
				if names := l.work(); len(names) != len(l.workflow.Jobs) {
					l.Errorf("%q ran, want each of %d jobs once", names, len(l.workflow.Jobs))
				}
				l.noChanges()
			})
		})
	}
}

// TestInterruptedSubmission ends ctx between two batches: the lock is given up at once, what was done is told, and the
// next apply goes on.
func TestInterruptedSubmission(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(salesLike(l, "1", "old")...)
		ctx, cancel := context.WithCancel(l.Context())
		defer cancel()
		writes := 0
		l.run.batch = 2
		l.run.probe = func(phase string) {
			if phase == "rows" {
				if writes++; writes == 3 {
					cancel() // with this batch in flight
				}
			}
		}
		r, err := l.tryApply(ctx)
		var interrupted *InterruptedError
		if !errors.As(err, &interrupted) || !errors.Is(err, context.Canceled) {
			l.Fatalf("got %v, want *InterruptedError", err)
		}
		if interrupted.Done != 6 || interrupted.Total != len(l.workflow.Jobs) || r.Added != 6 {
			l.Errorf("told %d of %d done and %d added, want 6 of %d and 6", interrupted.Done, interrupted.Total, r.Added, len(l.workflow.Jobs))
		}
		if holder, err := ReadLock(l.Context(), l.Client, "w"); holder != nil || err != nil {
			l.Errorf("the lock is held by %v, %v", holder, err)
		}
		l.run.probe = nil
		l.apply()
		if names := l.work(); len(names) != len(l.workflow.Jobs) {
			l.Errorf("%q ran, want each of %d jobs once", names, len(l.workflow.Jobs))
		}
	})
}
