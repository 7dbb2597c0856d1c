package conveyor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestUpkeep(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.alone("a tick says when the next one is due", func(e *engine) {
			next := func(want time.Duration) {
				e.Helper()
				if got := e.tick().Next; got != want {
					e.Errorf("next in %s, want %s", got, want)
				}
			}
			next(0)
			e.add(job("late", runAt(e.now+90_000)))
			next(90 * time.Second)
			e.add(job("limited", waitsFor(80*time.Second)))
			next(80 * time.Second)
			_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
				Caller: "me", Number: 1, Lease: 70 * time.Second, Queues: []string{"q"}, Want: 1,
			})
			e.ok(err)
			next(70 * time.Second)
			e.beat("w")
			next(conveyor.DeadAfter)
		})
		e.alone("a beat tells of what was asked to stop, and of what was not named, only", func(e *engine) {
			e.add(job("a"), job("b"), job("c"))
			e.reserves("a", "b", "c")
			e.ok(e.Cancel(e.Context(), "b"))
			reply := e.beat("w", conveyor.Holding{UUID: "a", Fence: 1}, conveyor.Holding{UUID: "b", Fence: 1})
			if diff := cmp.Diff([]string{"b"}, reply.Cancel); diff != "" {
				e.Error(diff)
			}
			if diff := cmp.Diff([]conveyor.Holding{{UUID: "c", Fence: 1}}, reply.Unknown); diff != "" || len(reply.Outdated) > 0 {
				e.Error(diff, reply.Outdated)
			}
		})
		e.alone("what a worker leaves that was asked to stop is cancelled", func(e *engine) {
			e.add(job("a"), job("h", after(wire.Edge_FAILURE, "a")))
			e.take("a")
			e.ok(e.Cancel(e.Context(), "a"))
			e.ok(e.Leave(e.Context(), "w"))
			e.states("a cancelled, h queued")
		})
		e.alone("an exchange goes on with what earlier calls left to do", func(e *engine) {
			jobs := []*wire.Job{job("up")}
			for i := range 450 {
				jobs = append(jobs, job(fmt.Sprintf("h%03d", i), after(0, "up")))
			}
			e.add(jobs...)
			e.run("up", conveyor.VerdictDone)
			for range 3 {
				e.exchange(0)
			}
			e.states("up completed, h000 queued, h449 queued")
		})
		e.alone("a job that comes back after a delay stands behind those that were ready before", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.exchange(0, conveyor.Ack{UUID: "a", Fence: r.Fence, Verdict: conveyor.VerdictDefer, Delay: time.Second})
			e.add(job("b"))
			e.pass(time.Second)
			e.reserves("b", "a")
		})
		e.alone("given back without handler and without delay it keeps its place", func(e *engine) {
			e.add(job("a"), job("b"))
			e.run("a", conveyor.VerdictNoHandler)
			e.reserves("a", "b")
		})
		e.alone("entries of leases that are none are swept", func(e *engine) {
			e.ok(e.rdb.ZAdd(e.Context(), e.key("leases"), redisZ(float64(e.now), "never")).Err())
			e.tick()
			if n := e.rdb.Exists(e.Context(), e.key("leases")).Val(); n != 0 {
				e.Error("it is there still")
			}
		})
	})
}

func TestRecords(t *testing.T) {
	onBoth(t, func(e *engine) {
		record := func(version int64, value string) *conveyor.Attach {
			a := &conveyor.Attach{Key: "state:w", Field: "f", Version: version}
			if value != "" {
				a.Value = []byte(value)
			}
			return a
		}
		e.Run("a batch with a companion write may be repeated", func(e *engine) {
			b := conveyor.Batch{Companions: []conveyor.Attach{*record(0, "1 x")}}
			for range 2 {
				e.ok(e.Apply(e.Context(), b))
			}
		})
		e.Run("a record may come with any change, and keeps the job from then on", func(e *engine) {
			e.add(job("late"))
			e.run("late", conveyor.VerdictDone)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeCancel, UUID: "late", Attach: record(1, "2 x")},
			}}))
			if !e.status("late").Recorded {
				e.Error("nothing says that it has a record")
			}
		})
		e.Run("one that is given up with a cancel no longer does, whenever the job ends", func(e *engine) {
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("running"), Attach: record(2, "3 x")},
			}}))
			r := e.take("running")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeCancel, UUID: "running", Attach: record(3, "")},
			}}))
			if e.status("running").Recorded {
				e.Error("something says that it has a record")
			}
			e.end(r, conveyor.VerdictBack)
			e.states("running cancelled")
		})
		e.Run("a uuid that a batch removes is not used again by it", func(e *engine) {
			e.add(job("old"))
			e.run("old", conveyor.VerdictDone)
			err := e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("new"), Replaces: "old"}, {Kind: conveyor.ChangeUpdate, Job: job("old")},
			}})
			var conflict *conveyor.ConflictError
			if !errors.As(err, &conflict) || conflict.Conflicts[0].Index != 1 {
				e.Errorf("got %v", err)
			}
			e.states("old completed, new unknown")
		})
		e.Run("a big job has its bytes once, beside its ticket", func(e *engine) {
			e.add(job("big", queue("r"), func(j *wire.Job) { j.Payload = make([]byte, 20<<10) }))
			if n := len(e.rdb.LIndex(e.Context(), e.key("queue:r"), 0).Val()); n > 100 {
				e.Errorf("its ticket has %d bytes", n)
			}
		})
	})
}
