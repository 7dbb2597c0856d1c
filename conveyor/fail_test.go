package conveyor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestFail(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A8a a failed attempt is retried after its backoff, and counts", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.exchange(0, conveyor.Ack{UUID: "a", Fence: r.Fence, Verdict: conveyor.VerdictRetry, Delay: 2 * time.Second, Failure: "boom"})
			e.states("a scheduled")
			e.nothing()
			e.pass(2 * time.Second)
			r = e.take("a")
			if r.Fence != 2 || r.Attempts != 1 || r.Lost != 0 {
				e.Errorf("%+v", r)
			}
			if text, err := e.Failure(e.Context(), "a"); err != nil || text != "boom" {
				e.Errorf("%q %v", text, err)
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Behaviour("A8b the last failure is kept with the bytes, for a retry", func(e *engine) {
			e.add(job("f", func(j *wire.Job) { j.Payload = []byte("p") }))
			r := e.take("f")
			e.exchange(0, conveyor.Ack{UUID: "f", Fence: r.Fence, Verdict: conveyor.VerdictFailed, Failure: "bad"})
			j, s, err := e.Get(e.Context(), "f")
			e.ok(err)
			if string(j.GetPayload()) != "p" || s.State != conveyor.StateFailed || s.Attempts != 1 {
				e.Errorf("%v %+v", j, s)
			}
			e.ok(e.Retry(e.Context(), "f"))
			before := dump(e)
			e.ok(e.Retry(e.Context(), "f"))
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("a repeated retry changed something: %s", diff)
			}
			r = e.take("f")
			if r.Fence != 2 || r.Attempts != 0 || r.Opening != 2 {
				e.Errorf("%+v", r)
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Behaviour("A8c a child that fails once and then succeeds still closes its parent and fires heirs", func(e *engine) {
			e.add(job("p"), job("c", under("p")), job("h", after(0, "p")), job("ch", after(0, "c")))
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictRetry)
			e.states("p closing, c queued, h held, ch held")
			e.run("c", conveyor.VerdictDone)
			e.states("p completed, c completed, h queued, ch queued")
			for _, r := range e.reserves("ch", "h") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A8d an heir that fails once and then succeeds", func(e *engine) {
			e.add(job("p1"), job("h1", after(0, "p1")), job("h2", after(0, "h1")))
			e.run("p1", conveyor.VerdictDone)
			e.run("h1", conveyor.VerdictRetry)
			e.run("h1", conveyor.VerdictDone)
			e.run("h2", conveyor.VerdictDone)
		})
		e.Behaviour("A8e declared edges survive retries of the upstream", func(e *engine) {
			e.add(job("u"), job("uc", under("u")), job("uh", after(0, "u")))
			e.run("u", conveyor.VerdictRetry)
			e.states("u queued, uc held, uh held")
			e.run("u", conveyor.VerdictDone)
			e.run("uc", conveyor.VerdictDone)
			e.run("uh", conveyor.VerdictDone)
		})
		e.Behaviour("A8f deferring and handing back count nowhere", func(e *engine) {
			e.add(job("d"))
			r := e.take("d")
			e.exchange(0, conveyor.Ack{UUID: "d", Fence: r.Fence, Verdict: conveyor.VerdictDefer, Delay: time.Minute})
			e.pass(time.Minute)
			e.run("d", conveyor.VerdictBack)
			r = e.take("d")
			if r.Attempts != 0 || r.Lost != 0 || r.Fence != 3 {
				e.Errorf("%+v", r)
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Behaviour("A8g on hold it stays until it is released", func(e *engine) {
			e.add(job("o"), job("oh", after(0, "o")))
			e.run("o", conveyor.VerdictHold)
			e.states("o on hold, oh held")
			e.nothing()
			e.ok(e.Release(e.Context(), "o"))
			r := e.take("o")
			if r.Attempts != 0 {
				e.Errorf("%+v", r)
			}
			e.end(r, conveyor.VerdictDone)
			e.run("oh", conveyor.VerdictDone)
		})
	})
}

func TestAttemptMadeEdges(t *testing.T) {
	made := func(kind wire.Edge_Kind, up string, fence int64) func(*wire.Job) {
		return edge(&wire.Edge{Kind: kind, Uuid: up, MadeBy: fence})
	}
	onBoth(t, func(e *engine) {
		e.Behaviour("A8h children and heirs made by a failed attempt do not run twice", func(e *engine) {
			e.add(job("u"))
			r := e.take("u")
			e.add(job("c1", made(0, "u", r.Fence)), job("h1", made(1, "u", r.Fence)))
			e.nothing()
			e.end(r, conveyor.VerdictRetry)
			r = e.take("u")
			e.add(job("c2", made(0, "u", r.Fence)), job("h2", made(1, "u", r.Fence)))
			e.end(r, conveyor.VerdictDone)
			e.states("u closing, c1 cancelled, c2 queued, h1 held, h2 held")
			e.run("c2", conveyor.VerdictDone)
			e.states("u completed, h1 cancelled, h2 queued")
			e.run("h2", conveyor.VerdictDone)
			e.nothing()
			e.wantKeys()
		})
		e.Behaviour("A8i the same uuid made again by the next attempt runs once", func(e *engine) {
			e.add(job("v"))
			r := e.take("v")
			e.add(job("vc", made(0, "v", r.Fence)))
			e.end(r, conveyor.VerdictRetry)
			r = e.take("v")
			again := job("vc", made(0, "v", r.Fence))
			again.Payload = []byte("second")
			e.add(again)
			e.end(r, conveyor.VerdictDone)
			got := e.take("vc")
			if string(got.Job.Payload) != "second" {
				e.Errorf("payload %q", got.Job.Payload)
			}
			e.end(got, conveyor.VerdictDone)
			e.states("v completed, vc completed")
			e.wantKeys()
		})
		e.Run("also when it waits for others besides", func(e *engine) {
			e.add(job("m"), job("other"))
			r := e.take("m")
			waits := func(upstreams ...string) func(*wire.Job) {
				return func(j *wire.Job) {
					for i, up := range upstreams {
						j.Edges = append(j.Edges, &wire.Edge{Kind: 1, Uuid: up, Group: int32(i + 1)})
					}
				}
			}
			e.add(job("mh", made(1, "m", r.Fence), waits("never", "other")), job("mi", made(1, "m", r.Fence), waits("never")))
			e.end(r, conveyor.VerdictRetry)
			e.run("other", conveyor.VerdictDone)
			r = e.take("m")
			e.add(job("mh", made(1, "m", r.Fence), waits("other")), job("mi", made(1, "m", r.Fence)))
			e.end(r, conveyor.VerdictDone)
			e.states("m completed, mh queued, mi queued")
			for _, r := range e.reserve(2) {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
		e.Behaviour("A8j what the last, failing attempt made is dropped", func(e *engine) {
			e.add(job("w"), job("declared", after(wire.Edge_ALWAYS, "w")))
			r := e.take("w")
			e.add(job("wc", made(0, "w", r.Fence)), job("wh", edge(&wire.Edge{Kind: 1, Uuid: "w", RunIf: wire.Edge_ALWAYS, MadeBy: r.Fence})))
			e.end(r, conveyor.VerdictFailed)
			e.states("w failed, wc cancelled, wh cancelled, declared queued")
			e.run("declared", conveyor.VerdictDone)
		})
		e.Run("what a failed attempt made counts for nobody, also when it was cancelled before", func(e *engine) {
			e.add(job("y"))
			r := e.take("y")
			e.add(job("yc", made(0, "y", r.Fence)))
			e.ok(e.Cancel(e.Context(), "yc"))
			e.end(r, conveyor.VerdictRetry)
			e.run("y", conveyor.VerdictDone)
			e.states("y completed, yc cancelled")
			e.add(job("z"))
			r = e.take("z")
			e.add(job("zc", made(0, "z", r.Fence)))
			e.end(r, conveyor.VerdictFailed)
			if s := e.status("zc"); s.Pending != 0 || s.State != conveyor.StateCancelled {
				e.Errorf("%+v", s)
			}
		})
		e.Behaviour("A14b a superseded attempt can make nothing", func(e *engine) {
			e.add(job("x"))
			r := e.take("x")
			e.end(r, conveyor.VerdictBack)
			e.refused(e.Add(e.Context(), job("xc", made(0, "x", r.Fence))), conveyor.ErrOutdated)
			e.states("xc unknown")
			e.run("x", conveyor.VerdictDone)
		})
	})
}

func TestLost(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A12a a dead worker's job counts as lost, not as an attempt, and keeps its place", func(e *engine) {
			e.add(job("a"), job("b"))
			e.beat("w1")
			rs := e.exchangeAs("w1", 1).Reserved
			e.pass(conveyor.DeadAfter - time.Millisecond)
			e.beat("w2")
			if dead := e.tick().Dead; len(dead) > 0 {
				e.Errorf("dead too early: %v", dead)
			}
			e.pass(time.Millisecond)
			if diff := cmp.Diff([]string{"w1"}, e.tick().Dead); diff != "" {
				e.Error(diff)
			}
			got := e.reserves("a", "b")
			if got[0].Lost != 1 || got[0].Attempts != 0 || got[0].Fence != 2 {
				e.Errorf("%+v", got[0])
			}
			if out := e.exchangeAs("w1", 0, ack(rs[0], conveyor.VerdictDone)).Outdated; len(out) != 1 {
				e.Error("a superseded owner's close was accepted")
			}
			e.states("a running")
			for _, r := range got {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A12b a poison job ends after five lost leases", func(e *engine) {
			e.add(job("poison"), job("ph", after(wire.Edge_FAILURE, "poison")))
			for i := range 5 {
				id := fmt.Sprintf("victim%d", i)
				if got := e.exchangeAs(id, 1).Reserved; len(got) != 1 || got[0].Lost != i {
					e.Fatalf("%+v", got)
				}
				e.pass(conveyor.DeadAfter)
				e.tick()
			}
			e.states("poison failed, ph queued")
			if text, err := e.Failure(e.Context(), "poison"); err != nil || text == "" {
				e.Errorf("%q %v", text, err)
			}
			e.run("ph", conveyor.VerdictDone)
		})
		e.Behaviour("A12c its limit can be set, and on_exhausted = hold holds", func(e *engine) {
			limit := int32(1)
			e.add(job("l", func(j *wire.Job) { j.RetryPolicy = &wire.RetryPolicy{MaxLost: &limit, HoldOnExhausted: true} }))
			e.exchangeAs("once", 1)
			e.pass(conveyor.DeadAfter)
			e.tick()
			e.states("l on hold")
			e.ok(e.Cancel(e.Context(), "l"))
		})
	})
}

func TestRestore(t *testing.T) {
	onBoth(t, func(e *engine) {
		lease := func(caller string) conveyor.Reservation {
			e.Helper()
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
				Caller: caller, Number: e.number.Add(1), Lease: time.Second, Queues: []string{"q"}, Want: 1,
			})
			e.ok(err)
			return reply.Reserved[0]
		}
		e.Run("A reserved, B done, A lost: next is A, then C", func(e *engine) {
			e.add(job("A"), job("B"), job("C"))
			lease("x")
			e.end(lease("y"), conveyor.VerdictDone)
			e.pass(time.Second)
			e.tick()
			for _, r := range e.reserves("A", "C") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("several come back in any order and stand in order", func(e *engine) {
			for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				var uuids []string
				for k := range 5 {
					uuids = append(uuids, fmt.Sprintf("%d%c", i, 'a'+k))
					e.add(job(uuids[k]))
				}
				rs := e.reserve(3)
				for _, k := range order {
					e.end(rs[k], conveyor.VerdictBack)
					e.sound()
				}
				for _, r := range e.reserves(uuids...) {
					e.end(r, conveyor.VerdictDone)
				}
			}
		})
		e.Run("hundreds of one worker come back in order", func(e *engine) {
			var uuids []string
			for k := range 450 {
				uuids = append(uuids, fmt.Sprintf("m%03d", k))
				e.add(job(uuids[k]))
			}
			for range 4 {
				e.exchangeAs("doomed", 100)
			}
			e.ok(e.Leave(e.Context(), "doomed"))
			var got []string
			for range 5 {
				for _, r := range e.reserve(100) {
					got = append(got, r.Job.Uuid)
					e.end(r, conveyor.VerdictDone)
				}
			}
			if diff := cmp.Diff(uuids, got); diff != "" {
				e.Error(diff)
			}
		})
		e.Run("without handler it waits a beat, keeps its place and spends nothing", func(e *engine) {
			e.add(job("n1"), job("n2"), job("n3"))
			r := e.take("n1")
			e.exchange(0, conveyor.Ack{UUID: "n1", Fence: r.Fence, Verdict: conveyor.VerdictNoHandler, Delay: conveyor.BeatEvery})
			e.run("n2", conveyor.VerdictDone)
			e.pass(conveyor.BeatEvery)
			rs := e.reserves("n1", "n3")
			if rs[0].Attempts != 0 || rs[0].Lost != 0 {
				e.Errorf("%+v", rs[0])
			}
			for _, r := range rs {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("stale tickets do not move a job forward", func(e *engine) {
			e.add(job("s1"), job("s2"), job("s3"))
			e.ok(e.Update(e.Context(), job("s1", queue("other"))))
			e.ok(e.Update(e.Context(), job("s1")))
			e.sound()
			for _, r := range e.reserves("s2", "s3", "s1") {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
	})
}
