package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func removedAfter(d time.Duration) func(*wire.Job) {
	return func(j *wire.Job) { j.RemoveAfter = durationpb.New(d) }
}

func waitsFor(d time.Duration) func(*wire.Job) {
	return func(j *wire.Job) { j.Retention = durationpb.New(d) }
}

// left lists what names or holds a job, anywhere in the namespace but in the event log.
func (e *engine) left(uuids ...string) []string {
	e.Helper()
	var out []string
	for line := range strings.SplitSeq(dump(e), "\n") {
		if key, _, _ := strings.Cut(line, " "); key == "events" || strings.HasPrefix(key, "call:") {
			continue
		}
		if slices.ContainsFunc(uuids, func(u string) bool { return strings.Contains(line, u) }) {
			out = append(out, line)
		}
	}
	return out
}

// sweep ticks until nothing is left to do.
func (e *engine) sweep() {
	e.Helper()
	for range 100 {
		if !e.tick().More {
			return
		}
	}
	e.Fatal("ticks never end")
}

func TestRemoveAfter(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D4a remove_after", func(e *engine) {
			e.add(job("short", removedAfter(time.Minute)), job("cancelled", removedAfter(time.Minute)), job("plain"))
			if got := e.status("short").RemoveAfter; got != time.Minute {
				e.Errorf("RemoveAfter is %s", got)
			}
			e.run("short", conveyor.VerdictDone)
			e.ok(e.Cancel(e.Context(), "cancelled"))
			e.run("plain", conveyor.VerdictDone)
			e.pass(time.Minute - time.Millisecond)
			e.sweep()
			e.states("short completed, cancelled cancelled, plain completed")
			e.pass(time.Millisecond)
			e.sweep()
			e.states("short unknown, cancelled unknown, plain completed")
			if left := e.left("short", "cancelled"); len(left) > 0 {
				e.Errorf("left: %v", left)
			}
		})
		e.Behaviour("D4b else it stays for the retention", func(e *engine) {
			e.add(job("plain"))
			e.run("plain", conveyor.VerdictDone)
			e.pass(conveyor.Retention - time.Millisecond)
			e.sweep()
			e.states("plain completed")
			e.pass(time.Millisecond)
			e.sweep()
			e.states("plain unknown")
			if left := e.left("plain"); len(left) > 0 {
				e.Errorf("left: %v", left)
			}
		})
		e.Run("a job that runs again starts the time anew", func(e *engine) {
			e.add(job("again", removedAfter(time.Minute)))
			e.run("again", conveyor.VerdictFailed)
			e.pass(time.Minute - time.Millisecond)
			e.ok(e.Retry(e.Context(), "again"))
			e.pass(time.Hour)
			e.sweep()
			e.states("again queued")
			e.run("again", conveyor.VerdictDone)
			e.ok(e.Update(e.Context(), job("again", removedAfter(time.Hour)))) // over: it keeps everything
			e.pass(time.Minute)
			e.sweep()
			e.states("again unknown")
		})
		e.Run("a job that reopens goes by what it is given then", func(e *engine) {
			e.add(job("re", removedAfter(time.Minute)))
			e.run("re", conveyor.VerdictDone)
			reopen := func(opening int64, child string, change ...func(*wire.Job)) {
				e.Helper()
				e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
					{Kind: conveyor.ChangeAdd, Job: job(child, edge(&wire.Edge{Uuid: "re", Opening: opening}))},
					{Kind: conveyor.ChangeReopen, UUID: "re", Opening: opening, Job: job("re", change...)},
				}}))
				e.ledger()
			}
			reopen(2, "re2")
			e.pass(time.Minute)
			e.sweep()
			e.states("re closing")
			e.run("re2", conveyor.VerdictDone)
			e.ledger()
			e.pass(time.Hour)
			e.sweep()
			e.states("re completed")
			reopen(3, "re3", removedAfter(time.Minute))
			e.run("re3", conveyor.VerdictDone)
			e.ledger()
			e.pass(time.Minute)
			e.sweep()
			e.states("re unknown")
		})
		e.Run("an update of a waiting job changes it", func(e *engine) {
			e.add(job("changed", removedAfter(time.Hour)))
			e.ok(e.Update(e.Context(), job("changed", removedAfter(time.Second))))
			e.run("changed", conveyor.VerdictDone)
			e.pass(time.Second)
			e.sweep()
			e.states("changed unknown")
		})
		e.Run("a record keeps the entry until it is given up", func(e *engine) {
			attach := &conveyor.Attach{Key: "state:w", Field: "kept", Value: []byte("1 x")}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("kept", removedAfter(time.Minute)), Attach: attach},
			}}))
			e.run("kept", conveyor.VerdictFailed)
			e.pass(time.Hour)
			e.sweep()
			e.states("kept failed")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeCancel, UUID: "kept", Attach: &conveyor.Attach{Key: "state:w", Field: "kept", Version: 1}},
			}}))
			e.states("kept failed")
			e.pass(time.Minute)
			e.sweep()
			e.states("kept unknown")
		})
	})
}

func TestRetentionOfQueues(t *testing.T) {
	onBoth(t, func(e *engine) {
		end := func(e *engine, queue string, uuids ...string) {
			e.Helper()
			for _, u := range uuids {
				e.add(job(u, func(j *wire.Job) { j.Queue = queue }))
				e.ok(e.Cancel(e.Context(), u))
			}
		}
		e.Run("by age, each queue as it is set", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "brief", conveyor.QueueSettings{KeepFor: time.Minute}))
			end(e, "brief", "b1")
			e.pass(time.Second)
			end(e, "brief", "b2")
			end(e, "q", "q1")
			e.pass(59 * time.Second)
			e.sweep()
			e.states("b1 unknown, b2 cancelled, q1 cancelled")
			e.pass(time.Second)
			e.sweep()
			e.states("b2 unknown, q1 cancelled")
		})
		e.Run("by count, the oldest first", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "few", conveyor.QueueSettings{KeepCount: 3}))
			end(e, "few", "f1", "f2", "f3", "f4", "f5")
			e.sweep()
			e.states("f1 unknown, f2 unknown, f3 cancelled, f4 cancelled, f5 cancelled")
		})
		e.Run("other settings count for what is there", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "few", conveyor.QueueSettings{KeepCount: 1}))
			e.sweep()
			e.states("f4 unknown, f5 cancelled")
			e.ok(e.DeleteQueueSettings(e.Context(), "few"))
			end(e, "few", "f6", "f7")
			e.sweep()
			e.states("f5 cancelled, f6 cancelled, f7 cancelled")
			e.ok(e.SetQueue(e.Context(), "few", conveyor.QueueSettings{KeepFor: time.Millisecond}))
			e.pass(time.Millisecond)
			e.sweep()
			e.states("f5 unknown, f6 unknown, f7 unknown")
		})
		e.Run("a wrong list is passed over", func(e *engine) {
			e.ok(e.rdb.Set(e.Context(), e.key("ended:odd"), "x", 0).Err())
			end(e, "odd", "o1")
			end(e, "brief", "b3")
			e.pass(conveyor.Retention)
			e.sweep()
			e.states("o1 cancelled, b3 unknown, q1 unknown")
			e.ok(e.rdb.Del(e.Context(), e.key("ended:odd")).Err())
			e.ok(e.Remove(e.Context(), "o1"))
		})
	})
}

func TestRemove(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D4c removing removes all of it", func(e *engine) {
			everything(e)
			e.ok(e.Leave(e.Context(), "w"))
			for _, u := range []string{"root", "leaf", "follows", "made"} {
				for range 2 {
					e.ok(e.Remove(e.Context(), u))
				}
			}
			left := slices.DeleteFunc(e.left("root", "leaf", "follows", "made"), func(line string) bool {
				return strings.HasPrefix(line, "ended:q list") // tickets, until they are met
			})
			if len(left) > 0 {
				e.Errorf("left: %v", left)
			}
		})
		e.Run("what is live or recorded stays", func(e *engine) {
			attach := &conveyor.Attach{Key: "state:w", Field: "kept", Value: []byte("1 x")}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("kept"), Attach: attach}}}))
			e.refused(e.Remove(e.Context(), "kept"), conveyor.ErrState)
			e.run("kept", conveyor.VerdictDone)
			e.refused(e.Remove(e.Context(), "kept"), conveyor.ErrState)
			e.ok(e.Remove(e.Context(), "never"))
			e.refused(e.Remove(e.Context(), "no{uuid}"), conveyor.ErrUUID)
			e.states("kept completed")
		})
	})
}

// everything has a job, root, use all that a job can use, and those around it too, and ends them.
func everything(e *engine) {
	e.Helper()
	ctx := e.Context()
	e.add(job("leaf", under("root")), job("follows", after(wire.Edge_ALWAYS, "root", "leaf")),
		job("root", unique("k"), delayed(time.Second), waitsFor(time.Hour), func(j *wire.Job) { j.Payload = make([]byte, 20<<10) }))
	e.pass(time.Second)
	e.tick()
	for range 2 {
		r := e.take("root")
		e.ok(e.AppendLog(ctx, "root", r.Fence, 1, []byte("log")))
		e.ok(e.SetProgress(ctx, "root", r.Fence, conveyor.Progress{Done: 1, Total: 2}))
		e.exchange(0, conveyor.Ack{UUID: "root", Fence: r.Fence, Verdict: conveyor.VerdictHold, Failure: "f"})
		e.ok(e.Release(ctx, "root"))
	}
	r := e.take("root")
	made := &wire.Edge{Uuid: "root", Opening: r.Opening, MadeBy: r.Fence}
	e.add(job("made", edge(made)))
	e.exchange(0, conveyor.Ack{UUID: "root", Fence: r.Fence, Result: []byte("r")})
	e.run("leaf", conveyor.VerdictDone)
	e.run("made", conveyor.VerdictFailed)
	e.states("root failed(child), leaf completed, follows queued, made failed")
	e.run("follows", conveyor.VerdictDone)
}

func TestLedger(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D1a after retention nothing is left of a job that used everything", func(e *engine) {
			everything(e)
			e.ok(e.Leave(e.Context(), "w"))
			e.pass(conveyor.Retention)
			e.sweep()
			if left := e.left("root", "leaf", "follows", "made"); len(left) > 0 {
				e.Errorf("left: %v", left)
			}
			names := e.scan()
			slices.Sort(names)
			if diff := cmp.Diff([]string{"clock", "events", "events:life", "events:seq", "seq"}, names); diff != "" {
				e.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	})
}

func TestWaitingLimit(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D4d a job that waits too long expires", func(e *engine) {
			e.add(job("up"), job("held", waitsFor(time.Minute), after(wire.Edge_SUCCESS, "up")), job("sched", waitsFor(time.Minute), runAt(e.now+3600_000)),
				job("queued", waitsFor(time.Minute)), job("heir", after(wire.Edge_FAILURE, "queued")), job("long", waitsFor(time.Hour)))
			if got := e.status("held").ExpiresAt.UnixMilli(); got != e.now+60_000 {
				e.Errorf("expires at %d, it is %d", got, e.now)
			}
			e.take("up")
			e.pass(time.Minute - time.Millisecond)
			e.beat("w", conveyor.Holding{UUID: "up", Fence: 1})
			e.sweep()
			e.states("held held, sched scheduled, queued queued")
			e.pass(time.Millisecond)
			e.sweep()
			e.states("up running, held expired, sched expired, queued expired, heir queued, long queued")
			e.run("long", conveyor.VerdictDone)
			e.run("heir", conveyor.VerdictDone)
			e.exchange(0, conveyor.Ack{UUID: "up", Fence: 1})
			e.nothing()
		})
		e.Run("reserving meets it before any tick", func(e *engine) {
			e.add(job("late1", waitsFor(time.Second)), job("alive"), job("late2", waitsFor(time.Second)), job("mourner", after(wire.Edge_FAILURE, "late1")))
			e.pass(time.Second)
			r := e.exchange(3)
			if started := names(r.Reserved); !slices.Equal(started, []string{"alive"}) || !r.More {
				e.Errorf("started %q, more %v", started, r.More)
			}
			e.states("late1 expired, late2 expired, mourner queued")
			e.run("mourner", conveyor.VerdictDone)
			e.exchange(0, conveyor.Ack{UUID: "alive", Fence: 1})
			e.nothing()
		})
		e.Run("one that started never does", func(e *engine) {
			limited := waitsFor(time.Second)
			e.add(job("run", limited))
			r := e.take("run")
			if at := e.status("run").ExpiresAt; !at.IsZero() {
				e.Errorf("expires at %s", at)
			}
			e.exchange(0, conveyor.Ack{UUID: "run", Fence: r.Fence, Verdict: conveyor.VerdictRetry, Delay: time.Minute})
			e.ok(e.Update(e.Context(), job("run", limited)))
			e.pass(30 * time.Second)
			e.sweep()
			e.states("run scheduled")
			e.pass(30 * time.Second)
			e.run("run", conveyor.VerdictHold)
			e.pass(time.Hour)
			e.sweep()
			e.states("run on hold")
			e.ok(e.Cancel(e.Context(), "run"))
			e.add(job("closing", limited))
			r = e.take("closing")
			e.add(job("child", under("closing"), runAt(e.now+3600_000)))
			e.end(r, conveyor.VerdictDone)
			e.pass(time.Minute)
			e.sweep()
			e.states("closing closing")
			e.ok(e.Cancel(e.Context(), "child"))
		})
		e.Run("another limit counts from the add, too", func(e *engine) {
			e.add(job("u", waitsFor(time.Minute)))
			e.pass(30 * time.Second)
			for range 2 {
				e.ok(e.Update(e.Context(), job("u", waitsFor(time.Minute)))) // the same one changes nothing
			}
			e.ok(e.Update(e.Context(), job("u", waitsFor(40*time.Second))))
			e.pass(10*time.Second - time.Millisecond)
			e.sweep()
			e.states("u queued")
			e.pass(time.Millisecond)
			e.sweep()
			e.states("u expired")
			e.add(job("v", waitsFor(time.Second)))
			e.ok(e.Update(e.Context(), job("v")))
			e.pass(time.Minute)
			e.sweep()
			e.states("v queued")
			e.ok(e.Cancel(e.Context(), "v"))
			if n := e.rdb.Exists(e.Context(), e.key("expiry")).Val(); n != 0 {
				e.Error("somebody expires still")
			}
		})
		e.Run("hundreds at once", func(e *engine) {
			var jobs []*wire.Job
			for i := range 450 {
				jobs = append(jobs, job(fmt.Sprint("m", i), waitsFor(time.Second), removedAfter(time.Second)))
			}
			e.add(jobs...)
			for range 2 {
				e.pass(time.Second)
				for n := 0; ; n++ {
					reply := e.tick()
					if reply.Changes > 200 || n > 20 {
						e.Fatalf("%d changes in tick %d", reply.Changes, n)
					}
					if !reply.More {
						break
					}
				}
			}
			e.states("m0 unknown, m449 unknown")
			e.nothing()
		})
	})
}

func TestLogsOfAttempts(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"))
		for attempt := range 7 {
			r := e.take("a")
			for n := range int64(2) {
				e.ok(e.AppendLog(e.Context(), "a", r.Fence, n+1, fmt.Append(nil, "attempt ", attempt+1)))
			}
			e.end(r, conveyor.VerdictRetry)
		}
		entries, err := e.Logs(e.Context(), "a", conveyor.LogPosition{}, 100, 0)
		e.ok(err)
		var fences []int64
		for _, entry := range entries {
			fences = append(fences, entry.Fence)
		}
		if diff := cmp.Diff([]int64{3, 3, 4, 4, 5, 5, 6, 6, 7, 7}, fences); diff != "" {
			e.Errorf("the log has attempts (-want +got):\n%s", diff)
		}
	})
}

func TestTimesRefused(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, bad := range []func(*wire.Job){
			removedAfter(-time.Second), waitsFor(-time.Second),
			func(j *wire.Job) { j.RemoveAfter = &durationpb.Duration{Seconds: 1, Nanos: -1} },
			func(j *wire.Job) { j.Retention = &durationpb.Duration{Seconds: 1 << 60} },
		} {
			e.refused(e.Add(e.Context(), job("bad", bad)), conveyor.ErrTime)
		}
		e.states("bad unknown")
	})
}
