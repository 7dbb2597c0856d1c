package conveyor_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestReopenWithin reopens jobs while their parents are open, or open again.
func TestReopenWithin(t *testing.T) {
	child := func(uuid, parent string, opening int64) conveyor.Change {
		return conveyor.Change{Kind: conveyor.ChangeAdd, Job: job(uuid, edge(&wire.Edge{Uuid: parent, Opening: opening}))}
	}
	reopen := func(uuid string, opening int64) conveyor.Change {
		return conveyor.Change{Kind: conveyor.ChangeReopen, UUID: uuid, Opening: opening}
	}
	apply := func(e *engine, changes ...conveyor.Change) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
		e.sound()
	}
	onBoth(t, func(e *engine) {
		e.Behaviour("an open parent waits for it again", func(e *engine) {
			e.add(job("first"), job("p"), job("c", under("p"), after(0, "first")), job("open", under("p")))
			for _, r := range e.reserves("first", "p") {
				e.end(r, conveyor.VerdictDone)
			}
			rs := e.reserves("c", "open")
			e.end(rs[0], conveyor.VerdictDone)
			apply(e, child("cc", "c", 2), reopen("c", 2))
			e.end(rs[1], conveyor.VerdictDone)
			e.states("p closing, c closing, cc queued")
			e.run("cc", conveyor.VerdictFailed)
			e.states("c failed(child), p failed(child)")
			e.wantKeys()
		})
		e.Behaviour("so does one that is open again", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			apply(e, child("open", "p", 2), reopen("p", 2))
			apply(e, child("cc", "c", 2), reopen("c", 2))
			e.run("open", conveyor.VerdictDone)
			e.states("p closing, c closing")
			e.run("cc", conveyor.VerdictDone)
			e.states("p completed, c completed")
			e.wantKeys()
		})
		e.Behaviour("and one that met it when it was over between", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			apply(e, child("c2", "c", 2), reopen("c", 2))
			e.run("c2", conveyor.VerdictDone)
			apply(e, child("open", "p", 2), reopen("p", 2))
			apply(e, child("c3", "c", 3), reopen("c", 3))
			e.run("open", conveyor.VerdictDone)
			e.states("p closing, c closing")
			e.run("c3", conveyor.VerdictDone)
			e.states("p completed, c completed")
			e.wantKeys()
		})
		e.Behaviour("one that waits to run again is left alone", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictFailed)
			e.ok(e.Add(e.Context(), job("c", under("p")), conveyor.ParentDead()))
			e.run("c", conveyor.VerdictDone)
			e.ok(e.Retry(e.Context(), "p"))
			apply(e, child("cc", "c", 2), reopen("c", 2))
			if s := e.status("c"); s.Pending != 0 {
				e.Errorf("it waits for %d edges", s.Pending)
			}
			for _, r := range e.reserves("p", "cc") {
				e.end(r, conveyor.VerdictDone)
			}
			e.states("p completed, c completed")
			e.wantKeys()
		})
		e.Behaviour("one that is gone does not count", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			e.ok(e.Remove(e.Context(), "p"))
			apply(e, child("cc", "c", 2), reopen("c", 2))
			e.run("cc", conveyor.VerdictDone)
			e.states("p unknown, c completed")
			e.wantKeys()
		})
		e.Behaviour("a child added after the reopening in the same batch is waited for", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictDone)
			apply(e, reopen("p", 2), child("c", "p", 2))
			e.states("p closing, c queued")
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
			e.wantKeys()
		})
		e.Behaviour("a child that came when its parent was over, and is to count for the new opening, is waited for", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictDone)
			e.ok(e.Add(e.Context(), job("c", under("p")), conveyor.ParentDead()))
			moved := child("c", "p", 2)
			moved.Kind = conveyor.ChangeUpdate
			apply(e, moved, reopen("p", 2))
			e.states("p closing, c queued")
			if !e.active("p", "c") {
				e.Error("c is not in the active set of p")
			}
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
		})
		e.Behaviour("it keeps the labels it has", func(e *engine) {
			e.add(job("p", labelled("tenant=acme")))
			e.run("p", conveyor.VerdictDone)
			apply(e, child("c", "p", 2), reopen("p", 2))
			e.finds(conveyor.ListOptions{Labels: filter("tenant=acme"), States: conveyor.LiveStates()}, "p")
			e.ledger()
		})
		e.Behaviour("subscribers are told, and of nothing that only the engine keeps", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictDone)
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{})
			v.sees("snapshot p=completed")
			e.add(job("c", edge(&wire.Edge{Uuid: "p", Opening: 2})))
			v.sees("add c=held")
			apply(e, reopen("p", 2))
			v.sees("apply p=closing c=queued")
			e.add(job("h", edge(&wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: "p", Opening: 2})))
			v.sees("add h=held")
			e.add(job("a"), job("ah", after(0, "a")))
			v.sees("add a=queued ah=held")
			e.add(job("ah2", after(0, "a")), job("ac", under("a")))
			v.sees("add ah2=held ac=held")
		})
	})
}

// TestWaitingEdges looks at what jobs with edges of several kinds wait for, and since when.
func TestWaitingEdges(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("only an orphan has been waiting since a time", func(e *engine) {
			e.pass(90 * time.Second)
			e.add(job("p"), job("orphan", under("late")), job("heir", after(0, "p", "later")), job("child", under("p")))
			minute := e.now / 60_000 * 60_000
			for uuid, want := range map[string]bool{"orphan": true, "heir": true, "child": false} {
				since := e.status(uuid).HeldSince
				if since.IsZero() == want || want && since.UnixMilli() != minute {
					e.Errorf("%s: held since %v", uuid, since)
				}
			}
		})
		e.Behaviour("what is met has no cause", func(e *engine) {
			e.add(job("a"), job("b"), job("w"))
			rs := e.reserves("a", "b", "w")
			e.end(rs[0], conveyor.VerdictDone)
			e.add(job("one", after(0, "a")), job("two", after(0, "a"), under("w")))
			for _, uuid := range []string{"one", "two"} {
				if s := e.status(uuid); s.Cause != "" {
					e.Errorf("%s: caused by %q", uuid, s.Cause)
				}
			}
		})
		e.Behaviour("a parent that failed excludes, whatever else is waited for", func(e *engine) {
			e.add(job("f"), job("w"))
			rs := e.reserves("f", "w")
			e.end(rs[0], conveyor.VerdictFailed)
			e.add(job("c", under("f"), after(0, "w")))
			e.states("c held")
			e.end(rs[1], conveyor.VerdictDone)
			e.states("c skipped")
			if s := e.status("c"); s.Success || s.Cause != "f" {
				e.Errorf("%+v", s)
			}
		})
		e.Behaviour("a predecessor of two groups has one ticket", func(e *engine) {
			e.add(job("p"), job("h", after(wire.Edge_SUCCESS, "p"), after(wire.Edge_ALWAYS, "p")))
			if got := e.list("jobs:p:onComplete"); len(got) != 1 {
				e.Errorf("it has %d", len(got))
			}
			e.run("p", conveyor.VerdictDone)
			e.run("h", conveyor.VerdictDone)
			e.wantKeys()
		})
	})
}
