package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestWorkerFaults runs a worker whose way to the store breaks at the k-th of its requests, for every k, and then again and
// again. Each job runs exactly as often as it does without faults, and ends as it does then, with no retry spent.
func TestWorkerFaults(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	rdb := server.Client(t)
	requests := 0
	alone(t, func(t *strand) {
		for range 3 { // how many there are depends on what ends at the same time
			requests = max(requests, workFaulty(t, server, rdb, "w", nil))
		}
	})
	for _, kind := range faultKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			eachAtOnce(t, requests, func(t *strand, i int) { workFaulty(t, server, rdb, "w", kind.plan(i+1)) })
		})
	}
	for _, rate := range faultRates {
		t.Run(rate.name, func(t *testing.T) {
			t.Parallel()
			alone(t, func(t *strand) { workFaulty(t, server, rdb, "", rate.plan) })
		})
	}
}

// fate is what became of one job.
type fate struct {
	State                      conveyor.State
	Ran, Fence, Attempts, Lost int
}

// workFaulty runs a set of jobs to their end on a worker behind a proxy, and returns how many requests that took.
func workFaulty(t *strand, server *redistest.Server, rdb *redis.Client, id string, plan func(int) redistest.Fault) int {
	t.Helper()
	direct, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: redistest.Namespace()})
	if err != nil {
		t.Fatal(err)
	}
	proxy := server.Proxy(t)
	proxy.Plan(plan)
	through := redis.NewClient(proxy.Options())
	t.Cleanup(func() { _ = through.Close() })
	c, err := conveyor.NewClient(through, conveyor.Options{Namespace: direct.Namespace()})
	if err != nil {
		t.Fatal(err)
	}
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}, Concurrency: 3, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ran := map[string]int{}
	w.HandleRaw("job", func(ctx context.Context, j *wire.Job) error {
		mu.Lock()
		ran[j.GetUuid()]++
		mu.Unlock()
		return faultyHandler(ctx, j.GetUuid())
	})

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	want := map[string]fate{}
	var uuids []string
	var jobs []*wire.Job
	for _, uuid := range []string{"after", "plain1", "parent", "fails", "plain2", "defers", "plain3", "under"} {
		j := &wire.Job{Uuid: uuid, Type: "job", Queue: "q"}
		switch uuid {
		case "after":
			after(0, "parent", "fails")(j)
		case "under":
			under("plain1")(j)
		}
		jobs, uuids = append(jobs, j), append(uuids, uuid)
		want[uuid] = fate{State: conveyor.StateCompleted, Ran: 1, Fence: 1}
	}
	want["fails"] = fate{State: conveyor.StateCompleted, Ran: 2, Fence: 2, Attempts: 1}
	want["defers"] = fate{State: conveyor.StateCompleted, Ran: 2, Fence: 2}
	for _, uuid := range []string{"child", "heir"} {
		uuids = append(uuids, uuid)
		want[uuid] = fate{State: conveyor.StateCompleted, Ran: 1, Fence: 1}
	}
	if err := direct.AddMany(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	go func() { done <- w.Run(ctx) }()
	got := map[string]fate{}
	for _, s := range awaitEnds(t, direct, done, uuids) {
		got[s.UUID] = fate{s.State, 0, int(s.Fence), s.Attempts, s.Lost}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("worker: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	for uuid, o := range got {
		o.Ran = ran[uuid]
		got[uuid] = o
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if r, err := direct.Result(t.Context(), "parent"); string(r) != "result" || err != nil {
		t.Errorf("result %q, %v", r, err)
	}
	log, err := direct.Logs(t.Context(), "parent", conveyor.LogPosition{}, 10, 0)
	if err != nil || len(log) != 1 || string(log[0].Text) != "a line\n" {
		t.Errorf("log %v, %v", log, err)
	}
	messages := map[string]int{}
	for batch := (conveyor.EventBatch{}); ; {
		batch, err = direct.Events(t.Context(), batch.Seq, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch.Events) == 0 {
			break
		}
		for _, e := range batch.Events {
			if e.Message != nil {
				messages[e.Message.Name]++
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"emitted": 1, "broadcast": 1}, messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	violations, err := direct.Verify(t.Context())
	if err != nil || len(violations) > 0 {
		t.Errorf("violations %v, %v", violations, err)
	}
	left, err := direct.Workers(t.Context())
	if err != nil || len(left) > 0 {
		t.Errorf("workers left: %+v, %v", left, err)
	}
	return proxy.Requests()
}

// faultyHandler does what handlers do to the store.
func faultyHandler(ctx context.Context, uuid string) error {
	a := conveyor.FromContext(ctx)
	switch {
	case uuid == "parent":
		a.Log("a line")
		a.Progress(conveyor.Progress{Done: 1, Total: 2})
		return errors.Join(a.AddChild(ctx, &wire.Job{Uuid: "child", Type: "job", Queue: "q"}),
			a.AddHeir(ctx, &wire.Job{Uuid: "heir", Type: "job", Queue: "q"}), a.SetResult([]byte("result")),
			a.Emit(ctx, "emitted", nil), a.Broadcast(ctx, "broadcast", nil))
	case uuid == "fails" && a.Fence() == 1:
		return conveyor.RetryAfter(errors.New("once"), time.Millisecond)
	case uuid == "defers" && a.Fence() == 1:
		a.Defer(time.Millisecond)
	}
	return nil
}

// awaitEnds follows events until all jobs are over, or the worker is.
func awaitEnds(t *strand, c *conveyor.Client, done chan error, uuids []string) []conveyor.Status {
	t.Helper()
	for after := int64(0); ; {
		statuses, err := c.Statuses(t.Context(), uuids)
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, s := range statuses {
			if !s.State.Ended() {
				left++
			}
		}
		if left == 0 {
			return statuses
		}
		select {
		case err := <-done:
			t.Fatal(fmt.Errorf("the worker ended with %d jobs left: %w", left, err))
		default:
		}
		batch, err := c.Events(t.Context(), after, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		after = batch.Seq
	}
}
