package conveyor_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestTemplateKeepsNothingOfAJob: what a job would be held to is its occurrences'.
func TestTemplateKeepsNothingOfAJob(t *testing.T) {
	all := func(j *wire.Job) {
		most := int32(9)
		j.Unique, j.RemoveAfter, j.Retention = "k", durationpb.New(time.Minute), durationpb.New(time.Minute)
		j.After, j.ReserveFor, j.RetryPolicy = durationpb.New(time.Second), durationpb.New(time.Hour), &wire.RetryPolicy{MaxLost: &most}
	}
	onBoth(t, func(e *engine) {
		e.add(job("kid", downstream, under("r"), all), job("r", every("1 hour")))
		e.add(job("same", unique("k"), queue("other"))) // a template holds no key
		_, fields, _ := strings.Cut(e.entry("kid"), "|")
		e.want("q|1", fields)
		e.add(job("timed", downstream, under("nobody"), runAt(start+1000)))
		e.want("t1tb|q|4", e.entry("timed"))
		e.pass(2 * time.Minute)
		e.tick()
		e.states("kid template, r template")
		e.ok(e.Cancel(e.Context(), "same"))
		e.tickAt(firstHour)
		e.starts("r@0")
		e.states(occ("kid", "r", firstHour) + " scheduled")
		e.tickAt(firstHour + 1000)
		e.starts("kid@0")
	})
}

// TestTemplateOfAnotherPriority: it is shown with what its next occurrences will have.
func TestTemplateOfAnotherPriority(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")))
		e.ok(e.Update(e.Context(), job("r", every("1 hour"), lane(2), queue("other"))))
		s := e.status("r")
		e.same("priority", int32(2), int32(s.Priority))
		e.same("queue", "other", s.Queue)
	})
}

// TestTemplateChangedTwice: a call that changes a template twice leaves what it said last.
func TestTemplateChangedTwice(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")), job("x", every("1 hour")), job("h", downstream, after(0, "r")))
		change := func(j *wire.Job) conveyor.Change { return conveyor.Change{Kind: conveyor.ChangeUpdate, Job: j} }
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
			change(job("h", downstream, after(0, "x"))), change(job("h", downstream, under("r"))),
			change(job("x", every("1 day"))), change(job("x", every("1 hour"))),
		}}))
		e.want([]string{"", "", "h"}, []string{e.ranked("emits:x:heirs"), e.ranked("emits:r:heirs"), e.ranked("emits:r:children")})
		e.tickAt(firstHour)
		e.starts("r@0 x@0")
		e.starts("h@0")
	})
}

// TestTemplateCalledAsAPlace: the place of a template is not taken for the name of another.
func TestTemplateCalledAsAPlace(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")), job("x", every("1 hour")), job("h", downstream, after(0, "r")))
		place := e.score("emits:r:heirs", "h")
		e.add(job(place, downstream, after(0, "r")))
		e.ok(e.Update(e.Context(), job("h", downstream, after(0, "x"))))
		e.want(place, e.ranked("emits:r:heirs"))
	})
}

// TestTemplateDisabled: it has no next tick, and what was asked of it by hand still waits.
func TestTemplateDisabled(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour"), overlap(wire.Schedule_SKIP)))
		e.tickAt(firstHour)
		_, err := e.Backfill(e.Context(), "r", time.UnixMilli(firstHour-hour), time.UnixMilli(firstHour-hour), false)
		e.ok(err)
		e.ok(e.Update(e.Context(), job("r", scheduled(&wire.Schedule{Every: "1 hour", Disabled: true, Overlap: wire.Schedule_SKIP}))))
		e.want(map[string]string{}, e.scores("ticks"))
		e.want("", e.hash("template:r")["next"])
		e.starts("r@0")
		e.tick()
		e.starts("r@-1")
	})
}

// TestEmittedToNobody: a list of whom a template emits to, or of whom a label is waited for by, that names who is no template is
// worked off past it.
func TestEmittedToNobody(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("children", func(e *engine) {
			e.add(job("kid", downstream, under("r")), job("r", every("1 hour")), job("plain", queue("other")))
			e.rank("emits:r:children", "never", 0)
			e.rank("emits:r:children", "plain", 0)
			e.tickAt(firstHour)
			e.starts("r@0")
			e.starts("kid@0")
			e.want("0 completed 0/2", e.histories("r"))
		})
		e.wreck("gates", func(e *engine) {
			e.add(job("g", gated("l")), job("plain", queue("other")), job("r", every("1 hour")))
			e.rank("gate:l", "never", 0)
			e.rank("gate:l", "plain", 0)
			e.set("template:never:gate", "l", "0")
			e.set("template:plain:gate", "l", "0")
			e.set("template:r:gate", "k", "0") // not what it is listed for
			e.rank("gate:l", "r", 0)
			e.ends("t", conveyor.VerdictDone, "l")
			e.reserves(opened("g", e.now))
			e.want("0", e.rdb.HGet(e.Context(), e.key("template:plain:gate"), "l").Val())
		})
	})
}

// TestOrphansOfACycle: an occurrence that waits for a job nobody has seen is an orphan, one that waits for what its cycle will
// have is none.
func TestOrphansOfACycle(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("last", downstream, after(0, "kid", "slow")), job("kid", downstream, under("r"), after(0, "never")), job("slow", downstream, after(0, "kid2")),
			job("kid2", downstream, under("r")), job("other", downstream, under("r"), after(0, "slow")), job("r", every("1 hour")))
		e.tickAt(firstHour)
		e.starts("r@0")
		e.pass(2 * time.Hour)
		found, err := e.Orphans(e.Context(), time.Hour)
		e.ok(err)
		var got []string
		for _, o := range found {
			got = append(got, o.UUID)
		}
		e.want([]string{occ("kid", "r", firstHour)}, got)
		e.add(job("never"))
		for range 5 {
			for _, r := range e.reserve(10) {
				e.end(r, conveyor.VerdictDone)
			}
		}
		found, err = e.Orphans(e.Context(), 0)
		e.ok(err)
		e.same("orphans", 0, len(found))
	})
}

// TestUnrefOfAnOccurrence: a live occurrence is not taken out of its cycle as one that does not belong there.
func TestUnrefOfAnOccurrence(t *testing.T) {
	onBoth(t, func(e *engine) {
		cycles(e)
		tick := fmt.Sprint(firstHour)
		root := occ("r", "r", firstHour)
		e.leaves("unref", root, "cycle:r:"+tick, "set")
		e.ok(e.rdb.SAdd(e.Context(), e.key("cycle:paused:"+tick), root).Err())
		e.mendsOnce("unref", root, "cycle:paused:"+tick, "set")
		e.starts("r@0")
		e.starts("kid@0")
		e.starts("heir@0")
	})
}

// TestCancelOfADelivery: what went to one worker leaves nothing when it is cancelled before that took it.
func TestCancelOfADelivery(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.beat("a")
		e.add(job("news", toAll, func(j *wire.Job) { j.Payload = make([]byte, 20<<10) }))
		u := delivered("news", "a")
		e.states(u + " queued")
		e.same("bytes", int64(1), e.rdb.Exists(e.Context(), e.key("jobs:"+u)).Val())
		e.ok(e.Cancel(e.Context(), u))
		e.same("bytes", int64(0), e.rdb.Exists(e.Context(), e.key("jobs:"+u)).Val())
	})
}

// TestBacklogAfterAChange: a schedule that changes keeps the ticks that were asked for, and one that is made a gate's or paused too.
func TestBacklogAfterAChange(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("s", every("1 hour"), overlap(wire.Schedule_SKIP)))
		e.tickAt(firstHour)
		_, err := e.Backfill(e.Context(), "s", time.UnixMilli(firstHour-2*hour), time.UnixMilli(firstHour-hour), false)
		e.ok(err)
		e.ok(e.Update(e.Context(), job("s", every("2 hours"), overlap(wire.Schedule_SKIP))))
		e.want(strconv.FormatInt(firstHour-2*hour, 10)+" "+strconv.FormatInt(firstHour-hour, 10), e.ranked("backlog:s"))
		for _, want := range []string{"s@0", "s@-2", "s@-1"} {
			e.starts(want)
			e.tick()
		}
	})
}

// TestBacklog: ticks that were asked for and wait can be seen and given up, and whoever ends a cycle is told to come again for the
// next of them at once.
func TestBacklog(t *testing.T) {
	onBoth(t, func(e *engine) {
		at := func(i int) time.Time { return time.UnixMilli(firstHour + int64(i)*hour).UTC() }
		waiting := func(want ...time.Time) {
			e.Helper()
			got, err := e.Backlog(e.Context(), "s")
			e.ok(err)
			e.same("backlog", append([]time.Time{}, want...), got)
			e.same("number", len(want), e.template1("s").Backlog)
		}
		e.add(job("s", every("1 hour"), overlap(wire.Schedule_SKIP)), job("g", gated("l")), job("j", queue("other")))
		e.tickAt(firstHour)
		_, err := e.Backfill(e.Context(), "s", at(-3), at(-1), false)
		e.ok(err)
		waiting(at(-3), at(-2), at(-1))

		r := e.take(occ("s", "s", firstHour))
		reply := e.exchange(1, conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence, Verdict: conveyor.VerdictDone})
		e.same("more", true, reply.More)
		e.starts("s@-3")
		waiting(at(-2), at(-1))

		n, err := e.CancelBackfill(e.Context(), "s")
		e.ok(err)
		e.same("given up", 2, n)
		waiting()
		n, err = e.CancelBackfill(e.Context(), "s")
		e.ok(err)
		e.same("given up again", 0, n)
		e.tick()
		e.starts("")
		_, err = e.Backfill(e.Context(), "s", at(-2), at(-2), false)
		e.ok(err)
		e.starts("s@-2")
		for uuid, want := range map[string]error{"j": conveyor.ErrNotTemplate, "nobody": conveyor.ErrNotFound, "a b": conveyor.ErrUUID} {
			_, err := e.CancelBackfill(e.Context(), uuid)
			e.refused(err, want)
		}
		_, err = e.Backlog(e.Context(), "a b")
		e.refused(err, conveyor.ErrUUID)
		e.ok(e.Cancel(e.Context(), "g"))
	})
}

// TestBacklogAfterATick: whoever ticks is told so too, when what ends a cycle is that its job has waited too long.
func TestBacklogAfterATick(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("s", every("1 hour"), overlap(wire.Schedule_SKIP), waitsFor(time.Minute)))
		e.tickAt(firstHour)
		asked := time.UnixMilli(firstHour - hour)
		_, err := e.Backfill(e.Context(), "s", asked, asked, false)
		e.ok(err)
		e.pass(time.Minute)
		e.same("more", true, e.tick().More)
		e.same("more behind it", false, e.tick().More)
		e.starts("s@-1")
	})
}
