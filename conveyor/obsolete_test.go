package conveyor_test

import (
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// dropIf gives the labels that make a job obsolete as "name=value".
func dropIf(labels ...string) func(*wire.Job) {
	return func(j *wire.Job) {
		twin := &wire.Job{}
		labelled(labels...)(twin)
		j.ObsoleteIf = twin.Labels
	}
}

// A job that waits ends when it is met while a root of it is alive: at its add, when it is released, when it is reserved.
func TestObsolete(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C7a while a root is alive the job is neither scheduled nor run", func(e *engine) {
			e.add(job("held", under("up"), dropIf("tenant=acme")), job("timed", runAt(e.now+1000), dropIf("tenant=acme")),
				job("ready", dropIf("tenant=acme")))
			e.add(job("root", lane(2), runAt(e.now+60_000), labelled("tenant=acme", "x=1")))
			e.add(job("late", dropIf("tenant=acme")), job("later", runAt(e.now+1000), dropIf("tenant=acme")))
			e.states("held held, timed scheduled, ready queued, late obsolete, later obsolete")
			e.nothing()
			e.states("ready obsolete")
			e.pass(time.Second)
			e.tick()
			e.states("timed obsolete")
			e.add(job("up"))
			e.run("up", conveyor.VerdictDone)
			e.states("held obsolete")
		})
		e.Behaviour("C7b it ends when it is found, and never under a worker that runs it", func(e *engine) {
			e.add(job("runs", dropIf("tenant=acme")), job("again", dropIf("tenant=acme")), job("heir", after(0, "runs")))
			got := e.reserves("runs", "again")
			e.add(job("root", runAt(e.now+60_000), labelled("tenant=acme")))
			e.tick()
			e.states("runs running, again running")
			e.exchange(0, ack(got[0], conveyor.VerdictDone), ack(got[1], conveyor.VerdictBack))
			e.states("runs completed, again queued, heir queued")
			e.reserves("heir")
			e.states("again obsolete")
			e.add(job("follows", after(wire.Edge_SUCCESS, "again")))
			e.states("follows queued") // obsolete is a success for what waits
		})
		e.Behaviour("C7c several roots at once are fine", func(e *engine) {
			e.add(job("root1", labelled("a=1", "b=2")), job("root2", labelled("a=1", "b=2", "c=3")), job("half", labelled("a=1")), job("other", labelled("b=2")))
			e.add(job("two", dropIf("a=1", "b=2")))
			e.states("two obsolete")
			e.run("root1", conveyor.VerdictDone)
			e.add(job("one", dropIf("a=1", "b=2")))
			e.states("one obsolete")
			e.ok(e.Cancel(e.Context(), "root2"))
			e.add(job("none", dropIf("a=1", "b=2")))
			e.states("none queued")
		})
	})
}

// What counts as a root.
func TestRoots(t *testing.T) {
	acme, gone := labelled("tenant=acme"), dropIf("tenant=acme")
	for _, row := range []struct {
		name string
		test func(e *engine)
	}{
		{"a job in any state that is not over", func(e *engine) {
			for i, root := range []*wire.Job{job("held", under("never")), job("scheduled", runAt(e.now+60_000)), job("queued")} {
				acme(root)
				e.add(root)
				u := []string{"a", "b", "c"}[i]
				e.add(job(u, gone))
				e.states(u + " obsolete")
				if i < 2 {
					e.ok(e.Cancel(e.Context(), root.Uuid))
				}
			}
			r := e.take("queued")
			e.add(job("d", gone), job("child", under("queued"), queue("q2")))
			e.states("d obsolete, queued running")
			e.end(r, conveyor.VerdictDone)
			e.add(job("e", gone))
			e.states("e obsolete, queued closing")
			e.ok(e.Cancel(e.Context(), "child"))
			e.add(job("f", gone))
			e.states("queued failed(child), f queued")
		}},
		{"its own labels do not count", func(e *engine) {
			e.add(job("a", acme, gone))
			e.add(job("b", acme, gone)) // a is there
			e.states("a queued, b obsolete")
			e.run("a", conveyor.VerdictBack)
			e.run("a", conveyor.VerdictDone)
		}},
		{"its own labels do not count when it is released either", func(e *engine) {
			e.add(job("a", acme, gone, runAt(e.now+1000)), job("h", acme, dropIf("x=1"), after(0, "x")))
			e.ok(e.Cancel(e.Context(), "h"))
			e.pass(time.Second)
			e.run("a", conveyor.VerdictDone)
		}},
		{"one that it replaces does not count", func(e *engine) {
			e.add(job("v1", acme, gone))
			e.take("v1")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("v2", acme, gone, after(wire.Edge_ALWAYS, "v1")), Replaces: "v1"}}}))
			e.states("v1 running, v2 held")
		}},
		{"one beside the one that it replaces does", func(e *engine) {
			e.add(job("v1", acme, gone), job("root", acme))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("v2", acme, gone, after(wire.Edge_ALWAYS, "v1")), Replaces: "v1"}}}))
			e.states("v2 obsolete")
		}},
		{"one that ends in the same call does not", func(e *engine) {
			e.add(job("heir", gone, after(0, "root")), job("child", gone, under("root2")), job("root", acme), job("root2", lane(0), acme))
			e.states("heir held")
			e.ok(e.Cancel(e.Context(), "root2"))
			e.run("root", conveyor.VerdictDone)
			e.states("root completed, heir queued, child skipped")
		}},
		{"another one beside one that ends in the same call does", func(e *engine) {
			e.add(job("heir", gone, after(0, "root")), job("root", acme), job("root2", lane(0), acme))
			e.run("root", conveyor.VerdictDone)
			e.states("root completed, heir obsolete")
		}},
		{"one that is added by the same call, before it", func(e *engine) {
			e.add(job("root", acme), job("a", gone))
			e.states("a obsolete")
		}},
		{"one that is added by the same call, after it, when it is reserved", func(e *engine) {
			e.add(job("a", gone), job("root", acme))
			e.states("a queued")
			e.reserves("root")
			e.states("a obsolete")
		}},
		{"one whose labels the same call takes away does not", func(e *engine) {
			e.add(job("root", acme))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeUpdate, Job: job("root")}, {Kind: conveyor.ChangeAdd, Job: job("a", gone)}}}))
			e.states("a queued")
		}},
		{"one whose labels the same call changes does not", func(e *engine) {
			e.add(job("root", acme))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeUpdate, Job: job("root", labelled("tenant=other"))}, {Kind: conveyor.ChangeAdd, Job: job("a", gone)}}}))
			e.states("a queued")
		}},
		{"one that the same call gives its labels does", func(e *engine) {
			e.add(job("root", labelled("x=1")))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeUpdate, Job: job("root", labelled("x=1", "tenant=acme"))}, {Kind: conveyor.ChangeAdd, Job: job("a", gone)}}}))
			e.states("a obsolete")
		}},
		{"one that the same call opens again does", func(e *engine) {
			e.add(job("root", acme), job("next", queue("q2")))
			e.run("root", conveyor.VerdictDone)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("child", edge(&wire.Edge{Uuid: "root", Opening: 2}))},
				{Kind: conveyor.ChangeReopen, UUID: "root", Opening: 2},
				{Kind: conveyor.ChangeAdd, Job: job("a", gone)}}}))
			e.states("root closing, a obsolete")
		}},
		{"all labels have to be those of one job", func(e *engine) {
			e.add(job("x", labelled("tenant=acme")), job("y", labelled("day=2")), job("a", dropIf("tenant=acme", "day=2")))
			e.states("a queued")
			e.add(job("b", dropIf("tenant=acm")), job("c", dropIf("enant=acme")), job("d", dropIf("tenant=")))
			e.states("b queued, c queued, d queued")
		}},
		{"it is no cause that another job failed", func(e *engine) {
			e.add(job("failed"), job("root", acme))
			e.run("failed", conveyor.VerdictFailed)
			e.add(job("a", gone, after(wire.Edge_SUCCESS, "failed"), after(0, "never")))
			e.states("a obsolete")
			e.same("cause", "", e.status("a").Cause)
		}},
		{"names and values of any kind", func(e *engine) {
			odd := []string{"a,b=c=d", "%=", "ü={x}:y"}
			e.add(job("root", labelled(odd...)), job("a", dropIf(odd...)), job("b", dropIf("a,b=c=e")))
			e.states("a obsolete, b queued")
		}},
	} {
		t.Run(row.name, func(t *testing.T) { onBoth(t, row.test) })
	}
}

// What becomes of a job that is obsolete, and of what makes it so.
func TestObsoleteEnds(t *testing.T) {
	acme, gone := labelled("tenant=acme"), dropIf("tenant=acme")
	for _, row := range []struct {
		name string
		test func(e *engine)
	}{
		{"it takes no unique key", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), acme))
			e.add(job("a", gone, unique("k")))
			e.add(job("b", unique("k")))
			e.add(job("c", gone, unique("k"))) // nor is it refused since another has it
			e.states("a obsolete, b queued, c obsolete")
		}},
		{"one whose edges exclude it is skipped", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), acme), job("up"))
			e.run("up", conveyor.VerdictFailed)
			e.add(job("a", gone, after(wire.Edge_SUCCESS, "up")))
			e.states("a skipped")
		}},
		{"a child lets its parent complete", func(e *engine) {
			e.add(job("p"), job("child", under("p"), gone))
			r := e.take("p")
			e.add(job("root", acme, runAt(e.now+60_000)))
			e.end(r, conveyor.VerdictDone)
			e.states("child obsolete, p completed")
		}},
		{"a large one leaves no bytes", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), acme))
			e.add(job("a", gone, after(0, "never"), func(j *wire.Job) { j.Payload = make([]byte, 20<<10) }))
			e.states("a obsolete")
			e.wantKeys("scheduled")
		}},
		{"an update gives, changes and takes away", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), acme))
			e.add(job("a", runAt(e.now+1000), dropIf("tenant=other")), job("b", runAt(e.now+1000)), job("c", runAt(e.now+1000), dropIf("x=1")))
			e.ok(e.Update(e.Context(), job("a", runAt(e.now+1000), gone)))
			e.ok(e.Update(e.Context(), job("b", runAt(e.now+1000), gone)))
			e.ok(e.Update(e.Context(), job("c", runAt(e.now+1000))))
			e.add(job("x", labelled("x=1"), runAt(e.now+60_000)))
			e.pass(time.Second)
			e.tick()
			e.states("a obsolete, b obsolete, c queued")
		}},
		{"an update of one that runs counts when it comes back", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			e.add(job("root", runAt(e.now+60_000), acme))
			e.ok(e.Update(e.Context(), job("a", gone)))
			e.end(r, conveyor.VerdictRetry)
			e.nothing()
			e.states("a obsolete")
		}},
		{"it is counted", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), acme), job("due", runAt(e.now+1000), gone), job("due2", runAt(e.now+2000), gone))
			e.ok(e.Update(e.Context(), job("root", runAt(e.now+60_000))))
			e.add(job("ready", gone))
			e.ok(e.Update(e.Context(), job("root", runAt(e.now+60_000), acme)))
			if reply := e.exchange(1); reply.Obsolete != 1 || !reply.More {
				e.Errorf("exchange: %+v", reply)
			}
			e.states("due obsolete, ready obsolete")
		}},
		{"it is counted by ticks and adds", func(e *engine) {
			seen := &incidents{}
			c, err := conveyor.NewClient(e.rdb, conveyor.Options{Namespace: e.Namespace(), Observer: seen})
			e.ok(err)
			e.add(job("due", runAt(e.now+1000), gone))
			e.ok(c.AddMany(e.Context(), []*wire.Job{job("root", runAt(e.now+60_000), acme), job("a", gone), job("b", gone)}))
			e.pass(time.Second)
			reply, err := c.Tick(e.Context())
			e.ok(err)
			if reply.Obsolete != 1 || seen.count(conveyor.JobObsolete) != 3 {
				e.Errorf("%d by the tick, %d in all, want 1 and 3", reply.Obsolete, seen.count(conveyor.JobObsolete))
			}
		}},
		{"nothing is left of it", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), acme), job("other", gone, lane(2), unique("k")))
			e.states("other obsolete")
			e.add(job("a", dropIf("b=1")), job("z", dropIf("b=1")))
			e.reserves("a", "z")
			e.ok(e.Leave(e.Context(), "w"))
			e.run("a", conveyor.VerdictDone)
			e.run("z", conveyor.VerdictFailed)
			for _, u := range []string{"other", "a", "z"} {
				e.ok(e.Remove(e.Context(), u))
			}
			if n := e.rdb.Exists(e.Context(), e.key("roots")).Val(); n != 0 {
				e.Error("roots is left")
			}
		}},
		{"one given and taken away by one call", func(e *engine) {
			e.add(job("a"))
			e.ok(e.Cancel(e.Context(), "a"))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("root", acme)}, {Kind: conveyor.ChangeAdd, Job: job("b", gone)},
				{Kind: conveyor.ChangeRelease, UUID: "b"}}}))
		}},
		{"one that failed can be retried, and is looked at again", func(e *engine) {
			e.add(job("a", gone))
			e.run("a", conveyor.VerdictFailed)
			e.add(job("root", runAt(e.now+60_000), acme))
			e.ok(e.Retry(e.Context(), "a"))
			e.nothing()
			e.states("a obsolete")
		}},
	} {
		t.Run(row.name, func(t *testing.T) { onBoth(t, row.test) })
	}
}

// Keys of a wrong type and texts that are lost make nothing obsolete, and nothing stand still.
func TestObsoleteDamaged(t *testing.T) {
	acme, gone := labelled("tenant=acme"), dropIf("tenant=acme", "x=1")
	onBoth(t, func(e *engine) {
		e.Run("roots are refused", func(e *engine) {
			e.wrong("roots")
			e.refused(e.Add(e.Context(), job("a", gone)), conveyor.ErrCorrupt)
			e.add(job("b"))
			e.states("a unknown, b queued")
			e.ok(e.rdb.Del(e.Context(), e.key("roots")).Err())
			e.run("b", conveyor.VerdictDone)
		})
		e.Run("a set of labels is passed over and told", func(e *engine) {
			e.add(job("root", acme, runAt(e.now+60_000)), job("a", gone))
			e.wrong("label:x=1")
			reply := e.exchange(1)
			if len(reply.Reserved) != 1 || len(reply.Damaged) != 1 || reply.Damaged[0] != e.key("label:x=1") {
				e.Errorf("reserved %v, damaged %v", names(reply.Reserved), reply.Damaged)
			}
			e.ok(e.rdb.Del(e.Context(), e.key("label:x=1")).Err())
			e.end(reply.Reserved[0], conveyor.VerdictDone)
		})
		e.Run("what is lost counts for nothing", func(e *engine) {
			e.add(job("c", gone))
			e.ok(e.rdb.HDel(e.Context(), e.key("roots"), "c").Err())
			e.run("c", conveyor.VerdictDone)
			e.add(job("d", gone))
			e.wrong("roots")
			e.run("d", conveyor.VerdictDone)
			e.ok(e.Remove(e.Context(), "d"))
			e.ok(e.rdb.Del(e.Context(), e.key("roots")).Err())
			e.ok(e.Remove(e.Context(), "c"))
			e.ok(e.Remove(e.Context(), "a"))
		})
	})
}

// What is wrong with the labels is told, and nothing is stored.
func TestObsoleteRefused(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, labels := range []map[string]string{{"": "x"}, {"*": "x"}, {"x": "*"}, {"object": "x"}} {
			err := e.Add(e.Context(), job("bad", func(j *wire.Job) { j.ObsoleteIf = labels }))
			e.refused(err, conveyor.ErrLabel)
		}
		e.states("bad unknown")
	})
}

// incidents counts what an Observer is told.
type incidents struct {
	mu sync.Mutex
	n  map[conveyor.Incident]int
}

func (*incidents) Called(string, time.Duration, error)               {}
func (*incidents) Attempted(string, conveyor.Outcome, time.Duration) {}
func (o *incidents) Happened(what conveyor.Incident, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == nil {
		o.n = map[conveyor.Incident]int{}
	}
	o.n[what] += n
}

func (o *incidents) count(what conveyor.Incident) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.n[what]
}
