package conveyor_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestUniqueChanges gives other unique keys to jobs whose own work is done.
func TestUniqueChanges(t *testing.T) {
	apply := func(e *engine, changes ...conveyor.Change) error {
		return e.Apply(e.Context(), conveyor.Batch{Changes: changes})
	}
	keep := func(d time.Duration) func(*wire.Job) {
		return func(j *wire.Job) { j.RemoveAfter = durationpb.New(d) }
	}
	onBoth(t, func(e *engine) {
		e.Run("a job that reopens takes the key of today", func(e *engine) {
			e.add(job("p", unique("old")))
			e.run("p", conveyor.VerdictDone)
			e.add(job("c", unique("old")))
			reopen := conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2}
			e.heldBy(apply(e, reopen), "noop:old", "p", "c")
			e.states("p completed")
			reopen.Job = job("p", unique("new"), keep(time.Hour))
			for range 2 {
				e.ok(apply(e, conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("d", edge(&wire.Edge{Uuid: "p", Opening: 2}))}, reopen))
				e.holders("noop:old c", "noop:new p")
			}
			s := e.status("p")
			if s.State != conveyor.StateClosing || s.Unique != "noop:new" || s.RemoveAfter != time.Hour {
				e.Errorf("reopened as %+v", s)
			}
			e.run("c", conveyor.VerdictDone)
			e.run("d", conveyor.VerdictDone)
			e.states("p completed")
			e.holders()
			e.sound()
		})
		e.Run("a job that waits for its children gives its key up", func(e *engine) {
			e.add(job("q", unique("k")), job("kid", under("q")))
			e.run("q", conveyor.VerdictDone)
			e.heldBy(apply(e, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("kid", under("q"), unique("k"))}), "noop:k", "kid", "q")
			e.ok(apply(e, conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("q", keep(time.Minute))},
				conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("kid", under("q"), unique("k"))}))
			e.holders("noop:k kid")
			if s := e.status("q"); s.Unique != "" || s.RemoveAfter != time.Minute || s.State != conveyor.StateClosing {
				e.Errorf("updated to %+v", s)
			}
			e.run("kid", conveyor.VerdictDone)
			e.states("q completed")
			e.sound()
		})
	})
}
