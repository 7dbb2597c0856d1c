package applier

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// named makes the workflow another one.
func (l *lab) named(name, from string) {
	next := *l.workflow
	next.Name, next.MovedFrom = name, from
	l.workflow = &next
}

// declaredBy is who declares the settings of queues, by queue.
func (l *lab) declaredBy() map[string][]string {
	l.Helper()
	queues, err := l.Queues(l.Context())
	l.ok(err)
	by := map[string][]string{}
	for _, q := range queues {
		if len(q.DeclaredBy) > 0 {
			by[q.Name] = q.DeclaredBy
		}
	}
	return by
}

// TestCarriedOver gives a workflow another name while its jobs wait, run and have ended: all of its state is there under the new
// one, nothing runs again, and the old name is free for another workflow, which touches none of it.
func TestCarriedOver(t *testing.T) {
	onBoth(t, func(l *lab) {
		declare := func(queue string) {
			in := func(j *config.Job) { j.Queue = queue }
			l.declare(l.job("done"), l.job("running", l.after("done")), l.job("waiting", l.after("running"), in))
			l.workflow.Queues = []*config.Queue{{Name: "q", Concurrency: 5, Weight: 2}, {Name: "r", Weight: 3}}
			l.workflow.Outputs = []*config.Output{{Name: "o", Value: cty.StringVal("kept")}}
		}
		declare("q")
		l.named("old", "")
		for range 2 { // the floor rises
			l.apply()
			l.destroy()
		}
		l.apply()
		l.ok(l.SetQueue(l.Context(), "r", conveyor.QueueSettings{Weight: 3}, conveyor.DeclaredBy("third")))
		l.end(conveyor.VerdictDone, l.start(1)...)
		running := l.start(1)
		before := l.state()

		l.named("new", "old")
		p := l.plan()
		if p.Former != "old" || p.Empty() || len(changes(p)) != 0 || len(p.Queues) != 0 || len(p.Outputs) != 0 {
			l.Errorf("the plan from %q has changes %v, %v, %v; want it to carry the state over and no more", p.Former, changes(p), p.Queues, p.Outputs)
		}
		declare("q2") // as if the default queue changed with the name
		l.named("new", "old")
		if r := l.apply(); r.Added != 0 || r.Changed != 1 || r.Destroyed != 0 {
			l.Errorf("result is %+v, want one change", r)
		}
		after := l.state()
		if after.Lineage != before.Lineage || after.Floor != before.Floor || after.Floor == 0 {
			l.Errorf("lineage %s and floor %d, want %s and %d, above 0", after.Lineage, after.Floor, before.Lineage, before.Floor)
		}
		if diff := cmp.Diff([]any{before.Outputs, before.Queues}, []any{after.Outputs, after.Queues}); diff != "" {
			l.Errorf("outputs and queues (-before +after):\n%s", diff)
		}
		for name, was := range before.Records {
			if is := after.Records[name]; is == nil || is.UUID != was.UUID || is.Generation != was.Generation {
				l.Errorf("%s has the record %+v, want that of %s", name, is, was.UUID)
			}
			if was, is := before.Live[name].Status, after.Live[name].Status; was != is {
				l.Errorf("%s was %s and is %s", name, was, is)
			}
		}
		if diff := cmp.Diff(map[string][]string{"q": {"new"}, "r": {"new", "third"}}, l.declaredBy()); diff != "" {
			l.Errorf("who declares queues (-want +got):\n%s", diff)
		}
		if p := l.plan(); !p.Empty() {
			l.Errorf("the next plan, with moved_from, still has something to do: %+v", p)
		}
		workflows, err := readWorkflows(l.Context(), l.Client)
		l.ok(err)
		if _, listed := workflows["old"]; listed || workflows["new"] == 0 {
			l.Errorf("workflows are %v, want new alone", workflows)
		}

		// Another workflow of the old name.
		mine := l.workflow
		l.declare(l.job("done"), l.job("other"))
		l.named("old", "")
		if r := l.apply(); r.Added != 2 || r.Changed != 0 || r.Destroyed != 0 {
			l.Errorf("result of the other workflow is %+v, want two jobs added", r)
		}
		if other := l.state(); other.Lineage == before.Lineage || other.Records["job.done"].UUID == before.Records["job.done"].UUID {
			l.Error("the other workflow has the lineage of the one that moved")
		}
		l.workflow = mine
		if p := l.plan(); !p.Empty() {
			l.Errorf("the plan beside the other workflow has something to do: %+v", p)
		}
		l.named("old", "")
		l.destroy()
		l.workflow = mine
		if diff := cmp.Diff(after.Live, l.state().Live); diff != "" {
			l.Errorf("jobs after the other workflow was destroyed (-before +after):\n%s", diff)
		}
		l.end(conveyor.VerdictDone, running...)
		if got := l.state().Live["job.waiting"].Status; got != planner.Queued {
			l.Errorf("what waited is %s, want queued", got)
		}
		l.destroy()
	})
}

// TestCarriedOverOnce checks that a workflow whose state is gone again does not take another's that has its former name by then.
func TestCarriedOverOnce(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.named("old", "")
		l.apply()
		l.named("new", "old")
		l.apply()
		l.destroy()
		l.named("old", "")
		l.apply()
		id := l.record("a").UUID
		l.named("new", "old")
		if p := l.plan(); p.Former != "" {
			l.Errorf("the state of %q is taken once more", p.Former)
		}
		l.apply()
		if l.record("a").UUID == id {
			l.Error("it has the job of the other workflow")
		}
		// And back: the name that it had is free again.
		l.named("back", "new")
		l.apply()
		l.named("new", "back")
		l.apply()
		l.named("back", "new")
		if r := l.apply(); r.Added+r.Changed+r.Destroyed != 0 || l.plan().Former != "" || len(l.state().Records) != 1 {
			l.Errorf("moving to and fro ends with %+v, %v", r, l.state().Records)
		}
	})
}

// TestDestroyedUnderAnotherName ends jobs that are recorded under the former name.
func TestDestroyedUnderAnotherName(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.named("old", "")
		l.apply()
		l.named("new", "old")
		if r := l.destroy(); r.Destroyed != 1 {
			l.Errorf("result is %+v, want one job destroyed", r)
		}
		if s := l.state(); len(s.Records) != 0 {
			l.Errorf("records are left: %v", s.Records)
		}
	})
}

func TestTwoStates(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b"))
		l.named("old", "")
		l.apply()
		l.declare(l.job("a"))
		l.named("new", "")
		l.apply()
		l.named("new", "old")
		_, err := ReadStateFor(l.Context(), l.Client, l.workflow)
		if !errors.Is(err, ErrTwoStates) || !strings.Contains(err.Error(), "records: 2 under the old one, 1 under the new one") {
			l.Errorf("got %v, want %v with the records counted", err, ErrTwoStates)
		}
		if _, err := ReadRecordsFor(l.Context(), l.Client, l.workflow); !errors.Is(err, ErrTwoStates) {
			l.Errorf("without how jobs stand: got %v, want %v", err, ErrTwoStates)
		}
	})
}

// TestFormerLocked waits for whoever applies under the former name, in both orders of the names, and leaves nothing locked.
func TestFormerLocked(t *testing.T) {
	onBoth(t, func(l *lab) {
		for _, names := range [][2]string{{"a", "b"}, {"d", "c"}} {
			l.declare(l.job("j"))
			l.named(names[0], "")
			l.apply()
			_, other, err := acquireLock(l.Context(), l.Client, lockRequest{workflow: names[0], who: "somebody", operation: "apply"})
			l.ok(err)
			l.named(names[1], names[0])
			l.run.LockTimeout = -1
			_, err = l.tryApply(l.Context())
			var locked *LockedError
			if !errors.As(err, &locked) || locked.Workflow != names[0] || locked.Holder.Who != "somebody" {
				l.Errorf("%v: got %v, want that %q is locked by somebody", names, err, names[0])
			}
			if h, err := ReadLock(l.Context(), l.Client, names[1]); h != nil || err != nil {
				l.Errorf("%v: the new name is locked by %+v (%v)", names, h, err)
			}
			l.ok(other.release(l.Context()))
			l.apply()
			for _, name := range names {
				if h, err := ReadLock(l.Context(), l.Client, name); h != nil || err != nil {
					l.Errorf("%v: %q is locked by %+v (%v)", names, name, h, err)
				}
			}
		}
	})
}

// TestCarriedOverMeanwhile applies plans that were made before the state of either name changed.
func TestCarriedOverMeanwhile(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.named("new", "old")
		early := l.plan()
		l.named("old", "")
		l.apply()
		l.named("new", "old")
		if _, err := l.carryOut(l.Context(), early); !errors.Is(err, ErrFormerAppeared) {
			l.Errorf("got %v, want %v", err, ErrFormerAppeared)
		}
		if len(l.state().Records) != 0 {
			l.Error("something was written")
		}
		late := l.plan()
		l.apply()
		if r, err := l.carryOut(l.Context(), late); err != nil || r.Added+r.Changed+r.Destroyed != 0 {
			l.Errorf("a plan that another apply has carried out: %+v, %v; want nothing done", r, err)
		}
	})
}

// TestCarryGuarded wants nothing carried over by one that has lost either lock.
func TestCarryGuarded(t *testing.T) {
	onBoth(t, func(l *lab) {
		for _, lost := range []string{"old", "new"} {
			l.declare(l.job("a", timeout(time.Minute)))
			l.named("old", "")
			l.apply()
			l.named("new", "old")
			l.run.probe = func(phase string) {
				if phase != "carry" {
					return
				}
				h, err := ReadLock(l.Context(), l.Client, lost)
				l.ok(err)
				l.ok(ForceUnlock(l.Context(), l.Client, lost, h.Token))
			}
			if _, err := l.tryApply(l.Context()); !errors.Is(err, ErrLockLost) {
				l.Errorf("without the lock of %s: got %v, want %v", lost, err, ErrLockLost)
			}
			l.run.probe = nil
			if n := len(l.state().Records); n != 0 {
				l.Errorf("without the lock of %s: %d records are carried over", lost, n)
			}
		}
	})
}
