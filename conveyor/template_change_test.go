package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// kept are the keys of templates and cycles that exist, without the namespace.
func (e *engine) kept() string {
	e.Helper()
	var out []string
	for _, name := range e.scan() {
		kind, _, _ := strings.Cut(name, ":")
		if slices.Contains([]string{"template", "ticks", "emits", "cycles", "cycle", "history", "backlog", "kind", "sync"}, kind) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// three is a root with a child and an heir of that.
func three(change ...func(*wire.Job)) []*wire.Job {
	return []*wire.Job{job("b", downstream, after(0, "a")), job("a", downstream, under("r")), job("r", append([]func(*wire.Job){every("1 hour")}, change...)...)}
}

func TestTemplateIsCancelled(t *testing.T) {
	onBoth(t, func(e *engine) {
		r0, a0, b0, r1 := occ("r", "r", firstHour), occ("a", "r", firstHour), occ("b", "r", firstHour), occ("r", "r", firstHour+hour)
		e.add(three(labelled("x=y"), carrying("k", "v"))...)
		e.tickAt(firstHour)
		e.starts("r@0")
		running := e.take(a0)
		e.at(firstHour + hour)
		e.beat("w", conveyor.Holding{UUID: a0, Fence: running.Fence})
		e.tickAt(firstHour + hour)
		e.states(r0 + " closing, " + a0 + " running, " + r1 + " queued, " + b0 + " unknown")
		e.ok(e.Cancel(e.Context(), "r"))
		e.states("r cancelled, " + a0 + " running, " + r1 + " cancelled")
		e.want("cycle:r:"+fmt.Sprint(firstHour)+" cycles:r emits:a:heirs emits:r:children sync template:a template:a:live template:b", e.kept())
		e.ok(e.Cancel(e.Context(), "b"))
		e.ok(e.Cancel(e.Context(), "a"))
		e.end(running, conveyor.VerdictDone)
		e.states(r0 + " completed, " + a0 + " completed, " + b0 + " unknown")
		e.tickAt(firstHour + 2*hour)
		e.nothing()
		e.want("sync", e.kept())
		e.pass(conveyor.Retention + time.Hour)
		for range 3 {
			e.tick()
		}
		e.want("", e.kept())
		e.states("r unknown, a unknown, " + r0 + " unknown, " + r1 + " unknown")
	})
}

func TestTemplateOfWhichTheRecordGoes(t *testing.T) {
	onBoth(t, func(e *engine) {
		attach := func(version int64, value string) *conveyor.Attach {
			a := &conveyor.Attach{Key: "state:w", Field: "r", Version: version}
			if value != "" {
				a.Value = []byte(value)
			}
			return a
		}
		apply := func(c conveyor.Change) {
			e.Helper()
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{c}}))
		}
		apply(conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("r", every("1 hour")), Attach: attach(0, "1 x")})
		e.want(true, e.status("r").Recorded)
		apply(conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("r2", every("1 hour")), Replaces: "r", Attach: attach(1, "2 x")})
		e.states("r cancelled, r2 template")
		apply(conveyor.Change{Kind: conveyor.ChangeForget, UUID: "r2", Attach: attach(2, "")})
		e.states("r2 template")
		e.want(false, e.status("r2").Recorded)
		apply(conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("r2", every("1 hour")), Attach: attach(0, "1 x")})
		e.want(true, e.status("r2").Recorded)
		apply(conveyor.Change{Kind: conveyor.ChangeRelease, UUID: "r2", Attach: attach(1, "")})
		e.states("r2 cancelled")
		e.want("", e.kept())
	})
}

func TestTemplateIsUpdated(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(three()...)
		e.tickAt(firstHour)
		e.starts("r@0")
		next := func() string { return e.hash("template:r")["next"] }

		e.ok(e.Update(e.Context(), job("a", downstream, under("r"), func(j *wire.Job) { j.Payload = []byte("new") })))
		e.ok(e.Update(e.Context(), job("r", every("1 hour"), func(j *wire.Job) { j.Payload = []byte("new") })))
		e.want(fmt.Sprint(firstHour+hour), next())
		e.want("", string(e.take(occ("a", "r", firstHour)).Job.Payload))

		e.at(firstHour + 30*minute)
		e.ok(e.Update(e.Context(), job("r", every("20 minutes"))))
		e.want("", next())
		e.tickAt(firstHour + 30*minute)
		e.want(fmt.Sprint(firstHour+40*minute), next())

		e.ok(e.Update(e.Context(), job("r", scheduled(&wire.Schedule{Every: "20 minutes", Disabled: true}))))
		e.want(map[string]string{}, e.scores("ticks"))
		e.tickAt(firstHour + 50*minute)
		e.ok(e.Update(e.Context(), job("r", every("20 minutes"))))
		e.tickAt(firstHour + 50*minute)
		e.want(fmt.Sprint(firstHour+hour), next())
		e.want("", e.histories("r"))

		e.ok(e.Update(e.Context(), job("b", downstream, under("r"))))
		e.want("b a", e.ranked("emits:r:children"))
		e.want("", e.ranked("emits:a:heirs"))
		e.ok(e.Update(e.Context(), job("b", downstream, after(0, "a"), queue("other"))))
		e.want("a", e.ranked("emits:r:children"))
		e.want("other", e.status("b").Queue)
		before := dump(e)
		e.ok(e.Update(e.Context(), job("b", downstream, after(0, "a"), queue("other"))))
		e.want(before, dump(e))
	})
}

func TestMaxCyclesOfATemplate(t *testing.T) {
	onBoth(t, func(e *engine) {
		limit := func(n int32) func(*wire.Job) { return func(j *wire.Job) { j.MaxCycles = n } }
		held := func() bool {
			found, err := e.Templates(e.Context(), []string{"r"})
			e.ok(err)
			return found[0].OnHold
		}
		e.add(job("r", scheduled(&wire.Schedule{Every: "1 hour", Catchup: wire.Schedule_ALL}), limit(2)))
		e.tickAt(start)
		e.tickAt(firstHour + 5*hour)
		e.starts("r@0 r@1")
		e.want(true, held())
		e.states("r template")
		e.want(map[string]string{}, e.scores("ticks"))
		e.want("", e.hash("template:r")["next"])
		e.tickAt(firstHour + 6*hour)
		e.nothing()
		e.ok(e.ResetCycles(e.Context(), "r"))
		e.want(false, held())
		e.tickAt(firstHour + 7*hour)
		e.starts("r@7")
		e.tickAt(firstHour + 8*hour)
		e.starts("r@8")
		e.want(true, held())
		e.ok(e.Update(e.Context(), job("r", scheduled(&wire.Schedule{Every: "1 hour"}), limit(3))))
		e.tickAt(firstHour + 9*hour)
		e.starts("r@9")
		e.tickAt(firstHour + 10*hour)
		e.nothing()
	})
}

// TestTicksFollowTheZone: the next tick that is stored is that of the schedule's clock, over both changes of it.
func TestTicksFollowTheZone(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.at(time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC).UnixMilli())
		e.add(job("gap", scheduled(&wire.Schedule{Cron: "30 2 * * *", Timezone: "Europe/Berlin"})), job("noon", scheduled(&wire.Schedule{Cron: "0 12 * * *", Timezone: "Europe/Berlin"})))
		for _, row := range []struct{ day, gap, noon string }{
			{"2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z", "2027-03-28T10:00:00Z"}, // the clock goes from 2:00 to 3:00
			{"2027-03-28T12:00:00Z", "2027-03-29T00:30:00Z", "2027-03-29T10:00:00Z"},
			{"2027-10-30T12:00:00Z", "2027-10-31T00:30:00Z", "2027-10-31T11:00:00Z"}, // the clock shows 2:30 twice
			{"2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z", "2027-10-31T11:00:00Z"},
		} {
			day, err := time.Parse(time.RFC3339, row.day)
			e.ok(err)
			e.tickAt(day.UnixMilli())
			got, err := e.Templates(e.Context(), []string{"gap", "noon"})
			e.ok(err)
			e.want([]string{row.gap, row.noon}, []string{got[0].Next.Format(time.RFC3339), got[1].Next.Format(time.RFC3339)})
			e.reserve(100)
		}
	})
}
