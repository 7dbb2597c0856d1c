package conveyor_test

import (
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestEmissionBesideChanges: a call that changes jobs, and has an occurrence end that emits others, writes each change once: what
// was decided between the two stays.
func TestEmissionBesideChanges(t *testing.T) {
	cancel := func(uuid string) conveyor.Change { return conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid} }
	root := occ("r", "r", firstHour)
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name    string
			before  func(e *engine)
			changes []conveyor.Change
			after   func(e *engine)
		}{
			{"an heir of two, of which one ends", func(e *engine) { e.add(job("a", queue("other")), job("b")) },
				[]conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("h", after(wire.Edge_SUCCESS, "a", "b"))}, cancel("a"), cancel(root)}, func(e *engine) {
					e.starts("b emitted@0")
					e.states("h skipped")
				}},
			{"a job that is opened again", func(e *engine) {
				e.add(job("p", lane(2)))
				e.run("p", conveyor.VerdictDone)
				e.ok(e.Add(e.Context(), job("stray", under("p"), lane(2)), conveyor.ParentDead())) // it leaves an active set behind
			}, []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("c", edge(&wire.Edge{Uuid: "p", Opening: 2}))}, {Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2}, cancel(root)}, func(e *engine) {
				e.same("active", true, e.active("p", "c"))
				e.starts("stray c emitted@0")
				e.states("p completed")
			}},
			{"a child of one that never came", nil, []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("c", under("late"))}, cancel(root)}, func(e *engine) {
				e.counts("jobs:late:children", 1)
				e.add(job("late"))
				e.starts("emitted@0 late")
				e.starts("c")
			}},
			{"an heir of one that never came", nil, []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("h", after(0, "late"))}, cancel(root)}, func(e *engine) {
				e.counts("jobs:late:onComplete", 1)
				e.add(job("late"))
				e.starts("emitted@0 late")
				e.starts("h")
			}},
		} {
			e.wreck(row.name, func(e *engine) {
				e.add(job("emitted", downstream, after(wire.Edge_ALWAYS, "r")), job("r", every("1 hour")))
				e.tickAt(firstHour)
				if row.before != nil {
					row.before(e)
				}
				e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: row.changes}))
				e.states(root + " cancelled")
				row.after(e)
				e.sound()
			})
		}
		e.wreck("more occurrences that wait for one job than are made at once", func(e *engine) {
			var jobs []*wire.Job
			for i := range 150 {
				jobs = append(jobs, job(fmt.Sprintf("k%03d", i), downstream, under("r"), after(0, "once")))
			}
			e.add(append(jobs, job("r", every("1 hour")), job("once", queue("other")))...)
			e.tickAt(firstHour)
			e.starts("r@0")
			e.counts("jobs:once:onComplete", 150)
			e.ok(e.Cancel(e.Context(), "once"))
			e.rest()
			e.sound()
		})
	})
}

// TestLeftAndCameBack: a job that leaves an upstream which never came, and comes back to it in the same call, waits for it; one that
// comes and leaves does not, and leaves nothing there.
func TestLeftAndCameBack(t *testing.T) {
	update := func(j *wire.Job) conveyor.Change { return conveyor.Change{Kind: conveyor.ChangeUpdate, Job: j} }
	onBoth(t, func(e *engine) {
		e.Behaviour("left and came", func(e *engine) {
			e.add(job("a"), job("h", after(0, "late", "a")), job("other", after(0, "late")))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{update(job("h", after(0, "a"))), update(job("h", after(0, "late", "a")))}}))
			e.counts("jobs:late:onComplete", 2)
			e.ok(e.Update(e.Context(), job("other", after(0, "late"), lane(0)))) // who stays where it is waits on
			e.counts("jobs:late:onComplete", 2)
			e.add(job("late"))
			e.starts("a late")
			e.starts("h other")
		})
		e.Behaviour("came and left", func(e *engine) {
			e.add(job("b"), job("k", after(0, "b")))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("stays", under("never"), after(0, "b"))}, update(job("k", under("never"), after(0, "b"))), update(job("k", after(0, "b")))}}))
			e.counts("jobs:never:children", 1)
			e.starts("b")
			e.starts("k")
		})
	})
}
