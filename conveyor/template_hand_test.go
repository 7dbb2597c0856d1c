package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestTemplatesByHand(t *testing.T) {
	const hour = time.Hour
	at := func(d time.Duration) time.Time { return time.UnixMilli(start).Add(d).UTC() }
	onBoth(t, func(e *engine) {
		e.Behaviour("C3i a cycle can be run now, whatever the schedule says", func(e *engine) {
			e.add(job("h", downstream, after(0, "r")), job("r", every("hour"), overlap(wire.Schedule_SKIP)))
			e.ok(e.PauseTemplate(e.Context(), "r"))
			for _, want := range []time.Duration{0, time.Millisecond} { // the clock stands still: one just after the other
				tick, err := e.RunTemplate(e.Context(), "r")
				e.ok(err)
				if !tick.Equal(at(want)) {
					e.Errorf("its tick is %s, want %s", tick, at(want))
				}
			}
			e.emits("r+0s", "r+1ms")
			e.emits("h+0s", "h+1ms")
			e.history("r", "completed+1ms", "completed+0s")
			if got := e.template1("r"); got.Cycles != 2 {
				e.Errorf("got %+v", got)
			}
		})
		e.Behaviour("C3j a gate can be run too", func(e *engine) {
			e.add(job("g", gated("l")))
			tick, err := e.RunTemplate(e.Context(), "g")
			e.ok(err)
			if !tick.Equal(at(0)) {
				e.Errorf("its tick is %s", tick)
			}
			e.emits("g+0s")
			e.ok(e.Cancel(e.Context(), "g"))
		})
		e.Behaviour("C3k while it is paused ticks pass unused, and what passed is not missed afterwards", func(e *engine) {
			e.add(job("r", every("hour"), catchup(wire.Schedule_ALL)))
			e.ticks()
			e.from(hour)
			e.ok(e.PauseTemplate(e.Context(), "r"))
			e.ok(e.PauseTemplate(e.Context(), "r"))
			e.emits("r+1h0m0s") // what was made goes on
			if got := e.template1("r"); !got.Paused || !got.Next.IsZero() {
				e.Errorf("got %+v", got)
			}
			e.from(3 * hour)
			e.emits()
			e.ok(e.ResumeTemplate(e.Context(), "r"))
			e.ticks()
			e.emits()
			e.from(4 * hour)
			e.ok(e.ResumeTemplate(e.Context(), "r")) // changes nothing
			e.ticks()
			e.emits("r+4h0m0s")
			e.history("r", "completed+4h0m0s", "completed+1h0m0s")
		})
		e.Behaviour("C3l past ticks can be made up for, one after the other unless they may overlap", func(e *engine) {
			e.add(job("a", every("hour")), job("s", every("hour"), overlap(wire.Schedule_SKIP)))
			e.ticks()
			for _, r := range []string{"a", "s"} {
				for _, dry := range []bool{true, false, false} { // twice is once
					ticks, err := e.Backfill(e.Context(), r, at(-3*hour), at(-hour), dry)
					e.ok(err)
					if diff := cmp.Diff([]time.Time{at(-3 * hour), at(-2 * hour), at(-hour)}, ticks); diff != "" {
						e.Errorf("%s, dry %v (-want +got)\n%s", r, dry, diff)
					}
					if live := e.template1(r).Live; dry && len(live) > 0 {
						e.Errorf("%s: a dry run has begun %v", r, live)
					}
				}
			}
			e.emits("a+-3h0m0s", "a+-2h0m0s", "a+-1h0m0s", "s+-3h0m0s")
			e.ticks()
			e.emits("s+-2h0m0s")
			e.ticks()
			e.emits("s+-1h0m0s")
			e.ticks()
			e.nothing()
			e.history("s", "completed+-1h0m0s", "completed+-2h0m0s", "completed+-3h0m0s")
			e.from(hour)
			e.emits("a+1h0m0s", "s+1h0m0s")
		})
		e.Behaviour("C3m what cannot be asked of a job is refused, with the reason", func(e *engine) {
			e.add(job("d", downstream, after(0, "r")), job("r", every("minute")), job("g", gated("l")), job("j"))
			calls := map[string]func(uuid string) error{
				"run":    func(u string) error { _, err := e.RunTemplate(e.Context(), u); return err },
				"pause":  func(u string) error { return e.PauseTemplate(e.Context(), u) },
				"resume": func(u string) error { return e.ResumeTemplate(e.Context(), u) },
				"reset":  func(u string) error { return e.ResetCycles(e.Context(), u) },
				"backfill": func(u string) error {
					_, err := e.Backfill(e.Context(), u, at(-hour), at(0), false)
					return err
				},
			}
			before := dump(e)
			for what, call := range calls {
				for uuid, want := range map[string]error{"nobody": conveyor.ErrNotFound, "j": conveyor.ErrNotTemplate, "d": conveyor.ErrDownstream, "a b": conveyor.ErrUUID} {
					if err := call(uuid); err == nil {
						e.Errorf("%s %s: done", what, uuid)
					} else if uuid != "a b" || what != "backfill" {
						e.refused(err, want)
					}
				}
				if what != "run" && what != "reset" {
					e.refused(call("g"), conveyor.ErrNotScheduled)
				}
			}
			for _, row := range []struct {
				from, to time.Duration
				want     error
			}{{0, -hour, conveyor.ErrBackfill}, {-hour, time.Second, conveyor.ErrBackfill}, {-100 * hour, 0, conveyor.ErrTooLarge}} {
				_, err := e.Backfill(e.Context(), "r", at(row.from), at(row.to), true)
				e.refused(err, row.want)
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("something is changed (-before +after):\n%s", diff)
			}
			e.ok(e.Cancel(e.Context(), "g"))
		})
	})
}
