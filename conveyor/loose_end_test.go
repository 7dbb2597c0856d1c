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

// A job that ends, in one call or in several, leaves no loose end: in no list, in no set, in no entry.
func TestLooseEnds(t *testing.T) {
	apply := func(e *engine, changes ...conveyor.Change) {
		e.Helper()
		for part := range slices.Chunk(changes, 100) {
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: part}))
		}
	}
	cancelled := func(e *engine, jobs []*wire.Job) {
		e.Helper()
		e.add(jobs...)
		var changes []conveyor.Change
		for _, j := range jobs {
			changes = append(changes, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: j.Uuid})
		}
		apply(e, changes...)
	}
	withdrawn := func(uuid string) conveyor.Change {
		return conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid, Withdraw: true}
	}
	// broken puts a text where a key of another type is; mend brings that back.
	broken := func(e *engine, name string) (mend func()) {
		e.Helper()
		kept := e.rdb.Rename(e.Context(), e.key(name), e.key("kept")).Err() == nil
		e.ok(e.rdb.Set(e.Context(), e.key(name), "x", 0).Err())
		return func() {
			e.Helper()
			e.ok(e.rdb.Del(e.Context(), e.key(name)).Err())
			if kept {
				e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key(name)).Err())
			}
		}
	}
	ofOpening := func(up string, n int64) func(*wire.Job) {
		return func(j *wire.Job) {
			j.Edges = append(j.Edges, &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: up, Opening: n, Group: int32(len(j.Edges) + 1)})
		}
	}
	ignoring := edge(&wire.Edge{Uuid: "p", IgnoreFailure: true})
	// bare wants entries of jobs that are over to say when they ended, and nothing of what they waited for.
	bare := func(e *engine, uuids ...string) {
		e.Helper()
		for _, uuid := range uuids {
			entry, tags := e.entry(uuid), ""
			for tag := range tagsOf(entry) {
				if strings.Contains("dekopx", tag) {
					tags += tag
				}
			}
			if head, _, _ := strings.Cut(entry, "|"); len(head) > 2 || tags != "" || tagsOf(entry)["t"] == "" {
				e.Errorf("%s: %s", uuid, entry)
			}
		}
	}
	held := func(e *engine, uuid string, want bool) {
		e.Helper()
		if s := e.status(uuid); s.HeldSince.IsZero() == want {
			e.Errorf("%s is held since %s", uuid, s.HeldSince)
		}
	}
	rows := []struct {
		name string
		test func(e *engine)
	}{
		{"heirs that were cancelled take no room from those of others", func(e *engine) {
			e.add(job("p1"), job("p2"), job("p3"))
			cancelled(e, several(100, "a", after(0, "p1")))
			cancelled(e, several(100, "b", after(0, "p2")))
			e.add(several(50, "c", after(0, "p1"))...)
			e.add(several(250, "d", after(0, "p3"))...)
			e.doneAll(e.reserves("p1", "p2", "p3"), conveyor.VerdictDone)
			e.rest()
			e.all(50, "c", conveyor.StateQueued)
			e.all(250, "d", conveyor.StateQueued)
		}},
		{"as many children of as many parents as a call can end, when they fail", func(e *engine) {
			var parents, children []*wire.Job
			for i := range 200 {
				p := fmt.Sprintf("p%03d", i)
				parents, children = append(parents, job(p)), append(children, job(fmt.Sprintf("c%03d", i), under(p)))
			}
			e.add(parents...)
			e.add(children...)
			e.doneAll(e.reserve(200), conveyor.VerdictDone)
			e.rest()
			e.doneAll(e.reserve(200), conveyor.VerdictFailed)
			e.rest()
			e.all(200, "p", conveyor.StateFailed)
		}},
		{"an entry forgets what the job waited for", func(e *engine) {
			e.add(job("p", delayed(time.Second)), job("c", under("p"), delayed(time.Second)), job("h", after(0, "p", "c"), delayed(time.Second)))
			for _, uuid := range []string{"p", "c", "h"} {
				e.pass(time.Second)
				e.run(uuid, conveyor.VerdictDone)
			}
			bare(e, "p", "c", "h")
		}},
		{"also that of a job that was skipped", func(e *engine) {
			e.add(job("a"), job("b"), job("one", after(wire.Edge_SUCCESS, "a")), job("two", after(wire.Edge_SUCCESS, "a", "b")), job("c", under("a")))
			e.doneAll(e.reserves("a", "b"), conveyor.VerdictFailed)
			e.states("one skipped, two skipped, c skipped")
			bare(e, "a", "b", "one", "two", "c")
		}},
		{"and that of one that was cancelled before its time", func(e *engine) {
			e.add(job("orphan", under("never"), runAt(e.now+60_000)), job("waits", runAt(e.now+60_000)), job("both", after(0, "a", "b")))
			for _, uuid := range []string{"orphan", "waits", "both"} {
				e.ok(e.Cancel(e.Context(), uuid))
			}
			bare(e, "orphan", "waits", "both")
		}},
		{"a job that is closing is not held", func(e *engine) {
			e.add(job("c", under("never"), runAt(e.now+60_000)))
			e.add(several(450, "h", after(0, "c"))...)
			held(e, "c", true)
			e.ok(e.Cancel(e.Context(), "c"))
			e.states("c closing")
			held(e, "c", false)
			if s := e.status("c"); !s.DueAt.IsZero() {
				e.Errorf("due at %s", s.DueAt)
			}
			e.rest()
			bare(e, "c")
		}},
		{"nor is it when its parent is withdrawn meanwhile", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.add(several(450, "h", after(wire.Edge_ALWAYS, "c"))...)
			e.ok(e.Cancel(e.Context(), "c"))
			e.states("c closing")
			apply(e, withdrawn("p"))
			e.rest()
			e.states("c cancelled, p cancelled, h449 queued")
			held(e, "c", false)
		}},
		{"a predecessor that fails while it is closing is not its cause", func(e *engine) {
			e.add(job("p"), job("z", after(wire.Edge_SUCCESS, "p")))
			e.add(several(650, "g", after(wire.Edge_ALWAYS, "z"))...)
			r := e.take("p")
			e.ok(e.Cancel(e.Context(), "z"))
			e.end(r, conveyor.VerdictFailed)
			e.tick() // p comes before z
			e.states("p failed, z closing")
			e.rest()
			e.states("z cancelled, g649 queued")
			if cause := e.status("z").Cause; cause != "" {
				e.Errorf("cancelled by %q", cause)
			}
		}},
		{"an active set of the wrong type is named each time that its job is tried", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.run("p", conveyor.VerdictDone)
			r := e.take("c")
			broken(e, "jobs:p:active")
			e.end(r, conveyor.VerdictDone)
			e.states("p closing, c completed")
			for range 2 {
				if e.tick().More {
					e.Error("a tick must not spin over what it cannot do")
				}
				e.pass(10 * time.Second)
				reply := e.tick()
				if diff := cmp.Diff([]string{e.key("jobs:p:active")}, reply.Damaged); diff != "" || reply.More {
					e.Errorf("more: %t; %s", reply.More, diff)
				}
			}
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:p:active"), e.key("kept")).Err())
			e.pass(10 * time.Second)
			e.tick()
			e.states("p completed")
		}},
		{"it does not hold up a job that no child came to", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictFailed)
			e.ok(e.Retry(e.Context(), "p"))
			r := e.take("p")
			mend := broken(e, "jobs:p:active")
			e.end(r, conveyor.VerdictDone)
			e.states("p completed")
			mend()
		}},
		{"edges of the wrong type when an upstream ends", func(e *engine) {
			e.add(job("a"), job("b"), job("h", after(0, "a", "b")))
			mend := broken(e, "jobs:h:edges")
			reply := e.exchange(0, ack(e.take("a"), conveyor.VerdictDone))
			if diff := cmp.Diff([]string{e.key("jobs:h:edges")}, reply.Damaged); diff != "" {
				e.Error(diff)
			}
			e.states("a completed, h held")
			mend()
			e.ok(e.Cancel(e.Context(), "h"))
		}},
		{"a parent waits for children that the middle of its list held", func(e *engine) {
			e.add(job("p"))
			cancelled(e, several(199, "x", ignoring))
			e.add(several(100, "c", under("p"))...)
			cancelled(e, several(200, "y", ignoring))
			e.run("p", conveyor.VerdictDone)
			e.rest()
			e.states("p closing")
			e.doneAll(e.reserve(100), conveyor.VerdictDone)
			e.states("p completed")
		}},
		{"a child that left and came back counts once", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.ok(e.Update(e.Context(), job("c", runAt(e.now+1000))))
			e.ok(e.Update(e.Context(), job("c", under("p"))))
			e.ok(e.Cancel(e.Context(), "c"))
			e.run("p", conveyor.VerdictDone)
			e.failedChildren("p", 1)
		}},
		{"an heir that left and came back waits for all others", func(e *engine) {
			e.add(job("a"), job("b"), job("h", after(0, "a", "b")))
			e.ok(e.Update(e.Context(), job("h", after(0, "b"))))
			e.ok(e.Update(e.Context(), job("h", after(0, "a", "b"))))
			e.run("a", conveyor.VerdictDone)
			e.states("h held")
			e.run("b", conveyor.VerdictDone)
			e.states("h queued")
		}},
		{"an edge that is decided is not cut", func(e *engine) {
			e.add(job("p"), job("q"), job("h", after(0, "p", "q")))
			e.add(several(450, "g", queue("o"), after(0, "p"))...)
			e.ok(e.Update(e.Context(), job("h", after(0, "q"))))
			e.ok(e.Update(e.Context(), job("h", after(0, "p", "q"))))
			e.run("p", conveyor.VerdictDone)
			e.states("p closing, h held")
			apply(e, withdrawn("p"))
			e.rest()
			e.states("p completed, h held")
			held(e, "h", false)
			e.run("q", conveyor.VerdictDone)
			e.states("h queued")
		}},
		{"a job that is withdrawn cuts the edges to this opening", func(e *engine) {
			e.add(job("p"), job("q"), job("h", after(0, "p", "q")))
			e.ok(e.Update(e.Context(), job("h", ofOpening("p", 2), ofOpening("q", 1))))
			apply(e, withdrawn("p"))
			e.states("p cancelled, h held")
			held(e, "h", false)
			if marks := e.rdb.HGet(e.Context(), e.key("jobs:h:edges"), "p").Val(); marks[:1] != "?" {
				e.Errorf("the edge to its next opening: %s", marks)
			}
		}},
		{"what a failed attempt made leaves parents that are over as they are", func(e *engine) {
			e.add(job("g"))
			e.run("g", conveyor.VerdictDone)
			e.add(job("a"))
			r := e.take("a")
			e.add(job("c", under("g"), edge(&wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: "a", RunIf: wire.Edge_ALWAYS, MadeBy: r.Fence})))
			before := e.entry("g")
			e.pass(time.Second)
			e.end(r, conveyor.VerdictFailed)
			e.states("c cancelled, g completed")
			if diff := cmp.Diff(before, e.entry("g")); diff != "" {
				e.Error(diff)
			}
		}},
		{"a child that repair finds under a decided parent does not enter its active set", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.add(several(450, "h", queue("o"), after(0, "p"))...)
			entry := e.entry("p")
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "p", strings.Replace(entry, "k", "", 1)).Err())
			e.run("p", conveyor.VerdictDone)
			e.states("p closing, c held")
			found, err := e.Verify(e.Context())
			e.ok(err)
			_, err = e.Repair(e.Context(), found)
			e.ok(err)
			e.states("c queued")
			if e.active("p", "c") {
				e.Error("c is in the active set of p")
			}
			e.rest()
			e.states("p completed")
		}},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, row.test)
		}
	})
}
