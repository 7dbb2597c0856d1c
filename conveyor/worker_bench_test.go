package conveyor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// BenchmarkWorker runs no-op jobs with 200-byte payloads that are queued already, 50 at a time.
func BenchmarkWorker(b *testing.B) {
	c, rdb := benchClient(b)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "default"}}, Concurrency: 50})
	if err != nil {
		b.Fatal(err)
	}
	const n = 5000
	var left atomic.Int64
	done := make(chan struct{}, 1)
	w.HandleRaw("bench.v1.Job", func(context.Context, *wire.Job) error {
		if left.Add(-1) == 0 {
			done <- struct{}{}
		}
		return nil
	})
	pause(b, c, "default", true)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	b.ReportAllocs()
	for round := range b.N {
		b.StopTimer()
		left.Store(n)
		if err := c.AddMany(ctx, benchJobs(round, n, nil)); err != nil {
			b.Fatal(err)
		}
		pause(b, c, "default", false)
		b.StartTimer()
		if err := w.SetQueues([]conveyor.QueueShare{{Name: "default"}}); err != nil { // look now
			b.Fatal(err)
		}
		<-done
		b.StopTimer()
		pause(b, c, "default", true)
		b.StartTimer()
	}
	perJob(b, n)
	b.StopTimer()
	serverTime(b, rdb, n)
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDispatch measures from an Add to the start of the handler of an idle worker, one job at a time.
func BenchmarkDispatch(b *testing.B) {
	c, _ := benchClient(b)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "default"}}})
	if err != nil {
		b.Fatal(err)
	}
	started := make(chan struct{})
	w.HandleRaw("bench.v1.Job", func(context.Context, *wire.Job) error { started <- struct{}{}; return nil })
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	jobs := benchJobs(0, b.N, nil)
	b.ReportAllocs()
	b.ResetTimer()
	for _, j := range jobs {
		if err := c.Add(ctx, j); err != nil {
			b.Fatal(err)
		}
		<-started
	}
	b.StopTimer()
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

func pause(b *testing.B, c *conveyor.Client, queue string, paused bool) {
	b.Helper()
	if err := c.SetQueue(b.Context(), queue, conveyor.QueueSettings{Paused: paused}); err != nil {
		b.Fatal(err)
	}
}
