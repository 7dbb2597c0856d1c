package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// alone runs a subtest in a namespace of its own.
func (e *engine) alone(name string, test func(e *engine)) {
	e.Run(name, func(e *engine) {
		e = &engine{e.tb, newEngine(e, e.rdb).world}
		test(e)
		e.sound()
	})
}

// cancelled adds jobs to a queue and cancels them.
func (e *engine) cancelled(queue string, n int) {
	e.Helper()
	var jobs []*wire.Job
	var changes []conveyor.Change
	for i := range n {
		uuid := fmt.Sprintf("%s-%03d", queue, i)
		jobs = append(jobs, job(uuid, func(j *wire.Job) { j.Queue = queue }))
		changes = append(changes, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid})
	}
	e.add(jobs...)
	e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
}

func TestSweep(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.alone("a queue is met again when the oldest that is left is due", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "r", conveyor.QueueSettings{KeepFor: time.Minute}))
			e.add(job("a", queue("r")), job("b", queue("r")))
			e.ok(e.Cancel(e.Context(), "a"))
			e.pass(30 * time.Second)
			e.ok(e.Cancel(e.Context(), "b"))
			due := func(ms int64) {
				e.Helper()
				if diff := cmp.Diff(map[string]string{"r": fmt.Sprint(ms)}, e.scores("sweeps")); diff != "" {
					e.Errorf("sweeps (-want +got):\n%s", diff)
				}
			}
			due(start + 60_000)
			e.pass(30 * time.Second)
			e.tick()
			e.states("a unknown, b cancelled")
			due(start + 90_000)
			e.pass(30 * time.Second)
			e.tick()
			e.states("b unknown")
			if left := e.scores("sweeps"); len(left) > 0 {
				e.Errorf("left %v", left)
			}
		})
		e.alone("one tick takes a hundred, and goes on with the next queue and with jobs that have their own time", func(e *engine) {
			e.cancelled("r", 150)
			e.cancelled("s", 150)
			e.add(job("own", removedAfter(conveyor.Retention)))
			e.ok(e.Cancel(e.Context(), "own"))
			e.pass(conveyor.Retention)
			var changes []int
			for {
				reply := e.tick()
				changes = append(changes, reply.Changes)
				if !reply.More {
					break
				}
			}
			if diff := cmp.Diff([]int{100, 100, 100, 1}, changes); diff != "" {
				e.Errorf("changes of each tick (-want +got):\n%s", diff)
			}
			e.states("r-149 unknown, s-149 unknown, own unknown")
		})
		e.alone("one tick takes all of few, of every queue", func(e *engine) {
			e.cancelled("r", 3)
			e.cancelled("s", 2)
			e.add(job("own", removedAfter(conveyor.Retention)))
			e.ok(e.Cancel(e.Context(), "own"))
			e.pass(conveyor.Retention)
			if reply := e.tick(); reply.Changes != 6 || reply.More {
				e.Errorf("%d changes, more %v", reply.Changes, reply.More)
			}
		})
		e.alone("of a job with a record stay its entry, its failure and the record", func(e *engine) {
			attach := &conveyor.Attach{Key: "state:w", Field: "kept", Value: []byte("1 x")}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("kept"), Attach: attach}}}))
			r := e.take("kept")
			e.ok(e.AppendLog(e.Context(), "kept", r.Fence, 1, []byte("log")))
			e.ok(e.SetProgress(e.Context(), "kept", r.Fence, conveyor.Progress{Done: 1, Total: 2}))
			e.exchange(0, conveyor.Ack{UUID: "kept", Fence: r.Fence, Verdict: conveyor.VerdictFailed, Failure: "f"})
			e.ok(e.Leave(e.Context(), "w"))
			e.pass(conveyor.Retention)
			e.sweep()
			var keys []string
			for _, line := range e.left("kept") {
				key, _, _ := strings.Cut(line, " ")
				keys = append(keys, key)
			}
			slices.Sort(keys)
			if diff := cmp.Diff([]string{"failures", "state:w", "status"}, slices.Compact(keys)); diff != "" {
				e.Errorf("kept in (-want +got):\n%s", diff)
			}
		})
		e.alone("a job that runs again is not taken for the end it had", func(e *engine) {
			e.add(job("again"))
			e.run("again", conveyor.VerdictFailed)
			e.pass(conveyor.Retention - time.Minute)
			e.ok(e.Retry(e.Context(), "again"))
			e.pass(time.Hour)
			e.sweep()
			e.states("again queued")
			e.run("again", conveyor.VerdictFailed)
			e.sweep()
			e.states("again failed")
			e.pass(conveyor.Retention)
			e.sweep()
			e.states("again unknown")
		})
		e.alone("a limit goes with the wait", func(e *engine) {
			e.add(job("a", waitsFor(time.Minute)), job("b", waitsFor(time.Minute)))
			e.ok(e.Cancel(e.Context(), "a"))
			if at := e.status("a").ExpiresAt; !at.IsZero() {
				e.Errorf("expires at %s", at)
			}
			e.take("b")
			if left := e.scores("expiry"); len(left) > 0 {
				e.Errorf("left %v", left)
			}
			e.ok(e.Leave(e.Context(), "w"))
			e.ok(e.Cancel(e.Context(), "b"))
		})
	})
}

// TestDamagedRetention damages what the sweeping goes by.
func TestDamagedRetention(t *testing.T) {
	onBoth(t, func(e *engine) {
		wantDamaged := func(e *engine, got []string, want ...string) {
			e.Helper()
			for i := range want {
				want[i] = e.key(want[i])
			}
			if diff := cmp.Diff(want, append([]string(nil), got...)); diff != "" {
				e.Errorf("damaged (-want +got):\n%s", diff)
			}
		}
		for _, key := range []string{"ended:q", "sweeps"} {
			e.alone("a job ends all the same, and the key is named: "+key, func(e *engine) {
				e.add(job("a"))
				r := e.take("a")
				e.ok(e.rdb.Set(e.Context(), e.key(key), "x", 0).Err())
				wantDamaged(e, e.exchange(0, ack(r, conveyor.VerdictDone)).Damaged, key)
				e.states("a completed")
				e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
				e.ok(e.Remove(e.Context(), "a"))
				e.ok(e.Leave(e.Context(), "w"))
				e.ok(e.rdb.Del(e.Context(), e.key("ended:q")).Err())
			})
		}
		e.alone("a list that cannot be read is tried again in ten seconds, others are swept", func(e *engine) {
			e.cancelled("r", 1)
			e.cancelled("s", 1)
			e.pass(conveyor.Retention)
			e.ok(e.rdb.Rename(e.Context(), e.key("ended:r"), e.key("aside")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("ended:r"), "x", 0).Err())
			reply := e.tick()
			wantDamaged(e, reply.Damaged, "ended:r")
			if reply.More {
				e.Error("a tick must not spin over what it cannot do")
			}
			e.states("r-000 cancelled, s-000 unknown")
			e.pass(10*time.Second - time.Millisecond)
			wantDamaged(e, e.tick().Damaged)
			e.ok(e.rdb.Rename(e.Context(), e.key("aside"), e.key("ended:r")).Err())
			e.pass(time.Millisecond)
			e.tick()
			e.states("r-000 unknown")
		})
		e.alone("entries of the list that are none are dropped", func(e *engine) {
			e.cancelled("r", 1)
			for _, junk := range []string{"junk", "", "5", "never ever"} {
				e.ok(e.rdb.RPush(e.Context(), e.key("ended:r"), junk).Err())
			}
			e.pass(conveyor.Retention)
			e.sweep()
			e.states("r-000 unknown")
			if e.rdb.Exists(e.Context(), e.key("ended:r"), e.key("sweeps")).Val() != 0 {
				e.Error("something is left")
			}
		})
		e.alone("a time of removal that is none takes nothing", func(e *engine) {
			e.add(job("live", removedAfter(time.Second)), job("plain"), job("own", removedAfter(time.Hour)))
			e.ok(e.Cancel(e.Context(), "plain"))
			for _, u := range []string{"live", "plain", "never"} {
				e.ok(e.rdb.ZAdd(e.Context(), e.key("removals"), redisZ(float64(e.now), u)).Err())
			}
			e.tick()
			e.states("live queued, plain cancelled, own queued")
			if left := e.scores("removals"); len(left) > 0 {
				e.Errorf("left %v", left)
			}
		})
		e.alone("a limit that is none ends nothing", func(e *engine) {
			e.add(job("plain"), job("over"), job("limited", waitsFor(time.Second)))
			e.ok(e.Cancel(e.Context(), "over"))
			entry := e.rdb.HGet(e.Context(), e.key("status"), "over").Val()
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "over", fmt.Sprintf("%s|v%d:1000", entry, e.now)).Err())
			e.pass(time.Second)
			for _, u := range []string{"plain", "over", "never"} {
				e.ok(e.rdb.ZAdd(e.Context(), e.key("expiry"), redisZ(float64(e.now), u)).Err())
			}
			if reply := e.tick(); reply.Expired != 1 {
				e.Errorf("%d expired", reply.Expired)
			}
			e.states("plain queued, over cancelled, limited expired")
			if left := e.scores("expiry"); len(left) > 0 {
				e.Errorf("left %v", left)
			}
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "over", entry).Err())
			e.pass(conveyor.Retention)
			if reply := e.tick(); reply.Expired != 0 || reply.Changes != 2 {
				e.Errorf("of the %d that went %d expired", reply.Changes, reply.Expired)
			}
		})
	})
}
