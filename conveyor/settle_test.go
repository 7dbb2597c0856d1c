package conveyor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// several are n jobs whose names begin with a prefix.
func several(n int, prefix string, change ...func(*wire.Job)) []*wire.Job {
	var jobs []*wire.Job
	for i := range n {
		jobs = append(jobs, job(fmt.Sprintf("%s%03d", prefix, i), change...))
	}
	return jobs
}

// doneAll acknowledges attempts in one call.
func (e *engine) doneAll(rs []conveyor.Reservation, verdict conveyor.Verdict) {
	e.Helper()
	var acks []conveyor.Ack
	for _, r := range rs {
		acks = append(acks, ack(r, verdict))
	}
	e.exchange(0, acks...)
}

// rest ticks until nothing is left to do.
func (e *engine) rest() {
	e.Helper()
	for r := e.tick(); r.More || r.Next == time.Millisecond; r = e.tick() {
		continue
	}
	e.bounded()
}

// all wants every job of a prefix to be in a state.
func (e *engine) all(n int, prefix string, want conveyor.State) {
	e.Helper()
	for i := range n {
		uuid := fmt.Sprintf("%s%03d", prefix, i)
		if s := e.status(uuid); s.State != want {
			e.Fatalf("%s is %s, want %s", uuid, s.State, want)
		}
	}
}

func (e *engine) failedChildren(uuid string, want int) {
	e.Helper()
	if n := e.status(uuid).FailedChildren; n != want {
		e.Errorf("%s has %d failed children, want %d", uuid, n, want)
	}
}

// A script changes 200 jobs; what more there is to do is done by the next ones, and comes to the same.
func TestSettleInParts(t *testing.T) {
	apply := func(e *engine, changes ...conveyor.Change) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
	}
	rows := []struct {
		name string
		test func(e *engine)
	}{
		{"two jobs with a hundred and fifty heirs each end in one call", func(e *engine) {
			e.add(job("p"), job("q"))
			e.add(append(several(150, "ph", after(0, "p")), several(150, "qh", after(0, "q"))...)...)
			e.doneAll(e.reserves("p", "q"), conveyor.VerdictDone)
			e.bounded()
			e.rest()
			e.all(150, "ph", conveyor.StateQueued)
			e.all(150, "qh", conveyor.StateQueued)
		}},
		{"two parents with a hundred and fifty children each", func(e *engine) {
			e.add(job("p"), job("q"))
			e.add(append(several(150, "pc", under("p")), several(150, "qc", under("q"))...)...)
			e.doneAll(e.reserves("p", "q"), conveyor.VerdictDone)
			e.rest()
			e.all(150, "pc", conveyor.StateQueued)
			e.all(150, "qc", conveyor.StateQueued)
			if diff := cmp.Diff("c1ba", strings.SplitN(e.entry("p"), "|", 2)[0]); diff != "" {
				e.Error(diff)
			}
		}},
		{"as many children of as many parents as a call can end", func(e *engine) {
			var parents, children []*wire.Job
			for i := range 200 {
				p := fmt.Sprintf("p%03d", i)
				parents, children = append(parents, job(p)), append(children, job(fmt.Sprintf("c%03d", i), under(p)))
			}
			e.add(parents...)
			e.add(children...)
			e.doneAll(e.reserve(200), conveyor.VerdictDone)
			e.rest()
			e.doneAll(e.reserve(200), conveyor.VerdictDone)
			e.bounded()
			e.rest()
			e.all(200, "p", conveyor.StateCompleted)
		}},
		{"as many children of dead parents as a call can end, in that call", func(e *engine) {
			e.add(job("over"))
			e.run("over", conveyor.VerdictDone)
			for i := range 200 {
				parent := "over"
				if i%2 == 0 {
					parent = "never"
				}
				e.ok(e.Add(e.Context(), job(fmt.Sprintf("c%03d", i), under(parent)), conveyor.ParentDead()))
			}
			e.doneAll(e.reserve(200), conveyor.VerdictFailed)
			e.all(200, "c", conveyor.StateFailed)
			e.failedChildren("over", 0)
		}},
		{"a hundred and ninety-nine children and their parent fail in one call", func(e *engine) {
			e.add(append(several(199, "c", under("p")), job("p"))...)
			e.run("p", conveyor.VerdictDone)
			e.doneAll(e.reserve(199), conveyor.VerdictFailed)
			e.all(199, "c", conveyor.StateFailed)
			e.states("p failed(child)")
			e.failedChildren("p", 199)
		}},
		{"children that were cancelled while they waited count once each", func(e *engine) {
			e.add(job("p"))
			e.add(several(450, "c", under("p"))...)
			for i := range 450 {
				apply(e, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: fmt.Sprintf("c%03d", i)})
			}
			e.run("p", conveyor.VerdictDone)
			e.rest()
			e.states("p failed(child)")
			e.failedChildren("p", 450)
		}},
		{"also one that is cancelled while its parent's list is worked off", func(e *engine) {
			e.add(job("p"))
			e.add(several(250, "c", under("p"))...)
			e.run("p", conveyor.VerdictDone)
			e.states("c249 held")
			e.ok(e.Cancel(e.Context(), "c249"))
			e.rest()
			e.failedChildren("p", 1)
		}},
		{"a parent waits for those of its children that came first", func(e *engine) {
			e.add(job("full"), job("p"))
			e.add(several(200, "h", after(0, "full"))...)
			e.add(several(250, "c", under("p"))...)
			for i := 190; i < 250; i++ {
				e.ok(e.Cancel(e.Context(), fmt.Sprintf("c%03d", i)))
			}
			e.doneAll(e.reserves("full", "p"), conveyor.VerdictDone)
			e.rest()
			e.states("p closing, c000 queued")
		}},
		{"what is decided is not decided again", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.add(several(450, "h", after(wire.Edge_SUCCESS, "p"))...)
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			e.states("p closing")
			e.ok(e.Cancel(e.Context(), "p"))
			e.ok(e.Add(e.Context(), job("late", queue("o"), under("p")), conveyor.ParentDead()))
			e.ok(e.Cancel(e.Context(), "late"))
			e.rest()
			e.states("p completed, late cancelled, h449 queued")
			e.failedChildren("p", 0)
		}},
		{"a failed attempt made more than a call can end", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.add(several(250, "h", edge(&wire.Edge{Kind: 1, Uuid: "a", MadeBy: r.Fence, RunIf: wire.Edge_ALWAYS}))...)
			e.end(r, conveyor.VerdictFailed)
			e.rest()
			e.all(250, "h", conveyor.StateCancelled)
			if cause := e.status("h000").Cause; cause != "a" {
				e.Errorf("cancelled by %q", cause)
			}
		}},
		{"a reopened parent closes with its only child, cancelled by the same batch", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictDone)
			e.add(job("c", edge(&wire.Edge{Uuid: "p", Opening: 2})))
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2}, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "c"})
			e.states("p failed(child), c cancelled")
		}},
		{"two last siblings that fail in one call fail the grandparent once", func(e *engine) {
			e.add(job("g"), job("p", under("g")), job("a", under("p")), job("b", under("p")), job("g2", under("g")))
			e.run("g", conveyor.VerdictDone)
			e.run("p", conveyor.VerdictDone)
			e.run("g2", conveyor.VerdictDone)
			e.doneAll(e.reserves("a", "b"), conveyor.VerdictFailed)
			e.states("g failed(child), p failed(child)")
			e.failedChildren("g", 1)
			e.failedChildren("p", 2)
		}},
		{"a late child of an earlier opening does not fail a later one", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictDone)
			e.ok(e.Add(e.Context(), job("old", under("p")), conveyor.ParentDead()))
			e.add(job("c", edge(&wire.Edge{Uuid: "p", Opening: 2})))
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2})
			e.run("old", conveyor.VerdictFailed)
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
		}},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, row.test)
		}
	})
}

// What is left of a ticket, an edge or a cause once they are decided.
func TestMeeting(t *testing.T) {
	apply := func(e *engine, changes ...conveyor.Change) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
	}
	held := func(e *engine, uuid string, want bool) {
		e.Helper()
		if s := e.status(uuid); s.HeldSince.IsZero() == want {
			e.Errorf("%s is held since %s", uuid, s.HeldSince)
		}
	}
	opening := func(up string, n int64, kind wire.Edge_Kind) func(*wire.Job) {
		return func(j *wire.Job) {
			j.Edges = append(j.Edges, &wire.Edge{Kind: kind, Uuid: up, Opening: n, Group: int32(len(j.Edges) + 1)})
		}
	}
	rows := []struct {
		name string
		test func(e *engine)
	}{
		{"a job that is cancelled takes back its tickets from upstreams that never came", func(e *engine) {
			e.add(job("h1", after(0, "never")), job("h2", after(0, "never")), job("both", after(0, "never", "nor")), job("c", under("never")))
			held(e, "h1", true)
			for _, uuid := range []string{"h1", "both"} {
				e.ok(e.Cancel(e.Context(), uuid))
				held(e, uuid, false)
			}
			e.wantKeys("jobs:never:children", "jobs:never:onComplete")
			e.sound()
			e.add(job("never"))
			held(e, "h2", true)
			e.run("never", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			e.states("h2 queued")
			held(e, "h2", false)
		}},
		{"and from openings that did not come", func(e *engine) {
			e.add(job("p"), job("q"))
			e.doneAll(e.reserves("p", "q"), conveyor.VerdictDone)
			e.add(job("h", opening("p", 2, 1)), job("both", opening("p", 2, 1), opening("q", 2, 1)), job("half", opening("p", 1, 1), opening("q", 2, 1)))
			for _, uuid := range []string{"h", "both", "half"} {
				e.ok(e.Cancel(e.Context(), uuid))
			}
			e.wantKeys()
		}},
		{"nothing waits for a removed orphan's parent", func(e *engine) {
			e.add(job("c", under("never")))
			e.ok(e.Cancel(e.Context(), "c"))
			e.ok(e.Remove(e.Context(), "c"))
			e.wantKeys()
		}},
		{"of two upstreams that exclude the first is the cause, and failure wins", func(e *engine) {
			for i, row := range []struct {
				edges       []wire.Edge_RunIf
				cause       int
				wantSuccess bool
			}{
				{[]wire.Edge_RunIf{wire.Edge_FAILURE, wire.Edge_FAILURE}, 0, true},
				{[]wire.Edge_RunIf{wire.Edge_SUCCESS, wire.Edge_SUCCESS}, 0, false},
				{[]wire.Edge_RunIf{wire.Edge_SUCCESS, wire.Edge_FAILURE}, 0, false},
				{[]wire.Edge_RunIf{wire.Edge_FAILURE, wire.Edge_SUCCESS}, 1, false},
			} {
				var ups []string
				x := job(fmt.Sprintf("x%d", i))
				for k, runIf := range row.edges {
					up := fmt.Sprintf("u%d%d", i, k)
					ups = append(ups, up)
					e.add(job(up))
					after(runIf, up)(x)
				}
				e.add(x)
				for k, r := range e.reserves(ups...) {
					verdict := conveyor.VerdictFailed
					if row.edges[k] == wire.Edge_FAILURE {
						verdict = conveyor.VerdictDone
					}
					e.end(r, verdict)
				}
				if s := e.status(x.Uuid); s.State != conveyor.StateSkipped || s.Cause != ups[row.cause] || s.Success != row.wantSuccess {
					e.Errorf("%d: %+v", i, s)
				}
			}
		}},
		{"what a failed attempt made leaves its other parents and counts for none", func(e *engine) {
			e.add(job("p"), job("a"))
			rs := e.reserves("p", "a")
			e.add(job("c", under("p"), edge(&wire.Edge{Kind: 1, Uuid: "a", RunIf: wire.Edge_ALWAYS, MadeBy: rs[1].Fence})), job("d", under("p")))
			e.end(rs[0], conveyor.VerdictDone)
			e.run("d", conveyor.VerdictDone)
			e.states("p closing, c held")
			e.end(rs[1], conveyor.VerdictFailed)
			e.states("c cancelled, p completed")
		}},
		{"also with two predecessors", func(e *engine) {
			e.add(job("a"), job("b"))
			rs := e.reserves("a", "b")
			e.add(job("h", edge(&wire.Edge{Kind: 1, Uuid: "a", RunIf: wire.Edge_ALWAYS, MadeBy: rs[0].Fence}), after(0, "b")))
			e.end(rs[0], conveyor.VerdictFailed)
			e.states("h cancelled")
			e.end(rs[1], conveyor.VerdictDone)
		}},
		{"what it made and was cancelled before stays as it is", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.add(job("c", edge(&wire.Edge{Uuid: "a", MadeBy: r.Fence})))
			e.ok(e.Cancel(e.Context(), "c"))
			before := e.status("c").Ended
			e.pass(time.Second)
			e.end(r, conveyor.VerdictFailed)
			if s := e.status("c"); !s.Ended.Equal(before) || s.Withdrawn || s.Pending != 0 {
				e.Errorf("%+v", s)
			}
			if n := e.rdb.LLen(e.Context(), e.key("ended:q")).Val(); n != 2 {
				e.Errorf("retention lists %d jobs of two", n)
			}
		}},
		{"which children that were cancelled before count", func(e *engine) {
			e.add(job("p"), job("f"), job("w"), job("i"))
			e.add(job("pc", under("p")), job("fc", under("f")), job("wc", under("w")), job("ic", edge(&wire.Edge{Uuid: "i", IgnoreFailure: true})))
			apply(e, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "pc"}, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "fc"},
				conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "wc", Withdraw: true}, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "ic"})
			rs := e.reserves("p", "f", "w", "i")
			e.exchange(0, ack(rs[0], conveyor.VerdictDone), ack(rs[1], conveyor.VerdictFailed), ack(rs[2], conveyor.VerdictDone), ack(rs[3], conveyor.VerdictDone))
			e.states("p failed(child), f failed, w completed, i completed")
			e.failedChildren("f", 0)
		}},
		{"a parent that completed again before its own parent was reopened does not fail it", func(e *engine) {
			e.add(job("g"), job("p", under("g")))
			e.run("g", conveyor.VerdictDone)
			e.run("p", conveyor.VerdictDone)
			e.add(job("c", edge(&wire.Edge{Uuid: "p", Opening: 2})))
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2})
			e.run("c", conveyor.VerdictDone)
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "g", Opening: 2})
			e.states("g completed, p completed")
			if n := e.rdb.LLen(e.Context(), e.key("ended:q")).Val(); n != 5 {
				e.Errorf("retention lists %d ends of five", n)
			}
		}},
		{"a replaced child that goes on waiting is nobody's child", func(e *engine) {
			e.add(job("p"), job("old", under("p")))
			apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("new", under("p")), Replaces: "old"})
			e.run("p", conveyor.VerdictDone)
			if e.active("p", "old") {
				e.Error("old is in the active set")
			}
			for _, r := range e.reserve(2) {
				if r.Job.Uuid == "new" {
					e.end(r, conveyor.VerdictDone)
				}
			}
			e.states("p completed, old running")
		}},
		{"what waited for a withdrawn upstream is held, and since when is told", func(e *engine) {
			e.add(job("u"), job("v"), job("c", under("u")), job("h", after(0, "u")), job("both", after(0, "u", "v")), job("gone", under("u"), unique("k")), job("x"))
			e.ok(e.Cancel(e.Context(), "gone"))
			apply(e, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "u", Withdraw: true})
			e.states("u cancelled, c held, h held, both held, gone cancelled")
			for _, uuid := range []string{"c", "h", "both"} {
				held(e, uuid, true)
			}
			held(e, "gone", false)
			if diff := cmp.Diff("~p:u", tagsOf(e.entry("gone"))["i"]); diff != "" {
				e.Error(diff)
			}
			e.run("v", conveyor.VerdictDone)
			e.states("both held")
			apply(e, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("both", after(0, "v"))},
				conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("c")}, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("h")})
			e.states("both queued, c queued, h queued")
		}},
		{"the end of an opening is not that of the next", func(e *engine) {
			e.add(job("p"), job("q"), job("h", after(0, "p")), job("c", under("p")), job("both", after(0, "p"), after(0, "q")))
			e.ok(e.Update(e.Context(), job("h", opening("p", 2, 1))))
			e.ok(e.Update(e.Context(), job("c", opening("p", 2, 0))))
			e.ok(e.Update(e.Context(), job("both", opening("p", 2, 1), opening("q", 1, 1))))
			e.doneAll(e.reserves("p", "q"), conveyor.VerdictDone)
			e.states("p completed, h held, c held, both held")
			if n := e.status("both").Pending; n != 1 {
				e.Errorf("%d pending", n)
			}
			apply(e, conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2})
			e.run("c", conveyor.VerdictDone)
			e.states("h queued, both queued")
		}},
		{"an upstream that a job waits for no longer leaves no trace", func(e *engine) {
			e.add(job("a"), job("b"), job("c"), job("h", after(0, "a", "b")))
			e.ok(e.Update(e.Context(), job("h", after(0, "b", "c"))))
			e.run("a", conveyor.VerdictDone)
			if e.rdb.HExists(e.Context(), e.key("jobs:h:edges"), "a").Val() {
				e.Error("it is among the edges")
			}
		}},
		{"a job of a dead parent enters that one's active set only", func(e *engine) {
			e.add(job("q"))
			e.ok(e.Add(e.Context(), job("c", under("never"), after(0, "q")), conveyor.ParentDead()))
			e.run("q", conveyor.VerdictDone)
			if !e.active("never", "c") || e.active("q", "c") {
				e.Error("it is not where it belongs")
			}
			e.run("c", conveyor.VerdictDone)
		}},
		{"a child that its failed parent skipped cannot take back what it never counted", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.run("p", conveyor.VerdictFailed)
			if i := tagsOf(e.entry("c"))["i"]; i != "" {
				e.Errorf("its edge is kept: %s", i)
			}
		}},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, row.test)
		}
	})
}
