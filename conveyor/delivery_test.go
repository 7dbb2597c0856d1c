package conveyor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func toWorker(id string) func(*wire.Job) { return deliver(wire.Delivery_WORKER, id) }

// delivered is what a worker gets of a job for all.
func delivered(job, worker string) string { return conveyor.DeliveryUUID(job, worker) }

// getsAs wants a worker to reserve exactly these jobs, in this order.
func (e *engine) getsAs(worker string, want ...string) []conveyor.Reservation {
	e.Helper()
	got := e.exchangeAs(worker, 100).Reserved
	if diff := cmp.Diff(append([]string{}, want...), names(got)); diff != "" {
		e.Fatalf("%s reserved (-want +got):\n%s", worker, diff)
	}
	return got
}

func (e *engine) doneAs(worker string, rs ...conveyor.Reservation) {
	e.Helper()
	var acks []conveyor.Ack
	for _, r := range rs {
		acks = append(acks, ack(r, conveyor.VerdictDone))
	}
	if out := e.exchangeAs(worker, 0, acks...).Outdated; len(out) > 0 {
		e.Fatalf("outdated: %v", out)
	}
}

func TestDelivery(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C6a by default any worker gets a job", func(e *engine) {
			e.beat("a")
			e.beat("b")
			e.add(job("plain"), job("any", deliver(wire.Delivery_ANY, "")))
			e.doneAs("a", e.getsAs("a", "plain", "any")...)
			e.getsAs("b")
			e.states("plain completed, any completed")
		})
		e.Behaviour("C6b only the named worker gets a job for one", func(e *engine) {
			e.beat("a")
			e.add(job("one", toWorker("b")))
			if s := e.status("one"); s.Queue != "@b" || s.Inbox() != "b" {
				e.Errorf("it stands in %q", s.Queue)
			}
			e.getsAs("a")
			_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: "c", Number: 1, Lease: time.Minute, Queues: []string{"@b"}, Want: 1})
			e.refused(err, conveyor.ErrQueueName)
			e.doneAs("b", e.getsAs("b", "one")...) // whenever it comes
			e.states("one completed")
		})
		e.Behaviour("C6c every worker alive at the add gets a job for all, which is done at once", func(e *engine) {
			e.beat("gone")
			e.beat("left")
			e.pass(conveyor.DeadAfter - time.Millisecond)
			e.beat("b")
			e.pass(time.Millisecond)
			e.beat("a")
			e.ok(e.Leave(e.Context(), "left"))
			e.add(job("news", toAll, func(j *wire.Job) { j.Payload = []byte("x") }))
			e.states("news completed")
			e.beat("late")
			e.getsAs("late")
			e.getsAs("gone")
			e.states(delivered("news", "a") + " queued, " + delivered("news", "b") + " queued, " + delivered("news", "gone") + " unknown")
			got := e.getsAs("a", delivered("news", "a"))
			if j := got[0].Job; string(j.Payload) != "x" || j.Type != "noop" || j.Queue != "q" || j.Delivery.GetWorker() != "a" || j.Delivery.GetOf() != "news" ||
				j.Delivery.GetTo() != wire.Delivery_WORKER {
				e.Errorf("the job of a is %v", j)
			}
			e.exchangeAs("a", 0, ack(got[0], conveyor.VerdictFailed))
			e.doneAs("b", e.getsAs("b", delivered("news", "b"))...)
			e.states("news completed, " + delivered("news", "a") + " failed, " + delivered("news", "b") + " completed")
		})
		e.Behaviour("C6d what is not delivered within its retention is removed", func(e *engine) {
			e.beat("a")
			e.beat("b")
			e.add(job("week", toWorker("b")), job("hour", toWorker("b"), waitsFor(time.Hour)), job("news", toAll), job("brief", toAll, waitsFor(time.Hour)))
			e.ok(e.Leave(e.Context(), "b"))
			e.getsAs("a", delivered("news", "a"), delivered("brief", "a"))
			e.ok(e.Leave(e.Context(), "a"))
			e.pass(time.Hour)
			e.sweep()
			e.states("week queued, hour expired, " + delivered("news", "b") + " queued, " + delivered("brief", "b") + " expired, " + delivered("brief", "a") + " expired")
			e.pass(conveyor.DeliveryRetention - time.Hour - time.Millisecond)
			e.sweep()
			e.states("week queued, " + delivered("news", "a") + " queued, " + delivered("news", "b") + " queued")
			e.pass(time.Millisecond)
			e.sweep()
			e.states("week expired, " + delivered("news", "a") + " expired, " + delivered("news", "b") + " expired")
			e.pass(conveyor.Retention)
			e.sweep()
			e.bare()
		})
		e.Behaviour("C6e a worker that just handled one broadcast gets the next", func(e *engine) {
			e.beat("a")
			for i := range 3 {
				news := fmt.Sprint("news", i)
				e.add(job(news, toAll))
				e.doneAs("a", e.getsAs("a", delivered(news, "a"))...)
			}
			e.add(job("x", toAll), job("y", toAll))
			e.getsAs("a", delivered("x", "a"), delivered("y", "a"))
		})
		e.Behaviour("C11h a worker gets what goes to all first, then what goes to it, then its queues", func(e *engine) {
			e.beat("a")
			e.add(job("any", lane(2)), job("one", toWorker("a"), lane(0)), job("two", toWorker("a"), lane(2)), job("all", toAll, lane(0)))
			e.getsAs("a", delivered("all", "a"), "one", "two", "any")
		})
	})
}

// bare wants nothing to be left in the namespace but what is bounded.
func (e *engine) bare() {
	e.Helper()
	var left []string
	for _, key := range e.scan() {
		if !slices.Contains([]string{"clock", "events", "events:life", "events:seq", "seq"}, key) {
			left = append(left, key)
		}
	}
	if len(left) > 0 {
		e.Errorf("left: %v", left)
	}
}

func TestBroadcast(t *testing.T) {
	for _, row := range []struct {
		name string
		test func(e *engine)
	}{
		{"nobody is alive", func(e *engine) {
			e.add(job("news", toAll))
			e.states("news completed")
			e.pass(conveyor.Retention)
			e.sweep()
			e.bare()
		}},
		{"the same again adds nothing", func(e *engine) {
			e.beat("a")
			e.add(job("news", toAll))
			e.beat("b")
			before := dump(e)
			e.add(job("news", toAll))
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("added again (-before +after):\n%s", diff)
			}
			e.getsAs("b")
		}},
		{"of one that retention took, what is there stays", func(e *engine) {
			e.beat("a")
			e.add(job("news", toAll))
			e.ok(e.Remove(e.Context(), "news"))
			e.add(job("news", toAll))
			e.getsAs("a", delivered("news", "a"))
		}},
		{"to more workers than a script may change jobs", func(e *engine) {
			var want []string
			for i := range 450 {
				id := fmt.Sprintf("w%03d", i)
				e.exchangeAs(id, 0)
				want = append(want, id)
			}
			e.add(job("news", toAll, labelled("x=1"), func(j *wire.Job) { j.RemoveAfter, j.Payload = nil, []byte("p") }))
			e.states("news closing")
			e.ledger()
			e.exchangeAs("other", 0) // not alive at the add
			e.sweep()
			e.states("news completed")
			for _, id := range want {
				if got := e.getsAs(id, delivered("news", id)); string(got[0].Job.Payload) != "p" {
					e.Fatalf("%v", got[0].Job)
				}
			}
			e.getsAs("other")
			e.wantKeys(bytesKeys("news", want)...)
			e.finds(conveyor.ListOptions{Labels: filter("x=1"), States: []conveyor.State{conveyor.StateCompleted}}, "news")
		}},
		{"what makes the job obsolete, and what its first execution gets, goes with it", func(e *engine) {
			for i := range 250 {
				e.exchangeAs(fmt.Sprintf("w%03d", i), 0)
			}
			e.add(job("news", toAll, dropIf("x=1"), carrying("at", "1")))
			e.sweep()
			first := e.getsAs("w000", delivered("news", "w000"))
			e.want(map[string]string{"at": "1"}, first[0].Sync)
			e.add(job("root", labelled("x=1"), queue("other")))
			e.getsAs("w001")
			e.getsAs("w249")
			e.states(delivered("news", "w001") + " obsolete, " + delivered("news", "w249") + " obsolete")
		}},
		{"several in one call, to many", func(e *engine) {
			for i := range 90 {
				e.exchangeAs(fmt.Sprint("w", i), 0)
			}
			e.add(job("n1", toAll), job("n2", toAll), job("n3", toAll))
			e.states("n1 completed, n2 completed, n3 closing")
			e.sweep()
			e.getsAs("w7", delivered("n1", "w7"), delivered("n2", "w7"), delivered("n3", "w7"))
		}},
		{"cancelled while it is handed out", func(e *engine) {
			for i := range 250 {
				e.exchangeAs(fmt.Sprint("w", i), 0)
			}
			e.add(job("news", toAll))
			e.ok(e.Cancel(e.Context(), "news"))
			e.sweep()
			e.states("news cancelled")
			e.ok(e.Remove(e.Context(), "news"))
			if left := e.rdb.Exists(e.Context(), e.key("jobs:news"), e.key("jobs:news:inboxes")).Val(); left > 0 {
				e.Errorf("%d keys are left", left)
			}
			found, err := e.List(e.Context(), conveyor.ListOptions{States: []conveyor.State{conveyor.StateQueued}})
			e.ok(err)
			if len(found) != 199 {
				e.Errorf("%d are handed out, want 199", len(found))
			}
		}},
		{"its bytes are lost while it is handed out", func(e *engine) {
			for i := range 250 {
				e.exchangeAs(fmt.Sprint("w", i), 0)
			}
			e.add(job("news", toAll))
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:news")).Err())
			e.sweep()
			e.states("news completed")
		}},
		{"whom it goes to is damaged", func(e *engine) {
			for i := range 250 {
				e.exchangeAs(fmt.Sprint("w", i), 0)
			}
			e.add(job("news", toAll))
			e.ok(e.rdb.Rename(e.Context(), e.key("jobs:news:inboxes"), e.key("kept")).Err())
			e.wrong("jobs:news:inboxes")
			if reply := e.tick(); !slices.Contains(reply.Damaged, e.key("jobs:news:inboxes")) || reply.More {
				e.Errorf("damaged: %v, more: %t", reply.Damaged, reply.More)
			}
			e.states("news closing")
			e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key("jobs:news:inboxes")).Err())
			e.pass(10 * time.Second)
			e.sweep()
			e.states("news completed, " + delivered("news", "w0") + " queued")
		}},
		{"an inbox is damaged", func(e *engine) {
			e.beat("a")
			e.wrong("queue:@a:2")
			e.add(job("news", toAll))
			e.states("news completed, " + delivered("news", "a") + " scheduled")
			e.ok(e.rdb.Del(e.Context(), e.key("queue:@a:2")).Err())
			e.pass(2 * time.Second)
			e.getsAs("a", delivered("news", "a")) // released and taken by one call
		}},
		{"its labels are damaged while it is handed out", func(e *engine) {
			for i := range 250 {
				e.exchangeAs(fmt.Sprint("w", i), 0)
			}
			e.add(job("news", toAll, labelled("x=1")))
			e.ok(e.rdb.Rename(e.Context(), e.key("labels"), e.key("kept")).Err())
			e.wrong("labels")
			if reply := e.tick(); !slices.Contains(reply.Damaged, e.key("labels")) {
				e.Errorf("damaged: %v", reply.Damaged)
			}
			e.states("news closing")
			e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key("labels")).Err())
			e.pass(10 * time.Second)
			e.sweep()
			e.states("news completed")
			found, err := e.List(e.Context(), conveyor.ListOptions{Labels: map[string]string{"x": "1"}, Limit: 1000})
			e.ok(err)
			if len(found) != 251 {
				e.Errorf("%d jobs have the label", len(found))
			}
		}},
		{"who is alive is damaged", func(e *engine) {
			e.wrong("workers")
			e.add(job("one", toWorker("b"))) // nobody is woken
			e.states("one queued")
			e.refused(e.Add(e.Context(), job("news", toAll)), conveyor.ErrCorrupt)
			e.states("news unknown")
			e.ok(e.rdb.Del(e.Context(), e.key("workers")).Err())
		}},
		{"a large one", func(e *engine) {
			e.beat("a")
			e.add(job("news", toAll, func(j *wire.Job) { j.Payload = make([]byte, 20<<10) }))
			e.wantKeys("queue:@a:2", "jobs:"+delivered("news", "a"))
			got := e.getsAs("a", delivered("news", "a"))
			if len(got[0].Job.Payload) != 20<<10 {
				e.Errorf("%d bytes", len(got[0].Job.Payload))
			}
			e.doneAs("a", got...)
			e.wantKeys()
			e.add(job("small", toAll))
			e.wantKeys("queue:@a:2")
		}},
		{"one under a long name to a worker of a long name", func(e *engine) {
			long := fmt.Sprintf("%0128d", 7)
			e.beat(long)
			e.add(job(long, toAll))
			got := e.getsAs(long, delivered(long, long))
			if d := got[0].Job.Delivery; d.Worker != long || d.Of != long {
				e.Errorf("delivery: %v", d)
			}
		}},
		{"labels, limits and keys", func(e *engine) {
			e.beat("a")
			e.add(job("news", toAll, labelled("x=1"), unique("k"), removedAfter(time.Minute), waitsFor(time.Hour)))
			e.add(job("other", unique("k")))
			d := delivered("news", "a")
			e.finds(conveyor.ListOptions{Labels: filter("x=1")}, slices.Sorted(slices.Values([]string{"news", d}))...)
			e.finds(conveyor.ListOptions{Labels: filter("x=1 method=all")}, slices.Sorted(slices.Values([]string{"news", d}))...)
			e.finds(conveyor.ListOptions{Labels: filter("method=any")}, "other")
			s := e.status(d)
			if got := s.ExpiresAt.UnixMilli() - e.now; got != time.Hour.Milliseconds() || s.Unique != "" || s.RemoveAfter != time.Minute {
				e.Errorf("%d ms, unique %q, removed after %s", got, s.Unique, s.RemoveAfter)
			}
			if s := e.status("news"); !s.ExpiresAt.IsZero() || !s.Broadcast {
				e.Errorf("%+v", s)
			}
			e.ledger()
		}},
		{"it is refused while another has its unique key", func(e *engine) {
			e.beat("a")
			e.add(job("other", unique("k")))
			e.refused(e.Add(e.Context(), job("news", toAll, unique("k"))), conveyor.ErrUnique)
			attach := &conveyor.Attach{Key: "state:w", Field: "news", Value: []byte("1 x")}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("news", toAll, unique("k")), Attach: attach}}}))
			e.states("news failed, " + delivered("news", "a") + " unknown")
			e.getsAs("a", "other")
			e.ok(e.Cancel(e.Context(), "other"))
			e.ok(e.Leave(e.Context(), "a"))
			e.beat("b")
			e.ok(e.Retry(e.Context(), "news"))
			e.states("news completed, " + delivered("news", "b") + " queued")
		}},
		{"one that is obsolete goes to nobody", func(e *engine) {
			e.beat("a")
			e.add(job("root", runAt(e.now+60_000), labelled("x=1")), job("news", toAll, dropIf("x=1")))
			e.states("news obsolete")
			e.getsAs("a")
		}},
		{"no waiting job becomes one", func(e *engine) {
			e.add(job("a"), job("done"))
			e.ok(e.Cancel(e.Context(), "done"))
			e.refused(e.Update(e.Context(), job("a", toAll)), conveyor.ErrState)
			e.ok(e.Update(e.Context(), job("done", toAll)))
			e.states("a queued, done cancelled")
		}},
		{"opened again it goes to nobody anew", func(e *engine) {
			e.beat("a")
			e.add(job("news", toAll))
			e.beat("b")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("child", edge(&wire.Edge{Uuid: "news", Opening: 2}))}, {Kind: conveyor.ChangeReopen, UUID: "news", Opening: 2}}}))
			e.getsAs("a", delivered("news", "a"), "child")
			e.getsAs("b")
		}},
	} {
		t.Run(row.name, func(t *testing.T) { onBoth(t, row.test) })
	}
}

func bytesKeys(broadcast string, workers []string) []string {
	var out []string
	for _, id := range workers {
		out = append(out, "jobs:"+delivered(broadcast, id))
	}
	return out
}

// TestExpiredAsItComesBack: what returns to its place in an inbox and expires in the same call leaves no ticket there, for its worker
// may never come to meet it.
func TestExpiredAsItComesBack(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.beat("a")
		e.add(job("brief", toAll, waitsFor(time.Hour)))
		got := e.getsAs("a", delivered("brief", "a"))
		back := ack(got[0], conveyor.VerdictNoHandler)
		back.Delay = time.Second
		e.exchangeAs("a", 0, back)
		e.pass(time.Hour)
		e.sweep()
		e.states(delivered("brief", "a") + " expired")
		e.pass(conveyor.Retention)
		e.sweep()
		e.bare()
	})
}
