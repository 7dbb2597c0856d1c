package conveyor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestReplace(t *testing.T) {
	apply := func(e *engine, changes ...conveyor.Change) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
		e.sound()
	}
	onBoth(t, func(e *engine) {
		e.Run("a running job is followed by its successor, and only that waits for its end", func(e *engine) {
			e.add(job("p"), job("old", under("p")), job("oc", under("old")), job("oh", after(0, "old")), job("ph", after(0, "p")))
			e.run("p", conveyor.VerdictDone)
			r := e.take("old")
			apply(e, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("oc", under("new"))},
				conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("new", under("p"), after(wire.Edge_ALWAYS, "old")), Replaces: "old"})
			if e.active("p", "old") || !e.active("p", "new") {
				e.Error("the successor takes the old one's place under the parent")
			}
			e.end(r, conveyor.VerdictFailed)
			e.states("p closing, old failed, new queued, oc held, oh held, ph held")
			e.sound()
			e.run("new", conveyor.VerdictDone)
			e.run("oc", conveyor.VerdictDone)
			e.states("p completed, oh held")
			e.run("ph", conveyor.VerdictDone)
			apply(e, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("oh", after(0, "new"))})
			e.run("oh", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Run("cancelling the replaced one", func(e *engine) {
			e.add(job("p1"), job("old1", under("p1")))
			e.run("p1", conveyor.VerdictDone)
			r := e.take("old1")
			apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("new1", under("p1"), after(wire.Edge_ALWAYS, "old1")), Replaces: "old1", CancelReplaced: true})
			e.end(r, conveyor.VerdictRetry)
			e.states("old1 cancelled, new1 queued, p1 closing")
			e.run("new1", conveyor.VerdictDone)
			e.states("p1 completed")
		})
		e.Run("replacing an ended job leaves nothing of it", func(e *engine) {
			e.add(job("old2"))
			e.run("old2", conveyor.VerdictFailed)
			apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("new2", after(wire.Edge_ALWAYS, "old2")), Replaces: "old2",
				Expect: []conveyor.State{conveyor.StateFailed}})
			e.states("old2 unknown, new2 queued")
			e.run("new2", conveyor.VerdictDone)
		})
		e.Run("replacing a waiting job under a closing parent does not let the parent end between", func(e *engine) {
			e.add(job("p3"), job("old3", under("p3")))
			e.run("p3", conveyor.VerdictDone)
			apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("new3", under("p3")), Replaces: "old3", CancelReplaced: true})
			e.states("p3 closing, old3 cancelled, new3 queued")
			e.run("new3", conveyor.VerdictDone)
			e.states("p3 completed")
			e.wantKeys()
		})
		e.Run("a failure that is replaced no longer counts", func(e *engine) {
			e.add(job("p5"), job("f5", under("p5")), job("g5", under("p5")), job("x5", under("p5")))
			e.ok(e.Cancel(e.Context(), "g5"))
			e.run("p5", conveyor.VerdictDone)
			e.run("f5", conveyor.VerdictFailed)
			if n := e.status("p5").FailedChildren; n != 2 {
				e.Errorf("%d failed children", n)
			}
			apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("f6", under("p5")), Replaces: "f5"},
				conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("g6", under("p5")), Replaces: "g5"})
			for _, r := range e.reserves("x5", "f6", "g6") {
				e.end(r, conveyor.VerdictDone)
			}
			e.states("p5 completed")
		})
		e.Run("a running job leaves a parent it is no longer declared under", func(e *engine) {
			e.add(job("p7"), job("c7", under("p7")))
			e.run("p7", conveyor.VerdictDone)
			r := e.take("c7")
			apply(e, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("c7")})
			e.states("p7 completed, c7 running")
			e.end(r, conveyor.VerdictDone)
		})
		e.Run("an opening does not wait for children of an earlier one that came when that was over", func(e *engine) {
			e.add(job("ep"))
			e.run("ep", conveyor.VerdictDone)
			e.ok(e.Add(e.Context(), job("ec1", under("ep")), conveyor.ParentDead()))
			child := conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("ec2", edge(&wire.Edge{Uuid: "ep", Opening: 2}))}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{child, {Kind: conveyor.ChangeReopen, UUID: "ep", Opening: 2}}}))
			e.ok(e.Add(e.Context(), job("ec3", under("ep")), conveyor.ParentDead()))
			e.ok(e.Cancel(e.Context(), "ec2"))
			e.states("ep failed(child), ec1 queued, ec3 queued")
			for _, r := range e.reserves("ec1", "ec3") {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
		e.Run("a child that came by the dead parent's step fails it only where it is declared to", func(e *engine) {
			for _, c := range []struct {
				ignore bool
				want   string
			}{{true, "completed"}, {false, "failed(child)"}} {
				parent := fmt.Sprintf("wide-%v", c.ignore)
				e.add(job(parent), job(parent+"-c", under(parent)))
				e.run(parent, conveyor.VerdictDone)
				late := job(parent+"-d", edge(&wire.Edge{Uuid: parent, IgnoreFailure: c.ignore}))
				e.ok(e.Add(e.Context(), late, conveyor.ParentDead()))
				e.run(parent+"-c", conveyor.VerdictDone)
				e.states(parent + " closing")
				e.run(parent+"-d", conveyor.VerdictFailed)
				e.states(parent + " " + c.want)
			}
		})
		e.Run("a withdrawn child of a dead parent that is handed back is nobody's child", func(e *engine) {
			e.add(job("dp"))
			e.run("dp", conveyor.VerdictDone)
			e.ok(e.Add(e.Context(), job("dc", under("dp")), conveyor.ParentDead()))
			r := e.take("dc")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("dn"), Replaces: "dc"}}}))
			e.end(r, conveyor.VerdictBack)
			if e.active("dp", "dc") {
				e.Error("dc is in the active set of dp")
			}
			for _, r := range e.reserves("dc", "dn") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("a withdrawn child no longer counts", func(e *engine) {
			e.add(job("p4"), job("k4", under("p4")), job("w4", under("k4")), job("x4", under("p4")))
			e.run("p4", conveyor.VerdictDone)
			apply(e, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "k4", Withdraw: true})
			e.states("p4 closing, k4 cancelled")
			e.run("x4", conveyor.VerdictDone)
			e.states("p4 completed, w4 held")
			apply(e, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "w4", Withdraw: true})
		})
	})
}

func TestReopen(t *testing.T) {
	onBoth(t, func(e *engine) {
		apply := func(e *engine, changes ...conveyor.Change) {
			e.Helper()
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
			e.sound()
			before := dump(e)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
			if before != dump(e) {
				e.Error("a repeated reopening changed something")
			}
		}
		in := func(up string, opening int64, kind wire.Edge_Kind) func(*wire.Job) {
			return edge(&wire.Edge{Kind: kind, Uuid: up, Opening: opening})
		}
		e.Run("a parent runs on with a new child, and what waits for that opening waits", func(e *engine) {
			e.add(job("g"), job("p", under("g")), job("c", under("p")), job("h", after(0, "p")))
			e.run("g", conveyor.VerdictDone)
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictFailed)
			e.states("g failed(child), p failed(child), c failed, h skipped")
			e.add(job("c2", in("p", 2, 0)), job("h2", in("p", 2, 1)), job("gh", in("g", 2, 1)), job("h1", after(wire.Edge_FAILURE, "p")))
			e.states("c2 held, h2 held, gh held, h1 queued")
			e.run("h1", conveyor.VerdictDone)
			e.nothing()
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2})
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "g", Opening: 2})
			e.states("g closing, p closing, c2 queued, h2 held, gh held")
			if s := e.status("p"); s.Opening != 2 || s.FailedChildren != 0 || !s.Ended.IsZero() {
				e.Errorf("%+v", s)
			}
			e.add(job("late", after(wire.Edge_FAILURE, "p")), job("late2", in("p", 2, 1)))
			e.states("late queued, late2 held")
			rs := e.reserves("c2", "late")
			e.end(rs[1], conveyor.VerdictDone)
			e.end(rs[0], conveyor.VerdictDone)
			e.states("g completed, p completed, h2 queued, gh queued, late2 queued")
			for _, r := range e.reserve(3) {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
		e.Run("a child that ends between the two reopenings counts on the grandparent", func(e *engine) {
			e.add(job("G"), job("P", under("G")), job("C", under("P")))
			e.run("G", conveyor.VerdictDone)
			e.run("P", conveyor.VerdictDone)
			e.run("C", conveyor.VerdictDone)
			e.add(job("C2", in("P", 2, 0)))
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "P", Opening: 2})
			e.run("C2", conveyor.VerdictFailed)
			e.states("G completed, P failed(child)")
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "G", Opening: 2})
			e.states("G failed(child)")
		})
		e.Run("in one batch", func(e *engine) {
			e.add(job("bg"), job("bp", under("bg")), job("bc", under("bp")))
			e.run("bg", conveyor.VerdictDone)
			e.run("bp", conveyor.VerdictDone)
			e.run("bc", conveyor.VerdictDone)
			apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("bc2", in("bp", 2, 0)), Replaces: "bc"},
				conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "bp", Opening: 2}, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "bg", Opening: 2})
			e.states("bg closing, bp closing, bc2 queued, bc unknown")
			e.run("bc2", conveyor.VerdictDone)
			e.states("bg completed, bp completed")
		})
		e.Run("only what is over with its own work done, and by one", func(e *engine) {
			e.add(job("n"), job("f"))
			rs := e.reserves("n", "f")
			e.end(rs[1], conveyor.VerdictFailed)
			for _, row := range []struct {
				uuid    string
				opening int64
				state   conveyor.State
			}{{"n", 2, conveyor.StateRunning}, {"f", 2, conveyor.StateFailed}, {"bg", 4, conveyor.StateCompleted}, {"?", 2, conveyor.StateUnknown}} {
				err := e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeReopen, UUID: row.uuid, Opening: row.opening}}})
				var conflict *conveyor.ConflictError
				if row.uuid == "?" {
					e.refused(err, conveyor.ErrUUID)
				} else if !errors.As(err, &conflict) || conflict.Conflicts[0].State != row.state {
					e.Errorf("%s: %v", row.uuid, err)
				}
			}
			e.end(rs[0], conveyor.VerdictDone)
		})
		e.Run("edges to openings gone are judged by their outcomes", func(e *engine) {
			e.add(job("old1", in("p", 1, 1)), job("old2", after(wire.Edge_FAILURE, "p")), job("now", in("p", 2, 1)))
			e.states("old1 skipped, old2 queued, now queued")
			for _, r := range e.reserve(2) {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("one that is over again at once is kept from then on, and no longer", func(e *engine) {
			e.add(job("ro"))
			e.run("ro", conveyor.VerdictDone)
			e.pass(time.Hour)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeReopen, UUID: "ro", Opening: 2}}}))
			e.states("ro completed")
			e.pass(conveyor.Retention - time.Millisecond)
			e.tick()
			e.states("ro completed")
			e.pass(time.Millisecond)
			e.tick()
			e.states("ro unknown")
		})
		e.Run("what waited for the opening of a retry before it came is released", func(e *engine) {
			e.add(job("wr"))
			e.run("wr", conveyor.VerdictFailed)
			e.add(job("wc", edge(&wire.Edge{Uuid: "wr", Opening: 2})), job("wh", edge(&wire.Edge{Kind: 1, Uuid: "wr", Opening: 2})))
			e.ok(e.Retry(e.Context(), "wr"))
			e.run("wr", conveyor.VerdictDone)
			e.states("wr closing, wc queued, wh held")
			e.run("wc", conveyor.VerdictDone)
			e.run("wh", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Run("a retried job is a new opening", func(e *engine) {
			e.add(job("r"), job("rp"), job("rc", under("rp")))
			rs := e.reserves("r", "rp")
			e.end(rs[0], conveyor.VerdictFailed)
			e.end(rs[1], conveyor.VerdictDone)
			e.ok(e.Retry(e.Context(), "r"))
			e.add(job("r1", after(wire.Edge_FAILURE, "r")), job("r2", in("r", 2, 1)))
			e.states("r queued, r1 queued, r2 held")
			e.run("rc", conveyor.VerdictDone)
			e.run("r", conveyor.VerdictDone)
			e.run("r1", conveyor.VerdictDone)
			e.run("r2", conveyor.VerdictDone)
			e.states("rp completed")
		})
	})
}
