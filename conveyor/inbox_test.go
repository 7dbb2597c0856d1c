package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestInbox(t *testing.T) {
	for _, row := range []struct {
		name string
		test func(e *engine)
	}{
		{"what a worker gives back or loses returns to it", func(e *engine) {
			e.beat("a")
			e.add(job("one", toWorker("a"), waitsFor(time.Hour)), job("two", toWorker("a")))
			got := e.getsAs("a", "one", "two")
			e.ledger()
			e.exchangeAs("a", 0, ack(got[0], conveyor.VerdictBack))
			e.ledger()
			if s := e.status("one"); s.ExpiresAt.UnixMilli() != e.now+time.Hour.Milliseconds() {
				e.Errorf("expires %s", s.ExpiresAt)
			}
			e.pass(conveyor.DeadAfter + time.Millisecond)
			if reply := e.tick(); len(reply.Dead) != 1 || reply.Lost != 1 {
				e.Errorf("%+v", reply)
			}
			e.getsAs("b")
			e.ledger()
			e.getsAs("a", "one", "two")
			e.ok(e.Leave(e.Context(), "a"))
			e.pass(time.Hour)
			e.sweep()
			e.states("one expired, two queued")
			e.pass(2 * conveyor.Retention)
			e.sweep()
			e.sweep()
			e.states("one unknown, two expired")
			e.pass(conveyor.Retention)
			e.sweep()
			e.bare()
		}},
		{"it does not expire while it runs or is on hold", func(e *engine) {
			e.beat("a")
			e.add(job("runs", toWorker("a"), waitsFor(time.Minute)), job("held", toWorker("a"), waitsFor(time.Minute)))
			got := e.getsAs("a", "runs", "held")
			e.exchangeAs("a", 0, ack(got[1], conveyor.VerdictHold))
			e.ledger()
			e.sound()
			e.pass(time.Minute)
			e.beat("a")
			e.sweep()
			e.states("runs running, held on hold")
			e.exchangeAs("a", 0, ack(got[0], conveyor.VerdictBack))
			e.ok(e.Release(e.Context(), "held"))
			e.ledger()
			reply := e.exchangeAs("a", 1)
			if len(reply.Reserved) != 0 || reply.Expired != 1 {
				e.Errorf("reserved %v, %d expired", names(reply.Reserved), reply.Expired)
			}
			e.sweep()
			e.states("runs expired, held expired")
		}},
		{"a worker serves it without any queue", func(e *engine) {
			e.add(job("one", toWorker("a")))
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "a", Number: 1, Want: 5})
			e.ok(err)
			if diff := cmp.Diff([]string{"one"}, names(reply.Reserved)); diff != "" {
				e.Error(diff)
			}
		}},
		{"no more than is wanted", func(e *engine) {
			e.add(job("one", toWorker("a")), job("two", toWorker("a")), job("plain"))
			for _, want := range []string{"one", "two", "plain"} {
				if got := e.exchangeAs("a", 1).Reserved; len(got) != 1 || got[0].Job.Uuid != want {
					e.Fatalf("reserved %v, want %s", names(got), want)
				}
			}
		}},
		{"no other caller empties it", func(e *engine) {
			e.add(job("one", toWorker("a")))
			_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: "a", Number: 1, Want: 5, Lease: time.Minute, Queues: []string{"q"}})
			e.ok(err)
			e.states("one queued")
		}},
		{"an update moves a job into it and out of it", func(e *engine) {
			e.add(job("in"), job("out", toWorker("a")), job("on", toWorker("a")))
			e.ok(e.Update(e.Context(), job("in", toWorker("b"))))
			e.ok(e.Update(e.Context(), job("out")))
			e.ok(e.Update(e.Context(), job("on", toWorker("b"))))
			e.ledger()
			e.getsAs("a", "out")
			e.getsAs("b", "in", "on")
		}},
		{"edges and times hold as ever", func(e *engine) {
			e.add(job("h", toWorker("a"), after(0, "p")), job("p"), job("t", toWorker("a"), runAt(e.now+1000)))
			e.doneAs("b", e.getsAs("b", "p")...)
			e.getsAs("a", "h")
			e.pass(time.Second)
			e.getsAs("a", "t")
		}},
		{"a worker that waits is woken, others are not", func(e *engine) {
			e.beat("a")
			e.beat("b")
			e.add(job("one", toWorker("a")), job("never", toWorker("nobody")))
			for id, want := range map[string]int64{"a": 1, "b": 0, "nobody": 0} {
				if n := e.rdb.Exists(e.Context(), e.key("wake:"+id)).Val(); n != want {
					e.Errorf("%d wake-ups of %s, want %d", n, id, want)
				}
			}
			e.ok(e.rdb.Del(e.Context(), e.key("wake:a")).Err())
			e.getsAs("a", "one") // taken: nobody need wake for it
			e.add(job("due", toWorker("a"), runAt(e.now+1000)))
			e.ok(e.rdb.Del(e.Context(), e.key("wake:a")).Err())
			e.pass(time.Second)
			e.getsAs("a", "due")
			if n := e.rdb.Exists(e.Context(), e.key("wake:a")).Val(); n != 0 {
				e.Error("woken for what it took itself")
			}
		}},
		{"it can be listed, and has no settings", func(e *engine) {
			e.add(job("one", toWorker("a"), labelled("x=1")), job("plain"))
			e.finds(conveyor.ListOptions{Queue: "@a"}, "one")
			e.finds(conveyor.ListOptions{Labels: filter("method=worker")}, "one")
			_, err := e.List(e.Context(), conveyor.ListOptions{Queue: "@@a"})
			e.refused(err, conveyor.ErrQueueName)
			e.refused(e.SetQueue(e.Context(), "@a", conveyor.QueueSettings{Concurrency: 1}), conveyor.ErrQueueName)
			e.refused(e.Add(e.Context(), job("x", queue("@a"))), conveyor.ErrQueueName)
		}},
		{"nobody says that a job is one of a job for all", func(e *engine) {
			bad := job("x", func(j *wire.Job) { j.Delivery = &wire.Delivery{To: wire.Delivery_WORKER, Worker: "a", Of: "b"} })
			e.refused(e.Add(e.Context(), bad), conveyor.ErrEmitted)
			e.refused(e.Update(e.Context(), bad), conveyor.ErrEmitted)
		}},
	} {
		t.Run(row.name, func(t *testing.T) { onBoth(t, row.test) })
	}
}
