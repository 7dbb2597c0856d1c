package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/handlers"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

const (
	queue       = "default"
	jobType     = "bench.v1.Job"
	payloadSize = 200
	recordSize  = 300 // of a state record, as apply writes one beside each job
)

// newJobs are n jobs without edges.
func newJobs(n int) []*wire.Job {
	payload := make([]byte, payloadSize)
	jobs := make([]*wire.Job, n)
	for i := range jobs {
		jobs[i] = &wire.Job{Uuid: uuid.NewString(), Type: jobType, Queue: queue, Payload: payload}
	}
	return jobs
}

// newLayers are n jobs in layers of a hundred, each of which waits for three of the layer before; and the number of its edges.
func newLayers(n int) (jobs []*wire.Job, edges int) {
	jobs = newJobs(n)
	for i := 100; i < n; i++ {
		for k := range 3 {
			up := jobs[i-i%100-100+(i+k*31)%100]
			jobs[i].Edges = append(jobs[i].Edges, &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: up.Uuid})
			edges++
		}
	}
	slices.Reverse(jobs) // an edge leads to a job that may come later
	return jobs, edges
}

// submit adds jobs in calls of as many as one takes, each with a state record if asked for.
func submit(ctx context.Context, c *conveyor.Client, jobs []*wire.Job, record bool) error {
	value := append([]byte("1 "), make([]byte, recordSize)...)
	for part := range slices.Chunk(jobs, conveyor.MaxBatch) {
		batch := conveyor.Batch{Changes: make([]conveyor.Change, len(part))}
		for i, j := range part {
			batch.Changes[i] = conveyor.Change{Kind: conveyor.ChangeAdd, Job: j}
			if record {
				batch.Changes[i].Attach = &conveyor.Attach{Key: "state:bench", Field: j.Uuid, Value: value}
			}
		}
		if err := c.Apply(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// submission is the rate of atomic submission with a record, by one goroutine.
func submission(ctx context.Context, s *store) (figures, error) {
	c, err := s.engine()
	if err != nil {
		return nil, err
	}
	if err := submit(ctx, c, newJobs(2000), true); err != nil { // scripts loaded, connections made
		return nil, err
	}
	jobs := newJobs(100_000)
	begin := time.Now()
	if err := submit(ctx, c, jobs, true); err != nil {
		return nil, err
	}
	return figures{"jobs/s": rate(len(jobs), begin)}, verify(ctx, c)
}

// singles is the rate of Add called for one job at a time by so many goroutines.
func singles(goroutines int) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		c, err := s.engine()
		if err != nil {
			return nil, err
		}
		jobs := newJobs(20_000)
		begin := time.Now()
		err = spread(goroutines, len(jobs), func(i int) error { return c.Add(ctx, jobs[i]) })
		if err != nil {
			return nil, err
		}
		return figures{"jobs/s": rate(len(jobs), begin)}, verify(ctx, c)
	}
}

// spread calls f for 0 to n-1 from so many goroutines and gives the first error.
func spread(goroutines, n int, f func(i int) error) error {
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		first atomic.Pointer[error]
	)
	for range goroutines {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && first.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

func rate(n int, since time.Time) float64 { return float64(n) / time.Since(since).Seconds() }

// running is a worker of 50 that runs no-op jobs.
type running struct {
	*conveyor.Worker
	stop  context.CancelFunc
	ended chan error
}

func startWorker(ctx context.Context, c *conveyor.Client, concurrency int, h conveyor.Handler) (*running, error) {
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{
		Queues: []conveyor.QueueShare{{Name: queue}}, Concurrency: concurrency, AllowUnsigned: true,
	})
	if err != nil {
		return nil, err
	}
	if h == nil {
		err = handlers.Register(w, handlers.Options{})
	} else {
		w.HandleRaw(jobType, h)
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	r := &running{w, stop, make(chan error, 1)}
	go func() { r.ended <- w.Run(ctx) }()
	return r, nil
}

// end stops the worker in order: what it ran is acknowledged then.
func (r *running) end() error {
	r.stop()
	return <-r.ended
}

// drain starts a worker of 50 on what is queued and returns the rate at which it ran the first n jobs, and the commands that the
// server ran for each until the worker was gone.
func drain(ctx context.Context, s *store, c *conveyor.Client, n int) (perSecond, commandsPerJob float64, err error) {
	rdb := s.client()
	defer rdb.Close() //nolint:errcheck // it only reads
	before, err := commands(ctx, rdb)
	if err != nil {
		return 0, 0, err
	}
	left := atomic.Int64{}
	left.Store(int64(n))
	done := make(chan struct{})
	begin := time.Now()
	w, err := startWorker(ctx, c, 50, func(context.Context, *wire.Job) error {
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	select {
	case <-done:
		perSecond = rate(n, begin)
	case err := <-w.ended:
		return 0, 0, fmt.Errorf("the worker ended early: %w", err)
	}
	if err := w.end(); err != nil {
		return 0, 0, err
	}
	after, err := commands(ctx, rdb)
	return perSecond, (after - before) / float64(n), err
}

// worker runs n jobs that are queued already.
func worker(n int) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		c, err := s.engine()
		if err != nil {
			return nil, err
		}
		rdb := s.client()
		before, err := commands(ctx, rdb)
		if err != nil {
			return nil, err
		}
		if err := submit(ctx, c, newJobs(n), false); err != nil {
			return nil, err
		}
		added, err := commands(ctx, rdb)
		if err != nil {
			return nil, err
		}
		perSecond, each, err := drain(ctx, s, c, n)
		if err != nil {
			return nil, err
		}
		return figures{"jobs/s": perSecond, "commands/job": each + (added-before)/float64(n)}, verify(ctx, c)
	}
}

// backlog runs 20,000 jobs while so many more are queued.
func backlog(queued int) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		c, err := s.engine()
		if err != nil {
			return nil, err
		}
		const n = 20_000
		for left := queued + n; left > 0; left -= 100_000 {
			if err := submit(ctx, c, newJobs(min(left, 100_000)), false); err != nil {
				return nil, err
			}
		}
		perSecond, _, err := drain(ctx, s, c, n)
		if err != nil {
			return nil, err
		}
		if queued > 100_000 { // Verify reads every job
			return figures{"jobs/s": perSecond}, nil
		}
		return figures{"jobs/s": perSecond}, verify(ctx, c)
	}
}

// release runs layers of jobs and counts the edges that were released in a second.
func release(ctx context.Context, s *store) (figures, error) {
	c, err := s.engine()
	if err != nil {
		return nil, err
	}
	jobs, edges := newLayers(10_000)
	if err := submit(ctx, c, jobs, false); err != nil {
		return nil, err
	}
	perSecond, _, err := drain(ctx, s, c, len(jobs))
	if err != nil {
		return nil, err
	}
	return figures{"per second": perSecond * float64(edges) / float64(len(jobs))}, verify(ctx, c)
}

// dispatch adds a hundred jobs a second for a worker that has nothing else to do, and measures from before Add to the handler.
func dispatch(ctx context.Context, s *store) (figures, error) {
	c, err := s.engine()
	if err != nil {
		return nil, err
	}
	arrived := make(chan time.Time, 1)
	w, err := startWorker(ctx, c, 10, func(context.Context, *wire.Job) error { arrived <- time.Now(); return nil })
	if err != nil {
		return nil, err
	}
	jobs := newJobs(500)
	got, err := pace(ctx, len(jobs), func(i int) error { return c.Add(ctx, jobs[i]) }, arrived)
	if err := errors.Join(err, w.end()); err != nil {
		return nil, err
	}
	return got, verify(ctx, c)
}

// pace calls send a hundred times a second and gives the median and the 99th percentile of the time until it arrived.
func pace(ctx context.Context, n int, send func(i int) error, arrived <-chan time.Time) (figures, error) {
	const warm = 20
	beat := time.NewTicker(10 * time.Millisecond)
	defer beat.Stop()
	var took []time.Duration
	for i := range n {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		begin := time.Now()
		if err := send(i); err != nil {
			return nil, err
		}
		select {
		case at := <-arrived:
			if i >= warm {
				took = append(took, at.Sub(begin))
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	slices.Sort(took)
	return figures{"p50": took[len(took)/2].Seconds(), "p99": took[len(took)*99/100].Seconds()}, nil
}

// idle counts the commands that a worker with nothing to do sends.
func idle(ctx context.Context, s *store) (figures, error) {
	c, err := s.engine()
	if err != nil {
		return nil, err
	}
	w, err := startWorker(ctx, c, 10, func(context.Context, *wire.Job) error { return nil })
	if err != nil {
		return nil, err
	}
	got, err := quiet(ctx, s)
	return got, errors.Join(err, w.end())
}

// memory is what the server needs for a queued job. The event log, which is bounded, hardly counts with so many.
func memory(record bool) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		c, err := s.engine()
		if err != nil {
			return nil, err
		}
		const n = 100_000
		return perJob(ctx, s, n, func() error {
			return errors.Join(submit(ctx, c, newJobs(n), record), verify(ctx, c))
		})
	}
}

// perJob is the memory that the server needs for n jobs that fill adds.
func perJob(ctx context.Context, s *store, n int, fill func() error) (figures, error) {
	rdb := s.client()
	before, err := info(ctx, rdb, "memory", "used_memory")
	if err != nil {
		return nil, err
	}
	if err := fill(); err != nil {
		return nil, err
	}
	after, err := info(ctx, rdb, "memory", "used_memory")
	return figures{"bytes/job": (after - before) / float64(n)}, err
}

// steps runs n exec jobs one after the other.
func steps(n int) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		c, err := s.engine()
		if err != nil {
			return nil, err
		}
		payload, err := json.Marshal(handlers.Exec{Command: []string{"true"}})
		if err != nil {
			return nil, err
		}
		jobs, uuids := newJobs(n), make([]string, n)
		for i, j := range jobs {
			j.Type, j.Payload, uuids[i] = handlers.TypeExec, payload, j.Uuid
		}
		if err := submit(ctx, c, jobs, false); err != nil {
			return nil, err
		}
		begin := time.Now()
		w, err := startWorker(ctx, c, 1, nil)
		if err != nil {
			return nil, err
		}
		states, err := c.Wait(ctx, uuids...)
		took := time.Since(begin)
		if err := errors.Join(err, w.end()); err != nil {
			return nil, err
		}
		for _, state := range states {
			if state.State != conveyor.StateCompleted {
				return nil, fmt.Errorf("a step ended as %v", state.State)
			}
		}
		return figures{"per step": took.Seconds() / float64(n)}, verify(ctx, c)
	}
}
