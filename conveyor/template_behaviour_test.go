package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestTemplates(t *testing.T) {
	const hour = time.Hour
	onBoth(t, func(e *engine) {
		e.Behaviour("C3a no worker ever gets a template", func(e *engine) {
			e.add(job("h", downstream, after(0, "r")), job("r", every("hour")), job("g", gated("l")))
			e.ticks()
			e.nothing()
			e.states("r template, h template, g template")
			for _, uuid := range []string{"r", "h", "g"} {
				e.ok(e.Release(e.Context(), uuid)) // what is not on hold stays as it is
				e.ok(e.Retry(e.Context(), uuid))   // as does what is not over
			}
			e.nothing()
			e.states("r template, h template, g template")
			e.ok(e.Cancel(e.Context(), "g"))
		})
		e.Behaviour("C3b an occurrence knows its template and its tick", func(e *engine) {
			tick := time.UnixMilli(start).Add(hour).UTC()
			e.add(job("h", downstream, after(0, "r")), job("r", every("hour")))
			e.ticks()
			e.from(hour)
			r := e.emitted("r+1h0m0s")[0]
			root, heir := conveyor.OccurrenceUUID("r", "r", tick), conveyor.OccurrenceUUID("h", "r", tick)
			if r.Job.Uuid != root {
				e.Errorf("its uuid is %s, want %s", r.Job.Uuid, root)
			}
			e.end(r, conveyor.VerdictDone)
			for uuid, template := range map[string]string{root: "r", heir: "h"} {
				s := e.status(uuid)
				got := conveyor.Status{Template: s.Template, Root: s.Root, Tick: s.Tick}
				if diff := cmp.Diff(conveyor.Status{Template: template, Root: "r", Tick: tick}, got); diff != "" {
					e.Errorf("%s (-want +got)\n%s", template, diff)
				}
			}
			members, err := e.Members(e.Context(), "r", tick)
			e.ok(err)
			if len(members) != 1 || members[0].UUID != heir || members[0].State != conveyor.StateQueued {
				e.Errorf("members %+v", members)
			}
			e.emits("h+1h0m0s")
		})
		e.Behaviour("C3c cycles overlap when they may", func(e *engine) {
			e.add(job("r", every("hour")))
			e.ticks()
			e.from(hour)
			first := e.emitted("r+1h0m0s")
			e.from(2 * hour)
			e.emits("r+2h0m0s")
			e.end(first[0], conveyor.VerdictDone)
			e.history("r", "completed+1h0m0s", "completed+2h0m0s")
		})
		e.Behaviour("C3d or a tick is skipped while any part of an earlier cycle is live, and never caught up", func(e *engine) {
			e.add(job("h", downstream, after(0, "r")), job("r", every("hour"), overlap(wire.Schedule_SKIP), catchup(wire.Schedule_ALL)))
			e.ticks()
			e.from(hour)
			e.emits("r+1h0m0s") // its heir waits
			e.from(2 * hour)
			e.from(3 * hour)
			e.emits("h+1h0m0s")
			e.from(3*hour + time.Minute)
			e.emits()
			e.from(4 * hour)
			e.emits("r+4h0m0s")
			e.emits("h+4h0m0s")
			e.history("r", "completed+4h0m0s", "completed+1h0m0s", "skipped+3h0m0s", "skipped+2h0m0s")
		})
		e.Behaviour("C3e or the earlier cycle is cancelled", func(e *engine) {
			e.add(job("h", downstream, after(0, "r")), job("r", every("hour"), overlap(wire.Schedule_REPLACE)))
			e.ticks()
			e.from(hour)
			running := e.emitted("r+1h0m0s")[0]
			e.from(2 * hour)
			if s := e.status(running.Job.Uuid); !s.CancelRequested || s.State != conveyor.StateRunning {
				e.Errorf("what runs is %+v", s)
			}
			e.end(running, conveyor.VerdictDone)
			e.emits("r+2h0m0s")
			e.from(3 * hour) // the heir of the second waits
			if got := e.status(conveyor.OccurrenceUUID("h", "r", time.UnixMilli(start).Add(2*hour))); got.State != conveyor.StateCancelled {
				e.Errorf("what waits is %s", got.State)
			}
			e.emits("r+3h0m0s")
			e.emits("h+3h0m0s")
			e.history("r", "completed+3h0m0s", "replaced+2h0m0s", "replaced+1h0m0s")
		})
		e.Behaviour("and its unique key is the later one's", func(e *engine) {
			e.add(job("r", every("hour"), overlap(wire.Schedule_REPLACE), func(j *wire.Job) { j.Unique = "key" }))
			e.ticks()
			e.from(hour)
			e.from(2 * hour)
			e.emits("r+2h0m0s")
			e.history("r", "completed+2h0m0s", "replaced+1h0m0s")
		})
		e.Behaviour("C3f a whole graph runs once in each cycle, by its edges in that cycle", func(e *engine) {
			e.add(job("heir", downstream, after(0, "left", "right")), job("failed", downstream, after(wire.Edge_FAILURE, "left")),
				job("left", downstream, under("r")), job("right", downstream, under("r")), job("r", every("hour")))
			e.ticks()
			e.from(hour)
			e.emits("r+1h0m0s")
			rs := e.emitted("left+1h0m0s", "right+1h0m0s")
			e.from(2 * hour)
			e.emits("r+2h0m0s")
			e.end(rs[0], conveyor.VerdictDone)
			e.end(rs[1], conveyor.VerdictDone)
			e.emits("left+2h0m0s", "right+2h0m0s", "heir+1h0m0s")
			e.emits("heir+2h0m0s")
			e.history("r", "completed+2h0m0s", "completed+1h0m0s")
		})
		e.Behaviour("C3g what a failure excludes is skipped, and the cycle has failed", func(e *engine) {
			e.add(job("heir", downstream, after(0, "r")), job("mend", downstream, after(wire.Edge_FAILURE, "r")), job("r", every("hour")))
			e.ticks()
			e.from(hour)
			e.end(e.emitted("r+1h0m0s")[0], conveyor.VerdictFailed)
			e.emits("mend+1h0m0s")
			if got := e.status(conveyor.OccurrenceUUID("heir", "r", time.UnixMilli(start).Add(hour))); got.State != conveyor.StateSkipped {
				e.Errorf("the heir is %s", got.State)
			}
			e.history("r", "failed+1h0m0s")
		})
		e.Behaviour("C3h a changed template is that of later cycles, and a changed schedule counts from now", func(e *engine) {
			e.add(job("r", every("hour")))
			e.ticks()
			e.from(hour)
			e.ok(e.Update(e.Context(), job("r", every("hour"), queue("q"), lane(2))))
			if rs := e.emitted("r+1h0m0s"); e.status(rs[0].Job.Uuid).Priority != 1 {
				e.Error("an occurrence that was made before it has the change")
			} else {
				e.end(rs[0], conveyor.VerdictDone)
			}
			e.from(2 * hour)
			if rs := e.emitted("r+2h0m0s"); e.status(rs[0].Job.Uuid).Priority != 2 {
				e.Error("one that was made after it has not")
			} else {
				e.end(rs[0], conveyor.VerdictDone)
			}
			e.from(2*hour + 30*time.Minute)
			e.ok(e.Update(e.Context(), job("r", every("15 minutes"))))
			e.ticks()
			e.emits()
			e.from(2*hour + 45*time.Minute)
			e.emits("r+2h45m0s")
		})
		e.Behaviour("C4d a template emits max_cycles cycles and is then on hold", func(e *engine) {
			e.add(job("r", every("hour"), maxCycles(2)))
			e.ticks()
			for range 4 {
				e.pass(hour)
				e.ticks()
			}
			e.emits("r+1h0m0s", "r+2h0m0s")
			if got := e.template1("r"); !got.OnHold || got.Cycles != 2 || got.MaxCycles != 2 || !got.Next.IsZero() {
				e.Errorf("got %+v", got)
			}
			e.from(5*hour + time.Minute)
			e.ok(e.ResetCycles(e.Context(), "r"))
			e.ticks()
			e.emits()
			e.from(6 * hour)
			e.emits("r+6h0m0s")
		})
		e.Behaviour("C4e retention removes no template and no job on hold", func(e *engine) {
			e.add(job("r", every("month")), job("a", maxCycles(1)))
			e.run("a", conveyor.VerdictRetry)
			e.ticks()
			e.pass(40 * 24 * hour)
			e.ticks()
			e.states("r template, a on hold")
		})
		e.Behaviour("C8a what an occurrence stores reaches its template when it is acknowledged, and the next occurrence when it is emitted", func(e *engine) {
			e.add(job("r", every("hour"), carrying("at", "0")))
			e.ticks()
			e.from(hour)
			first := e.emitted("r+1h0m0s")[0]
			e.from(2 * hour)
			second := e.emitted("r+2h0m0s")[0]
			if diff := cmp.Diff([]map[string]string{{"at": "0"}, {"at": "0"}}, []map[string]string{first.Sync, second.Sync}); diff != "" {
				e.Errorf("(-want +got)\n%s", diff)
			}
			done := ack(first, conveyor.VerdictDone)
			done.Sync = map[string]string{"at": "1"}
			e.exchange(0, done)
			if diff := cmp.Diff(map[string]string{"at": "1"}, e.template1("r").Sync); diff != "" {
				e.Errorf("the template's (-want +got)\n%s", diff)
			}
			e.end(second, conveyor.VerdictDone)
			e.from(3 * hour)
			third := e.emitted("r+3h0m0s")[0]
			if diff := cmp.Diff(map[string]string{"at": "1"}, third.Sync); diff != "" {
				e.Errorf("(-want +got)\n%s", diff)
			}
			e.end(third, conveyor.VerdictDone)
		})
		e.Behaviour("C9b who says so deletes a template: what waits is cancelled, what runs goes on", func(e *engine) {
			e.add(job("h", downstream, after(0, "r")), job("r", every("hour")))
			e.ticks()
			e.from(hour)
			e.emits("r+1h0m0s") // its heir waits
			e.from(2 * hour)
			waiting := conveyor.OccurrenceUUID("h", "r", time.UnixMilli(start).Add(hour))
			e.states("r template, h template, " + waiting + " queued")
			running := e.reserve(1)[0]
			e.ok(e.Cancel(e.Context(), "r"))
			e.ok(e.Cancel(e.Context(), "h"))
			e.ticks()
			e.states("r cancelled, h cancelled, " + running.Job.Uuid + " running")
			e.end(running, conveyor.VerdictDone)
			e.nothing()
			e.from(5 * hour)
			e.nothing()
		})
	})
}
