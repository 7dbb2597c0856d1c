package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestCycleAgain: a cycle that was over and to which an occurrence comes back lives again: the history has one line of it, when it
// is over once more, and counts each occurrence once.
func TestCycleAgain(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("hour")))
		tick, err := e.RunTemplate(e.Context(), "r")
		e.ok(err)
		u := occ("r", "r", tick.UnixMilli())
		e.run(u, conveyor.VerdictFailed)
		e.want("-1 failed 1/1", e.histories("r"))
		e.pass(time.Minute)
		e.ok(e.Retry(e.Context(), u))
		e.want("", e.histories("r"))
		e.run(u, conveyor.VerdictDone)
		lines, err := e.History(e.Context(), "r", 0)
		e.ok(err)
		want := []conveyor.Cycle{{Tick: tick, Outcome: conveyor.CycleCompleted, Began: tick, Ended: tick.Add(time.Minute), Jobs: 1}}
		if diff := cmp.Diff(want, lines); diff != "" {
			e.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

// TestCyclesAgain: of a cycle that lives again its own line goes and no other: not one of the same tick that was never begun, nor
// those of others. A line that is no longer there is not missed.
func TestCyclesAgain(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx := e.Context()
		e.add(job("h", downstream, after(0, "r")), job("kid", downstream, under("r")), job("r", every("hour"), overlap(wire.Schedule_SKIP)))
		e.tickAt(firstHour)
		e.starts("r@0", conveyor.VerdictFailed)
		_, err := e.RunTemplate(ctx, "r")
		e.ok(err)
		e.tickAt(firstHour + hour) // skipped, since the one by hand is live, and asked for afterwards
		e.starts("r@0")
		e.starts("kid@0")
		e.starts("h@0")
		_, err = e.Backfill(ctx, "r", moment(firstHour+hour), moment(firstHour+hour), false)
		e.ok(err)
		e.tick()
		e.starts("r@1", conveyor.VerdictFailed)
		first, second := occ("r", "r", firstHour), occ("r", "r", firstHour+hour)
		rest := ", 0 completed 0/3, 1 skipped, 0 failed 1/3"
		e.want("1 failed 1/3"+rest, e.histories("r"))
		e.ok(e.Retry(ctx, second))
		e.want(rest[2:], e.histories("r"))
		e.starts("r@1")
		e.want("1 completed 0/3"+rest, e.histories("r"))
		e.ok(e.rdb.Del(ctx, e.key("history:r")).Err())
		e.ok(e.Retry(ctx, first))
		e.starts("r@0")
		e.want("0 completed 0/1", e.histories("r"))
	})
}

// TestLabelsChangedBeforeEmission: an occurrence gets the labels that the same call gives to its template, and none that it takes.
func TestLabelsChangedBeforeEmission(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name   string
			labels []string
			want   string
		}{{"another", []string{"v=2"}, "v=2"}, {"none", nil, ""}} {
			e.add(job("r", every("hour")), job("h", downstream, after(wire.Edge_ALWAYS, "r"), labelled("v=1")))
			tick, err := e.RunTemplate(e.Context(), "r")
			e.ok(err)
			change := []func(*wire.Job){downstream, after(wire.Edge_ALWAYS, "r")}
			if row.labels != nil {
				change = append(change, labelled(row.labels...))
			}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeUpdate, Job: job("h", change...)},
				{Kind: conveyor.ChangeCancel, UUID: occ("r", "r", tick.UnixMilli())}}}))
			h := occ("h", "r", tick.UnixMilli())
			if got := e.rdb.HGet(e.Context(), e.key("labels"), h).Val(); got != row.want {
				e.Errorf("%s: labels %q, want %q", row.name, got, row.want)
			}
			e.run(h, conveyor.VerdictDone)
			e.ok(e.Update(e.Context(), job("h", downstream, after(wire.Edge_ALWAYS, "r"), labelled("v=1"))))
		}
	})
}

// TestLabelsDamagedAmongChanges: a call that has written already goes on without labels that cannot be read.
func TestLabelsDamagedAmongChanges(t *testing.T) {
	onBoth(t, func(shared *engine) {
		e := newEngine(shared.tb, shared.rdb) // it stays as damaged as it is
		e.add(job("again", labelled("x=1")))
		e.run("again", conveyor.VerdictDone)
		e.add(job("up"), job("heir", after(wire.Edge_ALWAYS, "up"), dropIf("x=1")))
		e.wrong("labels")
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
			{Kind: conveyor.ChangeCancel, UUID: "up"}, {Kind: conveyor.ChangeReopen, UUID: "again", Opening: 2}}}))
		e.states("again completed, up cancelled, heir queued")
	})
}

// TestRemade: an occurrence whose time of retention is over stays while its cycle lives, so that it is not made once more for a
// template that comes to wait for it.
func TestRemade(t *testing.T) {
	for _, row := range []struct {
		name string
		root *wire.Job
		kept time.Duration // by the queue
	}{
		{"its own", job("r", every("hour"), removedAfter(time.Second)), 0},
		{"its queue's", job("r", every("hour")), time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{KeepFor: row.kept}))
				e.add(row.root, job("h", downstream, after(0, "r")))
				tick, err := e.RunTemplate(e.Context(), "r")
				e.ok(err)
				root := conveyor.OccurrenceUUID("r", "r", tick)
				e.run(root, conveyor.VerdictDone)
				h := e.take(conveyor.OccurrenceUUID("h", "r", tick))
				for range 3 {
					e.pass(2 * time.Second)
					e.beat("w")
					e.sweep()
				}
				e.add(job("j", downstream, after(0, "r", "h")))
				e.end(h, conveyor.VerdictDone)
				e.sweep()
				last := e.reserves(conveyor.OccurrenceUUID("j", "r", tick))
				e.end(last[0], conveyor.VerdictDone)
				for range 3 {
					e.pass(2 * time.Second)
					e.beat("w")
					e.sweep()
				}
				e.states(root + " unknown")
			})
		})
	}
}
