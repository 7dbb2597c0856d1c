package conveyor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// holds reserves as a caller without a worker, on behalf of somebody.
func (e *engine) holds(holder string) conveyor.ExchangeRequest {
	return conveyor.ExchangeRequest{Caller: "caller", Number: e.number.Add(1), Lease: 10 * time.Second, Holder: holder, Queues: []string{"q"}, Want: 1}
}

// extends is an acknowledgement that goes on for d.
func extends(r conveyor.Reservation, d time.Duration) conveyor.Ack {
	a := ack(r, conveyor.VerdictExtend)
	a.Delay = d
	return a
}

// TestExtendedTooLate: an extension that comes after the lease has ended, and before anybody has noticed, holds: the call that brings
// it does not take the job away.
func TestExtendedTooLate(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"), job("b"))
		r := e.holds("")
		r.Want = 2
		reply, err := e.Exchange(e.Context(), r)
		e.ok(err)
		e.want(2, len(reply.Reserved))
		e.pass(11 * time.Second)
		again := e.holds("")
		again.Want, again.Done = 2, []conveyor.Ack{extends(reply.Reserved[0], 5*time.Second)}
		reply, err = e.Exchange(e.Context(), again)
		e.ok(err)
		e.want([]string{"b"}, names(reply.Reserved))
		e.want(0, e.status("a").Lost)
		e.pass(5 * time.Second)
		e.tick()
		e.want(1, e.status("a").Lost)
	})
}

func TestLeaseHolder(t *testing.T) {
	onBoth(t, func(e *engine) {
		reserve := func(e *engine, holder string) conveyor.Reservation {
			e.Helper()
			reply, err := e.Exchange(e.Context(), e.holds(holder))
			e.ok(err)
			if len(reply.Reserved) != 1 {
				e.Fatalf("reserved %v", names(reply.Reserved))
			}
			return reply.Reserved[0]
		}
		e.Behaviour("a lease says whom it is for, until it ends in any way", func(e *engine) {
			e.add(job("a"))
			held := func(want string) {
				e.Helper()
				if got := e.status("a"); got.Holder != want || got.Owner != "" {
					e.Errorf("holder %q, owner %q, want %q", got.Holder, got.Owner, want)
				}
				listed, err := e.List(e.Context(), conveyor.ListOptions{Labels: map[string]string{"worker": "h1"}})
				e.ok(err)
				if len(listed) == 1 != (want == "h1") {
					e.Errorf("listed %+v", listed)
				}
			}
			for _, verdict := range []conveyor.Verdict{conveyor.VerdictBack, conveyor.VerdictDefer, conveyor.VerdictRetry, conveyor.VerdictNoHandler} {
				r := reserve(e, "h1")
				held("h1")
				e.end(r, verdict)
				held("")
			}
			reserve(e, "h1")
			e.pass(10 * time.Second)
			e.tick()
			held("")
			r := reserve(e, "")
			held("")
			e.end(r, conveyor.VerdictBack)
			e.end(reserve(e, "h1"), conveyor.VerdictDone)
			held("")
		})
		e.Behaviour("its end moves only when it is extended, and by its own attempt", func(e *engine) {
			e.add(job("a"))
			r := reserve(e, "h1")
			e.pass(9 * time.Second)
			request := conveyor.ExchangeRequest{Caller: "acks", Number: e.number.Add(1), Done: []conveyor.Ack{extends(r, 5*time.Second)}}
			_, err := e.Exchange(e.Context(), request)
			e.ok(err)
			e.pass(2 * time.Second)
			_, err = e.Exchange(e.Context(), request) // the answer was lost: nothing is added
			e.ok(err)
			if diff := cmp.Diff([]any{conveyor.StateRunning, r.Fence, "h1"}, []any{e.status("a").State, e.status("a").Fence, e.status("a").Holder}); diff != "" {
				e.Errorf("(-want +got):\n%s", diff)
			}
			e.pass(3*time.Second - time.Millisecond)
			e.tick()
			e.states("a running")
			e.pass(time.Millisecond)
			e.tick()
			e.states("a queued")
			if out := e.exchange(0, extends(r, time.Minute)).Outdated; len(out) != 1 {
				e.Errorf("outdated %v", out)
			}
			e.end(reserve(e, ""), conveyor.VerdictDone)
		})
		e.Behaviour("what a worker runs has no lease of its own to extend", func(e *engine) {
			e.add(job("a"))
			e.beat("w")
			r := e.take("a")
			before := e.rdb.ZRangeWithScores(e.Context(), e.key("worker:w:jobs"), 0, -1).Val()
			e.exchange(0, extends(r, time.Minute))
			if diff := cmp.Diff(before, e.rdb.ZRangeWithScores(e.Context(), e.key("worker:w:jobs"), 0, -1).Val()); diff != "" {
				e.Error(diff)
			}
			if n := e.rdb.Exists(e.Context(), e.key("leases")).Val(); n != 0 {
				e.Error("there is a lease")
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Behaviour("a cancelled job can be extended, and ends when its holder lets go", func(e *engine) {
			e.add(job("a"))
			r := reserve(e, "h1")
			e.ok(e.Cancel(e.Context(), "a"))
			e.exchange(0, extends(r, time.Minute))
			e.states("a running")
			e.end(r, conveyor.VerdictBack)
			e.states("a cancelled")
		})
		e.Behaviour("a holder is no name that means anything else, and none beside a worker", func(e *engine) {
			for _, r := range []conveyor.ExchangeRequest{
				{Worker: "w", Holder: "h1", Number: 1}, {Caller: "c", Holder: "a b", Lease: time.Second, Number: 1},
			} {
				e.refused(e.exchangeError(r), conveyor.ErrUUID)
			}
		})
	})
}

func TestLeasesOfManyFreedByOne(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C10k one live worker frees the leases of all that are gone", func(e *engine) {
			var want []string
			for i := range 25 {
				e.add(job(fmt.Sprintf("j%02d", i)), job(fmt.Sprintf("k%02d", i), queue("k")))
				want = append(want, fmt.Sprintf("j%02d", i))
				e.beat(fmt.Sprint("dead", i))
				if got := e.exchangeAs(fmt.Sprint("dead", i), 1).Reserved; len(got) != 1 {
					e.Fatalf("reserved %v", names(got))
				}
				reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
					Caller: fmt.Sprint("caller", i), Number: 1, Queues: []string{"k"}, Want: 1, Lease: conveyor.DeadAfter})
				e.ok(err)
				if len(reply.Reserved) != 1 {
					e.Fatalf("reserved %v", names(reply.Reserved))
				}
			}
			e.pass(conveyor.DeadAfter)
			e.beat("live")
			for range 3 {
				e.tick()
			}
			if n := len(e.list("queue:k")); n != 25 {
				e.Errorf("%d leases have ended, want 25", n)
			}
			for _, r := range e.getsAs("live", want...) {
				if r.Lost != 1 {
					e.Errorf("%s was lost %d times", r.Job.Uuid, r.Lost)
				}
			}
		})
	})
}
