package conveyor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestWorkers(t *testing.T) {
	onBoth(t, func(e *engine) {
		info := conveyor.WorkerInfo{
			ID: "w1", Host: "h", PID: 7, Team: "t", Queues: []string{"q", "r"}, Types: []string{"noop"}, KeyIDs: []string{"k1", "k2"},
			Capacity: 5, Started: time.UnixMilli(start),
		}
		e.Run("a worker announces itself and is listed", func(e *engine) {
			_, err := e.Beat(e.Context(), info)
			e.ok(err)
			e.add(job("a"))
			e.exchangeAs("w1", 1)
			want := info
			want.Load, want.LastBeat, want.Alive = 1, time.UnixMilli(e.now), true
			e.workers(want)
			e.pass(conveyor.DeadAfter)
			want.Alive = false
			e.workers(want)
		})
		e.Run("I14 once dead nothing of it is left", func(e *engine) {
			e.tick()
			e.workers()
			e.states("a queued")
			if keys := strings.Join(e.scan(), " "); strings.Contains(keys, "w1") {
				e.Errorf("left: %v", keys)
			}
		})
		e.Run("a beat tells what is not the worker's any more, and what is that it did not name", func(e *engine) {
			r := e.exchangeAs("w1", 1).Reserved[0]
			reply := e.beat("w1", conveyor.Holding{UUID: "a", Fence: r.Fence - 1}, conveyor.Holding{UUID: "never", Fence: 1})
			if diff := cmp.Diff([]string{"a", "never"}, reply.Outdated); diff != "" {
				e.Error(diff)
			}
			reply = e.beat("w1")
			if diff := cmp.Diff([]conveyor.Holding{{UUID: "a", Fence: r.Fence}}, reply.Unknown); diff != "" || !reply.Now.Equal(time.UnixMilli(e.now)) {
				e.Error(diff, reply.Now)
			}
		})
		e.Behaviour("A13a leaving hands back, at its place, with nothing spent", func(e *engine) {
			e.add(job("a"), job("b"))
			e.exchangeAs("w1", 1)
			e.ok(e.Leave(e.Context(), "w1"))
			e.workers()
			rs := e.reserves("a", "b")
			if rs[0].Lost != 0 || rs[0].Attempts != 0 {
				e.Errorf("%+v", rs[0])
			}
			for _, r := range rs {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.ok(e.Leave(e.Context(), "w1"))
		e.run("a", conveyor.VerdictDone)
		e.Run("I14 also of one that never sent a beat", func(e *engine) {
			e.exchangeAs("silent", 1)
			e.pass(conveyor.DeadAfter)
			e.tick()
			if keys := strings.Join(e.scan(), " "); strings.Contains(keys, "silent") || e.rdb.Exists(e.Context(), e.key("idle:q")).Val() > 0 {
				e.Errorf("left: %v", keys)
			}
		})
		e.Run("beats keep a worker alive however long", func(e *engine) {
			e.add(job("c"))
			r := e.exchangeAs("w1", 1).Reserved[0]
			for range 10 {
				e.pass(conveyor.DeadAfter - time.Millisecond)
				e.beat("w1", conveyor.Holding{UUID: "c", Fence: r.Fence})
				e.tick()
			}
			e.end(r, conveyor.VerdictDone)
			e.states("c completed")
		})
	})
}

func (e *engine) workers(want ...conveyor.WorkerInfo) {
	e.Helper()
	got, err := e.Workers(e.Context())
	e.ok(err)
	if diff := cmp.Diff(append([]conveyor.WorkerInfo{}, want...), got); diff != "" {
		e.Errorf("workers (-want +got):\n%s", diff)
	}
}

func TestQueues(t *testing.T) {
	onBoth(t, func(e *engine) {
		queues := func(e *engine, want ...conveyor.QueueInfo) {
			e.Helper()
			got, err := e.Queues(e.Context())
			e.ok(err)
			if diff := cmp.Diff(append([]conveyor.QueueInfo{}, want...), got); diff != "" {
				e.Errorf("queues (-want +got):\n%s", diff)
			}
		}
		e.Run("depths and running jobs are counted", func(e *engine) {
			queues(e)
			e.add(job("a"), job("b", lane(2)), job("c", lane(0)), job("d"))
			e.ok(e.Cancel(e.Context(), "d"))
			r := e.take("b")
			queues(e, conveyor.QueueInfo{Name: "q", Depth: [3]int64{1, 1, 0}, Running: 1})
			e.end(r, conveyor.VerdictDone)
			e.run("a", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			queues(e)
		})
		e.Run("concurrency limits running jobs over all workers, and a slot is free with the end of its job", func(e *engine) {
			set := conveyor.QueueSettings{Concurrency: 2, Weight: 3}
			e.ok(e.SetQueue(e.Context(), "q", set))
			e.add(job("s1"), job("s2"), job("s3"), job("s4"))
			rs := e.reserve(3)
			if len(rs) != 2 || len(e.exchangeAs("other", 5).Reserved) != 0 {
				e.Fatalf("reserved %v", names(rs))
			}
			queues(e, conveyor.QueueInfo{Name: "q", Depth: [3]int64{0, 2, 0}, Running: 2, Settings: set})
			got := e.exchange(5, ack(rs[0], conveyor.VerdictDone)).Reserved
			if diff := cmp.Diff([]string{"s3"}, names(got)); diff != "" {
				e.Error(diff)
			}
			e.pass(conveyor.DeadAfter)
			e.tick() // slots of a dead worker are free
			if n := len(e.reserve(5)); n != 2 {
				e.Errorf("%d reserved", n)
			}
			e.ok(e.DeleteQueueSettings(e.Context(), "q"))
			e.pass(conveyor.DeadAfter)
			e.tick()
			for _, r := range e.reserves("s2", "s3", "s4") {
				e.end(r, conveyor.VerdictDone)
			}
			queues(e)
		})
		e.Run("a paused queue gives nothing", func(e *engine) {
			e.add(job("p"))
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Paused: true}))
			e.nothing()
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{}))
			e.run("p", conveyor.VerdictDone)
		})
		e.Run("bad settings are refused", func(e *engine) {
			e.refused(e.SetQueue(e.Context(), "a:b", conveyor.QueueSettings{}), conveyor.ErrQueueName)
			if err := e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Concurrency: -1}); err == nil {
				e.Error("negative concurrency accepted")
			}
		})
	})
}

func TestWake(t *testing.T) {
	onBoth(t, func(e *engine) {
		woken := func(worker string) bool {
			e.Helper()
			n, err := e.rdb.LLen(e.Context(), e.key("wake:"+worker)).Result()
			e.ok(err)
			if n > 0 {
				ok, err := e.WaitWake(e.Context(), worker, time.Second)
				e.ok(err)
				return ok
			}
			return false
		}
		want := func(e *engine, why string, got, want bool) {
			e.Helper()
			if got != want {
				e.Errorf("%s: woken %v", why, got)
			}
		}
		e.beat("w1")
		e.beat("w2")
		e.exchangeAs("w1", 1)
		e.pass(time.Second)
		e.exchangeAs("w2", 1)
		e.Run("a job that becomes ready wakes one idle worker, the longest idle first", func(e *engine) {
			e.add(job("a"))
			want(e, "w1", woken("w1"), true)
			want(e, "w2", woken("w2"), false)
			e.add(job("b"))
			want(e, "w2", woken("w2"), true)
			for _, r := range e.exchangeAs("w1", 2).Reserved {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("a job that its releaser takes itself wakes nobody", func(e *engine) {
			e.add(job("own"), job("next", after(0, "own")))
			r := e.exchangeAs("w1", 1).Reserved[0]
			e.exchangeAs("w2", 1)
			rs := e.exchangeAs("w1", 1, ack(r, conveyor.VerdictDone)).Reserved
			want(e, "taken", woken("w2"), false)
			e.end(rs[0], conveyor.VerdictDone)
		})
		e.Run("one that got what it wanted is not idle", func(e *engine) {
			e.add(job("c"))
			e.exchangeAs("w1", 1)
			e.add(job("d"))
			want(e, "w1", woken("w1"), false)
			e.exchangeAs("w1", 1)
			e.ok(e.Leave(e.Context(), "w1"))
			for _, r := range e.exchangeAs("w2", 2).Reserved {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("an earlier due time wakes, a later one does not", func(e *engine) {
			e.exchangeAs("w2", 1)
			e.add(job("t1", runAt(e.now+5000)))
			want(e, "first", woken("w2"), true)
			if next := e.exchangeAs("w2", 1).Next; next != 5*time.Second {
				e.Errorf("next %s", next)
			}
			e.add(job("t2", runAt(e.now+6000)))
			want(e, "later", woken("w2"), false)
			e.add(job("t3", runAt(e.now+4000)))
			want(e, "earlier", woken("w2"), true)
			e.pass(6 * time.Second)
			for _, r := range e.exchangeAs("w2", 3).Reserved {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("a freed slot and a resumed queue wake", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Concurrency: 1}))
			e.add(job("s1"), job("s2"))
			r := e.exchangeAs("w3", 1).Reserved[0]
			e.exchangeAs("w2", 1)
			want(e, "busy", woken("w2"), false)
			e.exchangeAs("w3", 0, ack(r, conveyor.VerdictDone))
			want(e, "freed", woken("w2"), true)
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Paused: true}))
			e.exchangeAs("w2", 1)
			e.ok(e.PauseQueue(e.Context(), "q"))
			want(e, "paused by hand too", woken("w2"), false)
			e.ok(e.rdb.Rename(e.Context(), e.key("sweeps"), e.key("aside")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("sweeps"), "x", 0).Err()) // hinders nobody
			e.ok(e.DeleteQueueSettings(e.Context(), "q"))
			e.ok(e.rdb.Rename(e.Context(), e.key("aside"), e.key("sweeps")).Err())
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{}))
			want(e, "known once", woken("w2"), true)
			e.exchangeAs("w2", 1)
			e.ok(e.ResumeQueue(e.Context(), "q"))
			if ttl := e.rdb.PTTL(e.Context(), e.key("wake:w2")).Val(); ttl <= 0 {
				e.Errorf("the wake-up stays: %s", ttl)
			}
			want(e, "resumed", woken("w2"), true)
			e.run("s2", conveyor.VerdictDone)
		})
		e.Run("no wake-up within the time is no error", func(e *engine) {
			ok, err := e.WaitWake(e.Context(), "nobody", time.Second)
			if ok || err != nil {
				e.Errorf("%v %v", ok, err)
			}
		})
		e.ok(e.Leave(e.Context(), "w2"))
		e.ok(e.Leave(e.Context(), "w3"))
	})
}
