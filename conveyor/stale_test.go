package conveyor_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestStaleTickets puts a job behind many that were cancelled or moved away. A worker gets to it in a few calls, each of which
// tells it to call again at once, however few it wants.
func TestStaleTickets(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, want := range []int{1, 50} {
			e.Run(fmt.Sprintf("wanting %d", want), func(e *engine) {
				const stale = 5000
				last := fmt.Sprintf("last-%d", want)
				var jobs []*wire.Job
				var away []conveyor.Change
				for i := range stale {
					uuid := fmt.Sprintf("%d-%d", want, i)
					jobs = append(jobs, job(uuid))
					change := conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid}
					if i%2 == 0 {
						change = conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job(uuid, queue("elsewhere"))}
					}
					away = append(away, change)
				}
				e.add(append(jobs, job(last))...)
				for changes := range slices.Chunk(away, conveyor.MaxBatch) {
					e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: changes}))
				}
				for calls := 1; ; calls++ {
					reply := e.exchange(want)
					if len(reply.Reserved) > 0 {
						if reply.Reserved[0].Job.Uuid != last {
							e.Fatalf("reserved %v", names(reply.Reserved))
						}
						break
					}
					if !reply.More || calls == 10 {
						e.Fatalf("%s is not reached after %d calls, more %v", last, calls, reply.More)
					}
				}
			})
		}
	})
}
