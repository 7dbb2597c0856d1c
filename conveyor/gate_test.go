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

// gateShows wants a gate to wait for this: "a", "a+" once it is flipped, "a-x" when x failed.
func (e *engine) gateShows(gate, want string) {
	e.Helper()
	found, err := e.Templates(e.Context(), []string{gate})
	e.ok(err)
	var got []string
	for _, g := range found[0].Gate {
		text := g.Label
		if g.Flipped {
			text += "+"
		}
		if g.Failed != "" {
			text += "-" + g.Failed
		}
		got = append(got, text)
	}
	if strings.Join(got, " ") != want {
		e.Errorf("%s waits for %q, want %q", gate, strings.Join(got, " "), want)
	}
}

// ends adds a job that triggers labels and runs it.
func (e *engine) ends(uuid string, verdict conveyor.Verdict, labels ...string) {
	e.Helper()
	e.add(job(uuid, lane(2), triggers(labels...)))
	e.run(uuid, verdict)
}

// opened is the occurrence of a gate at a tick.
func opened(gate string, ms int64) string {
	return conveyor.OccurrenceUUID(gate, gate, time.UnixMilli(ms))
}

func TestGate(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C5a a template waits for labels; jobs that succeed flip them; when all are it emits once, and they are reset", func(e *engine) {
			e.add(job("g", gated("a", "b"), func(j *wire.Job) { j.Payload = []byte("meta") }))
			e.states("g template")
			e.ends("t1", conveyor.VerdictDone, "a")
			e.gateShows("g", "a+ b")
			e.ends("t2", conveyor.VerdictDone, "a") // flipped already
			e.nothing()
			e.ends("t3", conveyor.VerdictDone, "b")
			e.gateShows("g", "a b")
			got := e.reserves(opened("g", e.now))
			if j := got[0].Job; string(j.Payload) != "meta" || j.TemplateUuid != "g" {
				e.Errorf("emitted %v", j)
			}
			e.end(got[0], conveyor.VerdictDone)
			e.ends("t4", conveyor.VerdictDone, "a", "b") // repeats, in the same millisecond too
			e.run(opened("g", e.now+1), conveyor.VerdictDone)
			e.pass(time.Second)
			e.ends("t5", conveyor.VerdictDone, "b")
			e.ends("t6", conveyor.VerdictDone, "a")
			e.run(opened("g", e.now), conveyor.VerdictDone)
			e.nothing()
		})
		e.Behaviour("C5b what a trigger carries of the keys that both have is the template's before it emits", func(e *engine) {
			sync := func(pairs ...string) func(*wire.Job) {
				return func(j *wire.Job) {
					twin := &wire.Job{}
					labelled(pairs...)(twin)
					j.Sync = twin.Labels
				}
			}
			e.add(job("g", gated("a", "b"), sync("at=0", "own=1", "odd,=%")))
			e.add(job("t1", triggers("a"), sync("at=5", "other=7")))
			e.run("t1", conveyor.VerdictDone)
			e.add(job("t2", triggers("b"), sync("odd,==|", "x=y")))
			e.run("t2", conveyor.VerdictDone)
			got := e.reserves(opened("g", e.now))
			want := map[string]string{"at": "5", "own": "1", "odd,": "=|"}
			if diff := cmp.Diff(want, got[0].Sync); diff != "" {
				e.Errorf("sync of the occurrence (-want +got):\n%s", diff)
			}
			found, err := e.Templates(e.Context(), []string{"g"})
			e.ok(err)
			if diff := cmp.Diff(want, found[0].Sync); diff != "" {
				e.Errorf("sync of the template (-want +got):\n%s", diff)
			}
			e.end(got[0], conveyor.VerdictDone)
			e.pass(time.Second)
			e.ends("t3", conveyor.VerdictDone, "a", "b") // carries nothing
			if got := e.reserves(opened("g", e.now)); got[0].Sync["at"] != "5" {
				e.Errorf("sync: %v", got[0].Sync)
			}
		})
		e.Behaviour("C5c a trigger that fails leaves the gate waiting, and it shows", func(e *engine) {
			e.add(job("g", gated("a", "b")))
			e.ends("bad", conveyor.VerdictFailed, "a")
			e.gateShows("g", "a-bad b")
			e.add(job("gone", triggers("b")))
			e.ok(e.Cancel(e.Context(), "gone"))
			e.gateShows("g", "a-bad b-gone")
			e.ends("good", conveyor.VerdictDone, "b")
			e.gateShows("g", "a-bad b+")
			e.ends("worse", conveyor.VerdictFailed, "a", "b")
			e.gateShows("g", "a-worse b+")
			e.nothing()
			e.ends("better", conveyor.VerdictDone, "a")
			e.gateShows("g", "a b")
			e.run(opened("g", e.now), conveyor.VerdictDone)
		})
		e.Behaviour("C5d labels are matched exactly", func(e *engine) {
			e.add(job("g", gated("x.api.io/leaf-1")), job("odd", gated("a,b", "100%|")))
			e.ends("t1", conveyor.VerdictDone, "x.api.io/leaf-10", "x.api.io/leaf-", "X.api.io/leaf-1", "x.api.io/leaf-1 ")
			e.ends("t2", conveyor.VerdictDone, "a", "b", "100%", "100%25|")
			e.gateShows("g", "x.api.io/leaf-1")
			e.gateShows("odd", "100%| a,b")
			e.nothing()
			e.ends("t3", conveyor.VerdictDone, "a,b", "100%|", "x.api.io/leaf-1")
			e.gateShows("odd", "100%| a,b")
			if got := e.reserve(10); len(got) != 2 {
				e.Errorf("reserved %v", names(got))
			}
		})
		e.Behaviour("C5e a close that takes several calls emits once for each gate", func(e *engine) {
			const gates = 450
			var all []*wire.Job
			for i := range gates {
				all = append(all, job(fmt.Sprintf("g%03d", i), gated("a")))
			}
			e.add(all...)
			e.add(job("t", lane(2), triggers("a", "other")))
			r := e.take("t")
			for range 3 { // an acknowledgement that is repeated flips nothing again
				e.exchange(0, ack(r, conveyor.VerdictDone))
			}
			e.sweep()
			e.states("t completed")
			for i := range gates {
				u := fmt.Sprintf("g%03d", i)
				if s := e.status(opened(u, e.now)); s.State != conveyor.StateQueued {
					e.Fatalf("of %s: %s", u, s.State)
				}
				if s := e.status(opened(u, e.now+1)); s.State != conveyor.StateUnknown {
					e.Fatalf("%s emitted twice", u)
				}
			}
		})
	})
}

func TestGates(t *testing.T) {
	for _, row := range []struct {
		name string
		test func(e *engine)
	}{
		{"several gates wait for one label, one gate for several", func(e *engine) {
			e.add(job("g1", gated("a")), job("g2", gated("a", "b")), job("g3", gated("b", "c")))
			e.ends("t", conveyor.VerdictDone, "a", "b")
			e.gateShows("g1", "a")
			e.gateShows("g2", "a b")
			e.gateShows("g3", "b+ c")
			e.reserves(opened("g1", e.now), opened("g2", e.now))
		}},
		{"a trigger with more heirs than one call takes flips once", func(e *engine) {
			e.add(job("g", gated("a")), job("t", lane(2), triggers("a")))
			var heirs []*wire.Job
			for i := range 450 {
				heirs = append(heirs, job(fmt.Sprintf("h%03d", i), after(0, "t")))
			}
			e.add(heirs...)
			e.run("t", conveyor.VerdictDone)
			e.sweep()
			e.states("t completed, " + opened("g", e.now) + " queued, " + opened("g", e.now+1) + " unknown")
		}},
		{"a job that is obsolete succeeds", func(e *engine) {
			e.add(job("root", runAt(e.now+60_000), labelled("x=1")), job("g", gated("a")))
			e.add(job("t", triggers("a"), dropIf("x=1")))
			e.states("t obsolete")
			e.reserves(opened("g", e.now))
		}},
		{"a job that is skipped without any failure is neither", func(e *engine) {
			e.add(job("g", gated("a")), job("up"))
			e.add(job("t", triggers("a"), after(wire.Edge_FAILURE, "up")), job("t2", triggers("a"), after(wire.Edge_SUCCESS, "no")), job("no", lane(0)))
			e.run("up", conveyor.VerdictDone)
			e.states("t skipped")
			e.gateShows("g", "a")
			e.run("no", conveyor.VerdictFailed)
			e.states("t2 skipped")
			e.gateShows("g", "a-t2")
		}},
		{"what a withdrawn job does counts for nobody", func(e *engine) {
			e.add(job("g", gated("a")), job("v1", triggers("a")), job("w1", triggers("a")))
			r := e.take("v1")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("v2", triggers("a"), after(wire.Edge_ALWAYS, "v1")), Replaces: "v1"},
				{Kind: conveyor.ChangeCancel, UUID: "w1", Withdraw: true}}}))
			e.end(r, conveyor.VerdictDone)
			e.gateShows("g", "a")
			e.run("v2", conveyor.VerdictDone)
			e.run(opened("g", e.now), conveyor.VerdictDone)
		}},
		{"a failed child fails its trigger, a retry makes up for it", func(e *engine) {
			e.add(job("g", gated("a")), job("c", under("t")), job("t", triggers("a")))
			e.run("t", conveyor.VerdictDone)
			e.gateShows("g", "a")
			e.run("c", conveyor.VerdictFailed)
			e.gateShows("g", "a-t")
			e.ends("u", conveyor.VerdictFailed, "a")
			e.ok(e.Retry(e.Context(), "u"))
			e.run("u", conveyor.VerdictDone)
			e.run(opened("g", e.now), conveyor.VerdictDone)
		}},
		{"occurrences trigger gates, their templates do not", func(e *engine) {
			e.add(job("s", every("hour"), triggers("a")), job("g", gated("a")))
			for range 2 {
				tick, err := e.RunTemplate(e.Context(), "s")
				e.ok(err)
				e.run(conveyor.OccurrenceUUID("s", "s", tick), conveyor.VerdictDone)
				e.run(opened("g", e.now), conveyor.VerdictDone)
				e.pass(time.Second)
			}
			e.ok(e.Cancel(e.Context(), "s"))
			e.gateShows("g", "a")
		}},
		{"an update changes what it waits for and keeps what is flipped", func(e *engine) {
			e.add(job("g", gated("a", "b", "c")))
			e.ends("t1", conveyor.VerdictDone, "a", "b")
			e.ok(e.Update(e.Context(), job("g", gated("b", "c", "d"))))
			e.gateShows("g", "b+ c d")
			e.ends("t2", conveyor.VerdictDone, "a", "c")
			e.gateShows("g", "b+ c+ d")
			e.ends("t3", conveyor.VerdictDone, "d")
			e.run(opened("g", e.now), conveyor.VerdictDone)
			if n := e.rdb.Exists(e.Context(), e.key("gate:a")).Val(); n != 0 {
				e.Error("it is listed for a label that it does not wait for")
			}
		}},
		{"an update changes what is triggered", func(e *engine) {
			e.add(job("g", gated("a")), job("h", gated("b")), job("t", triggers("a")))
			e.ok(e.Update(e.Context(), job("t", triggers("b"))))
			e.run("t", conveyor.VerdictDone)
			e.run(opened("h", e.now), conveyor.VerdictDone)
			e.gateShows("g", "a")
		}},
		{"nothing is left of a gate that is deleted, nor of its triggers", func(e *engine) {
			e.add(job("g", gated("a", "b")))
			e.ends("t", conveyor.VerdictDone, "a")
			e.ok(e.Cancel(e.Context(), "g"))
			for _, key := range []string{"gate:a", "gate:b", "template:g:gate"} {
				if n := e.rdb.Exists(e.Context(), e.key(key)).Val(); n != 0 {
					e.Errorf("%s is left", key)
				}
			}
			e.ends("u", conveyor.VerdictDone, "a", "b")
			e.nothing()
			e.pass(conveyor.Retention)
			e.sweep()
			e.sweep()
			if n := e.rdb.Exists(e.Context(), e.key("triggers")).Val(); n != 0 {
				e.Error("triggers is left")
			}
		}},
		{"one that had its cycles stays open until they are reset", func(e *engine) {
			e.add(job("g", gated("a"), func(j *wire.Job) { j.MaxCycles = 1 }))
			e.ends("t1", conveyor.VerdictDone, "a")
			e.run(opened("g", e.now), conveyor.VerdictDone)
			e.ends("t2", conveyor.VerdictDone, "a")
			e.gateShows("g", "a+")
			e.nothing()
			e.ok(e.ResetCycles(e.Context(), "g"))
			e.ends("t3", conveyor.VerdictDone, "a")
			e.gateShows("g", "a")
			e.run(opened("g", e.now+1), conveyor.VerdictDone)
		}},
		{"triggers that end together count one after the other", func(e *engine) {
			sync := func(at string) func(*wire.Job) { return func(j *wire.Job) { j.Sync = map[string]string{"at": at} } }
			e.add(job("g", gated("a"), sync("0")), job("t1", triggers("a"), sync("1")), job("t2", triggers("a"), sync("2")))
			got := e.reserves("t1", "t2")
			e.exchange(0, ack(got[0], conveyor.VerdictDone), ack(got[1], conveyor.VerdictDone))
			for i, r := range e.reserves(opened("g", e.now), opened("g", e.now+1)) {
				if want := fmt.Sprint(i + 1); r.Sync["at"] != want {
					e.Errorf("sync of %d: %v", i, r.Sync)
				}
			}
		}},
		{"a slice of one label does not leave out gates of the next", func(e *engine) {
			jobs := []*wire.Job{job("first", gated("b"))}
			for i := range 150 {
				jobs = append(jobs, job(fmt.Sprintf("g%03d", i), gated("a", "never")))
			}
			e.add(jobs...)
			e.ends("t", conveyor.VerdictDone, "a", "b")
			e.sweep()
			e.gateShows("g149", "a+ never")
			e.run(opened("first", e.now), conveyor.VerdictDone)
			if tags := tagsOf(e.entry("t")); tags["G"] != "" {
				e.Errorf("how far it came is left: %v", tags)
			}
		}},
		{"it is told as an event", func(e *engine) {
			e.add(job("g", gated("a", "b")), job("t", triggers("a")))
			at, err := e.LastEvent(e.Context())
			e.ok(err)
			e.run("t", conveyor.VerdictDone)
			batch, err := e.Events(e.Context(), at, 0)
			e.ok(err)
			told := false
			for _, event := range batch.Events {
				for _, s := range event.Jobs {
					told = told || s.UUID == "g"
				}
			}
			if !told {
				e.Error("nobody is told that a label is flipped")
			}
		}},
		{"keys of a wrong type", func(e *engine) {
			for _, key := range []string{"gate:a", "template:g:gate"} {
				e.wrong(key)
				e.refused(e.Add(e.Context(), job("g", gated("a"))), conveyor.ErrCorrupt)
				e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
			}
			e.wrong("triggers")
			e.refused(e.Add(e.Context(), job("t", triggers("a"))), conveyor.ErrCorrupt)
			e.ok(e.rdb.Del(e.Context(), e.key("triggers")).Err())
			e.states("g unknown, t unknown")
			e.add(job("g", gated("a")), job("h", gated("b")), job("k", gated("b")))
			e.add(job("t", triggers("a", "b")))
			r := e.take("t")
			e.wrong("gate:a")
			e.ok(e.rdb.Rename(e.Context(), e.key("template:h:gate"), e.key("kept")).Err())
			e.wrong("template:h:gate")
			reply := e.exchange(0, ack(r, conveyor.VerdictDone))
			if diff := cmp.Diff([]string{e.key("gate:a"), e.key("template:h:gate")}, reply.Damaged); diff != "" {
				e.Errorf("damaged (-want +got):\n%s", diff)
			}
			e.states("t completed")
			e.run(opened("k", e.now), conveyor.VerdictDone)
			e.ok(e.Cancel(e.Context(), "h"))
			e.states("h cancelled")
			e.ok(e.rdb.Del(e.Context(), e.key("template:h:gate"), e.key("kept"), e.key("gate:a")).Err())
			e.ok(e.rdb.ZRem(e.Context(), e.key("gate:b"), "h").Err())
			e.ok(e.rdb.ZAdd(e.Context(), e.key("gate:a"), redisZ(1, "g")).Err())
		}},
	} {
		t.Run(row.name, func(t *testing.T) { onBoth(t, row.test) })
	}
}

func TestTriggersInTheOrderOfTheirNames(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("both", gated("g1", "g=,3")), job("one", gated("g=,3")))
		e.ends("t", conveyor.VerdictDone, "g=,3", "g1")
		e.reserves(opened("both", e.now), opened("one", e.now))
	})
}
