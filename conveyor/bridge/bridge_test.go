package bridge

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// TestEdgesAndRetriesStayOurs has a fleet run a child and an heir, in the order of our edges, of which the fleet learns nothing.
func TestEdgesAndRetriesStayOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1"), r.worker("theirs")
	var order []string
	r.plan = func(job *wire.Job, run int) error {
		if job.GetParentUuid() != "" || job.GetPredecessorUuid() != "" || len(job.GetEdges()) > 0 || string(job.GetPayload()) != "payload of "+job.GetUuid() {
			t.Errorf("the fleet got %v", job)
		}
		order = append(order, job.GetUuid())
		if job.GetUuid() == "child" && run == 1 {
			return errors.New("no paper")
		}
		return nil
	}
	r.add(job("heir", after("a")), job("child", below("a")), job("a"))
	for range 8 {
		r.round(b)
		r.work(w)
		r.hear(b)
		r.pass(3 * time.Second)
	}
	r.round(b)
	if got := strings.Join(order, " "); got != "a child child heir" {
		t.Errorf("the fleet ran %q", got)
	}
	r.wantStates("a completed child completed heir completed", "a", "child", "heir")
	if s := r.status("child"); s.Attempts != 1 || s.Fence != 2 {
		t.Errorf("child has %d attempts, fence %d", s.Attempts, s.Fence)
	}
	r.verify()
}

// TestLastAttemptFails leaves the fleet's reason with our job.
func TestLastAttemptFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1"), r.worker("theirs")
	r.plan = func(*wire.Job, int) error { return errors.New("no paper") }
	one := job("a")
	one.RetryPolicy = &wire.RetryPolicy{MaxAttempts: proto.Int32(1)}
	r.add(one)
	r.round(b)
	r.work(w)
	r.hear(b)
	r.round(b)
	r.wantStates("a failed", "a")
	if text, err := r.client.Failure(r.ctx, "a"); err != nil || text != "no paper" {
		t.Errorf("failure %q, %v", text, err)
	}
	r.verify()
}

// TestEventsMissed settles by what the fleet's structures say: a failed job is in their list, a completed one is nowhere and runs again.
func TestEventsMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1"), r.worker("theirs")
	r.plan = func(job *wire.Job, run int) error {
		if job.GetUuid() == "bad" {
			return errors.New("no paper")
		}
		return nil
	}
	bad := job("bad")
	bad.RetryPolicy = &wire.RetryPolicy{MaxAttempts: proto.Int32(1)}
	r.add(job("good"), bad)
	r.round(b)
	r.work(w)
	r.hear(nil)
	r.round(b)
	r.wantStates("good running bad failed", "good", "bad")
	for r.rdb.LLen(r.ctx, conveyorstand.Queue(queue)).Val() == 0 {
		r.round(b)
	}
	r.work(w)
	r.hear(b)
	r.round(b)
	r.wantStates("good completed", "good")
	if r.runs["good"] != 2 {
		t.Errorf("good ran %d times, want 2", r.runs["good"])
	}
	r.verify()
}

// TestTakeover has one bridge go and another come: what the first handed over is found and not pushed again.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for _, lease := range []string{"lost", "kept"} {
		t.Run(lease, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.add(job("a"))
			r.round(r.bridge("1"))
			next, want := r.bridge("2"), int64(1)
			if lease == "lost" {
				r.pass(time.Minute)
				if _, err := r.client.Tick(r.ctx); err != nil {
					t.Fatal(err)
				}
				want = 2
			}
			r.round(next)
			r.round(next)
			if n := r.rdb.LLen(r.ctx, conveyorstand.Queue(queue)).Val(); n != 1 {
				t.Errorf("%d entries in the fleet's queue, want 1", n)
			}
			r.work(r.worker("theirs"))
			r.hear(next)
			r.round(next)
			r.wantStates("a completed", "a")
			if s := r.status("a"); s.Fence != want || r.runs["a"] != 1 {
				t.Errorf("fence %d, want %d; %d runs", s.Fence, want, r.runs["a"])
			}
			r.verify()
		})
	}
}

// TestCancel takes a job back that nobody popped, and stops waiting for one that runs.
func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.bridge("1")
	r.add(job("a"))
	r.round(b)
	if err := r.client.Cancel(r.ctx, "a"); err != nil {
		t.Fatal(err)
	}
	r.round(b)
	r.wantStates("a cancelled", "a")
	if n := r.rdb.LLen(r.ctx, conveyorstand.Queue(queue)).Val(); n != 0 {
		t.Errorf("%d entries in the fleet's queue, want none", n)
	}
	r.verify()
}

// TestTimeout fails an attempt that runs for longer than its job allows.
func TestTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := job("a")
	one.Timeout, one.RetryPolicy = durationpb.New(time.Nanosecond), &wire.RetryPolicy{MaxAttempts: proto.Int32(1)}
	r.add(one)
	b := r.bridge("1")
	r.round(b)
	w := r.worker("theirs")
	w.Step = func(step string) error {
		if step == "handler" {
			return errKilled
		}
		return nil
	}
	if err := w.Beat(r.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Once(r.ctx); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	for r.status("a").State == conveyor.StateRunning {
		r.round(b)
	}
	r.wantStates("a failed", "a")
	if text, err := r.client.Failure(r.ctx, "a"); err != nil || !strings.HasPrefix(text, "timeout after 1ns") {
		t.Errorf("failure %q, %v", text, err)
	}
	r.verify()
}

// TestCapacity keeps no more with the fleet than it may.
func TestCapacity(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(job("a"), job("b"), job("c"))
	b := r.bridge("1", func(o *Options) { o.Capacity = 2 })
	r.round(b)
	r.round(b)
	r.wantStates("a running b running c queued", "a", "b", "c")
}

// TestRunGivesBack ends a bridge: what no worker of theirs popped is back at its place, the rest stays.
func TestRunGivesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(job("a"), job("b"))
	handed := make(chan string, 2)
	b := r.bridge("1", func(o *Options) {
		o.Observe = func(e Event) {
			if e.Kind == Handed {
				handed <- e.UUID
			}
		}
	})
	ctx, cancel := context.WithCancel(r.ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	<-handed
	<-handed
	w := r.worker("theirs")
	if err := w.Beat(r.ctx); err != nil {
		t.Fatal(err)
	}
	w.Step = func(step string) error {
		if step == "handler" {
			return errKilled
		}
		return nil
	}
	if _, err := w.Once(r.ctx); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	r.wantStates("a running b queued", "a", "b")
}

// TestOptions names each field that is wrong.
func TestOptions(t *testing.T) {
	t.Parallel()
	_, err := New(nil, Options{Queues: []string{"a b", "c", "c"}, ID: "x", Capacity: -1, TakeOnly: true, Look: time.Second, Lease: time.Second, Absence: -1})
	for _, want := range []string{"no client", `Queues[0]: name "a b"`, `Queues[2]: queue "c" is named twice`, "field Fleet", "field ID", "field Capacity", "field TakeOnly",
		"field Lease: 1s is less than three times Look", "field Absence"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}
