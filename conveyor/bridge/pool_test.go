package bridge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

var poolJobs = flag.Int("pool", 300, "`jobs` of the test of mixed pools; a multiple of 3")

// TestMixedPool has workers of theirs and ours and two bridges work on the same queue, each of theirs and each bridge ending now and then
// before one of its calls. Each job runs, and none is lost.
func TestMixedPool(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var uuids []string
	var jobs []*wire.Job
	for i := range *poolJobs / 3 {
		root, child, heir := fmt.Sprint("root-", i), fmt.Sprint("child-", i), fmt.Sprint("heir-", i)
		uuids = append(uuids, root, child, heir)
		jobs = append(jobs, job(heir, after(root)), job(child, below(root)), job(root))
	}
	for _, j := range jobs {
		j.RetryPolicy = &wire.RetryPolicy{MaxLost: new(int32)} // workers that are killed again and again spend none
	}
	r.add(jobs...)
	ctx, cancel := context.WithCancel(r.ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()

	var ran sync.Map
	did := func(uuid string) { ran.Store(uuid, true) }
	var kills atomic.Int64
	// dying makes a step hook that kills at the first step after some number that differs each time.
	dying := func(life int64) func() error {
		left := life + 7*kills.Add(1)%31
		return func() error {
			if left--; left < 0 {
				return errKilled
			}
			return nil
		}
	}
	fleet := conveyorstand.Fleet{Redis: r.rdb, Quiet: 3 * time.Second}
	for i := range 2 {
		all.Go(func() { // a worker of theirs; after each kill another
			for n := 0; ctx.Err() == nil; n++ {
				mine := fleet
				step := dying(100)
				mine.Step = func(string) error { return step() }
				w := &conveyorstand.Worker{Fleet: &mine, ID: fmt.Sprintf("theirs-%d-%d", i, n), Queues: []string{queue},
					Handle: func(_ context.Context, job *wire.Job) error { did(job.GetUuid()); return nil }}
				if err := w.Run(ctx, 50*time.Millisecond); err != nil && !errors.Is(err, errKilled) {
					t.Error(err)
					return
				}
			}
		})
		all.Go(func() { // a bridge; after each kill another, and nobody gives back what it had
			for n := 0; ctx.Err() == nil; n++ {
				b := r.bridge(fmt.Sprintf("%d-%d", i, n), func(o *Options) {
					o.Look, o.Lease, o.Absence, o.Capacity = 20*time.Millisecond, 500*time.Millisecond, 300*time.Millisecond, 10
				})
				b.step = dying(60)
				listening, end := context.WithCancel(ctx)
				var beside sync.WaitGroup
				beside.Go(func() { b.listen(listening) })
				for ctx.Err() == nil {
					_, err := b.round(ctx)
					if errors.Is(err, errKilled) {
						break
					} else if err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					b.wait(ctx, time.Millisecond)
				}
				end()
				beside.Wait()
			}
		})
	}
	w, err := conveyor.NewWorker(r.client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: queue}}, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.HandleRaw(queue, func(_ context.Context, job *wire.Job) error { did(job.GetUuid()); return nil })
	all.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	statuses, err := r.client.Wait(ctx, uuids...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statuses {
		if _, ok := ran.Load(s.UUID); !ok || s.State != conveyor.StateCompleted {
			t.Errorf("%s is %s; it ran: %v", s.UUID, s.State, ok)
		}
	}
	cancel()
	all.Wait()
	last := r.bridge("last")
	r.round(last)
	r.round(last)
	r.verify()
	t.Logf("%d kills", kills.Load())
}
