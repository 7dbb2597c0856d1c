package bridge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// TestChildFails has a child, that a handler of theirs made inside a job of ours, fail for good: as a job of ours, or on their side
// alone. The job fails too, is not tried again, and its heir does not run.
func TestChildFails(t *testing.T) {
	t.Parallel()
	for _, take := range []bool{true, false} {
		r := newRig(t)
		b, w := r.bridge("1", func(o *Options) { o.FromClients = take }), r.worker("theirs")
		r.plan = func(job *wire.Job, run int) error {
			switch job.GetUuid() {
			case "a":
				r.enqueue(theirs("child", childOf("a"), func(j *wire.Job) { j.MaxRetries = 1 }), theirs("heir", heirOf("a")))
			case "child":
				return errors.New("no paper")
			}
			return nil
		}
		r.add(job("a"))
		r.round(b)
		if _, err := w.Once(r.ctx); err != nil {
			t.Fatal(err)
		}
		r.finished(b, w, "a")
		r.wantStates("a failed", "a")
		if text, err := r.client.Failure(r.ctx, "a"); err != nil || text != "child child failed: no paper" {
			t.Errorf("failure %q, %v", text, err)
		}
		if r.runs["a"] != 1 || r.runs["heir"] != 0 {
			t.Errorf("the runs are %v, want 1 of a and none of heir", r.runs)
		}
		failed := strings.Join(r.rdb.LRange(r.ctx, conveyorstand.Failed, 0, -1).Val(), "\n")
		for _, want := range []string{"child", "no paper", "heir", "predecessor a did not complete: child child failed: no paper"} {
			if !strings.Contains(failed, want) {
				t.Errorf("their list of failed jobs does not have %q", want)
			}
		}
		r.wantTheirs(conveyorstand.Failed)
	}
}

// TestChildLost ends a worker of theirs with a child in its hands that it popped: the job of ours that has it does not wait forever.
func TestChildLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1"), r.worker("theirs")
	r.plan = func(job *wire.Job, _ int) error {
		r.enqueue(theirs("child", childOf("a")))
		return nil
	}
	r.add(job("a"))
	r.round(b)
	if _, err := w.Once(r.ctx); err != nil {
		t.Fatal(err)
	}
	w.Step = func(step string) error {
		if step == "SET" {
			return errKilled
		}
		return nil
	}
	if _, err := w.Once(r.ctx); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	for r.status("a").State == conveyor.StateRunning {
		r.round(b)
	}
	r.wantStates("a failed", "a")
	if text, err := r.client.Failure(r.ctx, "a"); err != nil || text != "child child failed: the fleet lost it" {
		t.Errorf("failure %q, %v", text, err)
	}
	r.round(b)
	r.verify()
	r.wantTheirs()
}

// TestRetriedChild has a child fail once on their side: its retry is put back on the dead parent, where only the bridge finds it.
func TestRetriedChild(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1"), r.worker("theirs")
	r.plan = func(job *wire.Job, run int) error {
		if job.GetUuid() == "a" {
			r.enqueue(theirs("child", childOf("a")))
		}
		return failsOnce("child")(job, run)
	}
	r.add(job("a"))
	r.round(b)
	r.work(w)
	r.pass(3 * time.Second)
	if err := w.Pump(r.ctx); err != nil {
		t.Fatal(err)
	}
	if n := r.rdb.LLen(r.ctx, conveyorstand.Job("a")+":children").Val(); n != 1 {
		t.Fatalf("%d children wait for the dead parent, want 1", n)
	}
	r.finished(b, w, "a")
	r.wantStates("a completed", "a")
	if r.runs["a"] != 1 || r.runs["child"] != 2 {
		t.Errorf("the runs are %v, want 1 of a and 2 of child", r.runs)
	}
	r.wantTheirs()
}

// TestUnservedQueue leaves the lists of a job on their side when one of them has something of a queue that nobody serves here, and
// releases them in their order.
func TestUnservedQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1", fromClients), r.worker("theirs")
	w.Queues = append(w.Queues, "shop.Unserved")
	var order []string
	r.plan = func(job *wire.Job, _ int) error { order = append(order, job.GetUuid()); return nil }
	r.enqueue(theirs("heir", heirOf("a")), theirs("child", childOf("a"), func(j *wire.Job) { j.Queue = "shop.Unserved" }), theirs("a"))
	r.finished(b, w, "a")
	r.finished(b, w)
	if got := strings.Join(order, " "); got != "a child heir" {
		t.Errorf("the fleet ran %q", got)
	}
	r.wantStates("a completed child unknown", "a", "child")
	r.wantTheirs()
}
