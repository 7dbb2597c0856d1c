package conveyor_test

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// templateScenarios use every operation of schedules and gates, and what goes with them: deliveries, roots, sync, cycles.
var templateScenarios = []scenario{
	{"schedule", (*faulty).schedule},
	{"by hand", (*faulty).byHand},
	{"overlap", (*faulty).overlaps},
	{"gates", (*faulty).gates},
	{"deliveries", (*faulty).deliveries},
	{"roots", (*faulty).dropped},
	{"sync", (*faulty).carried},
	{"cycles", (*faulty).counted},
}

func (f *faulty) tick() {
	f.Helper()
	// The answer is about what this very call did, which the repetition of a lost one cannot know.
	f.do("tick", func() error { _, err := f.c.Tick(f.Context()); return err })
}

// shows notes templates and what has become of their cycles, without the proxy.
func (f *faulty) shows(uuids ...string) {
	f.Helper()
	templates, err := f.Templates(f.Context(), uuids)
	f.ok(err)
	for _, t := range templates {
		f.answers = append(f.answers, fmt.Sprintf("%+v", t))
		if t.Root != t.UUID {
			continue
		}
		history, err := f.History(f.Context(), t.UUID, 0)
		f.ok(err)
		f.answers = append(f.answers, fmt.Sprintf("%+v", history))
	}
}

// ofCycle is a whole graph below a schedule: a child, and an heir of both.
func ofCycle(changes ...func(*wire.Job)) []*wire.Job {
	return []*wire.Job{job("th", downstream, after(0, "tr", "tc")), job("tc", downstream, under("tr")),
		job("tr", append([]func(*wire.Job){every("hour")}, changes...)...)}
}

// schedule has ticks come, also late, and the templates change and go while a cycle is under way.
func (f *faulty) schedule() {
	ctx := f.Context()
	f.do("add", func() error { return f.c.AddMany(ctx, ofCycle()) })
	f.tick()
	f.pass(time.Hour)
	f.tick()
	f.finish()
	f.pass(3 * time.Hour)
	f.tick()
	f.do("change a schedule", func() error { return f.c.Update(ctx, job("tr", every("2 hours"), catchup(wire.Schedule_ALL))) })
	f.do("change what is below", func() error { return f.c.Update(ctx, job("tc", downstream, under("tr"), lane(2))) })
	f.shows("tr", "tc", "th")
	f.tick()
	f.pass(4 * time.Hour)
	f.tick()
	r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 1})
	for _, uuid := range []string{"th", "tc", "tr"} {
		f.do("delete", func() error { return f.c.Cancel(ctx, uuid) })
	}
	for _, r := range r {
		f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{ack(r, conveyor.VerdictDone)}})
	}
	f.see("tr", "tc", "th")
}

// byHand runs and changes templates, one after the other and all in one cycle.
func (f *faulty) byHand() {
	ctx := f.Context()
	f.do("add", func() error { return f.c.AddMany(ctx, ofCycle(maxCycles(3))) })
	for range 2 { // the clock stands still
		f.ask("run", func() (any, error) { return f.c.RunTemplate(ctx, "tr") })
	}
	f.do("pause", func() error { return f.c.PauseTemplate(ctx, "tr") })
	f.do("change", func() error {
		return f.c.Update(ctx, job("tr", every("hour"), maxCycles(2), overlap(wire.Schedule_SKIP)))
	})
	f.do("resume", func() error { return f.c.ResumeTemplate(ctx, "tr") })
	f.do("reset", func() error { return f.c.ResetCycles(ctx, "tr") })
	f.ask("backfill", func() (any, error) {
		now := time.UnixMilli(f.now)
		return f.c.Backfill(ctx, "tr", now.Add(-2*time.Hour), now, false)
	})
	f.finish()
	f.tick()
	f.finish()
	f.shows("tr")
	f.do("delete", func() error { return f.c.Cancel(ctx, "tr") })
	f.see("tr", "th", "tc")
}

// overlaps has a cycle be replaced and another be skipped while a part of them runs.
func (f *faulty) overlaps() {
	ctx := f.Context()
	f.do("add", func() error {
		return f.c.AddMany(ctx, append(ofCycle(overlap(wire.Schedule_REPLACE)), job("ts", every("hour"), overlap(wire.Schedule_SKIP), lane(0))))
	})
	f.tick()
	f.pass(time.Hour)
	f.tick()
	r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 2})
	f.pass(time.Hour)
	f.tick()
	f.ask("beat", func() (any, error) {
		var running []conveyor.Holding
		for _, root := range []string{"tr", "ts"} {
			u := conveyor.OccurrenceUUID(root, root, time.UnixMilli(f.now-time.Hour.Milliseconds()))
			running = append(running, conveyor.Holding{UUID: u, Fence: r[u].Fence})
		}
		return f.c.Beat(ctx, conveyor.WorkerInfo{ID: "w", Host: "host", Queues: []string{"q"}, Capacity: 20, Running: running})
	})
	var done []conveyor.Ack
	for _, r := range r {
		done = append(done, ack(r, conveyor.VerdictRetry))
	}
	sortAcks(done)
	f.give(conveyor.ExchangeRequest{Worker: "w", Done: done})
	f.tick()
	f.finish()
	f.shows("tr", "ts")
}

// gates are opened by several triggers, which share what they carry, and wait again.
func (f *faulty) gates() {
	ctx := f.Context()
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{
			job("below", downstream, after(0, "g")), job("g", gated("a", "b"), synced(map[string]string{"at": "0", "own": "1"})), job("g2", gated("a")),
			job("bad", triggers("a", "b")), job("t1", triggers("a"), synced(map[string]string{"at": "5", "other": "7"})), job("t2", triggers("b")),
		})
	})
	r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 3})
	f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{ack(r["bad"], conveyor.VerdictFailed)}})
	f.shows("g", "g2")
	f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{leaves(r["t1"], conveyor.VerdictDone, map[string]string{"at": "6"})}})
	f.shows("g", "g2")
	f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{ack(r["t2"], conveyor.VerdictDone)}})
	f.finish()
	f.shows("g", "g2", "below")
	f.do("retry a trigger", func() error { return f.c.Retry(ctx, "bad") })
	f.finish()
	f.do("wait for others", func() error { return f.c.Update(ctx, job("g2", gated("a", "c"))) })
	f.ask("run", func() (any, error) { return f.c.RunTemplate(ctx, "g2") })
	f.finish()
	f.do("delete", func() error { return f.c.Cancel(ctx, "g") })
	f.shows("g2")
	f.see("g", "below")
}

// deliveries go to all workers and to one, and some of them in vain.
func (f *faulty) deliveries() {
	ctx := f.Context()
	for _, id := range []string{"a", "b"} {
		f.ask("beat", func() (any, error) {
			return f.c.Beat(ctx, conveyor.WorkerInfo{ID: id, Host: "host", Queues: []string{"q"}, Capacity: 20})
		})
	}
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{job("news", toAll, waitsFor(time.Minute)), job("one", toWorker("b")), job("none", toWorker("gone"), waitsFor(time.Minute))})
	})
	f.see("news", "one", "none", delivered("news", "a"), delivered("news", "b"))
	var done []conveyor.Ack
	for _, r := range f.give(conveyor.ExchangeRequest{Worker: "a", Want: 5}) {
		done = append(done, ack(r, conveyor.VerdictFailed))
	}
	f.give(conveyor.ExchangeRequest{Worker: "a", Done: done})
	f.pass(time.Minute)
	f.tick()
	for _, r := range f.give(conveyor.ExchangeRequest{Worker: "b", Want: 5}) {
		f.give(conveyor.ExchangeRequest{Worker: "b", Done: []conveyor.Ack{ack(r, conveyor.VerdictDone)}})
	}
	f.do("leave", func() error { return f.c.Leave(ctx, "a") })
	f.see("news", "one", "none", delivered("news", "a"), delivered("news", "b"))
	f.pass(conveyor.Retention)
	f.tick()
}

// dropped are jobs that a root makes obsolete: when they are added, released and reserved.
func (f *faulty) dropped() {
	ctx := f.Context()
	gone := dropIf("tenant=acme")
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{job("g", gated("a", "b", "c")), job("up", lane(0)), job("held", under("up"), gone, triggers("a")),
			job("ready", gone, triggers("b")), job("timed", gone, runAt(f.now+500)), job("heir", after(0, "ready"))})
	})
	f.do("add a root", func() error { return f.c.Add(ctx, job("root", labelled("tenant=acme"), runAt(f.now+1e9))) })
	f.do("add below it", func() error { return f.c.Add(ctx, job("late", gone, triggers("c"))) })
	r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 1})
	f.pass(time.Second)
	f.tick()
	f.see("held", "ready", "timed", "late", "heir")
	for _, r := range r {
		f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{ack(r, conveyor.VerdictDone)}})
	}
	f.finish()
	f.do("cancel the root", func() error { return f.c.Cancel(ctx, "root") })
	f.do("add again", func() error { return f.c.Add(ctx, job("stays", gone)) })
	f.finish()
	f.see("up", "held", "ready", "timed", "late", "heir", "stays")
	f.shows("g")
}

// carried is what executions leave for the next: pages, and occurrences.
func (f *faulty) carried() {
	ctx := f.Context()
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{job("pages", synced(state("0"))), job("tr", every("hour"), synced(state("a")))})
	})
	f.ask("run", func() (any, error) { return f.c.RunTemplate(ctx, "tr") })
	occurrence := conveyor.OccurrenceUUID("tr", "tr", time.UnixMilli(f.now))
	for _, row := range []struct {
		verdict    conveyor.Verdict
		page, next map[string]string
		delay      time.Duration
	}{
		{conveyor.VerdictDefer, state("1"), state("b"), 0},
		{conveyor.VerdictRetry, state("lost"), state("lost"), time.Second},
		{conveyor.VerdictDefer, state("2"), nil, time.Second},
		{conveyor.VerdictDone, state("3"), state("c"), 0},
	} {
		r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 2})
		page, next := leaves(r["pages"], row.verdict, row.page), leaves(r[occurrence], row.verdict, row.next)
		page.Delay, next.Delay = row.delay, row.delay
		f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{page, next}})
		f.pass(time.Second)
	}
	f.ask("run", func() (any, error) { return f.c.RunTemplate(ctx, "tr") })
	f.finish()
	f.see("pages", "tr", occurrence)
	f.shows("tr")
}

// counted are jobs and templates that are executed so many times.
func (f *faulty) counted() {
	ctx := f.Context()
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{job("twice", maxCycles(2)), job("tr", every("hour"), maxCycles(1))})
	})
	f.tick()
	f.pass(time.Hour)
	f.tick()
	for range 2 {
		r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 2})
		done := []conveyor.Ack{ack(r["twice"], conveyor.VerdictDefer)}
		delete(r, "twice")
		for _, r := range r {
			done = append(done, ack(r, conveyor.VerdictDone))
		}
		f.give(conveyor.ExchangeRequest{Worker: "w", Done: done})
	}
	f.see("twice", "tr")
	f.do("release", func() error { return f.c.Release(ctx, "twice") })
	f.do("reset", func() error { return f.c.ResetCycles(ctx, "tr") })
	f.tick()
	f.pass(time.Hour)
	f.tick()
	f.finish()
	f.see("twice", "tr")
	f.shows("tr")
}
