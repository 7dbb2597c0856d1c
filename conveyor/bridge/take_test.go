package bridge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

func fromClients(o *Options) { o.FromClients = true }

// theirs is a job as a client of a fleet makes it.
func theirs(uuid string, change ...func(*wire.Job)) *wire.Job {
	j := &wire.Job{Uuid: uuid, Type: queue, Queue: queue, Payload: []byte("payload of " + uuid), MaxRetries: 3}
	for _, c := range change {
		c(j)
	}
	return j
}

func childOf(uuid string) func(*wire.Job) { return func(j *wire.Job) { j.ParentUuid = uuid } }

func heirOf(uuid string) func(*wire.Job) { return func(j *wire.Job) { j.PredecessorUuid = uuid } }

// enqueue has a client of theirs add jobs.
func (r *rig) enqueue(jobs ...*wire.Job) {
	r.Helper()
	for _, j := range jobs {
		if err := r.fleet.Add(r.ctx, j, false); err != nil {
			r.Fatal(err)
		}
	}
}

// finished works until the jobs have ended here and nothing of them is left with the fleet.
func (r *rig) finished(b *Bridge, w *conveyorstand.Worker, uuids ...string) {
	r.Helper()
	for range 100 {
		r.round(b)
		r.work(w)
		r.hear(b)
		r.pass(3 * time.Second)
		over := true
		for _, uuid := range uuids {
			over = over && r.status(uuid).State.Ended()
		}
		if over {
			break
		}
	}
	for range 5 {
		r.round(b)
		r.work(w)
		r.hear(b)
	}
	r.verify()
}

// wantTheirs wants these keys of the fleet to be left, apart from those of its workers.
func (r *rig) wantTheirs(want ...string) {
	r.Helper()
	keys, err := r.rdb.Keys(r.ctx, "conv:*").Result()
	if err != nil {
		r.Fatal(err)
	}
	left := map[string]bool{}
	for _, k := range keys {
		left[k] = true
	}
	delete(left, conveyorstand.ActiveWorkers)
	for _, k := range want {
		if !left[k] {
			r.Errorf("%s is gone", k)
		}
		delete(left, k)
	}
	for k := range left {
		r.Errorf("left in the fleet's store: %s", k)
	}
}

// TestClientsGraph makes a graph of a client's ours, edges included, and has their workers run it.
func TestClientsGraph(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1", fromClients), r.worker("theirs")
	var order []string
	r.plan = func(job *wire.Job, run int) error {
		order = append(order, job.GetUuid())
		if job.GetUuid() == "child" && run == 1 {
			return errors.New("no paper")
		}
		return nil
	}
	r.enqueue(theirs("heir", heirOf("a")), theirs("grandchild", childOf("child")), theirs("child", childOf("a")), theirs("a"))
	r.round(b)
	r.wantStates("a running child held grandchild held heir held", "a", "child", "grandchild", "heir")
	r.finished(b, w, "a", "child", "grandchild", "heir")
	r.wantStates("a completed child completed grandchild completed heir completed", "a", "child", "grandchild", "heir")
	if got := strings.Join(order, " "); got != "a child child grandchild heir" {
		t.Errorf("the fleet ran %q", got)
	}
	r.wantTheirs(conveyorstand.Failed) // their own copy of the failed run
}

// TestClientsGraphRunsHere has workers of ours run what a client enqueued: nobody of the fleet is there.
func TestClientsGraphRunsHere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.bridge("1", fromClients, func(o *Options) { o.TakeOnly = true })
	r.enqueue(theirs("heir", heirOf("a")), theirs("child", childOf("a")), theirs("a", func(j *wire.Job) { j.Payload = []byte("x\x00\xff") }))
	r.round(b)
	if w, err := r.client.Workers(r.ctx); err != nil || len(w) != 1 || len(w[0].Queues) != 0 {
		t.Errorf("who only takes is shown as serving: %v, %v", w, err)
	}
	var order []string
	for n := int64(1); len(order) < 3; n++ {
		reply, err := r.client.Exchange(r.ctx, conveyor.ExchangeRequest{Caller: "ours", Number: n, Lease: time.Minute, Queues: []string{queue}, Want: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range reply.Reserved {
			if got.Job.GetUuid() == "a" && string(got.Job.GetPayload()) != "x\x00\xff" || got.Job.GetType() != queue {
				t.Errorf("the worker got %v", got.Job)
			}
			order = append(order, got.Job.GetUuid())
			n++
			if _, err := r.client.Exchange(r.ctx, conveyor.ExchangeRequest{Caller: "ours", Number: n,
				Done: []conveyor.Ack{{UUID: got.Job.GetUuid(), Fence: got.Fence}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.finishAll(r.ctx); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "a child heir" {
		t.Errorf("our worker ran %q", got)
	}
	r.verify()
	r.wantTheirs()
}

// TestClientsScheduled takes what is scheduled before it is due, and runs it then.
func TestClientsScheduled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1", fromClients), r.worker("theirs")
	at := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	r.enqueue(theirs("a", func(j *wire.Job) { j.RunAt = timestamppb.New(at) }))
	other := theirs("b", func(j *wire.Job) { j.RunAt, j.Queue = timestamppb.New(at), "shop.Unserved" })
	r.enqueue(other)
	r.round(b)
	r.wantStates("a scheduled b unknown", "a", "b")
	if due := r.status("a").DueAt; !due.Equal(at) {
		t.Errorf("it is due at %s, want %s", due, at)
	}
	r.wantTheirs(conveyorstand.Scheduled, b.keys.taken(), b.keys.client("a"))
	r.pass(time.Hour)
	r.finished(b, w, "a")
	r.wantStates("a completed", "a")
}

// TestClientsRetries carries the executions over that are left, and lists what failed as they do.
func TestClientsRetries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1", fromClients), r.worker("theirs")
	r.plan = func(*wire.Job, int) error { return errors.New("no paper") }
	r.enqueue(theirs("heir", heirOf("a")), theirs("a", func(j *wire.Job) { j.Retry = 1 }))
	r.finished(b, w, "a", "heir")
	r.wantStates("a failed heir skipped", "a", "heir")
	if r.runs["a"] != 2 {
		t.Errorf("it ran %d times, want 2", r.runs["a"])
	}
	entry, err := r.rdb.LIndex(r.ctx, conveyorstand.Failed, 0).Result()
	if err != nil {
		t.Fatal(err)
	}
	listed := &wire.Job{}
	if err := proto.Unmarshal([]byte(entry), listed); err != nil {
		t.Fatal(err)
	}
	if listed.GetUuid() != "a" || listed.GetRetry() != 3 || listed.GetLastFailure() != "no paper" || len(listed.GetLabels()) != 0 {
		t.Errorf("their list of failed jobs has %v", listed)
	}
	r.wantTheirs(conveyorstand.Failed)
}

// TestClientsLate takes what a client adds to a job of a client that is ours already, as long as it lives.
func TestClientsLate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1", fromClients), r.worker("theirs")
	r.enqueue(theirs("a"))
	if _, err := b.takeUp(r.ctx, true); err != nil {
		t.Fatal(err)
	}
	r.enqueue(theirs("child", childOf("a")), theirs("heir", heirOf("a")))
	r.round(b)
	r.wantStates("a running child held heir held", "a", "child", "heir")
	r.finished(b, w, "a", "child", "heir")
	r.wantStates("a completed child completed heir completed", "a", "child", "heir")
	r.wantTheirs()
}

// TestMadeInside has a handler of theirs add children and an heir with their client, inside jobs that the bridge handed over: one of
// ours and one of a client's. The job is not complete here before its children are.
func TestMadeInside(t *testing.T) {
	t.Parallel()
	for _, take := range []bool{true, false} {
		r := newRig(t)
		b, w := r.bridge("1", func(o *Options) { o.FromClients = take }), r.worker("theirs")
		var order []string
		r.plan = func(job *wire.Job, run int) error {
			order = append(order, job.GetUuid())
			if job.GetUuid() == "a" {
				r.enqueue(theirs("child-1", childOf("a")), theirs("child-2", childOf("a")), theirs("heir", heirOf("a")))
			}
			if s := r.status("a").State; job.GetUuid() != "heir" && s != conveyor.StateRunning {
				t.Errorf("a is %s while %s runs", s, job.GetUuid())
			}
			return nil
		}
		if take {
			r.enqueue(theirs("a"))
		} else {
			r.add(job("a"))
		}
		r.round(b)
		if _, err := w.Once(r.ctx); err != nil {
			t.Fatal(err)
		}
		r.finished(b, w, "a")
		r.wantStates("a completed", "a")
		if take {
			r.finished(b, w, "child-1", "child-2", "heir")
			r.wantStates("child-1 completed child-2 completed heir completed", "child-1", "child-2", "heir")
		}
		if got := strings.Join(order, " "); got != "a child-1 child-2 heir" {
			t.Errorf("the fleet ran %q", got)
		}
		r.wantTheirs()
	}
}

// TestCapacityOfParents has a parent wait for children that need the only slot of the bridge.
func TestCapacityOfParents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b, w := r.bridge("1", fromClients, func(o *Options) { o.Capacity, o.Absence = 1, time.Hour }), r.worker("theirs")
	r.plan = func(job *wire.Job, run int) error {
		if job.GetUuid() == "a" {
			r.enqueue(theirs("child", childOf("a")))
		}
		return nil
	}
	r.add(job("a"))
	r.round(b)
	if _, err := w.Once(r.ctx); err != nil {
		t.Fatal(err)
	}
	r.round(b)
	r.wantStates("a running child running", "a", "child")
	r.finished(b, w, "a", "child")
	r.wantStates("a completed child completed", "a", "child")
	r.wantTheirs()
}

// TestTakeOnly leaves what clients enqueue to workers of ours.
func TestTakeOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.bridge("1", func(o *Options) { o.FromClients, o.TakeOnly = true, true })
	r.enqueue(theirs("a"), theirs("b", childOf("a")))
	for range 3 {
		r.round(b)
	}
	r.wantStates("a queued b held", "a", "b")
	if n, err := r.fleet.Redis.LLen(r.ctx, conveyorstand.Queue(queue)).Result(); n != 0 || err != nil {
		t.Errorf("%d jobs are in the fleet's queue: %v", n, err)
	}
	if err := (Options{Queues: []string{queue}, Fleet: r.fleet.Redis, TakeOnly: true}).withDefaults().validate(); err == nil {
		t.Error("a bridge with nothing to do is made")
	}
}
