package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// What a script meets that cannot be right holds up what it belongs to only, and is named.
func TestDamageMet(t *testing.T) {
	broken := func(e *engine, name string) (mend func()) {
		e.Helper()
		kept := e.rdb.Rename(e.Context(), e.key(name), e.key("kept")).Err() == nil
		e.ok(e.rdb.Set(e.Context(), e.key(name), "x", 0).Err())
		return func() {
			e.ok(e.rdb.Del(e.Context(), e.key(name)).Err())
			if kept {
				e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key(name)).Err())
			}
		}
	}
	aside := func(e *engine, want int64) {
		e.Helper()
		if n := e.rdb.LLen(e.Context(), e.key("setaside")).Val(); n != want {
			e.Errorf("%d set aside, want %d", n, want)
		}
	}
	names := func(e *engine, reply conveyor.ExchangeReply, key string) {
		e.Helper()
		if diff := cmp.Diff([]string{e.key(key)}, reply.Damaged); diff != "" {
			e.Error(diff)
		}
	}
	rows := []struct {
		name string
		test func(e *engine)
	}{
		{"an active set of the wrong type when children are released", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			mend := broken(e, "jobs:p:active")
			names(e, e.exchange(0, ack(e.take("p"), conveyor.VerdictDone)), "jobs:p:active")
			e.states("p closing, c held")
			if e.tick().More {
				e.Error("a tick must not spin over what it cannot do")
			}
			mend()
			e.pass(10 * time.Second)
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
		}},
		{"it holds up no heirs", func(e *engine) {
			e.add(job("p"), job("h", after(0, "p")))
			mend := broken(e, "jobs:p:active")
			e.run("p", conveyor.VerdictDone)
			e.states("p completed, h queued")
			mend()
		}},
		{"edges of the wrong type when a job with two predecessors is cancelled", func(e *engine) {
			e.add(job("h", after(0, "never", "nor")))
			broken(e, "jobs:h:edges")
			e.ok(e.Cancel(e.Context(), "h"))
			e.states("h cancelled")
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:h:edges"), e.key("kept"), e.key("jobs:never:onComplete"), e.key("jobs:nor:onComplete")).Err())
		}},
		{"a list of the wrong type when one that waited in it is cancelled", func(e *engine) {
			e.add(job("h", after(0, "never")))
			broken(e, "jobs:never:onComplete")
			e.ok(e.Cancel(e.Context(), "h"))
			e.states("h cancelled")
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:never:onComplete"), e.key("kept")).Err())
		}},
		{"dependents that cannot be read or are nobody", func(e *engine) {
			e.add(job("p"), job("h1", after(0, "p")), job("h2", after(0, "p")))
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "h1", "???").Err())
			e.ok(e.rdb.LPush(e.Context(), e.key("jobs:p:onComplete"), "\n\x05ghost\x12\x04noop").Err())
			e.run("p", conveyor.VerdictDone)
			e.states("p completed, h2 queued")
			aside(e, 1)
			e.ok(e.rdb.HDel(e.Context(), e.key("status"), "h1").Err())
		}},
		{"to do names what has nothing to do", func(e *engine) {
			e.add(job("a"))
			e.ok(e.rdb.ZAdd(e.Context(), e.key("todo"), redisZ(1, "a"), redisZ(1, "never")).Err())
			e.tick()
			e.states("a queued")
			if n := e.rdb.Exists(e.Context(), e.key("todo")).Val(); n != 0 {
				e.Error("it is named still")
			}
		}},
		{"what cannot be read at the head of a queue that a job comes back to", func(e *engine) {
			e.add(job("a"), job("b"), job("c"))
			rs := e.reserves("a", "b", "c")
			e.end(rs[0], conveyor.VerdictBack)
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), "junk", "\n\x05ghost\x12\x04noop").Err())
			e.end(rs[1], conveyor.VerdictBack)
			aside(e, 1)
			e.end(rs[2], conveyor.VerdictBack)
			e.reserves("a", "b", "c")
		}},
		{"a ticket that stands twice starts its job once", func(e *engine) {
			e.add(job("a"), job("b"))
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), e.rdb.LIndex(e.Context(), e.key("queue:q"), -1).Val()).Err())
			e.reserves("a", "b")
		}},
		{"a queue of the wrong type when a job comes back: it keeps its place", func(e *engine) {
			e.add(job("a"), job("b"))
			r := e.take("a")
			mend := broken(e, "queue:q")
			names(e, e.exchange(0, ack(r, conveyor.VerdictBack)), "queue:q")
			e.states("a scheduled")
			e.pass(2 * time.Second)
			e.tick()
			e.states("a scheduled")
			mend()
			e.pass(2 * time.Second)
			e.reserves("a", "b")
		}},
		{"a worker's list of the wrong type when its job ends elsewhere", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			broken(e, "worker:w:jobs")
			names(e, e.exchangeAs("other", 0, ack(r, conveyor.VerdictDone)), "worker:w:jobs")
			e.states("a completed")
			e.ok(e.rdb.Del(e.Context(), e.key("worker:w:jobs"), e.key("kept")).Err())
		}},
		{"bytes of the wrong type when a job fails", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:a")).Err())
			e.ok(e.rdb.RPush(e.Context(), e.key("jobs:a"), "x").Err())
			e.end(r, conveyor.VerdictFailed)
			e.states("a failed")
		}},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, row.test)
		}
	})
}
