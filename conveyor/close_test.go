package conveyor_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestClose(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A6a a leaf closes at once, also as one of as many as a call can end", func(e *engine) {
			var leaves []*wire.Job
			for i := range conveyor.MaxBatch {
				leaves = append(leaves, job(fmt.Sprintf("leaf%d", i)))
			}
			e.add(leaves...)
			var done []conveyor.Ack
			for range 4 {
				for _, r := range e.reserve(conveyor.MaxBatch / 4) {
					done = append(done, ack(r, conveyor.VerdictDone))
				}
			}
			e.exchange(0, done...)
			for _, l := range leaves {
				e.states(l.Uuid + " completed")
			}
			e.wantKeys()
		})
		e.Behaviour("A6b a parent with three children closes with the last one", func(e *engine) {
			e.add(job("p"), job("c1", under("p")), job("c2", under("p")), job("c3", under("p")), job("h", after(0, "p")))
			e.run("p", conveyor.VerdictDone)
			for i, r := range e.reserves("c1", "c2", "c3") {
				e.states(fmt.Sprintf("p closing, h held, c%d running", i+1))
				e.end(r, conveyor.VerdictDone)
			}
			e.states("p completed, h queued")
			e.run("h", conveyor.VerdictDone)
		})
		e.Behaviour("A6c the heir keeps its predecessor_uuid", func(e *engine) {
			e.add(job("p"), job("h", after(0, "p")))
			e.run("p", conveyor.VerdictDone)
			if got := e.take("h").Job; got.PredecessorUuid != "p" {
				e.Errorf("predecessor_uuid %q", got.PredecessorUuid)
			}
		})
		e.Behaviour("A6d closing an already closed job is harmless", func(e *engine) {
			e.add(job("x"))
			r := e.take("x")
			e.end(r, conveyor.VerdictDone)
			before := e.status("x")
			for _, verdict := range []conveyor.Verdict{conveyor.VerdictDone, conveyor.VerdictFailed, conveyor.VerdictBack} {
				if got := e.exchange(0, ack(r, verdict)).Outdated; !cmp.Equal(got, []int{0}) {
					e.Errorf("outdated %v", got)
				}
			}
			if diff := cmp.Diff(before, e.status("x")); diff != "" {
				e.Error(diff)
			}
		})
		e.Behaviour("A6e an heir of a child does not delay the grandparent", func(e *engine) {
			e.add(job("g"), job("gc", under("g")), job("gh", after(0, "gc")))
			e.run("g", conveyor.VerdictDone)
			e.run("gc", conveyor.VerdictDone)
			e.states("g completed, gc completed, gh queued")
			e.run("gh", conveyor.VerdictDone)
		})
		e.Behaviour("A6f it does when it also has a parent edge", func(e *engine) {
			e.add(job("G"), job("GC", under("G")), job("GH", under("G"), after(0, "GC")))
			e.run("G", conveyor.VerdictDone)
			e.run("GC", conveyor.VerdictDone)
			e.states("G closing, GC completed, GH queued")
			e.run("GH", conveyor.VerdictDone)
			e.states("G completed")
		})
		e.Behaviour("A14a two last siblings in one call close the parent once", func(e *engine) {
			e.add(job("P"), job("S1", under("P")), job("S2", under("P")), job("H", after(0, "P")))
			e.run("P", conveyor.VerdictDone)
			rs := e.reserves("S1", "S2")
			e.exchange(0, ack(rs[0], conveyor.VerdictDone), ack(rs[1], conveyor.VerdictDone))
			e.states("P completed, H queued")
			e.run("H", conveyor.VerdictDone)
			e.nothing()
		})
	})
}

func TestCloseAtTheSameInstant(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A14d two last siblings at the same instant close the parent once", closeAtTheSameInstant)
	})
}

func closeAtTheSameInstant(e *engine) {
	for round := range 20 {
		p, h := fmt.Sprintf("p%d", round), fmt.Sprintf("h%d", round)
		e.add(job(p), job(p+"a", under(p)), job(p+"b", under(p)), job(h, after(0, p)))
		e.run(p, conveyor.VerdictDone)
		rs := e.reserves(p+"a", p+"b")
		var wg sync.WaitGroup
		for i, r := range rs {
			wg.Go(func() {
				_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
					Caller: fmt.Sprintf("caller%d", i), Number: int64(round + 1), Done: []conveyor.Ack{ack(r, conveyor.VerdictDone)},
				})
				if err != nil {
					e.Error(err)
				}
			})
		}
		wg.Wait()
		e.states(p + " completed, " + h + " queued")
		e.run(h, conveyor.VerdictDone)
		e.nothing()
	}
}

func TestOutcomes(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A10a a child that fails for good makes its parent fail", func(e *engine) {
			e.add(job("p"), job("c", under("p")), job("s", after(wire.Edge_SUCCESS, "p")), job("f", after(wire.Edge_FAILURE, "p")))
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictFailed)
			e.states("p failed(child), c failed, s skipped, f queued")
			if s := e.status("p"); s.FailedChildren != 1 {
				e.Errorf("%d failed children", s.FailedChildren)
			}
			if s := e.status("s"); s.Cause != "p" || s.Success {
				e.Errorf("skipped by %q, success %v", s.Cause, s.Success)
			}
			e.run("f", conveyor.VerdictDone)
		})
		e.Behaviour("A10b unless it is ignored", func(e *engine) {
			e.add(job("ip"), job("ic", edge(&wire.Edge{Uuid: "ip", IgnoreFailure: true})), job("is", after(wire.Edge_SUCCESS, "ip")))
			e.run("ip", conveyor.VerdictDone)
			e.run("ic", conveyor.VerdictFailed)
			e.states("ip completed, ic failed, is queued")
			e.run("is", conveyor.VerdictDone)
		})
		e.Behaviour("A10c a failed parent skips its children, their heirs and so on", func(e *engine) {
			e.add(job("fp"), job("k1", under("fp")), job("k2", under("k1")), job("k3", after(0, "k2")), job("k4", after(wire.Edge_ALWAYS, "k3")),
				job("k5", after(wire.Edge_FAILURE, "k2")))
			e.run("fp", conveyor.VerdictFailed)
			e.states("fp failed, k1 skipped, k2 skipped, k3 skipped, k4 queued, k5 queued")
			for _, r := range e.reserves("k5", "k4") {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
		e.Behaviour("A10d skipped passes on the outcome that excluded it", func(e *engine) {
			e.add(job("ok"), job("onlyfail", after(wire.Edge_FAILURE, "ok")), job("then", after(wire.Edge_SUCCESS, "onlyfail")))
			e.run("ok", conveyor.VerdictDone)
			e.states("ok completed, onlyfail skipped, then queued")
			if !e.status("onlyfail").Success {
				e.Error("skipped by a success")
			}
			e.run("then", conveyor.VerdictDone)
		})
		e.Behaviour("A10e a block is judged when all its jobs have ended", func(e *engine) {
			e.add(job("b1"), job("b2"), job("x", after(wire.Edge_FAILURE, "b1", "b2")), job("y", after(wire.Edge_SUCCESS, "b1", "b2")),
				job("z", after(wire.Edge_ALWAYS, "b1", "b2")))
			rs := e.reserves("b1", "b2")
			e.end(rs[0], conveyor.VerdictDone)
			e.states("x held, y held, z held")
			e.end(rs[1], conveyor.VerdictFailed)
			e.states("x queued, y skipped, z queued")
			for _, r := range e.reserves("x", "z") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A10f blocks combine with AND, and failure wins", func(e *engine) {
			e.add(job("m1"), job("m2"),
				job("and", after(wire.Edge_SUCCESS, "m1"), after(wire.Edge_FAILURE, "m2")),
				job("no", after(wire.Edge_FAILURE, "m1"), after(wire.Edge_SUCCESS, "m2")))
			rs := e.reserves("m1", "m2")
			e.end(rs[0], conveyor.VerdictDone)
			e.states("and held, no held")
			e.end(rs[1], conveyor.VerdictFailed)
			e.states("and queued, no skipped")
			if e.status("no").Success {
				e.Error("m1 excludes by success, m2 by failure: failure wins")
			}
			e.run("and", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Run("the cause of a skipped job is an upstream that excluded it", func(e *engine) {
			e.add(job("n1"), job("n2"), job("both", after(wire.Edge_SUCCESS, "n1", "n2")), job("none", after(wire.Edge_FAILURE, "n1", "n2"), after(wire.Edge_SUCCESS, "n2")))
			rs := e.reserves("n1", "n2")
			e.end(rs[0], conveyor.VerdictFailed)
			e.end(rs[1], conveyor.VerdictDone)
			e.run("none", conveyor.VerdictDone)
			e.add(job("late", after(wire.Edge_SUCCESS, "n1", "n2")), job("never", after(wire.Edge_FAILURE, "n2", "none")))
			e.states("both skipped, late skipped, never skipped")
			for uuid, want := range map[string]string{"both": "n1", "late": "n1", "never": "none"} {
				if got := e.status(uuid).Cause; got != want {
					e.Errorf("%s was skipped by %q, want %q", uuid, got, want)
				}
			}
		})
		e.Behaviour("A10g one upstream may stand in two blocks", func(e *engine) {
			e.add(job("t1"), job("t2"), job("tw", after(wire.Edge_ALWAYS, "t1"), after(wire.Edge_SUCCESS, "t1", "t2")))
			rs := e.reserves("t1", "t2")
			e.end(rs[0], conveyor.VerdictDone)
			e.end(rs[1], conveyor.VerdictDone)
			e.run("tw", conveyor.VerdictDone)
		})
		e.Behaviour("A10h a child skipped by another edge fails its parent", func(e *engine) {
			e.add(job("P"), job("Q"), job("C", under("P"), after(0, "Q")))
			rs := e.reserves("P", "Q")
			e.end(rs[0], conveyor.VerdictDone)
			e.end(rs[1], conveyor.VerdictFailed)
			e.states("P failed(child), C skipped")
		})
	})
}

func TestChildThatWaitsForItsTimeOrCancelled(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Run("a child cancelled before its parent ran fails it", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.ok(e.Cancel(e.Context(), "c"))
			e.states("p queued, c cancelled")
			e.sound()
			e.run("p", conveyor.VerdictDone)
			e.states("p failed(child)")
		})
		e.Run("also when the parent came after", func(e *engine) {
			e.add(job("c2", under("p2")))
			e.ok(e.Cancel(e.Context(), "c2"))
			e.add(job("p2"))
			e.run("p2", conveyor.VerdictDone)
			e.states("p2 failed(child)")
		})
		e.Run("a scheduled child cancelled closes its parent", func(e *engine) {
			e.add(job("p3"), job("c3", under("p3"), runAt(e.now+1000)))
			e.run("p3", conveyor.VerdictDone)
			e.states("p3 closing, c3 scheduled")
			e.ok(e.Cancel(e.Context(), "c3"))
			e.states("p3 failed(child), c3 cancelled")
			e.wantKeys()
		})
	})
}

func TestManyDependents(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Run("no script changes more than 200 jobs and all are released in order", func(e *engine) {
			const n = 650
			var jobs []*wire.Job
			var want []string
			for i := range n {
				jobs = append(jobs, job(fmt.Sprintf("c%03d", i), under("p")))
				want = append(want, fmt.Sprintf("c%03d", i))
			}
			e.add(jobs...)
			e.add(job("h", after(0, "p")), job("p"))
			e.run("p", conveyor.VerdictDone)
			e.states("p closing, c000 queued, c649 held")
			e.sound()
			for e.tick().More {
				e.sound()
			}
			e.bounded()
			var got []string
			var done []conveyor.Ack
			for len(got) < n {
				reply := e.exchange(100, done...)
				got = append(got, names(reply.Reserved)...)
				done = done[:0]
				for _, r := range reply.Reserved {
					done = append(done, ack(r, conveyor.VerdictDone))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				e.Error(diff)
			}
			e.states("p closing, h held")
			e.exchange(0, done...)
			e.states("p completed, h queued")
			e.run("h", conveyor.VerdictDone)
		})
		e.Run("a chain of 500 skips through", func(e *engine) {
			var jobs []*wire.Job
			for i := range 500 {
				jobs = append(jobs, job(fmt.Sprintf("s%03d", i+1), after(0, fmt.Sprintf("s%03d", i))))
			}
			e.add(jobs...)
			e.add(job("s000"))
			e.run("s000", conveyor.VerdictFailed)
			for e.tick().More {
				e.sound()
			}
			e.states("s000 failed, s001 skipped, s250 skipped, s500 skipped")
			e.bounded()
			e.wantKeys()
		})
	})
}

// bounded wants no event of more than 200 jobs.
func (e *engine) bounded() {
	e.Helper()
	batch, err := e.Events(e.Context(), 0, 0)
	e.ok(err)
	for _, ev := range batch.Events {
		if len(ev.Jobs) > 200 {
			e.Errorf("event %d changed %d jobs", ev.Seq, len(ev.Jobs))
		}
	}
}
