package conveyor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestQueuePlaces: where a job stands when it becomes ready, comes back, moves or stops waiting for its time.
func TestQueuePlaces(t *testing.T) {
	const ghost = "\n\x05ghost\x12\x04noop" // a ticket of a job that nobody knows
	apply := func(e *engine, changes ...conveyor.Change) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
	}
	length := func(e *engine, list string, want int64) {
		e.Helper()
		if n, err := e.rdb.LLen(e.Context(), e.key(list)).Result(); n != want || err != nil {
			e.Errorf("%s has %d tickets, want %d: %v", list, n, want, err)
		}
	}
	// edit changes a job's status entry as no script does.
	edit := func(e *engine, uuid string, change func(entry string) string) {
		e.Helper()
		e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, change(e.entry(uuid))).Err())
	}
	rows := []struct {
		name string
		test func(e *engine)
	}{
		{"a retry that meets a broken queue goes to the end when that is mended", func(e *engine) {
			e.add(job("a"), job("b"))
			r := e.take("a")
			e.broken("queue:q", func() { e.end(r, conveyor.VerdictRetry) })
			e.states("a scheduled")
			e.pass(2 * time.Second)
			e.reserves("b", "a")
		}},
		{"one that kept its place once does not keep it at its next retry", func(e *engine) {
			e.add(job("a"), job("b"))
			e.reject(e.take("a"), conveyor.VerdictNoHandler, time.Second)
			e.pass(time.Second)
			e.reject(e.take("a"), conveyor.VerdictRetry, time.Second)
			e.pass(time.Second)
			e.reserves("b", "a")
		}},
		{"one whose place is lost goes to the end", func(e *engine) {
			e.add(job("a"), job("b"))
			r := e.take("a")
			edit(e, "a", func(entry string) string { return strings.Replace(entry, "|q|1|", "|q||", 1) })
			e.end(r, conveyor.VerdictBack)
			e.reserves("b", "a")
		}},
		{"who comes back looks no further than to its place", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.add(job("b"))
			e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), "junk").Err())
			if reply := e.exchange(0, ack(r, conveyor.VerdictBack)); len(reply.Damaged) > 0 {
				e.Errorf("damaged %v", reply.Damaged)
			}
			e.ok(e.rdb.LRem(e.Context(), e.key("queue:q"), 0, "junk").Err())
			e.reserves("a", "b")
		}},
		{"two that come back stand as before, whatever stands there by mistake", func(e *engine) {
			e.add(job("a"), job("b"), job("c"), job("d"))
			rs := e.reserves("a", "b", "c", "d")
			e.end(rs[0], conveyor.VerdictBack)
			e.end(rs[1], conveyor.VerdictBack)
			first := e.rdb.RPop(e.Context(), e.key("queue:q")).Val()
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), "junk", first).Err())
			e.end(rs[2], conveyor.VerdictBack)
			e.end(rs[3], conveyor.VerdictBack)
			e.reserves("a", "b", "c", "d")
		}},
		{"one that is scheduled and cancelled in one call waits for nothing", func(e *engine) {
			later := runAt(e.now + 1000)
			e.add(job("first", runAt(e.now+500)))
			apply(e,
				conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("a", later)},
				conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "a"},
				conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("b", later)})
			e.states("a cancelled, b scheduled")
			if n := e.rdb.ZCard(e.Context(), e.key("scheduled")).Val(); n != 2 {
				e.Errorf("%d tickets are scheduled", n)
			}
		}},
		{"one that moves away and back in one call stands once", func(e *engine) {
			e.add(job("a"))
			var changes []conveyor.Change
			for _, l := range []int32{2, 0, 2} {
				changes = append(changes, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("a", lane(l))})
			}
			apply(e, changes...)
			length(e, "queue:q:2", 1)
			length(e, "queue:q:0", 0)
			e.reserves("a")
		}},
		{"one that was queued and waits for a time now leaves its place", func(e *engine) {
			e.add(job("a"), job("b"))
			e.ok(e.Update(e.Context(), job("a", runAt(e.now+1000))))
			e.pass(time.Second)
			e.reserves("b", "a")
		}},
		{"one that was scheduled and is held now waits for no time", func(e *engine) {
			later := runAt(e.now + 1000)
			e.add(job("a", later))
			e.ok(e.Update(e.Context(), job("a", later, after(0, "never"))))
			e.states("a held")
			e.wantKeys("jobs:a", "jobs:never:onComplete")
		}},
		{"one whose time to wait is over when it is due does not become ready", func(e *engine) {
			e.add(job("a", runAt(e.now+1000), waitsFor(time.Second)))
			e.pass(time.Second)
			e.tick()
			e.states("a expired")
			length(e, "queue:q", 0)
		}},
		{"one that stands twice among the scheduled becomes ready once", func(e *engine) {
			e.add(job("a"), job("b"))
			full := e.rdb.LIndex(e.Context(), e.key("queue:q"), -1).Val()
			e.reject(e.take("a"), conveyor.VerdictNoHandler, time.Second)
			e.ok(e.rdb.ZAdd(e.Context(), e.key("scheduled"), redisZ(float64(e.now+1000)/1000, full)).Err())
			e.pass(time.Second)
			e.tick()
			length(e, "queue:q", 2)
			e.reserves("a", "b")
		}},
		{"a ticket with another time than its job's does not start it", func(e *engine) {
			e.add(job("a", runAt(e.now+2000)))
			e.ok(e.rdb.ZAdd(e.Context(), e.key("scheduled"), redisZ(float64(e.now+1000)/1000, "\n\x01a")).Err())
			e.pass(time.Second)
			e.tick()
			e.states("a scheduled")
			e.pass(time.Second)
			e.reserves("a")
		}},
		{"one whose entry does not say that its bytes stand apart takes its place all the same", func(e *engine) {
			e.add(job("a"))
			e.reject(e.take("a"), conveyor.VerdictRetry, time.Second)
			edit(e, "a", func(entry string) string { return strings.Replace(entry, "b", "", 1) })
			e.pass(time.Second)
			e.tick()
			length(e, "queue:q", 1)
			edit(e, "a", func(entry string) string { return strings.Replace(entry, "|", "b|", 1) })
			e.reserves("a")
		}},
		{"many stale tickets at the head, and what cannot be read among them", func(e *engine) {
			e.add(job("a"), job("b"), job("bad"), job("gone"))
			key := e.key("queue:q")
			bad := e.rdb.LIndex(e.Context(), key, -3).Val()
			e.ok(e.rdb.LRem(e.Context(), key, 1, bad).Err())
			e.ok(e.Cancel(e.Context(), "gone"))
			whole := e.entry("bad")
			edit(e, "bad", func(string) string { return "???" })
			e.ok(e.rdb.RPush(e.Context(), key, ghost, "junk", bad, ghost).Err())
			reply := e.exchange(1)
			if diff := cmp.Diff([]string{"a"}, names(reply.Reserved)); diff != "" {
				e.Errorf("reserved (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{e.key("status bad"), key}, reply.Damaged); diff != "" {
				e.Errorf("damaged (-want +got):\n%s", diff)
			}
			length(e, "setaside", 2)
			edit(e, "bad", func(string) string { return whole })
			e.ok(e.rdb.LPush(e.Context(), key, bad).Err())
			e.reserves("b", "bad")
		}},
		{"jobs behind what cannot be read are taken", func(e *engine) {
			e.add(job("a"), job("b"), job("c"), job("d"))
			key := e.key("queue:q")
			a, b := e.rdb.RPop(e.Context(), key).Val(), e.rdb.RPop(e.Context(), key).Val()
			e.ok(e.rdb.RPush(e.Context(), key, "junk", b, "junk", a).Err())
			e.reserves("a", "b", "c", "d")
		}},
		{"and when stale tickets stand before them", func(e *engine) {
			e.add(job("a"), job("b"))
			key := e.key("queue:q")
			a := e.rdb.RPop(e.Context(), key).Val()
			e.ok(e.rdb.RPush(e.Context(), key, "junk", a, ghost).Err())
			e.take("a")
			e.reserves("b")
		}},
		{"a job that cannot be read is set aside when it is taken", func(e *engine) {
			e.add(job("bad"), job("a"))
			ticket, whole := e.rdb.LIndex(e.Context(), e.key("queue:q"), -1).Val(), e.entry("bad")
			edit(e, "bad", func(string) string { return "???" })
			e.reserves("a")
			length(e, "setaside", 1)
			edit(e, "bad", func(string) string { return whole })
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), ticket).Err())
			e.reserves("bad")
		}},
		{"what cannot be read in a lane that becomes empty is set aside", func(e *engine) {
			e.add(job("a"))
			e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), "junk").Err())
			e.ok(e.Cancel(e.Context(), "a"))
			length(e, "setaside", 1)
			length(e, "queue:q", 0)
		}},
		{"a lane of the wrong type gives nothing, and is named", func(e *engine) {
			e.add(job("a"), job("low", lane(0)))
			e.broken("queue:q", func() {
				reply := e.exchange(2)
				if diff := cmp.Diff([]string{"low"}, names(reply.Reserved)); diff != "" {
					e.Errorf("reserved (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{e.key("queue:q")}, reply.Damaged); diff != "" {
					e.Errorf("damaged (-want +got):\n%s", diff)
				}
			})
			e.reserves("a")
		}},
		{"a ticket in another lane does not start its job", func(e *engine) {
			e.add(job("a"), job("b", lane(2)))
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q:2"), e.rdb.LIndex(e.Context(), e.key("queue:q"), -1).Val()).Err())
			e.reserves("b", "a")
		}},
		{"a lane of the wrong type becomes empty", func(e *engine) {
			e.add(job("a"))
			e.broken("queue:q", func() { e.ok(e.Cancel(e.Context(), "a")) })
			e.states("a cancelled")
		}},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, row.test)
		}
	})
}
