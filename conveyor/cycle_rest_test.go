package conveyor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestEdgesOfOccurrences: what an occurrence waits for is as it was given for its template, in the opening that is there, and
// counts whatever becomes of who was to run before it.
func TestEdgesOfOccurrences(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("an upstream that was retried before", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0", conveyor.VerdictFailed)
			e.add(job("h", downstream, after(wire.Edge_SUCCESS, "r")))
			e.ok(e.Retry(e.Context(), occ("r", "r", firstHour)))
			e.starts("r@0")
			e.starts("h@0")
			e.sound()
		})
		e.wreck("an upstream that is withdrawn later", func(e *engine) {
			e.add(job("once", queue("other")), job("kid", downstream, under("r"), after(wire.Edge_ALWAYS, "once")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0")
			e.nothing()
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeCancel, UUID: "once", Withdraw: true}}}))
			e.starts("kid@0")
			e.sound()
		})
		e.wreck("since when it is held by nobody", func(e *engine) {
			e.add(job("kid", downstream, under("r"), after(0, "never")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.same("tag of an entry that waits for nobody", "", tagsOf(e.entry(occ("r", "r", firstHour)))["D"])
			e.starts("r@0")
			e.same("unseen", true, e.status(occ("kid", "r", firstHour)).HeldSince.Equal(moment(firstHour)))
			e.sound()
		})
		e.wreck("an upstream that is made for it", func(e *engine) {
			e.add(job("z", downstream, after(0, "r")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0")
			e.add(job("q", downstream, after(0, "r")), job("late", downstream, after(0, "z", "q")))
			e.starts("z@0")
			late := occ("late", "r", firstHour)
			e.states(late + " held, " + occ("q", "r", firstHour) + " queued")
			e.same("held since", true, e.status(late).HeldSince.IsZero())
			e.same("what is left to do", "", tagsOf(e.entry(late))["D"])
			e.starts("q@0")
			e.starts("late@0")
			e.same("what was emitted", "", tagsOf(e.entry(late))["D"]+tagsOf(e.entry(occ("z", "r", firstHour)))["D"])
			e.sound()
		})
		e.wreck("an upstream that ends in the same call", func(e *engine) {
			e.add(job("old", after(0, "once")), job("kid", downstream, under("r"), after(0, "once")), job("r", every("1 hour")), job("once", lane(0)))
			e.tickAt(firstHour)
			e.doneAll(e.reserves(occ("r", "r", firstHour), "once"), conveyor.VerdictDone)
			e.starts("old kid@0")
			e.sound()
		})
		e.wreck("a child that came before it", func(e *engine) {
			kid := occ("kid", "r", firstHour)
			e.add(job("early", under(kid)), job("kid", downstream, under("r")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0")
			e.starts("kid@0")
			e.take("early")
			e.sound()
		})
	})
}

// TestMissedTicksOverlap: ticks that are caught up with in one call are judged one by one, each by the cycles before it.
func TestMissedTicksOverlap(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("skip", func(e *engine) {
			e.add(job("r", scheduled(&wire.Schedule{Every: "1 hour", Overlap: wire.Schedule_SKIP, Catchup: wire.Schedule_ALL})))
			e.tickAt(firstHour)
			e.tickAt(firstHour + 3*hour)
			e.want("3 skipped, 2 skipped, 1 skipped", e.histories("r"))
			e.starts("r@0")
		})
		e.wreck("replace", func(e *engine) {
			e.add(job("kid", downstream, under("r")), job("r", scheduled(&wire.Schedule{Every: "1 hour", Overlap: wire.Schedule_REPLACE, Catchup: wire.Schedule_ALL})))
			e.tickAt(firstHour)
			e.at(firstHour + 3*hour)
			e.same("emitted", 3, e.tick().Emitted)
			e.rest()
			e.want("2 replaced 1/2, 1 replaced 1/2, 0 replaced 1/2", e.histories("r"))
			e.starts("r@3")
			e.starts("kid@3")
			e.sound()
		})
	})
}

// TestCycleIsRevived: a cycle that lives again has what its own line in the history says.
func TestCycleIsRevived(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("of two cycles the earlier", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0", conveyor.VerdictFailed)
			e.tickAt(firstHour + hour)
			e.starts("r@1", conveyor.VerdictFailed)
			e.ok(e.Retry(e.Context(), occ("r", "r", firstHour)))
			e.want("1 failed 1/1", e.histories("r"))
			e.starts("r@0")
			e.want("0 completed 0/1, 1 failed 1/1", e.histories("r"))
		})
		e.wreck("one of two that failed", func(e *engine) {
			e.add(job("a", downstream, after(0, "r")), job("b", downstream, after(0, "r")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0")
			e.starts("a@0 b@0", conveyor.VerdictFailed, conveyor.VerdictFailed)
			e.want("0 failed 2/3", e.histories("r"))
			e.ok(e.Retry(e.Context(), occ("a", "r", firstHour)))
			e.starts("a@0")
			e.want("0 failed 1/3", e.histories("r"))
		})
		e.wreck("a history of a wrong type", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.starts("r@0", conveyor.VerdictFailed)
			e.wrong("history:r")
			e.at(firstHour + hour)
			e.want([]string{}, e.tick().Damaged) // a cycle that begins has no line in it
			e.ok(e.Retry(e.Context(), occ("r", "r", firstHour)))
			reply := e.exchange(2)
			e.want("r@1 r@0", e.named(names(reply.Reserved)))
			e.want([]string{e.key("history:r")}, e.exchange(0, ack(reply.Reserved[0], conveyor.VerdictDone)).Damaged)
		})
	})
}

// TestEmissionGoesOn: what is made over several calls is made of the templates that there were for it, and each once.
func TestEmissionGoesOn(t *testing.T) {
	onBoth(t, func(e *engine) {
		var jobs []*wire.Job
		for i := range 450 {
			jobs = append(jobs, job(fmt.Sprintf("h%03d", i), downstream, after(0, "r")))
		}
		e.add(append(jobs, job("r", every("1 hour")))...)
		e.tickAt(firstHour)
		e.starts("r@0")
		e.states(occ("r", "r", firstHour) + " closing")
		at := tagsOf(e.entry(occ("r", "r", firstHour)))["D"]
		e.tick()
		e.same("how far it is", false, tagsOf(e.entry(occ("r", "r", firstHour)))["D"] == at)
		e.add(job("late", downstream, under("r"))) // too late for this cycle: its children have come
		e.want(450, e.drain(205))
		e.states(occ("late", "r", firstHour) + " unknown")
		e.want("0 completed 0/451", e.histories("r"))
	})
}

// TestTemplateLeaves: of a template that goes nothing stays but its entry.
func TestTemplateLeaves(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("with more cycles than one look finds", func(e *engine) {
			e.add(job("r", scheduled(&wire.Schedule{Every: "1 hour", Catchup: wire.Schedule_ALL}), carrying("k", "v")))
			e.tickAt(start)
			e.tickAt(firstHour + 99*hour)
			e.want(100, len(e.scores("template:r:live")))
			e.ok(e.Cancel(e.Context(), "r"))
			e.same("cursor", "", tagsOf(e.entry("r"))["D"])
			e.same("sync", false, e.rdb.HExists(e.Context(), e.key("sync"), "r").Val())
			e.rest()
		})
		e.Behaviour("with ticks that wait", func(e *engine) {
			e.add(job("s", every("1 hour"), overlap(wire.Schedule_SKIP)))
			e.at(firstHour + 101*hour)
			e.tickAt(e.now)
			tick := e.now - e.now%hour
			_, err := e.Backfill(e.Context(), "s", time.UnixMilli(tick-hour), time.UnixMilli(tick-hour), false)
			e.ok(err)
			e.run(occ("s", "s", tick), conveyor.VerdictDone)
			e.want(map[string]string{"s": fmt.Sprint(e.now)}, e.scores("todo"))
			e.ok(e.Cancel(e.Context(), "s"))
			e.want(map[string]string{}, e.scores("todo"))
		})
	})
}

// TestCancelledOnceMore: members of a replaced cycle that its first look passed over are cancelled by the next, over several calls.
func TestCancelledOnceMore(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name    string
			members int
			slices  int // that are passed over
			flags   string
		}{{"the first look is not over", 450, 3, "rwa"}, {"the second has begun", 250, 0, "rw"}} {
			e.wreck(row.name, func(e *engine) {
				var jobs []*wire.Job
				for i := range row.members {
					jobs = append(jobs, job(fmt.Sprintf("k%03d", i), downstream, under("r")))
				}
				e.add(append(jobs, job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))...)
				e.tickAt(firstHour)
				e.starts("r@0")
				e.rest()
				tick, at := fmt.Sprint(firstHour), uint64(0)
				text := e.hash("cycles:r")[tick] + row.flags
				for range row.slices {
					var err error
					_, at, err = e.rdb.SScan(e.Context(), e.key("cycle:r:"+tick), at, "", 100).Result()
					e.ok(err)
				}
				if at > 0 {
					text += fmt.Sprint(at)
				}
				e.set("cycles:r", tick, text)
				e.rank("todo", "r", float64(e.now))
				e.rest()
				e.nothing()
				e.want(fmt.Sprintf("0 replaced %d/%d", row.members+1, row.members+1), e.histories("r"))
			})
		}
	})
}

// TestManyMembersToLookAt: a replaced cycle whose members take more than one call to look at.
func TestManyMembersToLookAt(t *testing.T) {
	onBoth(t, func(e *engine) {
		many := func(e *engine) {
			e.Helper()
			e.add(job("kid", downstream, under("r")), job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
			e.tickAt(firstHour)
			e.starts("r@0")
			var strays []any
			for i := range 5000 {
				strays = append(strays, fmt.Sprintf("-%d", i)) // first where a set is in order
			}
			e.ok(e.rdb.SAdd(e.Context(), e.key("cycle:r:"+fmt.Sprint(firstHour)), strays...).Err())
			e.at(firstHour + hour)
			e.tick()
		}
		e.wreck("the cycle that replaces it goes on", func(e *engine) {
			many(e)
			e.states(occ("r", "r", firstHour+hour) + " queued")
		})
		e.wreck("its template goes meanwhile", func(e *engine) {
			many(e)
			e.ok(e.Cancel(e.Context(), "r"))
			e.states("r closing")
			for range 10 {
				e.tick()
			}
			e.states("r cancelled, " + occ("kid", "r", firstHour) + " cancelled")
		})
	})
}

// TestDamageBesideCycles: a key that nothing is wanted of is not named, and one that is missed is.
func TestDamageBesideCycles(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("who carries nothing", func(e *engine) {
			e.add(job("r", every("1 hour")), job("j", lane(2)))
			e.run("j", conveyor.VerdictDone)
			e.tickAt(start)
			e.wrong("sync")
			e.wrong("roots")
			e.at(firstHour)
			e.want([]string{}, e.tick().Damaged)
			e.starts("r@0")
			e.pass(conveyor.Retention)
			for e.status("j").State != conveyor.StateUnknown {
				e.want([]string{}, e.tick().Damaged)
			}
		})
		e.wreck("who leaves something to its template", func(e *engine) {
			e.add(job("r", every("1 hour"), carrying("k", "v")))
			e.tickAt(firstHour)
			r0 := occ("r", "r", firstHour)
			e.exchange(0, leaves(e.take(r0), conveyor.VerdictDefer, map[string]string{"k": "w"}))
			r := e.take(r0)
			e.wrong("sync")
			e.want([]string{e.key("sync")}, e.exchange(0, ack(r, conveyor.VerdictDone)).Damaged)
			e.states(r0 + " completed")
		})
		e.wreck("a list that names who is gone", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.rank("emits:r:children", "never", 0)
			e.tickAt(firstHour)
			e.same("damaged", 0, len(e.exchange(0, ack(e.take(occ("r", "r", firstHour)), conveyor.VerdictDone)).Damaged))
			e.states(occ("r", "r", firstHour) + " completed")
		})
		e.wreck("the members of a cycle that is replaced", func(e *engine) {
			e.add(job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
			e.tickAt(firstHour)
			e.wrong("cycle:r:" + fmt.Sprint(firstHour))
			e.at(firstHour + hour)
			e.want([]string{e.key("cycle:r:" + fmt.Sprint(firstHour))}, e.tick().Damaged)
		})
	})
}
