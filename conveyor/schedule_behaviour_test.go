package conveyor_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// catchup and overlap are the policies of a schedule.
func catchup(c wire.Schedule_Catchup) func(*wire.Job) {
	return func(j *wire.Job) { j.Schedule.Catchup = c }
}

func overlap(o wire.Schedule_Overlap) func(*wire.Job) {
	return func(j *wire.Job) { j.Schedule.Overlap = o }
}

// from moves the clock to so long after its start, while the worker lives, and ticks until nothing is left to do.
func (e *engine) from(d time.Duration) {
	e.Helper()
	e.at(start + d.Milliseconds())
	e.beat("w")
	e.ticks()
}

func (e *engine) ticks() {
	e.Helper()
	for range 1000 {
		if !e.tick().More {
			return
		}
	}
	e.Fatal("ticks never end")
}

// occurrence names what was reserved by its template and how long after the start of the clock its tick is: "r+1h0m0s".
func occurrence(j *wire.Job) string {
	tick, err := strconv.ParseInt(j.Tick, 10, 64)
	if err != nil || j.TemplateUuid == "" {
		return j.Uuid
	}
	return fmt.Sprintf("%s+%s", j.TemplateUuid, time.Duration(tick-start)*time.Millisecond)
}

// emits wants these occurrences to be ready, in this order, and ends them.
func (e *engine) emits(want ...string) {
	e.Helper()
	for _, r := range e.emitted(want...) {
		e.end(r, conveyor.VerdictDone)
	}
}

// emitted wants these occurrences to be ready, in this order, and leaves them running.
func (e *engine) emitted(want ...string) []conveyor.Reservation {
	e.Helper()
	rs := e.reserve(100)
	var got []string
	for _, r := range rs {
		got = append(got, occurrence(r.Job))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Fatalf("occurrences (-want +got):\n%s", diff)
	}
	return rs
}

// template1 reads one template.
func (e *engine) template1(uuid string) conveyor.Template {
	e.Helper()
	got, err := e.Templates(e.Context(), []string{uuid})
	e.ok(err)
	return got[0]
}

// outcomes are the lines of a root's history, newest first: "completed+1h0m0s", and "missed+2h0m0s*3" for three of them.
func (e *engine) outcomes(root string) []string {
	e.Helper()
	cycles, err := e.History(e.Context(), root, 0)
	e.ok(err)
	var out []string
	for _, c := range cycles {
		text := fmt.Sprintf("%s+%s", c.Outcome, c.Tick.Sub(time.UnixMilli(start)))
		if c.Missed > 1 {
			text += fmt.Sprintf("*%d", c.Missed)
		}
		out = append(out, text)
	}
	return out
}

func (e *engine) history(root string, want ...string) {
	e.Helper()
	if diff := cmp.Diff(want, e.outcomes(root)); diff != "" {
		e.Errorf("history of %s (-want +got):\n%s", root, diff)
	}
}

func TestScheduleTicks(t *testing.T) {
	const hour = time.Hour
	onBoth(t, func(e *engine) {
		e.Behaviour("C1a each interval fires at its ticks, in UTC, and any number of them", func(e *engine) {
			for _, row := range []struct {
				every string
				next  string
			}{ // the clock stands at Friday, 2027-01-15T08:00:00Z
				{"minute", "2027-01-15T08:01:00Z"}, {"hour", "2027-01-15T09:00:00Z"}, {"day", "2027-01-16T00:00:00Z"},
				{"15 minutes", "2027-01-15T08:15:00Z"}, {"6 hours", "2027-01-15T12:00:00Z"}, {"3 days", "2027-01-17T00:00:00Z"},
			} {
				e.add(job("r", every(row.every)))
				e.ticks()
				e.emits()
				if got := e.template1("r").Next.Format(time.RFC3339); got != row.next {
					e.Errorf("every %s: next is %s, want %s", row.every, got, row.next)
				}
				next, err := time.Parse(time.RFC3339, row.next)
				e.ok(err)
				d := next.Sub(time.UnixMilli(start))
				e.from(d)
				e.emits("r+" + d.String())
				e.ok(e.Cancel(e.Context(), "r"))
				e.ok(e.Remove(e.Context(), "r"))
				e.at(start)
			}
		})
		e.Behaviour("C1b weeks begin on Monday, months with their first, and spacing is even", func(e *engine) {
			for _, row := range []struct{ every, first, second string }{
				{"week", "2027-01-18T00:00:00Z", "2027-01-25T00:00:00Z"},
				{"month", "2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z"},
				{"7 hours", "2027-01-15T11:00:00Z", "2027-01-15T18:00:00Z"},
			} {
				e.add(job("r", every(row.every)))
				e.ticks()
				first, err := time.Parse(time.RFC3339, row.first)
				e.ok(err)
				if got := e.template1("r").Next.Format(time.RFC3339); got != row.first {
					e.Errorf("every %s: next is %s, want %s", row.every, got, row.first)
				}
				e.at(first.UnixMilli())
				e.ticks()
				if got := e.template1("r").Next.Format(time.RFC3339); got != row.second {
					e.Errorf("every %s: then it is %s, want %s", row.every, got, row.second)
				}
				e.ok(e.Cancel(e.Context(), "r"))
				e.ok(e.Remove(e.Context(), "r"))
				e.at(start)
			}
		})
		e.Behaviour("C1c the previous and the next tick are visible", func(e *engine) {
			e.add(job("r", every("hour")))
			if got := e.template1("r"); !got.Next.Equal(time.UnixMilli(start).Add(hour)) || len(got.Live) > 0 {
				e.Errorf("before any tick: %+v", got)
			}
			e.from(hour)
			if got := e.template1("r"); !got.Next.Equal(time.UnixMilli(start).Add(2*hour)) || len(got.Live) != 1 ||
				!got.Live[0].Tick.Equal(time.UnixMilli(start).Add(hour)) || got.Live[0].Jobs != 1 {
				e.Errorf("while its first cycle is live: %+v", got)
			}
			e.emits("r+1h0m0s")
			e.history("r", "completed+1h0m0s")
		})
		e.Behaviour("C1d cron lines fire in their time zone", func(e *engine) {
			e.add(job("r", scheduled(&wire.Schedule{Cron: "30 17 * * *", Timezone: "Asia/Tokyo"}))) // half an hour after the clock's start
			e.from(29 * time.Minute)
			e.emits()
			e.from(30 * time.Minute)
			e.emits("r+30m0s")
		})
		e.Behaviour("C2a a tick is never early, and a tick that nobody hears is none", func(e *engine) {
			e.add(job("r", every("hour")))
			e.ticks()
			e.at(start + hour.Milliseconds() - 1)
			e.ticks()
			e.emits()
			reply := e.tick()
			if reply.Cycle != time.Millisecond {
				e.Errorf("the next tick is %s away, want 1ms", reply.Cycle)
			}
			e.from(hour)
			e.emits("r+1h0m0s")
			e.ticks()
			e.emits()
		})
		e.Behaviour("C2b of missed ticks the last is made up for, unless it is said otherwise", func(e *engine) {
			e.add(job("r", every("hour")))
			e.ticks()
			e.from(3*hour + 30*time.Minute)
			e.emits("r+3h0m0s")
			e.history("r", "completed+3h0m0s", "missed+2h0m0s*2")
		})
		e.Behaviour("C2c all of them, oldest first, up to a hundred", func(e *engine) {
			e.add(job("r", every("minute"), catchup(wire.Schedule_ALL)))
			e.ticks()
			e.from(3*time.Minute + time.Second)
			e.emits("r+1m0s", "r+2m0s", "r+3m0s")
			e.from(205 * time.Minute)
			var want []string
			for i := 106; i <= 205; i++ {
				want = append(want, "r+"+(time.Duration(i)*time.Minute).String())
			}
			e.emits(want...)
			if got := e.outcomes("r"); !slices.Contains(got, "missed+1h45m0s*102") && len(got) < conveyor.HistoryLimit {
				e.Errorf("history %v", got)
			}
		})
		e.Behaviour("C2d or none, but for the one that came within the last minute", func(e *engine) {
			e.add(job("r", every("hour"), catchup(wire.Schedule_NONE)))
			e.ticks()
			e.from(2*hour + time.Minute + time.Millisecond)
			e.emits()
			e.history("r", "missed+2h0m0s*2")
			e.from(4*hour + time.Minute)
			e.emits("r+4h0m0s")
			e.history("r", "completed+4h0m0s", "missed+3h0m0s", "missed+2h0m0s*2")
		})
		e.Behaviour("C2e a clock that goes back emits nothing twice, and goes on where it was", func(e *engine) {
			e.add(job("r", every("hour")))
			e.ticks()
			e.from(2 * hour)
			e.emits("r+2h0m0s")
			e.from(hour)
			e.emits()
			e.ok(e.PauseTemplate(e.Context(), "r"))
			e.ok(e.ResumeTemplate(e.Context(), "r")) // counts from that time again
			e.from(2 * hour)
			e.emits()
			e.from(3 * hour)
			e.emits("r+3h0m0s")
			if got := e.template1("r"); got.Cycles != 2 {
				e.Errorf("%d cycles, want 2", got.Cycles)
			}
		})
		e.Behaviour("C2g however many tick at once, each tick makes one occurrence and is judged once", func(e *engine) {
			e.add(job("r", every("hour")))
			e.ticks()
			var want []string
			for round := range 10 {
				now := start + (time.Duration(3*round+3) * hour).Milliseconds()
				e.at(now)
				e.beat("w")
				read := e.hash("template:r")
				all(8, func(int) {
					if _, err := e.Tick(e.Context()); err != nil {
						e.Error(err)
					}
				})
				e.ticks()
				step := hour.Milliseconds() // and one that was held up since it read
				e.want([]any{"0", "0"}, e.script("schedule", "r", read["when"], read["since"], now, now+step, 2, now-step, now))
				last := time.Duration(3*round+3) * hour
				e.emits("r+" + last.String())
				want = append([]string{"completed+" + last.String(), "missed+" + (last - hour).String() + "*2"}, want...)
			}
			e.history("r", want...)
			if got := e.template1("r"); got.Cycles != 10 {
				e.Errorf("%d cycles, want 10", got.Cycles)
			}
		})
		e.Behaviour("C2f the hour that is skipped fires once at its end, the repeated one once", func(e *engine) {
			for _, row := range []struct {
				name string
				from string
				want []string
			}{
				{"spring", "2027-03-27T12:00:00Z", []string{"2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"}},
				{"autumn", "2027-10-30T12:00:00Z", []string{"2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"}},
			} {
				at, err := time.Parse(time.RFC3339, row.from)
				e.ok(err)
				e.at(at.UnixMilli())
				e.add(job(row.name, scheduled(&wire.Schedule{Cron: "30 2 * * *", Timezone: "Europe/Berlin"})))
				e.ticks()
				var got []string
				for range 2 * 24 * 4 {
					e.pass(15 * time.Minute)
					e.ticks()
					for _, r := range e.reserve(10) {
						tick, err := strconv.ParseInt(r.Job.Tick, 10, 64)
						e.ok(err)
						if tick != e.now {
							e.Errorf("%s: %s was emitted at %s", row.name, r.Job.Tick, time.UnixMilli(e.now).UTC())
						}
						got = append(got, time.UnixMilli(tick).UTC().Format(time.RFC3339))
						e.end(r, conveyor.VerdictDone)
					}
				}
				if diff := cmp.Diff(row.want, got); diff != "" {
					e.Errorf("%s (-want +got)\n%s", row.name, diff)
				}
				e.ok(e.Cancel(e.Context(), row.name))
			}
		})
	})
}
