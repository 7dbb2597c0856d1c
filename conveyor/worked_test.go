package conveyor_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorked: how long a job's own work took is known while its children run, when they have ended, and when others run later. The
// entry of a job without any says it by its start and its end alone.
func TestWorked(t *testing.T) {
	onBoth(t, func(e *engine) {
		worked := func(uuid string, want time.Duration, tag string) {
			e.Helper()
			e.same(uuid, want, e.status(uuid).Worked)
			e.same("tag of "+uuid, tag, tagsOf(e.entry(uuid))["R"])
		}
		e.add(job("child", under("p"), queue("other")), job("p"), job("alone"))
		rs := e.reserves("p", "alone")
		e.pass(3 * time.Second)
		e.doneAll(rs, conveyor.VerdictDone)
		worked("p", 3*time.Second, "3000")
		worked("alone", 3*time.Second, "")
		e.pass(5 * time.Second)
		e.ok(e.Cancel(e.Context(), "child"))
		e.states("p failed(child)")
		worked("p", 3*time.Second, "3000")
		for _, uuid := range []string{"p", "alone"} {
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job(uuid+"2", edge(&wire.Edge{Uuid: uuid, Opening: 2}))}, {Kind: conveyor.ChangeReopen, UUID: uuid, Opening: 2}}}))
			e.pass(time.Second)
			worked(uuid, 3*time.Second, "3000")
			e.run(uuid+"2", conveyor.VerdictDone)
			e.states(uuid + " completed")
			worked(uuid, 3*time.Second, "3000")
		}
	})
}
