package applier

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/planner"
)

// deaf is an observer that looks at nothing.
type deaf struct{}

func (deaf) Observe(Event) {}

// BenchmarkWatch is what a watch of many jobs on redis-server costs: reading everything once, which is the time given, with
// the memory that it holds afterwards for each job; and how many changes a second it takes in.
func BenchmarkWatch(b *testing.B) {
	const each = 2000 // jobs of a workflow
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newClient(b, redistest.Start(b).Client(b))
			for i := range n / each {
				w := shapes["layers"](each)
				w.Name = fmt.Sprint("w", i)
				p, diags := planner.Make(w, &planner.State{Workflow: w.Name}, planner.Options{})
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				if _, err := Apply(b.Context(), c, Run{Plan: p, Workflow: w, Detach: true}); err != nil {
					b.Fatal(err)
				}
			}
			mail := newMailbox(deaf{})
			defer mail.close()
			before := heap()
			var w *watcher
			b.ReportAllocs()
			for b.Loop() {
				w = newWatcher(c, WatchOptions{turn: time.Millisecond}, mail)
				if err := w.step(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(heap()-before)/float64(n), "B/job")
			const worth = 10_000 // changes
			for i := range worth / 200 {
				reply, err := c.Exchange(b.Context(), conveyor.ExchangeRequest{Caller: "b", Number: int64(2*i + 1), Lease: time.Hour, Queues: []string{"q"}, Want: 100})
				if err != nil {
					b.Fatal(err)
				}
				var done []conveyor.Ack
				for _, r := range reply.Reserved {
					done = append(done, conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence})
				}
				if _, err := c.Exchange(b.Context(), conveyor.ExchangeRequest{Caller: "b", Number: int64(2*i + 2), Done: done}); err != nil {
					b.Fatal(err)
				}
			}
			last, err := c.LastEvent(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			for w.survey.Seq() < last {
				if err := w.step(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(worth/time.Since(began).Seconds(), "changes/s")
		})
	}
}

// heap is the memory in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
