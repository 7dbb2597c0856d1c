package conveyor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestUpkeepBudget: a tick changes 200 jobs at most, says that there is more, and loses nothing of it.
func TestUpkeepBudget(t *testing.T) {
	onBoth(t, func(e *engine) {
		fill := func(e *engine, n int) {
			e.Helper()
			var jobs []*wire.Job
			for i := range n {
				jobs = append(jobs, job(fmt.Sprintf("j%03d", i)))
			}
			e.add(jobs...)
		}
		ticks := func(e *engine) (changes []int) {
			e.Helper()
			for {
				reply := e.tick()
				changes = append(changes, reply.Changes)
				if !reply.More {
					return changes
				}
			}
		}
		want := func(e *engine, want ...int) {
			e.Helper()
			if diff := cmp.Diff(want, ticks(e)); diff != "" {
				e.Errorf("changes of each tick (-want +got):\n%s", diff)
			}
		}
		e.alone("leases that ended", func(e *engine) {
			fill(e, 150)
			_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
				Caller: "me", Number: 1, Lease: time.Second, Queues: []string{"q"}, Want: 150,
			})
			e.ok(err)
			e.pass(time.Second)
			want(e, 100, 50)
		})
		e.alone("a worker that died with more, which stays until all are back", func(e *engine) {
			fill(e, 250)
			e.reserve(200)
			e.reserve(50)
			e.pass(conveyor.DeadAfter)
			if reply := e.tick(); reply.Changes != 200 || !reply.More || reply.Lost != 200 || len(reply.Dead) != 0 {
				e.Errorf("%d changes, more %v, %d lost, dead %v", reply.Changes, reply.More, reply.Lost, reply.Dead)
			}
			if reply := e.tick(); reply.Changes != 50 || reply.More || reply.Lost != 50 || len(reply.Dead) != 1 {
				e.Errorf("%d changes, more %v, %d lost, dead %v", reply.Changes, reply.More, reply.Lost, reply.Dead)
			}
		})
		e.alone("a second worker that died, and what is to be swept, wait for the next tick", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "r", conveyor.QueueSettings{KeepFor: time.Second}))
			e.cancelled("r", 1)
			fill(e, 210)
			e.exchangeAs("w1", 200)
			e.pass(time.Millisecond)
			e.exchangeAs("w2", 10)
			e.pass(conveyor.DeadAfter)
			if reply := e.tick(); reply.Changes != 200 || !reply.More || !slices.Equal(reply.Dead, []string{"w1"}) {
				e.Errorf("%d changes, more %v, dead %v", reply.Changes, reply.More, reply.Dead)
			}
			e.states("r-000 cancelled")
			if reply := e.tick(); reply.Changes != 11 || reply.More || !slices.Equal(reply.Dead, []string{"w2"}) {
				e.Errorf("%d changes, more %v, dead %v", reply.Changes, reply.More, reply.Dead)
			}
			e.states("r-000 unknown")
			e.ok(e.DeleteQueueSettings(e.Context(), "r"))
		})
		e.alone("a worker that leaves with more is known until all are back", func(e *engine) {
			fill(e, 250)
			e.reserve(200)
			e.reserve(50)
			for _, want := range []int64{0, 1} {
				done, err := conveyor.RunScript(e.Context(), e.Client, "leave", "w")
				e.ok(err)
				if known := len(e.scores("workers")) == 1; done != want || known != (want == 0) {
					e.Errorf("done %v, want %d; known %v", done, want, known)
				}
			}
		})
	})
}

// TestStrays puts entries into the indexes of running jobs that are none: they are dropped, and nothing else happens.
func TestStrays(t *testing.T) {
	onBoth(t, func(e *engine) {
		stray := func(e *engine, index string, uuids ...string) {
			e.Helper()
			for _, u := range uuids {
				e.ok(e.rdb.ZAdd(e.Context(), e.key(index), redisZ(float64(e.now), u)).Err())
			}
		}
		e.alone("leases", func(e *engine) {
			e.add(job("owned"), job("queued"))
			e.take("owned")
			stray(e, "leases", "owned", "queued", "never")
			if reply := e.tick(); reply.Changes != 0 || reply.Lost != 0 {
				e.Errorf("%d changes, %d lost", reply.Changes, reply.Lost)
			}
			e.states("owned running, queued queued")
			if left := e.scores("leases"); len(left) > 0 {
				e.Errorf("left %v", left)
			}
			e.ok(e.Leave(e.Context(), "w"))
		})
		e.alone("a dead worker's jobs", func(e *engine) {
			e.add(job("own"), job("queued"), job("other"))
			e.beat("w")
			e.take("own")
			e.add(job("high", lane(2)))
			e.exchangeAs("w2", 1)
			stray(e, "worker:w:jobs", "queued", "high", "never")
			reply := e.beat("w")
			if diff := cmp.Diff([]conveyor.Holding{{UUID: "own", Fence: 1}, {UUID: "high", Fence: 1}}, reply.Unknown,
				cmpopts.SortSlices(func(a, b conveyor.Holding) bool { return a.UUID > b.UUID })); diff != "" {
				e.Errorf("unknown (-want +got):\n%s", diff)
			}
			e.pass(conveyor.DeadAfter - time.Millisecond)
			e.beat("w2", conveyor.Holding{UUID: "high", Fence: 1})
			e.pass(time.Millisecond)
			if reply := e.tick(); reply.Lost != 1 || !slices.Equal(reply.Dead, []string{"w"}) {
				e.Errorf("%d lost, dead %v", reply.Lost, reply.Dead)
			}
			e.states("own queued, queued queued, other queued, high running")
			if left := e.scores("worker:w:jobs"); len(left) > 0 {
				e.Errorf("left %v", left)
			}
			e.ok(e.Leave(e.Context(), "w2"))
		})
		e.alone("a dead worker's list of nothing else is worked off by several ticks", func(e *engine) {
			e.beat("w")
			for i := range 250 {
				stray(e, "worker:w:jobs", fmt.Sprint("never", i))
			}
			e.pass(conveyor.DeadAfter)
			if reply := e.tick(); !reply.More || len(reply.Dead) != 0 {
				e.Errorf("more %v, dead %v", reply.More, reply.Dead)
			}
			if reply := e.tick(); reply.More || len(reply.Dead) != 1 {
				e.Errorf("more %v, dead %v", reply.More, reply.Dead)
			}
		})
		e.alone("a list of a dead worker that cannot be read is named, and does not hold up others", func(e *engine) {
			e.add(job("a"), job("b"))
			e.exchangeAs("w1", 1)
			e.exchangeAs("w2", 1)
			e.ok(e.rdb.Rename(e.Context(), e.key("worker:w1:jobs"), e.key("aside")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("worker:w1:jobs"), "x", 0).Err())
			e.ok(e.rdb.Del(e.Context(), e.key("idle:q")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("idle:q"), "x", 0).Err())
			e.pass(conveyor.DeadAfter)
			reply := e.tick()
			if reply.More || !slices.Equal(reply.Dead, []string{"w2"}) || !slices.Equal(reply.Damaged, []string{e.key("worker:w1:jobs")}) {
				e.Errorf("more %v, dead %v, damaged %v", reply.More, reply.Dead, reply.Damaged)
			}
			e.states("a running, b queued")
			e.ok(e.rdb.Rename(e.Context(), e.key("aside"), e.key("worker:w1:jobs")).Err())
			e.ok(e.rdb.Del(e.Context(), e.key("idle:q")).Err())
			if dead := e.tick().Dead; !slices.Equal(dead, []string{"w1"}) {
				e.Errorf("dead %v", dead)
			}
			e.states("a queued")
		})
		e.alone("a key that is met twice is named once", func(e *engine) {
			e.add(job("a", runAt(e.now+1000)), job("b", runAt(e.now+1000)))
			e.ok(e.rdb.Set(e.Context(), e.key("queue:q"), "x", 0).Err())
			e.pass(time.Second)
			if damaged := e.tick().Damaged; !slices.Equal(damaged, []string{e.key("queue:q")}) {
				e.Errorf("damaged %v", damaged)
			}
			e.ok(e.rdb.Del(e.Context(), e.key("queue:q")).Err())
		})
		e.alone("what cannot be done yet says when it is tried again", func(e *engine) {
			e.add(job("up"), job("down", after(0, "up")))
			e.ok(e.rdb.Rename(e.Context(), e.key("jobs:up:onComplete"), e.key("aside")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("jobs:up:onComplete"), "x", 0).Err())
			e.run("up", conveyor.VerdictDone)
			e.ok(e.Leave(e.Context(), "w"))
			if next := e.tick().Next; next != 10*time.Second {
				e.Errorf("next in %s", next)
			}
			e.ok(e.rdb.Rename(e.Context(), e.key("aside"), e.key("jobs:up:onComplete")).Err())
			e.pass(10 * time.Second)
			e.tick()
			e.states("up completed, down queued")
		})
	})
}

func TestClock(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, clock string
			ahead       time.Duration
		}{
			{"the store's own", "", 0},
			{"ahead of it", "+3600000", time.Hour},
			{"behind it", "-3600000", -time.Hour},
			{"what is none counts as none", "later", 0},
		} {
			e.Run(row.name, func(e *engine) {
				e.ok(e.rdb.Del(e.Context(), e.key("clock")).Err())
				if row.clock != "" {
					e.ok(e.rdb.Set(e.Context(), e.key("clock"), row.clock, 0).Err())
				}
				before, err := e.rdb.Time(e.Context()).Result()
				e.ok(err)
				now := e.tick().Now.Add(-row.ahead)
				after, err := e.rdb.Time(e.Context()).Result()
				e.ok(err)
				if now.Before(before.Truncate(time.Millisecond)) || now.After(after) {
					e.Errorf("now is %s, between %s and %s", now, before, after)
				}
			})
		}
		e.at(e.now)
	})
}
