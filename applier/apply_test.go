package applier

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

func TestFirstApply(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("extract"), l.job("clean", l.under("extract")), l.job("load", l.after("extract")))
		if diff := cmp.Diff(Result{Added: 3, Detached: true, Outputs: map[string]string{}, From: &Position{}}, l.apply()); diff != "" {
			l.Errorf("result (-want +got):\n%s", diff)
		}
		l.noChanges()
		if diff := cmp.Diff([]string{"extract", "clean", "load"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.noChanges()
		if holder, err := ReadLock(l.Context(), l.Client, "w"); holder != nil || err != nil {
			l.Errorf("the lock is held by %v, %v", holder, err)
		}
	})
}

// TestRootsStartInPlanOrder has more roots than fit into a chunk, in components of several jobs, in one queue.
func TestRootsStartInPlanOrder(t *testing.T) {
	onBoth(t, func(l *lab) {
		var jobs []*config.Job
		for i := range 300 {
			root := numbered("root", i)
			jobs = append(jobs, l.job(root), l.job(numbered("heir", i), l.after(root)))
		}
		l.declare(jobs...)
		var want []string
		for _, r := range l.plan().Rows {
			if r.Addr.Name == "root" {
				want = append(want, r.Addr.String())
			}
		}
		l.apply()
		var got []string
		for _, r := range append(l.start(200), l.start(100)...) {
			got = append(got, r.Job.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			l.Errorf("start order (-want +got):\n%s", diff)
		}
	})
}

func TestEditedChildRunsAgain(t *testing.T) {
	onBoth(t, func(l *lab) {
		jobs := func(version string) []*config.Job {
			return []*config.Job{
				l.job("top"), l.job("p", l.under("top")), l.job("a", l.under("p"), payload(version)), l.job("b", l.under("p")), l.job("sub", l.after("a")),
				l.job("heir", l.after("p")), l.job("last", l.after("top")), l.job("other"),
			}
		}
		l.declare(jobs("1")...)
		l.apply()
		l.work()
		l.declare(jobs("2")...)
		last, err := l.LastEvent(l.Context())
		l.ok(err)
		result := l.apply()
		if diff := cmp.Diff(Result{Added: 4, Changed: 2, Destroyed: 4, Detached: true, Outputs: map[string]string{}, From: &Position{Seq: last}}, result); diff != "" {
			l.Errorf("result (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a", "sub", "heir", "last"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		for _, name := range []string{"top", "p", "a", "b", "sub", "heir", "last", "other"} {
			if live := l.live(name); live != "completed" {
				l.Errorf("job.%s is %s", name, live)
			}
		}
		l.noChanges()
	})
}

func TestEditOfTimeoutRunsNothing(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		l.work()
		l.declare(l.job("a", timeout(time.Minute)), l.job("b", l.after("a")))
		if r := l.apply(); r.Changed != 1 || r.Added != 0 || r.Destroyed != 0 {
			l.Errorf("result is %+v, want one change", r)
		}
		if names := l.work(); names != nil {
			l.Errorf("%q ran", names)
		}
		l.noChanges()
	})
}

func TestDestroyedRunsAnew(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")), l.job("c"))
		uuids := map[string]bool{}
		for round := range 3 {
			if r := l.apply(); r.Added != 3 {
				l.Errorf("round %d added %d jobs, want 3", round, r.Added)
			}
			for name, r := range l.state().Records {
				if uuids[r.UUID.String()] {
					l.Errorf("round %d: %s has the uuid of an earlier submission", round, name)
				}
				uuids[r.UUID.String()] = true
			}
			if round < 2 { // the last round is destroyed before it runs
				if diff := cmp.Diff([]string{"a", "c", "b"}, l.work()); diff != "" {
					l.Errorf("round %d runs (-want +got):\n%s", round, diff)
				}
			}
			if r := l.destroy(); r.Destroyed != 3 {
				l.Errorf("round %d destroyed %d jobs, want 3", round, r.Destroyed)
			}
			if records := l.state().Records; len(records) > 0 {
				l.Errorf("round %d leaves %d records", round, len(records))
			}
		}
		if names := l.work(); names != nil {
			l.Errorf("%q ran after the last destroy", names)
		}
	})
}

// TestRunningJobIsReplaced edits a job while it runs: its successor waits for it, and its heir for the successor.
func TestRunningJobIsReplaced(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a", payload("1")), l.job("b", l.after("a")))
		l.apply()
		running := l.start(1)
		l.declare(l.job("a", payload("2")), l.job("b", l.after("a")))
		l.apply()
		if names := l.work(); names != nil {
			l.Errorf("%q ran beside the running generation", names)
		}
		l.end(conveyor.VerdictDone, running...)
		if diff := cmp.Diff([]string{"a", "b"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.noChanges()
	})
}

// TestRemovedRunningJob: it is told to stop, its record stays deposed until it has ended, and then the next apply forgets it.
func TestRemovedRunningJob(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b"))
		l.apply()
		running := l.start(1)
		l.declare(l.job("b"))
		if r := l.apply(); r.Destroyed != 1 {
			l.Errorf("result is %+v, want one destroyed", r)
		}
		if !l.record("a").Deposed || !l.state().Live["job.a"].CancelAsked {
			l.Errorf("the running job is not told to stop: %+v, %+v", l.record("a"), l.state().Live["job.a"])
		}
		l.noChanges()
		l.end(conveyor.VerdictDone, running...)
		generation := l.record("a").Generation
		l.apply()
		s := l.state()
		if s.Records["job.a"] != nil || s.Floor < generation {
			l.Errorf("the stopped job's record is %+v, the floor %d", s.Records["job.a"], s.Floor)
		}
		l.work()
	})
}

func TestRerunAndReplace(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")), l.job("c"))
		l.apply()
		l.work()
		l.run.Options.Rerun = true
		l.apply()
		if diff := cmp.Diff([]string{"a", "c", "b"}, l.work()); diff != "" {
			l.Errorf("-rerun (-want +got):\n%s", diff)
		}
		l.run.Options.Rerun, l.run.Options.Replace = false, []config.Addr{addr(l.T, "job.a")}
		l.apply()
		if diff := cmp.Diff([]string{"a", "b"}, l.work()); diff != "" {
			l.Errorf("-replace (-want +got):\n%s", diff)
		}
	})
}

// TestUnwritableJobs are found before the first write, all at once.
func TestUnwritableJobs(t *testing.T) {
	onBoth(t, func(l *lab) {
		large := payload(strings.Repeat("x", conveyor.MaxPayload))
		l.declare(l.job("a"), l.job("big", large), l.job("huge", large), l.job("run", func(j *config.Job) { j.Type = "exec" }))
		_, err := l.tryApply(l.Context())
		if !errors.Is(err, conveyor.ErrTooLarge) || !errors.Is(err, conveyor.ErrNoKey) {
			l.Fatalf("got %v, want %v and %v", err, conveyor.ErrTooLarge, conveyor.ErrNoKey)
		}
		for _, part := range []string{"job.big", "job.huge", "job.run", "nothing was submitted"} {
			if !strings.Contains(err.Error(), part) {
				l.Errorf("the error does not say %q: %v", part, err)
			}
		}
		if s := l.state(); len(s.Records) > 0 || s.Lineage != uuid.Nil {
			l.Errorf("something was written: %+v", s)
		}
	})
}

// TestCauses are read with the state: why a job failed, and what excluded one that was skipped.
func TestCauses(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		started := l.start(1)[0]
		l.number++
		_, err := l.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "lab", Number: l.number, Done: []conveyor.Ack{
			{UUID: started.Job.Uuid, Fence: started.Fence, Verdict: conveyor.VerdictFailed, Failure: "exit status 3"}}})
		l.ok(err)
		s := l.state()
		got := []string{s.Live["job.a"].Cause, s.Live["job.b"].Cause}
		if diff := cmp.Diff([]string{"exit status 3", "job.a"}, got); diff != "" {
			l.Errorf("causes (-want +got):\n%s", diff)
		}
	})
}

// TestRemovedSuccessor removes a job whose new generation still waits for the running one: both are told to stop, and the
// record is of the one that runs until that has ended.
func TestRemovedSuccessor(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a", payload("1")))
		l.apply()
		running := l.start(1)
		first := l.record("a").UUID
		l.declare(l.job("a", payload("2")))
		l.apply()
		l.declare()
		l.apply()
		if r := l.record("a"); !r.Deposed || r.UUID != first {
			l.Errorf("the record is %+v, want a deposed one of the running generation %s", r, first)
		}
		l.end(conveyor.VerdictDone, running...)
		if names := l.work(); names != nil {
			l.Errorf("%q ran", names)
		}
		l.apply()
		if s := l.state(); len(s.Records) > 0 || s.Floor < 2 {
			l.Errorf("%d records are left, and the floor is %d, want none and at least 2", len(s.Records), s.Floor)
		}
	})
}

// TestChildFailsUnderClosingParent replaces a failed child while a sibling still runs: the failure no longer counts, and
// only the child and what waits for the parent run.
func TestChildFailsUnderClosingParent(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("p"), l.job("a", l.under("p")), l.job("slow", l.under("p")), l.job("heir", l.after("p")))
		l.apply()
		l.end(conveyor.VerdictDone, l.start(1)...)
		l.end(conveyor.VerdictFailed, l.start(1)...)
		slow := l.start(1)
		l.apply()
		l.end(conveyor.VerdictDone, slow...)
		if diff := cmp.Diff([]string{"a", "heir"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.noChanges()
	})
}

// TestStartedJobLeavesItsParent edits a job that runs, or has run and waits for its children, so that it is no child any
// more: its parent completes without it, and a child of it may wait for that.
func TestStartedJobLeavesItsParent(t *testing.T) {
	for _, closing := range []bool{false, true} {
		t.Run(fmt.Sprintf("closing=%t", closing), func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(l.job("p"), l.job("a", l.under("p")), l.job("below", l.under("a")))
				l.apply()
				l.end(conveyor.VerdictDone, l.start(1)...)
				running := l.start(1)
				if closing {
					l.end(conveyor.VerdictDone, running...)
				}
				l.declare(l.job("p"), l.job("a"), l.job("below", l.under("a")), l.job("last", l.under("a"), l.after("p")))
				l.apply()
				if !closing {
					l.end(conveyor.VerdictDone, running...)
				}
				if diff := cmp.Diff([]string{"below", "last"}, l.work()); diff != "" {
					l.Errorf("runs (-want +got):\n%s", diff)
				}
				l.noChanges()
			})
		})
	}
}
