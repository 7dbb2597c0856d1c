//go:build unix

package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestWorkersKilled kills one worker after the other in the middle of many jobs. What they ran runs elsewhere in under ten seconds by
// the store's clock, everything ends, and no retry is spent.
func TestWorkersKilled(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	s := newWorkers(t, server.Client(t))
	uuids := []string{"block0", "block1"}
	for i := range 200 {
		uuids = append(uuids, fmt.Sprintf("quick%d", i))
	}
	for _, uuid := range uuids {
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: uuid, Type: uuid[:5], Queue: "q"}))
	}
	const slots = 4
	var killed time.Time
	for range 2 {
		p := startProcessWith(s, server, slots)
		for range 20 {
			if !p.lines.Scan() {
				t.Fatalf("the worker process ended: %v", p.lines.Err())
			}
		}
		p.signal(syscall.SIGKILL)
		var err error
		killed, err = s.Now(s.Context())
		s.ok(err)
		_ = p.Wait() // killed
	}
	w := s.worker(conveyor.WorkerOptions{Concurrency: slots})
	for _, kind := range []string{"block", "quick"} {
		w.HandleRaw(kind, func(context.Context, *wire.Job) error { return nil })
	}
	stop := s.run(w)
	statuses, err := s.Wait(s.Context(), uuids...)
	s.ok(err)
	stop()
	lost := 0
	for _, st := range statuses {
		if st.State != conveyor.StateCompleted || st.Attempts != 0 || st.Lost > 2 || int(st.Fence) != 1+st.Lost {
			t.Errorf("job %+v, want it completed with no retry spent", st)
		}
		if took := st.Started.Sub(killed); st.Lost > 0 && took >= 10*time.Second {
			t.Errorf("job %s ran again %s after the kill", st.UUID, took)
		}
		lost += st.Lost
	}
	if lost < 2 || lost > 2*slots {
		t.Errorf("%d leases were lost, want those of what ran when two workers of %d slots were killed", lost, slots)
	}
	s.sound()
}

// TestLateEnd: a worker that was stopped for longer than its lease, and whose handler ends as if nothing had happened,
// leaves no trace: neither its end nor its result nor its log.
func TestLateEnd(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	s := newWorkers(t, server.Client(t))
	s.ok(s.Add(s.Context(), &wire.Job{Uuid: "a", Type: "late", Queue: "q"}))
	p := startProcess(s, server)
	p.says("started a 1")
	p.signal(syscall.SIGSTOP)
	w := s.worker(conveyor.WorkerOptions{Concurrency: 1})
	took, next := make(chan int64), make(chan struct{})
	w.HandleRaw("late", func(ctx context.Context, _ *wire.Job) error {
		took <- conveyor.FromContext(ctx).Fence()
		<-next
		return conveyor.FromContext(ctx).SetResult([]byte("in time"))
	})
	stop := s.run(w)
	if got := <-took; got != 2 {
		t.Errorf("the other worker runs attempt %d, want 2", got)
	}
	p.signal(syscall.SIGCONT)
	s.ok(s.Add(s.Context(), &wire.Job{Uuid: "b", Type: "block", Queue: "q"}))
	p.says("started b 1") // in the slot of the late one, whose end was sent with the call for this one
	if st := s.await(func(conveyor.Status) bool { return true }, "a")[0]; st.State != conveyor.StateRunning || st.Fence != 2 {
		t.Errorf("job %+v, want it running its second attempt", st)
	}
	next <- struct{}{}
	if st := s.await(ended, "a")[0]; st.State != conveyor.StateCompleted || st.Fence != 2 || st.Attempts != 0 {
		t.Errorf("job %+v, want it completed by the second attempt", st)
	}
	if result, err := s.Result(s.Context(), "a"); string(result) != "in time" || err != nil {
		t.Errorf("result %q, %v, want that of the second attempt", result, err)
	}
	if log, err := s.Logs(s.Context(), "a", conveyor.LogPosition{}, 10, 0); len(log) > 0 || err != nil {
		t.Errorf("log %v, %v, want none", log, err)
	}
	s.ok(s.Cancel(s.Context(), "b"))
	p.says("stopped b: " + conveyor.ErrCancelled.Error())
	p.signal(syscall.SIGTERM)
	p.says("left")
	stop()
	s.sound()
}

// TestEmptiedStore restarts a server that keeps nothing on disk under workers: they notice that their jobs are not theirs any
// more, register again and serve what comes, and whoever follows goes on.
func TestEmptiedStore(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	o := server.Options()
	o.MaxRetries = -1
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	s := newWorkers(t, rdb)
	for i := range 20 { // so that the new life's events have lower numbers
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: fmt.Sprintf("later%d", i), Type: "block", Queue: "elsewhere"}))
	}
	s.ok(s.Add(s.Context(), &wire.Job{Uuid: "a", Type: "block", Queue: "q"}))
	p := startProcess(s, server)
	p.says("started a 1")
	before, err := s.LastEvent(s.Context())
	s.ok(err)
	server.Kill()
	server.Restart(t)
	p.says("stopped a: " + conveyor.ErrOutdated.Error())
	for {
		if err = s.Add(s.Context(), &wire.Job{Uuid: "b", Type: "block", Queue: "q"}); !errors.Is(err, conveyor.ErrUnavailable) {
			s.ok(err)
			break
		}
	}
	p.says("started b 1")
	batch, err := s.Events(s.Context(), before, 0)
	s.ok(err)
	if !batch.Gap || batch.Seq >= before {
		t.Errorf("whoever followed to event %d is told of %d, gap %v; want a gap and the numbers of the new life", before, batch.Seq, batch.Gap)
	}
	infos, err := s.Workers(s.Context())
	s.ok(err)
	if len(infos) != 1 || infos[0].Load != 1 || len(infos[0].Queues) != 1 || infos[0].PID != p.Process.Pid {
		t.Errorf("workers %+v, want the one, registered again", infos)
	}
	p.signal(syscall.SIGTERM)
	p.says("stopped b: " + conveyor.ErrShutdown.Error())
	p.says("left")
	if st := s.await(func(conveyor.Status) bool { return true }, "b")[0]; st.State != conveyor.StateQueued || st.Attempts+st.Lost > 0 {
		t.Errorf("job %+v, want it handed back with nothing spent", st)
	}
	s.sound()
}
