package conveyor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestTemplateDamageTold: a key that a call goes without is named in its reply.
func TestTemplateDamageTold(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("a list of a job that an occurrence waits for", func(e *engine) {
			e.add(job("once", queue("other")), job("kid", downstream, under("r"), after(0, "once")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.wrong("jobs:once:onComplete")
			reply := e.exchange(0, ack(e.take(occ("r", "r", firstHour)), conveyor.VerdictDone))
			e.want([]string{e.key("jobs:once:onComplete")}, reply.Damaged)
			e.states(occ("kid", "r", firstHour) + " held")
		})
		e.wreck("ticks that wait, of a schedule that replaces", func(e *engine) {
			e.add(job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
			e.tickAt(firstHour)
			e.wrong("backlog:r")
			e.at(firstHour + hour)
			if got := e.tick().Damaged; !cmp.Equal(got, []string{e.key("backlog:r")}) {
				e.Errorf("damaged %v", got)
			}
			e.starts("r@1")
		})
		e.wreck("members of a replaced cycle that nobody knows", func(e *engine) {
			e.add(job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
			e.tickAt(firstHour)
			e.ok(e.rdb.SAdd(e.Context(), e.key("cycle:r:"+fmt.Sprint(firstHour)), "never", "junk").Err())
			e.written("junk", "???")
			e.at(firstHour + hour)
			e.tick()
			e.states(occ("r", "r", firstHour) + " cancelled")
			e.starts("r@1")
		})
		e.wreck("what it carries, when it goes", func(e *engine) {
			e.add(job("r", every("1 hour"), carrying("k", "v")))
			e.wrong("sync")
			e.ok(e.Cancel(e.Context(), "r"))
			e.same("settings", int64(0), e.rdb.Exists(e.Context(), e.key("template:r")).Val())
		})
	})
}

// TestRetriedOccurrence: nothing of a template that is gone comes back with one that is retried.
func TestRetriedOccurrence(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")))
		e.tickAt(firstHour)
		r0 := occ("r", "r", firstHour)
		e.run(r0, conveyor.VerdictFailed)
		e.ok(e.Cancel(e.Context(), "r"))
		e.ok(e.Retry(e.Context(), r0))
		e.same("lists", int64(0), e.rdb.Exists(e.Context(), e.key("template:r"), e.key("template:r:live")).Val())
		e.run(r0, conveyor.VerdictDone)
	})
}

// TestTriggersAgain: a job that failed at more gates than a call flips, and is retried, opens all of them.
func TestTriggersAgain(t *testing.T) {
	onBoth(t, func(e *engine) {
		const gates = 250
		var all []*wire.Job
		for i := range gates {
			all = append(all, job(fmt.Sprintf("g%03d", i), gated("a")))
		}
		e.add(all...)
		e.add(job("t", lane(2), triggers("a")))
		e.run("t", conveyor.VerdictFailed)
		e.sweep()
		e.gateShows("g000", "a-t")
		e.gateShows("g249", "a-t")
		e.ok(e.Retry(e.Context(), "t"))
		e.run("t", conveyor.VerdictDone)
		e.sweep()
		e.same("occurrences", gates, len(e.reserve(200))+len(e.reserve(200)))
	})
}

// TestRetryOfADelivery: what went to one worker and failed may wait again, however long ago it was added.
func TestRetryOfADelivery(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.beat("w")
		e.add(job("one", toWorker("w"), waitsFor(time.Hour)))
		r := e.exchangeAs("w", 1).Reserved[0]
		e.exchangeAs("w", 0, ack(r, conveyor.VerdictFailed))
		e.pass(2 * time.Hour)
		e.beat("w")
		e.ok(e.Retry(e.Context(), "one"))
		e.tick()
		e.states("one queued")
		r = e.exchangeAs("w", 1).Reserved[0]
		e.exchangeAs("w", 0, ack(r, conveyor.VerdictDone))
	})
}
