package conveyor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func maxCycles(n int32) func(*wire.Job) { return func(j *wire.Job) { j.MaxCycles = n } }

// cycles wants a job to be in this state with so many of its executions used: "on hold 2/2".
func (e *engine) cycles(uuid, want string) {
	e.Helper()
	s := e.status(uuid)
	if got := fmt.Sprintf("%s %d/%d", s.State, s.Cycles, s.MaxCycles); got != want {
		e.Errorf("%s is %s, want %s", uuid, got, want)
	}
}

func TestMaxCycles(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C4a a job is executed max_cycles times, is then on hold, and is kept", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{KeepFor: time.Millisecond}))
			e.add(job("a", maxCycles(3)))
			e.cycles("a", "queued 0/3")
			for _, want := range []string{"queued 1/3", "queued 2/3", "on hold 3/3"} {
				e.run("a", conveyor.VerdictRetry)
				e.cycles("a", want)
			}
			e.nothing()
			e.pass(24 * time.Hour)
			e.tick()
			e.cycles("a", "on hold 3/3")
			e.nothing()
		})
		e.Behaviour("C4b resetting the count makes it run again", func(e *engine) {
			e.add(job("a", maxCycles(1)))
			e.run("a", conveyor.VerdictDefer)
			e.ok(e.Release(e.Context(), "a"))
			e.cycles("a", "queued 0/1")
			e.run("a", conveyor.VerdictDefer)
			e.cycles("a", "on hold 1/1")
			e.ok(e.Release(e.Context(), "a"))
			e.run("a", conveyor.VerdictDone)
			e.cycles("a", "completed 1/1")
		})
		e.Behaviour("C4c one execution is one cycle: what is handed back or lost is none", func(e *engine) {
			e.add(job("a", maxCycles(2)))
			e.run("a", conveyor.VerdictBack)
			e.run("a", conveyor.VerdictNoHandler)
			e.beat("w")
			e.take("a")
			e.pass(conveyor.DeadAfter)
			e.tick()
			e.cycles("a", "queued 0/2")
			for _, want := range []string{"queued 1/2", "on hold 2/2"} {
				e.run("a", conveyor.VerdictDefer)
				e.cycles("a", want)
			}
		})
		for name, row := range map[string]struct {
			max     int32
			verdict conveyor.Verdict
			cancel  bool
			want    string
		}{
			"done at the last":                               {1, conveyor.VerdictDone, false, "completed 1/1"},
			"done before":                                    {2, conveyor.VerdictDone, false, "completed 1/2"},
			"failed at the last":                             {1, conveyor.VerdictFailed, false, "failed 1/1"},
			"on hold by its policy counts too":               {3, conveyor.VerdictHold, false, "on hold 1/3"},
			"cancelled at the last":                          {1, conveyor.VerdictRetry, true, "cancelled 1/1"},
			"handed back at the last":                        {1, conveyor.VerdictBack, false, "queued 0/1"},
			"given back for want of a handler":               {1, conveyor.VerdictNoHandler, false, "scheduled 0/1"},
			"comes back later while some is left":            {2, conveyor.VerdictRetry, false, "scheduled 1/2"},
			"deferred, while some is left":                   {2, conveyor.VerdictDefer, false, "scheduled 1/2"},
			"a retry at the last waits for nobody's backoff": {1, conveyor.VerdictRetry, false, "on hold 1/1"},
			"no limit is no count":                           {0, conveyor.VerdictRetry, false, "scheduled 0/0"},
		} {
			e.Behaviour(name, func(e *engine) {
				e.add(job("a", maxCycles(row.max)))
				r := e.take("a")
				if row.cancel {
					e.ok(e.Cancel(e.Context(), "a"))
				}
				a := ack(r, row.verdict)
				if row.verdict != conveyor.VerdictDone && row.verdict != conveyor.VerdictBack {
					a.Delay = time.Second
				}
				e.exchange(0, a)
				e.cycles("a", row.want)
			})
		}
		e.Behaviour("a repeated or outdated acknowledgement counts nothing", func(e *engine) {
			e.add(job("a", maxCycles(5)))
			r := e.take("a")
			request := conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"q"}, Want: 1,
				Done: []conveyor.Ack{ack(r, conveyor.VerdictRetry)}}
			var replies []conveyor.ExchangeReply
			for range 2 {
				reply, err := e.Exchange(e.Context(), request)
				e.ok(err)
				replies = append(replies, reply)
			}
			for _, reply := range replies { // the second tells what the first did
				if got := reply.Reserved; len(got) != 1 || got[0].MaxCycles != 5 || got[0].Cycles != 1 {
					e.Fatalf("reserved %+v", got)
				}
			}
			if out := e.exchange(0, ack(r, conveyor.VerdictRetry)).Outdated; len(out) != 1 {
				e.Errorf("outdated %v", out)
			}
			e.cycles("a", "running 1/5")
			e.end(replies[0].Reserved[0], conveyor.VerdictDone)
		})
		e.Behaviour("an update changes the limit and not what was used", func(e *engine) {
			e.add(job("a", maxCycles(3)))
			e.run("a", conveyor.VerdictRetry)
			for _, row := range []struct {
				max  int32
				want string
			}{{5, "queued 1/5"}, {0, "queued 0/0"}, {2, "queued 0/2"}, {1, "queued 0/1"}} {
				e.ok(e.Update(e.Context(), job("a", maxCycles(row.max))))
				e.cycles("a", row.want)
			}
			r := e.take("a")
			e.ok(e.Update(e.Context(), job("a", maxCycles(7))))
			e.end(r, conveyor.VerdictRetry)
			e.cycles("a", "queued 1/7")
			e.run("a", conveyor.VerdictRetry)
			e.ok(e.Update(e.Context(), job("a", maxCycles(1)))) // fewer than it had
			e.run("a", conveyor.VerdictRetry)
			e.cycles("a", "on hold 3/1")
			e.ok(e.Update(e.Context(), job("a", maxCycles(9))))
			e.cycles("a", "on hold 3/9")
			e.ok(e.Release(e.Context(), "a"))
			e.cycles("a", "queued 0/9")
		})
		e.Behaviour("a retry of a failed job begins anew", func(e *engine) {
			e.add(job("a", maxCycles(2)), job("b"))
			e.run("a", conveyor.VerdictFailed)
			e.run("b", conveyor.VerdictFailed)
			for _, uuid := range []string{"a", "b"} {
				e.ok(e.Retry(e.Context(), uuid))
			}
			e.cycles("a", "queued 0/2")
			e.cycles("b", "queued 0/0")
		})
		e.Behaviour("a job that the policy holds is released with a new count", func(e *engine) {
			e.add(job("a", maxCycles(4), func(j *wire.Job) {
				j.RetryPolicy = &wire.RetryPolicy{MaxAttempts: proto.Int32(1), HoldOnExhausted: true}
			}))
			e.run("a", conveyor.VerdictHold)
			e.ok(e.Release(e.Context(), "a"))
			e.cycles("a", "queued 0/4")
		})
		e.Behaviour("jobs of one call have counts of their own", func(e *engine) {
			e.add(job("a", maxCycles(2)), job("b", maxCycles(2)), job("c"))
			e.run("a", conveyor.VerdictRetry)
			e.cycles("a", "queued 1/2")
			e.cycles("b", "queued 0/2")
			got := e.reserve(2)
			if diff := cmp.Diff([]int{2, 0}, []int{got[0].MaxCycles, got[1].MaxCycles}); diff != "" {
				e.Errorf("limits (-want +got):\n%s", diff)
			}
		})
		e.Behaviour("a negative limit is refused", func(e *engine) {
			before := dump(e)
			if err := e.Add(e.Context(), job("a", maxCycles(-1))); !errors.Is(err, conveyor.ErrCycles) {
				e.Errorf("got %v", err)
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Error(diff)
			}
		})
	})
}
