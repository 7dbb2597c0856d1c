package bridge

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestBridgeKilledAtEveryStep ends a bridge before each of its calls in turn. The next one loses nothing and doubles nothing, whether it
// comes before or after the reservations are over.
func TestBridgeKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		r := newRig(t)
		for n, hit := 1, true; hit; n++ {
			r.reset()
			r.plan = failsOnce("a")
			r.add(job("heir", after("a")), job("a"))
			w, killed := r.worker("theirs"), r.bridge("1")
			step, reached := killedAt(n)
			killed.step = step
			for range 6 {
				if _, err := killed.round(r.ctx); errors.Is(err, errKilled) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				killed.looked = time.Time{}
				r.work(w)
				r.hear(killed)
				r.pass(3 * time.Second)
			}
			if hit = reached(); hit && late {
				r.pass(time.Minute)
			}
			next := r.bridge("2")
			for range 8 {
				r.round(next)
				r.work(w)
				r.hear(next)
				r.pass(5 * time.Second)
			}
			for range 7 { // a reservation that was never handed over ends by its lease
				r.pass(5 * time.Second)
				r.round(next)
				r.work(w)
				r.hear(next)
				r.pass(3 * time.Second)
				r.round(next)
			}
			r.wantStates("a completed heir completed", "a", "heir")
			if r.runs["a"] != 2 || r.runs["heir"] != 1 {
				t.Errorf("killed at step %d: the runs are %v, want 2 of a and 1 of heir", n, r.runs)
			}
			r.verify()
			if t.Failed() {
				t.Fatalf("killed at step %d, late %v", n, late)
			}
		}
	}
}

// TestFleetKilledAtEveryStep ends a worker of theirs before each of its commands in turn, also where a job is nowhere: popped and not
// registered. Another worker of theirs pushes back what it finds, and each job runs.
func TestFleetKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n, hit := 1, true; hit; n++ {
		r.reset()
		r.plan = failsOnce("a")
		r.add(job("heir", after("a")), job("a"))
		b, w := r.bridge("1"), r.worker("killed")
		step, reached := killedAt(n)
		if err := w.Beat(r.ctx); err != nil {
			t.Fatal(err)
		}
		w.Step = func(string) error { return step() }
		for range 6 {
			r.round(b)
			if _, err := w.Once(r.ctx); errors.Is(err, errKilled) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			r.hear(b)
			r.pass(3 * time.Second)
		}
		hit = reached()
		r.hear(b)
		r.pass(35 * time.Second)
		other := r.worker("other")
		for round := 0; !r.status("heir").State.Ended(); round++ {
			if err := errors.Join(other.Beat(r.ctx), other.Pump(r.ctx), other.PushBack(r.ctx)); err != nil {
				t.Fatal(err)
			}
			r.round(b)
			r.work(other)
			r.hear(b)
			r.pass(3 * time.Second)
			if round > 500 {
				t.Fatalf("killed at step %d: a is %s, heir %s", n, r.status("a").State, r.status("heir").State)
			}
		}
		r.round(b)
		r.wantStates("a completed heir completed", "a", "heir")
		r.verify()
		if t.Failed() {
			t.Fatalf("killed at step %d", n)
		}
	}
}

// failsOnce fails the first run of a job.
func failsOnce(uuid string) func(*wire.Job, int) error {
	return func(job *wire.Job, run int) error {
		if job.GetUuid() == uuid && run == 1 {
			return errors.New("no paper")
		}
		return nil
	}
}

// TestRetryAfterKill retries a failed job by hand whose bridge ended between the acknowledgement and the removal of its record: the new
// run is not settled with the old failure.
func TestRetryAfterKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.plan = failsOnce("a")
	one := job("a")
	one.RetryPolicy = &wire.RetryPolicy{MaxAttempts: proto.Int32(1)}
	r.add(one)
	b, w := r.bridge("1"), r.worker("theirs")
	r.round(b)
	r.work(w)
	r.hear(b)
	b.step = func() error { // the first step at which the engine knows of the failure is the removal
		if r.status("a").State == conveyor.StateFailed {
			return errKilled
		}
		return nil
	}
	if _, err := b.round(r.ctx); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if err := r.client.Retry(r.ctx, "a"); err != nil {
		t.Fatal(err)
	}
	next := r.bridge("2")
	r.round(next)
	r.wantStates("a running", "a")
	r.work(w)
	r.hear(next)
	r.round(next)
	r.wantStates("a completed", "a")
	if r.runs["a"] != 2 {
		t.Errorf("a ran %d times, want 2", r.runs["a"])
	}
	r.verify()
}
