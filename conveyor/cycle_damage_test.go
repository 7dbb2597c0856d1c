package conveyor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestDamagedTemplateKeys: a key that cannot be worked with delays those who need it and nobody else, and nothing is refused for it.
func TestDamagedTemplateKeys(t *testing.T) {
	for _, row := range []struct {
		key    string
		starts string // when both roots are due
		after  string // when the first has run
	}{
		{"template:r", "other@0", ""},
		{"template:a", "other@0 r@0", "b@0"},
		{"emits:r:children", "other@0 r@0", ""},
		{"cycles:r", "other@0 r@0", "a@0 b@0"},
		{"history:r", "other@0 r@0", "a@0 b@0"},
		{"cycle:r:" + fmt.Sprint(firstHour), "other@0 r@0", "a@0 b@0"},
		{"template:a:live", "other@0 r@0", "a@0 b@0"},
		{"backlog:r", "other@0 r@0", "a@0 b@0"},
		{"labels", "other@0 r@0", "a@0 b@0"},
		{"jobs:" + occ("a", "r", firstHour) + ":onComplete", "other@0 r@0", "a@0 b@0"},
		{"jobs:" + occ("a", "r", firstHour) + ":active", "other@0 r@0", "a@0 b@0"},
	} {
		t.Run(row.key, func(t *testing.T) {
			onBoth(t, func(shared *engine) {
				e := newEngine(shared.tb, shared.rdb) // it stays as damaged as it is
				e.add(job("c", downstream, after(0, "a")), job("a", downstream, under("r")), job("b", downstream, under("r")), job("other", every("1 hour")), job("r", every("1 hour")))
				e.tickAt(start)
				e.wrong(row.key)
				e.at(firstHour)
				for range 3 {
					e.tick()
				}
				got := e.reserve(100)
				e.want(row.starts, e.named(names(got)))
				for _, r := range got {
					e.end(r, conveyor.VerdictDone)
				}
				for range 3 {
					e.tick()
				}
				e.want(row.after, e.named(names(e.reserve(100))))
			})
		})
	}
}

// TestDamagedTicks: without the list of schedules a tick does all the rest.
func TestDamagedTicks(t *testing.T) {
	onBoth(t, func(shared *engine) {
		e := newEngine(shared.tb, shared.rdb)
		e.add(job("r", every("1 hour")), job("j", runAt(firstHour)))
		e.tickAt(start)
		e.wrong("ticks")
		e.at(firstHour)
		e.want([]string{e.key("ticks")}, e.tick().Damaged)
		e.take("j")
	})
}

// TestOccurrenceWithoutItsKey: the unique key of a template is its occurrences', and one that finds it held fails and can be retried.
func TestOccurrenceWithoutItsKey(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a", downstream, after(0, "r"), unique("k")), job("r", every("1 hour"), unique("k2")))
		e.tickAt(firstHour)
		e.starts("r@0")
		e.tickAt(firstHour + hour)
		e.starts("a@0 r@1")
		e.starts("a@1")
		e.tickAt(firstHour + 2*hour)
		e.tickAt(firstHour + 3*hour)
		r3 := occ("r", "r", firstHour+3*hour)
		e.states(occ("r", "r", firstHour+2*hour) + " queued, " + r3 + " failed")
		e.starts("r@2")
		a2, a3 := occ("a", "r", firstHour+2*hour), occ("a", "r", firstHour+3*hour)
		e.states(a2 + " queued, " + a3 + " skipped")
		e.ok(e.Retry(e.Context(), r3))
		e.starts("a@2 r@3")
		e.want("3 completed 0/2, 2 completed 0/2, 1 completed 0/2, 0 completed 0/2", e.histories("r"))
	})
}

// TestRetryOfAnOccurrenceNeverStarted: it waits for the occurrences of its own cycle again.
func TestRetryOfAnOccurrenceNeverStarted(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a", downstream, after(0, "r"), unique("k")), job("r", every("1 hour")), job("holder", unique("k"), queue("other")))
		e.tickAt(firstHour)
		e.starts("r@0")
		a := occ("a", "r", firstHour)
		e.states(a + " failed")
		e.ok(e.Cancel(e.Context(), "holder"))
		e.ok(e.Retry(e.Context(), a))
		e.starts("a@0")
	})
}

// TestDamagedTemplate: of what cannot be read of a template nothing follows for the cycles that live.
func TestDamagedTemplate(t *testing.T) {
	for _, row := range []struct {
		name   string
		damage func(e *engine) error
		named  []string // what the tick names
		states string
	}{
		{"what becomes of overlapping cycles is lost", func(e *engine) error {
			return e.rdb.HDel(e.Context(), e.key("template:r"), "overlap").Err()
		}, []string{}, occ("r", "r", firstHour) + " queued, " + occ("r", "r", firstHour+hour) + " queued"},
		{"its entry is junk", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "r", "junk").Err()
		}, []string{"status r"}, occ("r", "r", firstHour) + " queued, " + occ("r", "r", firstHour+hour) + " unknown"},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(shared *engine) {
				e := newEngine(shared.tb, shared.rdb)
				e.add(job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
				e.tickAt(firstHour)
				e.ok(row.damage(e))
				e.at(firstHour + hour)
				named := []string{}
				for _, key := range row.named {
					named = append(named, e.key(key))
				}
				e.want(named, append([]string{}, e.tick().Damaged...))
				e.states(row.states)
				e.same("ticks", int64(1), e.rdb.ZCard(e.Context(), e.key("ticks")).Val())
			})
		})
	}
}

// TestDamagedCycleOfAnEntry: an entry that says of its cycle, or of its executions, what nobody can read is met as any that cannot be
// read: it is named, and nothing else is changed by it.
func TestDamagedCycleOfAnEntry(t *testing.T) {
	for _, row := range []struct{ name, tag, junk string }{
		{"no tick", "C", "x:r"}, {"nothing", "C", ""}, {"no template", "C", "7:"}, {"no template, but a root", "C", "7::r"},
		{"no limit", "N", "x"}, {"no executions", "N", "3:"}, {"nothing of executions", "N", ""},
	} {
		t.Run(row.tag+" "+row.name, func(t *testing.T) {
			onBoth(t, func(shared *engine) {
				for _, call := range []struct {
					name string
					do   func(e *engine, held conveyor.Reservation) error
				}{
					{"done", func(e *engine, held conveyor.Reservation) error {
						_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Done: []conveyor.Ack{ack(held, conveyor.VerdictDone)}})
						return err
					}},
					{"failed", func(e *engine, held conveyor.Reservation) error {
						_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Done: []conveyor.Ack{ack(held, conveyor.VerdictRetry)}})
						return err
					}},
					{"its worker is dead", func(e *engine, _ conveyor.Reservation) error {
						e.pass(time.Minute)
						_, err := e.Tick(e.Context())
						return err
					}},
					{"its template goes", func(e *engine, _ conveyor.Reservation) error { return e.Cancel(e.Context(), "r") }},
				} {
					e := newEngine(shared.tb, shared.rdb)
					e.add(job("h", downstream, after(0, "r")), job("r", every("hour")), job("m", maxCycles(3)))
					e.tickAt(firstHour)
					held := e.take("m")
					if row.tag == "C" {
						held = e.take(occ("r", "r", firstHour))
					}
					entry := e.hash("status")[held.Job.Uuid]
					var parts []string
					for _, part := range strings.Split(entry, "|") {
						if !strings.HasPrefix(part, row.tag) {
							parts = append(parts, part)
						}
					}
					entry = strings.Join(append(parts, row.tag+row.junk), "|")
					e.ok(e.rdb.HSet(e.Context(), e.key("status"), held.Job.Uuid, entry).Err())
					e.ok(call.do(e, held))
					e.same(call.name, entry, e.hash("status")[held.Job.Uuid])
				}
			})
		})
	}
}

// TestBacklogOfNoRoot: the ticks asked for of a schedule go with it when its template comes to stand downstream of another.
func TestBacklogOfNoRoot(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")), job("x", every("1 hour"), overlap(wire.Schedule_SKIP)))
		e.at(firstHour + 3*hour)
		_, err := e.Backfill(e.Context(), "x", time.UnixMilli(firstHour), time.UnixMilli(firstHour+2*hour), false)
		e.ok(err)
		e.ok(e.Update(e.Context(), job("x", downstream, after(0, "r"))))
		e.same("backlog", int64(0), e.rdb.Exists(e.Context(), e.key("backlog:x")).Val())
	})
}
