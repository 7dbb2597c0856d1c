package conveyor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestCancel(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Run("a waiting job ends at once, wherever it waits", func(e *engine) {
			e.add(job("q1"), job("q2"), job("s", runAt(e.now+1000)), job("h", after(wire.Edge_ALWAYS, "q2")), job("x", after(wire.Edge_FAILURE, "q1")))
			for _, u := range []string{"q1", "s", "h"} {
				e.ok(e.Cancel(e.Context(), u))
			}
			e.states("q1 cancelled, s cancelled, h cancelled, x queued")
			e.sound()
			for _, r := range e.reserves("q2", "x") {
				e.end(r, conveyor.VerdictDone)
			}
			e.pass(time.Minute)
			e.nothing()
			e.wantKeys()
		})
		e.Run("a running one is told by its worker's beat and ends when it stops", func(e *engine) {
			for _, verdict := range []conveyor.Verdict{conveyor.VerdictFailed, conveyor.VerdictRetry, conveyor.VerdictBack, conveyor.VerdictDefer} {
				u := fmt.Sprintf("r%d", verdict)
				e.add(job(u))
				e.beat("w")
				r := e.take(u)
				e.ok(e.Cancel(e.Context(), u))
				if s := e.status(u); s.State != conveyor.StateRunning || !s.CancelRequested {
					e.Errorf("%+v", s)
				}
				if got := e.beat("w", conveyor.Holding{UUID: u, Fence: r.Fence}).Cancel; !cmp.Equal(got, []string{u}) {
					e.Errorf("told to cancel %v", got)
				}
				e.end(r, verdict)
				e.states(u + " cancelled")
			}
		})
		e.Run("or when its lease does", func(e *engine) {
			e.add(job("l"))
			e.take("l")
			e.ok(e.Cancel(e.Context(), "l"))
			e.pass(conveyor.DeadAfter)
			e.tick()
			e.states("l cancelled")
		})
		e.Run("one that succeeded before it was told is done", func(e *engine) {
			e.add(job("d"))
			r := e.take("d")
			e.ok(e.Cancel(e.Context(), "d"))
			e.end(r, conveyor.VerdictDone)
			e.states("d completed")
		})
		e.Run("a closing one ends as cancelled after its children", func(e *engine) {
			e.add(job("p"), job("c", under("p")), job("ph", after(wire.Edge_FAILURE, "p")))
			e.run("p", conveyor.VerdictDone)
			e.ok(e.Cancel(e.Context(), "p"))
			e.states("p closing, c queued, ph held")
			e.run("c", conveyor.VerdictDone)
			e.states("p cancelled, ph queued")
			e.run("ph", conveyor.VerdictDone)
		})
		e.Run("an ended one stays as it is, an unknown one is not found", func(e *engine) {
			e.ok(e.Cancel(e.Context(), "d"))
			e.states("d completed")
			e.refused(e.Cancel(e.Context(), "nobody"), conveyor.ErrNotFound)
			e.refused(e.Release(e.Context(), "nobody"), conveyor.ErrNotFound)
			e.refused(e.Retry(e.Context(), "nobody"), conveyor.ErrNotFound)
			e.refused(e.Release(e.Context(), "d"), conveyor.ErrState)
			e.refused(e.Retry(e.Context(), "d"), conveyor.ErrState)
		})
	})
}

func TestUpdate(t *testing.T) {
	onBoth(t, func(e *engine) {
		payload := func(text string) func(*wire.Job) { return func(j *wire.Job) { j.Payload = []byte(text) } }
		update := func(e *engine, j *wire.Job) {
			e.Helper()
			e.ok(e.Update(e.Context(), j))
			e.sound()
			before := dumpJobs(e)
			e.ok(e.Update(e.Context(), j))
			if diff := cmp.Diff(before, dumpJobs(e)); diff != "" {
				e.Errorf("a repeated update changed something:\n%s", diff)
			}
		}
		e.Run("a queued job keeps its place and has its new bytes", func(e *engine) {
			e.add(job("a", payload("old")), job("b"))
			update(e, job("a", payload("new")))
			r := e.take("a")
			if string(r.Job.Payload) != "new" {
				e.Errorf("payload %q", r.Job.Payload)
			}
			e.end(r, conveyor.VerdictDone)
			e.run("b", conveyor.VerdictDone)
		})
		e.Run("another lane or queue is another place", func(e *engine) {
			e.add(job("a2"), job("b2"))
			update(e, job("b2", lane(2)))
			for _, r := range e.reserves("b2", "a2") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("a time ahead delays, a time gone releases", func(e *engine) {
			e.add(job("t1"), job("t2", runAt(e.now+5000)))
			update(e, job("t1", runAt(e.now+1000)))
			update(e, job("t2"))
			e.run("t2", conveyor.VerdictDone)
			e.nothing()
			e.pass(time.Second)
			e.run("t1", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Run("other edges replace the old ones", func(e *engine) {
			e.add(job("u1"), job("u2"), job("h", after(0, "u1")), job("k", under("u1")))
			update(e, job("h", after(0, "u2")))
			update(e, job("k", after(0, "u1", "u2")))
			rs := e.reserves("u1", "u2")
			e.end(rs[0], conveyor.VerdictDone)
			e.states("u1 completed, h held, k held")
			e.end(rs[1], conveyor.VerdictDone)
			for _, r := range e.reserves("h", "k") {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
		e.Run("edges decided before stay decided, though their upstream is gone", func(e *engine) {
			e.add(job("g1"), job("g2"), job("gh", after(0, "g1"), after(0, "g2")), job("gs", after(0, "g1"), runAt(e.now+1000)))
			rs := e.reserves("g1", "g2")
			e.end(rs[0], conveyor.VerdictDone)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeRelease, UUID: "g1"}}}))
			e.states("g1 unknown, gs scheduled")
			update(e, job("gh", after(0, "g1"), after(0, "g2"), payload("x")))
			update(e, job("gs", after(0, "g1")))
			e.run("gs", conveyor.VerdictDone)
			e.end(rs[1], conveyor.VerdictDone)
			e.run("gh", conveyor.VerdictDone)
		})
		e.Run("a queued job that is to wait again is held", func(e *engine) {
			e.add(job("w"), job("w0"))
			update(e, job("w", after(0, "w0")))
			e.states("w held")
			e.run("w0", conveyor.VerdictDone)
			e.run("w", conveyor.VerdictDone)
		})
		e.Run("a job in backoff keeps its due time", func(e *engine) {
			e.add(job("bo"))
			r := e.take("bo")
			e.exchange(0, conveyor.Ack{UUID: "bo", Fence: r.Fence, Verdict: conveyor.VerdictRetry, Delay: time.Minute})
			update(e, job("bo", payload("new")))
			e.nothing()
			e.pass(time.Minute)
			e.run("bo", conveyor.VerdictDone)
		})
		e.Run("a running one takes it for its next attempt", func(e *engine) {
			e.add(job("ru", payload("old")))
			r := e.take("ru")
			update(e, job("ru", payload("new"), lane(2)))
			e.end(r, conveyor.VerdictBack)
			r = e.take("ru")
			if string(r.Job.Payload) != "new" {
				e.Errorf("payload %q", r.Job.Payload)
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Run("a parent edge taken away lets the parent end", func(e *engine) {
			e.add(job("pp"), job("pc", under("pp"), runAt(e.now+1000)))
			e.run("pp", conveyor.VerdictDone)
			e.states("pp closing, pc scheduled")
			update(e, job("pc", runAt(e.now+1000)))
			e.states("pp completed")
			e.pass(time.Second)
			e.run("pc", conveyor.VerdictDone)
		})
		e.Run("what was never added is not found", func(e *engine) {
			e.refused(e.Update(e.Context(), job("nobody")), conveyor.ErrNotFound)
		})
	})
}

// dumpJobs is dump without the event log.
func dumpJobs(e *engine) string {
	e.Helper()
	var lines []string
	for line := range strings.SplitSeq(dump(e), "\n") {
		if !strings.HasPrefix(line, "events") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestApply(t *testing.T) {
	attach := func(field string, version int64, value string) *conveyor.Attach {
		a := &conveyor.Attach{Key: "state:w", Field: field, Version: version}
		if value != "" {
			a.Value = []byte(value)
		}
		return a
	}
	onBoth(t, func(e *engine) {
		field := func(name string) string {
			v, _ := e.rdb.HGet(e.Context(), e.key("state:w"), name).Result()
			return v
		}
		// twice applies a batch, and again as after a lost reply: that must change nothing.
		twice := func(e *engine, b conveyor.Batch) {
			e.Helper()
			e.ok(e.Apply(e.Context(), b))
			e.sound()
			before := dump(e)
			if err := e.Apply(e.Context(), b); err != nil {
				e.Fatalf("repeated: %v", err)
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("a repeated apply changed something:\n%s", diff)
			}
		}
		e.Run("job and record are written together", func(e *engine) {
			twice(e, conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("b", after(0, "a")), Attach: attach("B", 0, "1 b")},
				{Kind: conveyor.ChangeAdd, Job: job("a"), Attach: attach("A", 0, "1 a")},
			}, Companions: []conveyor.Attach{{Key: "meta:w", Field: "floor", Version: -1, Value: []byte("0")}}})
			if field("A") != "1 a" || field("B") != "1 b" || !e.status("a").Recorded {
				e.Errorf("%q %q %+v", field("A"), field("B"), e.status("a"))
			}
		})
		e.Run("one bad expectation refuses all of it", func(e *engine) {
			before := dump(e)
			err := e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("n"), Attach: attach("N", 0, "1 n")},
				{Kind: conveyor.ChangeUpdate, Job: job("a"), Expect: []conveyor.State{conveyor.StateRunning}, Attach: attach("A", 1, "2 a")},
				{Kind: conveyor.ChangeAttach, Attach: attach("B", 7, "8 b")},
			}, Companions: []conveyor.Attach{*attach("Z", 3, "4 z")}})
			var conflict *conveyor.ConflictError
			if !errors.As(err, &conflict) {
				e.Fatal(err)
			}
			want := []conveyor.Conflict{
				{Index: 1, State: conveyor.StateQueued}, {Index: 2, Stale: true, Version: 1}, {Index: -1, Stale: true},
			}
			if diff := cmp.Diff(want, conflict.Conflicts); diff != "" {
				e.Error(diff)
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Error(diff)
			}
		})
		e.Run("a guard that does not hold refuses", func(e *engine) {
			b := conveyor.Batch{Guard: &conveyor.Guard{Key: "lock:w", Field: "fence", Want: "7"}, Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("n")}}}
			e.refused(e.Apply(e.Context(), b), conveyor.ErrGuard)
			e.ok(e.rdb.HSet(e.Context(), e.key("lock:w"), "fence", "8").Err())
			e.refused(e.Apply(e.Context(), b), conveyor.ErrGuard)
			e.states("n unknown")
			e.ok(e.rdb.HSet(e.Context(), e.key("lock:w"), "fence", "7").Err())
			twice(e, b)
			e.run("a", conveyor.VerdictDone)
			for _, r := range e.reserves("n", "b") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("an update is recognised after its job has gone on", func(e *engine) {
			e.add(job("u"))
			b := conveyor.Batch{Changes: []conveyor.Change{{
				Kind: conveyor.ChangeUpdate, Job: job("u", lane(2)), Expect: []conveyor.State{conveyor.StateQueued}, Attach: attach("U", 0, "1 u"),
			}}}
			twice(e, b)
			e.run("u", conveyor.VerdictDone)
			e.ok(e.Apply(e.Context(), b))
		})
		e.Run("the engine's own keys are refused", func(e *engine) {
			for _, key := range []string{"", "status", "unique", "queue:q", "jobs:a", "label:a=b", "past:a=b", "ended:q", "worker:w", "call:c"} {
				e.refused(e.Apply(e.Context(), conveyor.Batch{Companions: []conveyor.Attach{{Key: key, Field: "a", Value: []byte("x")}}}), conveyor.ErrKey)
			}
		})
		e.Run("cancel and forget remove the record and what is over", func(e *engine) {
			e.add(job("c"))
			twice(e, conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeCancel, UUID: "c", Withdraw: true, Attach: attach("C", -1, "")},
				{Kind: conveyor.ChangeRelease, UUID: "a", Attach: attach("A", 1, "")},
				{Kind: conveyor.ChangeRelease, UUID: "lost", Attach: attach("lost", -1, "")},
			}})
			e.states("c cancelled, a unknown")
			if field("A") != "" || field("C") != "" {
				e.Error("records are left")
			}
		})
		e.Run("a job that is only forgotten goes on, or is kept like any other", func(e *engine) {
			e.add(job("over"), job("on"), job("heir", after(0, "on")))
			e.run("over", conveyor.VerdictDone)
			twice(e, conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("over"), Attach: attach("over", 0, "1 x")}, {Kind: conveyor.ChangeAdd, Job: job("on"), Attach: attach("on", 0, "1 x")},
			}})
			e.want(true, e.status("over").Recorded && e.status("on").Recorded)
			twice(e, conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeForget, UUID: "over", Attach: attach("over", 1, "")},
				{Kind: conveyor.ChangeForget, UUID: "on", Attach: attach("on", 1, "")},
				{Kind: conveyor.ChangeForget, UUID: "nowhere", Attach: attach("nowhere", -1, "")},
			}})
			e.states("over completed, on queued, nowhere unknown")
			e.want(false, e.status("over").Recorded || e.status("on").Recorded)
			e.run("on", conveyor.VerdictDone)
			e.run("heir", conveyor.VerdictDone)
		})
	})
}
