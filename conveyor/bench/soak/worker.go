package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// work is a worker's life.
func (r role) work(ctx context.Context, client *conveyor.Client, log *history.Writer) error {
	o := conveyor.WorkerOptions{ID: r.Who, Concurrency: r.Capacity, ShutdownTimeout: time.Second, StopTimeout: 5 * time.Second, Queues: []conveyor.QueueShare{}}
	for i, q := range graph.Queues {
		o.Queues = append(o.Queues, conveyor.QueueShare{Name: q, Weight: 1 + i})
	}
	w, err := conveyor.NewWorker(client, o)
	if err != nil {
		return err
	}
	w.HandleRaw(graph.JobType, func(ctx context.Context, job *wire.Job) error { return attempt(ctx, job, log) })
	return w.Run(ctx)
}

// errDrawn is the failure of attempts that are drawn to fail.
var errDrawn = errors.New("drawn to fail")

// attempt is one run of a job's script. What it does is in the history before it is done, and its end before the engine hears of it.
func attempt(ctx context.Context, job *wire.Job, log *history.Writer) error {
	var s graph.Script
	if err := json.Unmarshal(job.GetPayload(), &s); err != nil {
		return conveyor.Permanent(fmt.Errorf("the payload is no script: %w", err))
	}
	a := conveyor.FromContext(ctx)
	r := history.Record{Graph: s.Graph, Job: s.Job, UUID: job.GetUuid(), Fence: a.Fence()}
	if tick, ok := conveyor.TickOf(job); ok {
		r.Tick = tick.UnixMilli()
	}
	tell := func(kind history.Kind, result history.Result) error {
		r := r
		r.Kind, r.Result = kind, result
		return log.Add(r)
	}
	if err := tell(history.Start, ""); err != nil {
		return err
	}
	err := perform(ctx, a, s, r, log)
	switch {
	case err == nil:
		return tell(history.End, history.Well)
	case errors.Is(err, errDrawn):
		return errors.Join(err, tell(history.End, history.Error))
	}
	return errors.Join(err, tell(history.End, history.Stopped))
}

// perform is the work of an attempt: it takes its time, adds its children, and fails if it is drawn to.
func perform(ctx context.Context, a *conveyor.Attempt, s graph.Script, r history.Record, log *history.Writer) error {
	t := time.NewTimer(time.Duration(s.WorkMS) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch {
	case s.Ends == graph.Permanent:
		return conveyor.Permanent(errDrawn)
	case s.Ends == graph.Doomed, s.Ends == graph.Flaky && a.Fence() <= int64(s.Fails):
		return errDrawn
	}
	for i := range s.Children {
		script := graph.Script{Graph: s.Graph, Job: fmt.Sprintf("%s.child%d", s.Job, i), WorkMS: 5, Ends: graph.Well, Child: true}
		payload, err := script.Payload()
		if err != nil {
			return err
		}
		child := &wire.Job{Uuid: uuid.NewString(), Type: graph.JobType, Queue: graph.Queues[i%len(graph.Queues)], Payload: payload}
		child.RetryPolicy = &wire.RetryPolicy{MaxLost: new(int32)} // leases may be lost any number of times
		asked := r
		asked.Kind, asked.Job, asked.UUID, asked.Parent = history.Child, script.Job, child.Uuid, r.UUID
		if err := log.Add(asked); err != nil {
			return err
		}
		if err := a.AddChild(ctx, child); err != nil {
			return err
		}
	}
	return nil
}
