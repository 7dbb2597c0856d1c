package conveyor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestFairShare(t *testing.T) {
	onBoth(t, func(e *engine) {
		fair := func(e *engine, change func(*conveyor.QueueSettings)) {
			e.Helper()
			s := conveyor.QueueSettings{Fair: true}
			if change != nil {
				change(&s)
			}
			e.ok(e.SetQueue(e.Context(), "q", s))
		}
		worker := func(e *engine, id string, capacity int, queues ...string) {
			e.Helper()
			if queues == nil {
				queues = []string{"q"}
			}
			_, err := e.Beat(e.Context(), conveyor.WorkerInfo{ID: id, Queues: queues, Capacity: capacity})
			e.ok(err)
		}
		fill := func(e *engine, n int) {
			e.Helper()
			for i := range n {
				e.add(job(fmt.Sprintf("j%d", i)))
			}
		}
		// takes has workers ask in turn, each for so many, and wants them to get so many.
		type turn struct {
			worker    string
			ask, want int
		}
		takes := func(e *engine, turns ...turn) (all []conveyor.Reservation) {
			e.Helper()
			got := make([]turn, len(turns))
			for i, u := range turns {
				rs := e.exchangeAs(u.worker, u.ask).Reserved
				got[i] = turn{u.worker, u.ask, len(rs)}
				all = append(all, rs...)
			}
			if diff := cmp.Diff(turns, got, cmp.AllowUnexported(turn{})); diff != "" {
				e.Fatalf("shares (-want +got):\n%s", diff)
			}
			return all
		}
		e.Behaviour("C11a ten jobs, three workers: 4, 3, 3", func(e *engine) {
			fair(e, nil)
			for _, id := range []string{"w1", "w2", "w3"} {
				worker(e, id, 10)
			}
			fill(e, 10)
			takes(e, turn{"w1", 10, 4}, turn{"w2", 10, 3}, turn{"w3", 10, 3}, turn{"w1", 6, 0})
		})
		e.Run("a queue that is not fair gives whoever asks all it asks for", func(e *engine) {
			e = &engine{e.tb, newEngine(e, e.rdb).world}
			worker(e, "w1", 10)
			worker(e, "w2", 10)
			fill(e, 10)
			takes(e, turn{"w1", 10, 10}, turn{"w2", 10, 0})
		})
		e.Behaviour("C11b a worker without free slots is left nothing", func(e *engine) {
			fair(e, nil)
			worker(e, "small", 1)
			worker(e, "large", 20)
			fill(e, 12)
			takes(e, turn{"small", 1, 1}, turn{"large", 20, 11})
		})
		e.Behaviour("C11c whoever has more to do, of whatever queue, gets less", func(e *engine) {
			fair(e, nil)
			worker(e, "busy", 10, "other", "q")
			worker(e, "free", 10)
			worker(e, "elsewhere", 10, "other", "qq")
			for i := range 4 {
				e.add(job(fmt.Sprintf("o%d", i), queue("other")))
			}
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "busy", Number: 1, Queues: []string{"other"}, Want: 4})
			e.ok(err)
			if len(reply.Reserved) != 4 {
				e.Fatalf("reserved %v", names(reply.Reserved))
			}
			fill(e, 6)
			e.number.Add(1)
			takes(e, turn{"busy", 6, 1}, turn{"free", 10, 5})
		})
		e.Behaviour("C11d what a worker gives back in the same call counts", func(e *engine) {
			fair(e, nil)
			worker(e, "w1", 4)
			worker(e, "w2", 4)
			fill(e, 8)
			first := takes(e, turn{"w1", 4, 4}, turn{"w2", 2, 2})
			var done []conveyor.Ack
			for _, r := range first[:4] {
				done = append(done, ack(r, conveyor.VerdictDone))
			}
			rs := e.exchangeAs("w1", 4, done...).Reserved // it runs none, the other two: two are left
			if len(rs) != 2 {
				e.Errorf("reserved %v", names(rs))
			}
		})
		e.Behaviour("C11e of a limited queue what may start is shared", func(e *engine) {
			fair(e, func(s *conveyor.QueueSettings) { s.Concurrency = 5 })
			worker(e, "w1", 10)
			worker(e, "w2", 10)
			fill(e, 20)
			takes(e, turn{"w1", 10, 3}, turn{"w2", 10, 2}, turn{"w1", 7, 0})
		})
		e.Behaviour("C11f a worker that drains or never told its slots is left nothing", func(e *engine) {
			fair(e, nil)
			worker(e, "w1", 10)
			worker(e, "draining", 0)
			e.exchangeAs("silent", 1)
			fill(e, 5)
			takes(e, turn{"w1", 10, 5})
		})
		e.Behaviour("C11g what is left to an idle worker wakes it", func(e *engine) {
			woken := func(want string) {
				e.Helper()
				got := ""
				for _, id := range []string{"w1", "w2"} {
					if e.rdb.Del(e.Context(), e.key("wake:"+id)).Val() == 1 {
						got += id
					}
				}
				if got != want {
					e.Fatalf("woken %q, want %q", got, want)
				}
			}
			worker(e, "w1", 10)
			worker(e, "w2", 10)
			e.add(job("a"), job("b"))
			takes(e, turn{"w1", 2, 2})
			fair(e, nil)
			takes(e, turn{"w1", 8, 0})
			e.pass(time.Millisecond)
			takes(e, turn{"w2", 10, 0})
			e.add(job("c")) // wakes the one that is idle longest
			woken("w1")
			takes(e, turn{"w1", 8, 0})
			woken("w2")
			takes(e, turn{"w2", 10, 1}, turn{"w2", 9, 0})
			woken("")
		})
		woken := func(e *engine) (ids []string) {
			e.Helper()
			for i := range 9 {
				if id := fmt.Sprintf("w%d", i); e.rdb.Del(e.Context(), e.key("wake:"+id)).Val() == 1 {
					ids = append(ids, id)
				}
			}
			return ids
		}
		e.alone("only idle workers with less to do are woken, one for each job", func(e *engine) {
			for i, capacity := range []int{0, 10, 10, 1, 10, 10, 10} { // w1 asks
				if i > 0 {
					worker(e, fmt.Sprint("w", i), capacity)
					e.pass(time.Millisecond)
				}
			}
			elsewhere := func(id string, n int) {
				e.Helper()
				for range n {
					e.add(job("", queue("other")))
				}
				reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: id, Number: e.number.Add(1), Queues: []string{"other"}, Want: n})
				e.ok(err)
				if len(reply.Reserved) != n {
					e.Fatalf("reserved %v", names(reply.Reserved))
				}
			}
			fair(e, nil)
			for _, id := range []string{"w0", "w2", "w3", "w4", "w5"} { // idle; w0, which told no slots, is woken by the job itself
				takes(e, turn{id, 1, 0})
				e.pass(time.Millisecond)
			}
			elsewhere("w1", 3)
			elsewhere("w3", 1) // full
			elsewhere("w5", 4) // more to do
			e.add(job("c"))
			if got := woken(e); !slices.Equal(got, []string{"w0"}) {
				e.Fatalf("woken %v", got)
			}
			takes(e, turn{"w1", 5, 0}) // w2, w4 and w6 have nothing to do: the first two are idle
			if got := woken(e); !slices.Equal(got, []string{"w4"}) {
				e.Fatalf("woken %v", got)
			}
			takes(e, turn{"w1", 5, 0})
			if got := woken(e); !slices.Equal(got, []string{"w2"}) {
				e.Fatalf("woken %v", got)
			}
			takes(e, turn{"w1", 5, 0})
			if got := woken(e); len(got) > 0 {
				e.Fatalf("woken %v", got)
			}
		})
		e.alone("what becomes ready in the same call is shared too", func(e *engine) {
			fair(e, nil)
			worker(e, "w1", 4)
			worker(e, "w2", 4)
			e.add(job("up"))
			r := e.exchangeAs("w1", 1).Reserved[0]
			for i := range 4 {
				e.add(job(fmt.Sprint("h", i), after(0, "up")))
			}
			if rs := e.exchangeAs("w1", 4, ack(r, conveyor.VerdictDone)).Reserved; len(rs) != 2 {
				e.Errorf("reserved %v", names(rs))
			}
		})
		e.alone("what the same call takes elsewhere counts as the worker's", func(e *engine) {
			fair(e, nil)
			worker(e, "w1", 10, "other", "q")
			worker(e, "w2", 10)
			e.add(job("o1", queue("other")), job("o2", queue("other")))
			fill(e, 6)
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w1", Number: e.number.Add(1), Queues: []string{"other", "q"}, Want: 8})
			e.ok(err)
			if len(reply.Reserved) != 4 {
				e.Errorf("reserved %v", names(reply.Reserved))
			}
			takes(e, turn{"w2", 10, 4})
		})
		e.alone("a queue that is named twice is shared once", func(e *engine) {
			fair(e, nil)
			worker(e, "w1", 10)
			worker(e, "w2", 10)
			fill(e, 6)
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w1", Number: e.number.Add(1), Queues: []string{"q", "q"}, Want: 8})
			e.ok(err)
			if len(reply.Reserved) != 3 {
				e.Errorf("reserved %v", names(reply.Reserved))
			}
		})
		for _, key := range []string{"worker:w2", "worker:w2:jobs"} {
			e.alone("a worker of whom nothing can be read is left nothing: "+key, func(e *engine) {
				fair(e, nil)
				worker(e, "w1", 10)
				worker(e, "w2", 10)
				fill(e, 4)
				kept := e.rdb.Rename(e.Context(), e.key(key), e.key("aside")).Err() == nil
				e.ok(e.rdb.Set(e.Context(), e.key(key), "x", 0).Err())
				takes(e, turn{"w1", 10, 4})
				e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
				if kept {
					e.ok(e.rdb.Rename(e.Context(), e.key("aside"), e.key(key)).Err())
				}
			})
		}
	})
}
