package conveyor_test

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// jobScenarios use every mutating operation but those of templates, of clients and of workers.
var jobScenarios = []scenario{
	{"attempts", func(f *faulty) {
		f.additions()
		f.attempts()
		f.leaves()
	}},
	{"plan", (*faulty).plan},
	{"deaths", (*faulty).deaths},
	{"queues", (*faulty).queues},
	{"keys", (*faulty).keys},
	{"limits", (*faulty).limits},
	{"repairs", (*faulty).repairs},
}

func (f *faulty) additions() {
	ctx := f.Context()
	f.do("queue settings", func() error { return f.c.SetQueue(ctx, "q", conveyor.QueueSettings{Concurrency: 40, Weight: 2}) })
	f.do("add", func() error { return f.c.Add(ctx, job("single", lane(2))) })
	f.do("add strictly", func() error { return f.c.Add(ctx, job("strict", after(0, "single")), conveyor.Strict()) })
	f.do("add a graph", func() error {
		return f.c.AddMany(ctx, []*wire.Job{
			job("heir", after(0, "parent", "other")), job("child2", under("parent"), runAt(f.now+500)), job("child1", under("parent")),
			job("failure", after(wire.Edge_FAILURE, "bad")), job("orphan", after(0, "late")), job("parent"), job("other"), job("bad"),
			job("late"), job("held"), job("back"), job("wait"), job("rare"), job("stop"),
		})
	})
	f.do("add to a dead parent", func() error { return f.c.Add(ctx, job("lone", under("gone")), conveyor.ParentDead()) })
	f.do("schedule", func() error { return f.c.Add(ctx, job("later", delayed(time.Second), runAt(f.now+1500))) })
	f.do("update", func() error { return f.c.Update(ctx, job("child1", under("parent"), lane(2))) })
	f.do("cancel", func() error { return f.c.Cancel(ctx, "late") })
	f.see("single", "strict", "heir", "child1", "child2", "orphan", "late", "lone", "later")
}

// attempts runs jobs with every verdict, and all that an attempt can write.
func (f *faulty) attempts() {
	ctx := f.Context()
	beat := func(running ...conveyor.Holding) {
		f.Helper()
		f.ask("beat", func() (any, error) {
			return f.c.Beat(ctx, conveyor.WorkerInfo{ID: "w", Host: "host", Queues: []string{"q"}, Capacity: 20, Running: running})
		})
	}
	beat()
	r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 20})
	var running []conveyor.Holding
	for _, uuid := range []string{"parent", "stop"} {
		running = append(running, conveyor.Holding{UUID: uuid, Fence: r[uuid].Fence})
	}
	f.do("log", func() error { return f.c.AppendLog(ctx, "parent", 1, 1, []byte("one\n")) })
	f.do("log more", func() error { return f.c.AppendLog(ctx, "parent", 1, 2, []byte("two\n")) })
	f.do("progress", func() error {
		return f.c.SetProgress(ctx, "parent", 1, conveyor.Progress{Done: 1, Total: 2, Text: "half"})
	})
	f.do("add a child inside", func() error {
		return f.c.Add(ctx, job("made", edge(&wire.Edge{Kind: wire.Edge_PARENT, Uuid: "parent", Opening: 1, MadeBy: 1})))
	})
	f.do("add an heir inside", func() error {
		return f.c.Add(ctx, job("dropped", edge(&wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: "bad", Opening: 1, MadeBy: 1})))
	})
	f.do("cancel what runs", func() error { return f.c.Cancel(ctx, "stop") })
	f.do("update what runs", func() error { return f.c.Update(ctx, job("other", lane(2))) })
	beat(running...)
	done := []conveyor.Ack{
		{UUID: "parent", Fence: 1, Result: []byte("result")},
		{UUID: "other", Fence: 1, Verdict: conveyor.VerdictRetry, Failure: "once", Delay: time.Second},
		{UUID: "bad", Fence: 1, Verdict: conveyor.VerdictFailed, Failure: "for good"},
		{UUID: "held", Fence: 1, Verdict: conveyor.VerdictHold, Failure: "look at it"},
		{UUID: "back", Fence: 1, Verdict: conveyor.VerdictBack},
		{UUID: "wait", Fence: 1, Verdict: conveyor.VerdictDefer, Delay: time.Second},
		{UUID: "rare", Fence: 1, Verdict: conveyor.VerdictNoHandler, Delay: time.Second},
		{UUID: "stop", Fence: 1, Verdict: conveyor.VerdictRetry},
		{UUID: "single", Fence: 1}, {UUID: "never", Fence: 3}, {UUID: "lone", Fence: 1},
	}
	f.give(conveyor.ExchangeRequest{Worker: "w", Want: 3, Done: done})
	f.see("parent", "other", "bad", "held", "back", "wait", "rare", "stop", "made", "dropped", "failure", "orphan")
	f.do("retry", func() error { return f.c.Retry(ctx, "bad") })
	f.do("release", func() error { return f.c.Release(ctx, "held") })
	f.pass(2 * time.Second)
	f.finish()
	f.see("heir", "child1", "child2", "made", "parent", "bad", "strict", "later")
}

// finish runs whatever is ready, as worker w, until nothing is.
func (f *faulty) finish() {
	f.Helper()
	var done []conveyor.Ack
	for round := 0; round < 2 || len(done) > 0; round++ {
		r := f.give(conveyor.ExchangeRequest{Worker: "w", Want: 20, Done: done})
		done = nil
		for _, r := range r {
			done = append(done, ack(r, conveyor.VerdictDone))
		}
		sortAcks(done)
		f.pass(time.Second)
	}
}

// plan does what an apply does: guarded batches with companion writes, successors, withdrawals and reopenings.
func (f *faulty) plan() {
	ctx := f.Context()
	f.ok(f.rdb.HSet(ctx, f.key("lock:x"), "fence", "7").Err())
	guard := &conveyor.Guard{Key: "lock:x", Field: "fence", Want: "7"}
	record := func(uuid string, version int64, value string) *conveyor.Attach {
		a := &conveyor.Attach{Key: "state:x", Field: uuid, Version: version}
		if value != "" {
			a.Value = []byte(value)
		}
		return a
	}
	apply := func(name string, companions []conveyor.Attach, changes ...conveyor.Change) {
		f.Helper()
		f.do(name, func() error {
			return f.c.Apply(ctx, conveyor.Batch{Guard: guard, Companions: companions, Changes: changes})
		})
	}
	apply("apply: add", []conveyor.Attach{{Key: "meta:x", Field: "serial", Value: []byte("1 a")}},
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("p"), Attach: record("p", 0, "1 p")},
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("a", under("p")), Attach: record("a", 0, "1 a")},
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("b", after(0, "p")), Attach: record("b", 0, "1 b")},
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("c", runAt(f.now+1e9)), Attach: record("c", 0, "1 c")})
	apply("apply: change", []conveyor.Attach{{Key: "meta:x", Field: "serial", Version: 1, Value: []byte("2 b")}},
		conveyor.Change{Kind: conveyor.ChangeUpdate, Job: job("b", after(0, "p"), lane(0)), Attach: record("b", 1, "2 b"),
			Expect: []conveyor.State{conveyor.StateHeld}},
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("a2", under("p")), Replaces: "a", CancelReplaced: true, Attach: record("a", 1, "2 a2")},
		conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "c", Withdraw: true, Attach: record("c", 1, "")})
	apply("apply: a companion write alone", nil, conveyor.Change{Kind: conveyor.ChangeAttach, UUID: "p", Attach: record("p", 1, "2 p")})
	f.finish()
	f.see("p", "a", "a2", "b", "c")
	apply("apply: a child of a job that is over", nil,
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("a3", edge(&wire.Edge{Kind: wire.Edge_PARENT, Uuid: "p", Opening: 2})), Attach: record("a3", 0, "1 a3")},
		conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2})
	f.see("p", "a3")
	f.finish()
	apply("apply: let go", nil, conveyor.Change{Kind: conveyor.ChangeRelease, UUID: "b", Attach: record("b", 2, "")},
		conveyor.Change{Kind: conveyor.ChangeCancel, UUID: "p", Withdraw: true, Attach: record("p", 2, "")})
	f.see("p", "a3", "b")
}

// deaths loses leases in each way and hands back in order.
func (f *faulty) deaths() {
	ctx := f.Context()
	f.do("add", func() error { return f.c.AddMany(ctx, []*wire.Job{job("d1"), job("d2"), job("d3"), job("d4")}) })
	f.give(conveyor.ExchangeRequest{Worker: "dead", Want: 1})
	f.give(conveyor.ExchangeRequest{Caller: "cli", Lease: time.Second, Want: 1})
	f.give(conveyor.ExchangeRequest{Caller: "cli", Done: []conveyor.Ack{{UUID: "d2", Fence: 1, Verdict: conveyor.VerdictExtend, Delay: 1500 * time.Millisecond}}})
	f.give(conveyor.ExchangeRequest{Worker: "tired", Want: 1})
	f.do("leave", func() error { return f.c.Leave(ctx, "tired") })
	f.pass(2 * time.Second)
	f.tick()
	f.see("d1", "d2", "d3")
	f.pass(conveyor.DeadAfter)
	f.tick()
	f.see("d1", "d2", "d3")
	f.give(conveyor.ExchangeRequest{Worker: "dead", Done: []conveyor.Ack{{UUID: "d1", Fence: 1}}}) // late
	f.finish()
	f.see("d1", "d2", "d3", "d4")
}

// queues is what people and plain producers do with queues.
func (f *faulty) queues() {
	ctx := f.Context()
	f.do("pause", func() error { return f.c.PauseQueue(ctx, "p") })
	f.do("declare", func() error {
		return f.c.SetQueue(ctx, "p", conveyor.QueueSettings{Concurrency: 2}, conveyor.DeclaredBy("x"))
	})
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{job("m0", queue("p")), job("m1", queue("p"), lane(2)), job("m2", queue("p"))})
	})
	f.do("purge", func() error { _, err := f.c.PurgeQueue(ctx, "p"); return err })
	f.see("m0", "m1", "m2")
	f.do("resume", func() error { return f.c.ResumeQueue(ctx, "p") })
	f.do("declare no more", func() error { return f.c.DeleteQueueSettings(ctx, "p", conveyor.DeclaredBy("x")) })

	mq, err := f.c.MessageQueue("p", conveyor.MessageQueueOptions{ReserveFor: time.Second})
	f.ok(err)
	reserve := func() (r *conveyor.Reservation) {
		f.Helper()
		f.ask("reserve", func() (_ any, err error) {
			if r, err = mq.Reserve(ctx); err != nil || r == nil {
				return "nothing", err
			}
			return fmt.Sprint(r.Job.Uuid, r.Fence), nil
		})
		return r
	}
	for _, task := range []*wire.Job{job("t1", lane(0)), job("t2", lane(1)), job("t3", lane(1))} {
		f.do("push", func() error { _, err := mq.Push(ctx, task); return err })
	}
	first, second := reserve(), reserve()
	f.do("delete", func() error { return mq.Delete(ctx, second) })
	f.pass(time.Second) // the first one's timeout
	f.do("tick", func() error { _, err := f.c.Tick(ctx); return err })
	f.ask("delete", func() (any, error) {
		err := mq.Delete(ctx, first)
		if errors.Is(err, conveyor.ErrNotReserved) {
			return err, nil
		}
		return "", err
	})
	for range 2 {
		r := reserve()
		f.do("delete", func() error { return mq.Delete(ctx, r) })
	}
	reserve()
	f.see("t1", "t2", "t3")
}

// keys has jobs hold unique keys and be refused for them.
func (f *faulty) keys() {
	ctx := f.Context()
	unique := func(j *wire.Job) { j.Unique = "k" }
	f.do("add", func() error { return f.c.Add(ctx, job("u1", unique)) })
	f.ask("add another", func() (any, error) {
		err := f.c.Add(ctx, job("u2", unique))
		if errors.Is(err, conveyor.ErrUnique) {
			return err, nil
		}
		return nil, err
	})
	f.do("add another inside a graph", func() error { return f.c.Add(ctx, job("u3", unique, after(0, "u1"))) })
	f.see("u1", "u2", "u3")
	f.give(conveyor.ExchangeRequest{Worker: "w", Want: 1})
	f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{{UUID: "u1", Fence: 1, Verdict: conveyor.VerdictFailed}}})
	f.do("retry takes it again", func() error { return f.c.Retry(ctx, "u1") })
	f.finish()
	f.see("u1", "u3")
}

// limits are jobs with labels, with limits to their waiting and their keeping, and messages about them.
func (f *faulty) limits() {
	ctx := f.Context()
	f.do("add", func() error {
		return f.c.AddMany(ctx, []*wire.Job{
			job("l1", func(j *wire.Job) { j.Labels, j.RemoveAfter = map[string]string{"a": "b"}, durationpb.New(time.Minute) }),
			job("l2", func(j *wire.Job) {
				j.Labels, j.Queue, j.Retention = map[string]string{"a": "b"}, "nobody", durationpb.New(time.Minute)
			}),
		})
	})
	f.do("broadcast", func() error { return f.c.Broadcast(ctx, "l1", "news", []byte("data")) })
	f.give(conveyor.ExchangeRequest{Worker: "w", Want: 1})
	f.give(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{{UUID: "l1", Fence: 1}}})
	f.see("l1", "l2")
	f.pass(time.Minute)
	f.do("tick", func() error { _, err := f.c.Tick(ctx); return err })
	f.see("l1", "l2")
	f.do("remove", func() error { return f.c.Remove(ctx, "l2") })
	f.see("l2")
}

// repairs mends what is broken on purpose.
func (f *faulty) repairs() {
	ctx := f.Context()
	f.do("add", func() error { return f.c.AddMany(ctx, []*wire.Job{job("r1", queue("r")), job("r2", queue("r"))}) })
	f.ok(f.rdb.RPop(ctx, f.key("queue:r")).Err()) // the ticket of r1
	f.ok(f.rdb.Set(ctx, f.key("queue:other"), "text", 0).Err())
	violations, err := f.Verify(ctx)
	f.ok(err)
	if len(violations) == 0 {
		f.Fatal("nothing is broken")
	}
	f.do("repair", func() error { _, err := f.c.Repair(ctx, violations); return err })
	f.see("r1", "r2")
	f.do("purge", func() error { _, err := f.c.PurgeQueue(ctx, "r"); return err })
}

// leaves has the worker go and takes away what is set, and then what is over.
func (f *faulty) leaves() {
	ctx := f.Context()
	f.do("leave", func() error { return f.c.Leave(ctx, "w") })
	f.do("forget the queue's settings", func() error { return f.c.DeleteQueueSettings(ctx, "q") })
	f.pass(conveyor.Retention)
	for range 3 {
		f.do("sweep", func() error { _, err := f.c.Tick(ctx); return err })
	}
}
