package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// workers is a namespace with the real clock, for tests of workers.
type workers struct {
	*testing.T
	*conveyor.Client
}

// onBothStores runs a test on a real Redis and on the server that the embedded store is built on.
func onBothStores(t *testing.T, test func(s *workers)) {
	t.Helper()
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			test(newWorkers(t, store.open(t)))
		})
	}
}

func newWorkers(t *testing.T, rdb redis.UniversalClient) *workers {
	t.Helper()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: redistest.Namespace()})
	if err != nil {
		t.Fatal(err)
	}
	return &workers{t, c}
}

func (s *workers) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// worker is a new worker of queue q.
func (s *workers) worker(o conveyor.WorkerOptions) *conveyor.Worker {
	s.Helper()
	o.Queues = []conveyor.QueueShare{{Name: "q"}}
	w, err := conveyor.NewWorker(s.Client, o)
	s.ok(err)
	return w
}

// run runs a worker and returns how to stop it in order.
func (s *workers) run(w *conveyor.Worker) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				s.Error(err)
			}
		})
	}
	s.Cleanup(stop)
	return stop
}

// await follows events until every job is as wanted, and returns their statuses.
func (s *workers) await(wanted func(conveyor.Status) bool, uuids ...string) []conveyor.Status {
	s.Helper()
	after, err := s.LastEvent(s.Context())
	s.ok(err)
	for {
		statuses, err := s.Statuses(s.Context(), uuids)
		s.ok(err)
		all := true
		for _, st := range statuses {
			all = all && wanted(st)
		}
		if all {
			return statuses
		}
		batch, err := s.Events(s.Context(), after, 5*time.Second)
		s.ok(err)
		after = batch.Seq
	}
}

func ended(s conveyor.Status) bool { return s.State.Ended() }

// sound wants no violation of an invariant, and no worker left.
func (s *workers) sound() {
	s.Helper()
	violations, err := s.Verify(context.WithoutCancel(s.Context()))
	s.ok(err)
	for _, v := range violations {
		s.Errorf("violation: %+v", v)
	}
	left, err := s.Workers(s.Context())
	s.ok(err)
	for _, w := range left {
		s.Errorf("worker left: %+v", w)
	}
}

// TestWorkerLife runs one job through all that an attempt can leave behind: children, heirs, a failure, a log, a result.
func TestWorkerLife(t *testing.T) {
	onBothStores(t, func(s *workers) {
		w := s.worker(conveyor.WorkerOptions{Concurrency: 4})
		var mu sync.Mutex
		var order []string
		w.HandleRaw("root", func(ctx context.Context, j *wire.Job) error {
			a := conveyor.FromContext(ctx)
			mu.Lock()
			order = append(order, fmt.Sprintf("root %d", a.Fence()))
			mu.Unlock()
			a.Log("working")
			a.Progress(conveyor.Progress{Done: 1, Total: 2, Text: "half"})
			child := &wire.Job{Uuid: fmt.Sprintf("child-%d", a.Fence()), Type: "leaf", Queue: "q"}
			heir := &wire.Job{Uuid: fmt.Sprintf("heir-%d", a.Fence()), Type: "leaf", Queue: "q"}
			if err := errors.Join(a.AddChild(ctx, child), a.AddHeir(ctx, heir), a.SetResult([]byte("result"))); err != nil {
				return err
			}
			if a.Fence() == 1 {
				return conveyor.RetryAfter(errors.New("first time"), time.Millisecond)
			}
			return nil
		})
		w.HandleRaw("leaf", func(_ context.Context, j *wire.Job) error {
			mu.Lock()
			order = append(order, j.GetUuid())
			mu.Unlock()
			return nil
		})
		stop := s.run(w)
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "declared", Type: "leaf", Queue: "q", PredecessorUuid: "root"}))
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "root", Type: "root", Queue: "q"}))
		statuses := s.await(ended, "root", "child-2", "heir-2", "declared")
		stop()
		for _, st := range statuses {
			if st.State != conveyor.StateCompleted {
				s.Errorf("job %s is %s", st.UUID, st.State)
			}
		}
		if st := statuses[0]; st.Fence != 2 || st.Attempts != 1 || st.Lost != 0 {
			s.Errorf("root: fence %d, attempts %d, lost %d; want 2, 1, 0", st.Fence, st.Attempts, st.Lost)
		}
		if len(order) != 5 {
			s.Errorf("ran %q", order)
		} else if diff := cmp.Diff([]string{"root 1", "root 2", "child-2"}, order[:3]); diff != "" {
			s.Errorf("order (-want +got):\n%s", diff)
		}
		if r, err := s.Result(s.Context(), "root"); string(r) != "result" || err != nil {
			s.Errorf("result %q, %v", r, err)
		}
		entries, err := s.Logs(s.Context(), "root", conveyor.LogPosition{}, 10, 0)
		s.ok(err)
		log := ""
		for _, e := range entries {
			log += fmt.Sprintf("%d: %s", e.Fence, e.Text)
		}
		if diff := cmp.Diff("1: working\n2: working\n", log); diff != "" {
			s.Errorf("log (-want +got):\n%s", diff)
		}
		s.sound()
	})
}

// TestWorkerCancel: a running job that is cancelled is told, and ends as cancelled whatever its handler returns but success.
func TestWorkerCancel(t *testing.T) {
	onBothStores(t, func(s *workers) {
		w := s.worker(conveyor.WorkerOptions{})
		started, cause := make(chan struct{}), make(chan error, 1)
		w.HandleRaw("block", func(ctx context.Context, _ *wire.Job) error {
			close(started)
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return ctx.Err()
		})
		stop := s.run(w)
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "a", Type: "block", Queue: "q"}))
		<-started
		s.ok(s.Cancel(s.Context(), "a"))
		if got := <-cause; !errors.Is(got, conveyor.ErrCancelled) {
			s.Errorf("cause %v, want %v", got, conveyor.ErrCancelled)
		}
		st := s.await(ended, "a")[0]
		stop()
		if st.State != conveyor.StateCancelled || st.Attempts != 0 {
			s.Errorf("job is %s after %d attempts, want cancelled after 0", st.State, st.Attempts)
		}
		s.sound()
	})
}

// TestWorkerTimeoutAndPanic: both are failed attempts, told apart by the failure.
func TestWorkerTimeoutAndPanic(t *testing.T) {
	onBothStores(t, func(s *workers) {
		w := s.worker(conveyor.WorkerOptions{})
		w.HandleRaw("block", func(ctx context.Context, _ *wire.Job) error { <-ctx.Done(); return ctx.Err() })
		w.HandleRaw("panic", func(context.Context, *wire.Job) error { panic("oh") })
		stop := s.run(w)
		for _, j := range []*wire.Job{{Uuid: "slow", Type: "block", Timeout: durationpb.New(20 * time.Millisecond)}, {Uuid: "bad", Type: "panic"}} {
			j.Queue, j.MaxRetries = "q", 1
			s.ok(s.Add(s.Context(), j))
		}
		for _, st := range s.await(ended, "slow", "bad") {
			if st.State != conveyor.StateFailed || st.Attempts != 1 {
				s.Errorf("job %s is %s after %d attempts", st.UUID, st.State, st.Attempts)
			}
		}
		stop()
		for uuid, want := range map[string]string{"slow": "timeout after 20ms", "bad": "panic: oh\n\ngoroutine"} {
			if got, err := s.Failure(s.Context(), uuid); err != nil || len(got) < len(want) || got[:len(want)] != want {
				s.Errorf("failure %q, %v, want %q", got, err, want)
			}
		}
		s.sound()
	})
}

// TestWorkerExhausts: what fails each time is executed as often as it may, and kept for a retry.
func TestWorkerExhausts(t *testing.T) {
	onBothStores(t, func(s *workers) {
		s.Run("A8k executed max_retries times in all, it is among the failed", func(t *testing.T) {
			var ran atomic.Int32
			w := s.worker(conveyor.WorkerOptions{})
			w.HandleRaw("t", func(context.Context, *wire.Job) error { ran.Add(1); return errors.New("no") })
			s.ok(s.Add(t.Context(), &wire.Job{Uuid: "a", Type: "t", Queue: "q", MaxRetries: 4, Payload: []byte("x"),
				RetryPolicy: &wire.RetryPolicy{Min: durationpb.New(0)}}))
			stop := s.run(w)
			st := s.await(ended, "a")[0]
			stop()
			if ran.Load() != 4 || st.State != conveyor.StateFailed || st.Attempts != 4 {
				t.Errorf("executed %d times, %+v", ran.Load(), st)
			}
			if j, _, err := s.Get(t.Context(), "a"); err != nil || string(j.GetPayload()) != "x" {
				t.Errorf("kept %v, %v", j, err)
			}
		})
		s.sound()
	})
}

// TestWorkerUnhandled: a job without a handler here goes to the worker that has one, and nothing is spent.
func TestWorkerUnhandled(t *testing.T) {
	onBothStores(t, func(s *workers) {
		poor := s.worker(conveyor.WorkerOptions{})
		poor.HandleRaw("other", func(context.Context, *wire.Job) error { return nil })
		stop := s.run(poor)
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "a", Type: "rare", Queue: "q"}))
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "b", Type: "other", Queue: "q"}))
		s.await(ended, "b") // what is behind it goes on
		rich := s.worker(conveyor.WorkerOptions{})
		rich.HandleRaw("rare", func(context.Context, *wire.Job) error { return nil })
		stopRich := s.run(rich)
		st := s.await(ended, "a")[0]
		stop()
		stopRich()
		if st.State != conveyor.StateCompleted || st.Attempts != 0 || st.Lost != 0 || st.Fence < 2 {
			s.Errorf("job %+v, want it completed with nothing spent", st)
		}
		s.sound()
	})
}

// TestWorkerDrainUnderLoad stops and replaces workers while jobs run: each job runs, and none runs twice, since all have time to
// end.
func TestWorkerDrainUnderLoad(t *testing.T) {
	onBothStores(t, func(s *workers) {
		const jobs = 600
		var ran [jobs]atomic.Int32
		var count atomic.Int32
		milestone := make(chan struct{}, jobs)
		start := func() func() {
			w := s.worker(conveyor.WorkerOptions{Concurrency: 8})
			conveyor.HandleJSON(w, "t", func(_ context.Context, i int) error {
				ran[i].Add(1)
				if count.Add(1)%50 == 0 {
					milestone <- struct{}{}
				}
				return nil
			})
			return s.run(w)
		}
		batch := make([]*wire.Job, jobs)
		uuids := make([]string, jobs)
		for i := range batch {
			uuids[i] = fmt.Sprintf("u%d", i)
			batch[i] = &wire.Job{Uuid: uuids[i], Type: "t", Queue: "q", Payload: fmt.Appendf(nil, "%d", i)}
		}
		s.ok(s.AddMany(s.Context(), batch))
		stops := []func(){start(), start()}
		for range jobs/50 - 1 {
			<-milestone
			stops = append(stops, start())
			stops[0]()
			stops = stops[1:]
		}
		s.await(ended, uuids...)
		for _, stop := range stops {
			stop()
		}
		for i := range ran {
			if n := ran[i].Load(); n != 1 {
				s.Errorf("job %d ran %d times", i, n)
			}
		}
		s.sound()
	})
}

// TestWorkerHandsBack: what does not end by the deadline goes back to its place, in front of what is behind it.
func TestWorkerHandsBack(t *testing.T) {
	onBothStores(t, func(s *workers) {
		started := make(chan string, 10)
		block := true
		handler := func(ctx context.Context, j *wire.Job) error {
			started <- j.GetUuid()
			if block {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		w := s.worker(conveyor.WorkerOptions{Concurrency: 2, ShutdownTimeout: -1})
		w.HandleRaw("t", handler)
		for _, uuid := range []string{"a", "b", "c", "d"} {
			s.ok(s.Add(s.Context(), &wire.Job{Uuid: uuid, Type: "t", Queue: "q"}))
		}
		stop := s.run(w)
		<-started
		<-started
		stop()
		block = false
		w = s.worker(conveyor.WorkerOptions{Concurrency: 1})
		w.HandleRaw("t", handler)
		stop = s.run(w)
		statuses := s.await(ended, "a", "b", "c", "d")
		stop()
		var got []string
		for range 4 {
			got = append(got, <-started)
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" {
			s.Errorf("order (-want +got):\n%s", diff)
		}
		for _, st := range statuses {
			if st.Attempts != 0 || st.Lost != 0 || st.State != conveyor.StateCompleted {
				s.Errorf("job %+v, want it completed with nothing spent", st)
			}
		}
		s.sound()
	})
}

// TestWorkerRunsAgain: an attempt that the store counts as a worker's, and whose end it has lost, is handed back by that worker while it
// lives, and the job runs again. The store is as after a crash that took the acknowledgement when somebody reserves in the worker's name.
func TestWorkerRunsAgain(t *testing.T) {
	onBothStores(t, func(s *workers) {
		w := s.worker(conveyor.WorkerOptions{Concurrency: 2})
		started := make(chan string, 10)
		w.HandleRaw("t", func(_ context.Context, j *wire.Job) error { started <- j.GetUuid(); return nil })
		stop := s.run(w)
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "first", Type: "t", Queue: "q"}))
		<-started
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "a", Type: "t", Queue: "aside"}))
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: "heir", Type: "t", Queue: "q", PredecessorUuid: "a"}))
		reply, err := s.Exchange(s.Context(), conveyor.ExchangeRequest{Caller: "before", Number: 1, Worker: w.ID(), Queues: []string{"aside"}, Want: 1})
		s.ok(err)
		if len(reply.Reserved) != 1 || reply.Reserved[0].Fence != 1 {
			s.Fatalf("reserved %+v, want fence 1 of a", reply.Reserved)
		}
		s.ok(w.SetQueues([]conveyor.QueueShare{{Name: "q"}, {Name: "aside"}}))
		for _, want := range []string{"a", "heir"} {
			if got := <-started; got != want {
				s.Errorf("%s started, want %s", got, want)
			}
		}
		st := s.await(ended, "a", "heir")[0]
		if st.State != conveyor.StateCompleted || st.Fence != 2 || st.Attempts != 0 || st.Lost != 0 {
			s.Errorf("job %+v, want it completed by its second attempt with nothing spent", st)
		}
		stop()
		s.sound()
	})
}
