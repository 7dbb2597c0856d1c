package conveyor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestVerify injects corruptions into a namespace that holds a job in every place, and wants each of them named.
func TestVerify(t *testing.T) {
	rows := []struct {
		name, invariant, uuid string
		corrupt               func(e *engine) error
	}{
		{"a queued job's ticket is gone", "I1", "queued", func(e *engine) error {
			return e.rdb.RPopCount(e.Context(), e.key("queue:q"), 1).Err()
		}},
		{"a ticket stands twice", "I1", "queued2", func(e *engine) error {
			return e.rdb.RPush(e.Context(), e.key("queue:q"), e.rdb.LIndex(e.Context(), e.key("queue:q"), 0).Val()).Err()
		}},
		{"a scheduled job's ticket is gone", "I1", "scheduled", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("scheduled")).Err()
		}},
		{"a held job's ticket is gone", "I1", "heir", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("jobs:queued:onComplete")).Err()
		}},
		{"a running job's bytes are gone", "I1", "running", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("jobs:running")).Err()
		}},
		{"the status is unreadable", "I1", "queued", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "queued", "q|x").Err()
		}},
		{"a depth is wrong", "I1", "", func(e *engine) error { return e.rdb.HIncrBy(e.Context(), e.key("depth"), "q:1", 1).Err() }},
		{"slots are wrong", "I1", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("slots"), "nobody", 1).Err() }},
		{"a key has a wrong type", "I1", "", func(e *engine) error { return e.rdb.LPush(e.Context(), e.key("todo"), "x").Err() }},
		{"a set names an unknown child", "I2", "never", func(e *engine) error {
			return e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "never").Err()
		}},
		{"a set names a job that is no child", "I2", "queued", func(e *engine) error {
			return e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "queued").Err()
		}},
		{"a set lost a child", "I2", "child", func(e *engine) error {
			return e.rdb.SRem(e.Context(), e.key("jobs:closing:active"), "child").Err()
		}},
		{"to do names a job that has nothing to do", "I2", "queued", func(e *engine) error {
			return e.rdb.ZAdd(e.Context(), e.key("todo"), redisZ(1, "queued")).Err()
		}},
		{"a running job has no owner", "I3", "running", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("worker:w:jobs")).Err()
		}},
		{"a running job without worker has no lease", "I3", "leased", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("leases")).Err()
		}},
		{"a worker's list names a job it does not run", "I3", "queued", func(e *engine) error {
			return e.rdb.ZAdd(e.Context(), e.key("worker:w:jobs"), redisZ(1, "queued")).Err()
		}},
		{"a job waits for one that is over", "I11", "heir", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "queued", "C1|q|1|t1").Err()
		}},
		{"a held job has nothing to wait for", "I11", "heir", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "heir", "h1|q|").Err()
		}},
		{"a closing job has no unfinished child", "I11", "closing", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("jobs:closing:active")).Err()
		}},
		{"an ending job is not listed", "I11", "closing", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "closing", "c1ab|q|1|f1|xC|s1").Err()
		}},
		{"bytes of nobody", "I13", "never", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("jobs:never"), "x", 0).Err() }},
		{"bytes of a job that is over", "I13", "done", func(e *engine) error {
			return e.rdb.Set(e.Context(), e.key("jobs:done"), "x", 0).Err()
		}},
		{"an ended job is not in retention", "I13", "done", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("ended:q")).Err()
		}},
		{"a log of nobody", "I13", "never", func(e *engine) error {
			return e.rdb.XAdd(e.Context(), xadd(e.key("jobs:never:log"))).Err()
		}},
		{"a list for nobody, of nobody", "I13", "never", func(e *engine) error {
			return e.rdb.LPush(e.Context(), e.key("jobs:never:children"), "\n\x05ghost").Err()
		}},
		{"a worker that is gone owns a job", "I14", "", func(e *engine) error { return e.rdb.ZRem(e.Context(), e.key("workers"), "w").Err() }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, store := range stores {
				t.Run(store.name, func(t *testing.T) {
					t.Parallel()
					e := newEngine(t, store.open(t))
					everyPlace(e)
					e.sound()
					e.ok(row.corrupt(e))
					found, err := e.Verify(e.Context())
					e.ok(err)
					if !slices.ContainsFunc(found, func(v conveyor.Violation) bool { return v.Invariant == row.invariant && v.UUID == row.uuid }) {
						t.Errorf("%s %s is not named: %v", row.invariant, row.uuid, found)
					}
				})
			}
		})
	}
}

// everyPlace puts a job into every state and every place, named after them.
func everyPlace(e *engine) {
	e.Helper()
	e.beat("w")
	e.add(job("done"), job("closing"), job("running"), job("leased"))
	e.run("done", conveyor.VerdictDone)
	e.add(job("child", under("closing"), runAt(e.now+1000)))
	e.run("closing", conveyor.VerdictDone)
	e.take("running")
	_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: "c", Number: 1, Lease: time.Minute, Queues: []string{"q"}, Want: 1})
	e.ok(err)
	e.add(job("queued"), job("queued2"), job("heir", after(0, "queued")), job("orphan", under("later")), job("both", under("queued"), after(0, "queued2", "later")))
	e.add(job("scheduled", runAt(e.now+5000)), job("onhold", lane(2)))
	e.run("onhold", conveyor.VerdictHold)
	e.states("done completed, closing closing, child scheduled, running running, leased running, queued queued, heir held, orphan held, " +
		"both held, scheduled scheduled, onhold on hold")
}

// TestVerifyWhileWorking wants Verify to be silent while jobs move.
func TestVerifyWhileWorking(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx, stop := e.Context(), make(chan struct{})
		moved := make(chan int)
		go func() {
			n := 0
			defer func() { moved <- n }()
			for ; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				u := fmt.Sprintf("m%d", n)
				if err := e.AddMany(ctx, chain(u)); err != nil {
					e.Error(err)
					return
				}
				for range 3 {
					reply, err := e.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"q"}, Want: 5})
					if err != nil {
						e.Error(err)
						return
					}
					var done []conveyor.Ack
					for _, r := range reply.Reserved {
						done = append(done, ack(r, conveyor.VerdictDone))
					}
					if _, err := e.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Done: done}); err != nil {
						e.Error(err)
						return
					}
				}
			}
		}()
		for range 20 {
			e.sound()
		}
		close(stop)
		if n := <-moved; n == 0 {
			e.Error("nothing moved")
		}
	})
}
