package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"google.golang.org/protobuf/proto"
)

func (s *store) asynq() asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Network: "unix", Addr: s.addr}
}

func asynqTask() *asynq.Task { return asynq.NewTask(jobType, make([]byte, payloadSize)) }

// asynqFill enqueues n tasks from so many goroutines, one call each: it has no call for several.
func asynqFill(s *store, goroutines, n int) (time.Duration, error) {
	c := asynq.NewClient(s.asynq())
	defer c.Close() //nolint:errcheck // every call was answered
	if _, err := c.Enqueue(asynqTask()); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := spread(goroutines, n-1, func(int) error { _, err := c.Enqueue(asynqTask()); return err })
	return time.Since(begin), err
}

func asynqSubmission(goroutines int) sampler {
	return func(_ context.Context, s *store) (figures, error) {
		const n = 20_000
		took, err := asynqFill(s, goroutines, n)
		return figures{"jobs/s": (n - 1) / took.Seconds()}, err
	}
}

// asynqServer starts a server with asynq's defaults but for the concurrency, which is silent.
func asynqServer(s *store, concurrency int, h asynq.HandlerFunc) (*asynq.Server, error) {
	server := asynq.NewServer(s.asynq(), asynq.Config{Concurrency: concurrency, LogLevel: asynq.FatalLevel})
	return server, server.Start(h)
}

func asynqWorker(n int) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		rdb := s.client()
		before, err := commands(ctx, rdb)
		if err != nil {
			return nil, err
		}
		if _, err := asynqFill(s, 16, n); err != nil {
			return nil, err
		}
		left := atomic.Int64{}
		left.Store(int64(n))
		done := make(chan struct{})
		begin := time.Now()
		server, err := asynqServer(s, 50, func(context.Context, *asynq.Task) error {
			if left.Add(-1) == 0 {
				close(done)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		<-done
		perSecond := rate(n, begin)
		server.Shutdown()
		after, err := commands(ctx, rdb)
		return figures{"jobs/s": perSecond, "per second": perSecond, "commands/job": (after - before) / float64(n)}, err
	}
}

func asynqDispatch(ctx context.Context, s *store) (figures, error) {
	arrived := make(chan time.Time, 1)
	server, err := asynqServer(s, 10, func(context.Context, *asynq.Task) error { arrived <- time.Now(); return nil })
	if err != nil {
		return nil, err
	}
	defer server.Shutdown()
	c := asynq.NewClient(s.asynq())
	defer c.Close() //nolint:errcheck // every call was answered
	return pace(ctx, 40, func(int) error { _, err := c.Enqueue(asynqTask()); return err }, arrived)
}

func asynqIdle(ctx context.Context, s *store) (figures, error) {
	server, err := asynqServer(s, 10, func(context.Context, *asynq.Task) error { return nil })
	if err != nil {
		return nil, err
	}
	defer server.Shutdown()
	return quiet(ctx, s)
}

func asynqMemory(ctx context.Context, s *store) (figures, error) {
	const n = 100_000
	return perJob(ctx, s, n, func() error { _, err := asynqFill(s, 16, n); return err })
}

// lpush pushes the bytes of the same jobs to a list, as many in a pipeline as the engine takes in a call.
func lpush(ctx context.Context, s *store) (figures, error) {
	rdb := s.client()
	jobs := newJobs(100_000)
	begin := time.Now()
	for part := range slices.Chunk(jobs, 200) {
		pipe := rdb.Pipeline()
		for _, j := range part {
			text, err := proto.Marshal(j)
			if err != nil {
				return nil, err
			}
			pipe.LPush(ctx, "list", text)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
	}
	return figures{"jobs/s": rate(len(jobs), begin)}, nil
}

// popped is a hand-made queue: LPUSH on one side, a loop of BRPOP on the other.
func popped(ctx context.Context, s *store) (figures, error) {
	rdb, other := s.client(), s.client()
	arrived, failed := make(chan time.Time, 1), make(chan error, 1)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		for {
			if err := other.BRPop(ctx, time.Second, "list").Err(); err != nil && ctx.Err() == nil {
				stop(err)
				failed <- err
				return
			} else if ctx.Err() != nil {
				failed <- nil
				return
			}
			arrived <- time.Now()
		}
	}()
	payload := make([]byte, payloadSize)
	got, err := pace(ctx, 500, func(int) error { return rdb.LPush(ctx, "list", payload).Err() }, arrived)
	stop(nil)
	return got, errors.Join(err, <-failed)
}

// forks starts a process n times, one after the other.
func forks(ctx context.Context, _ *store) (figures, error) {
	const n = 500
	begin := time.Now()
	for range n {
		if err := exec.CommandContext(ctx, "true").Run(); err != nil {
			return nil, fmt.Errorf("true: %w", err)
		}
	}
	return figures{"per step": time.Since(begin).Seconds() / n}, nil
}
