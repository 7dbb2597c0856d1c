package applier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// watched starts a watch, and wants it to end well with the test.
func (l *lab) watched(o WatchOptions) *sight {
	l.Helper()
	s := newSight(l.T)
	o.turn = quick
	c := l.another().Client
	ctx, cancel := context.WithCancel(l.Context())
	done := make(chan error, 1)
	go func() { done <- Watch(ctx, c, o, s) }()
	l.Cleanup(func() {
		cancel()
		l.ok(<-done)
	})
	return s
}

// workflowNamed declares another workflow beside the lab's own.
func (l *lab) workflowNamed(name string, jobs ...*config.Job) *lab {
	other := &lab{T: l.T, Client: l.Client, store: l.store, run: Run{Detach: true}, number: l.number}
	other.declare(jobs...)
	other.workflow.Name = name
	return other
}

// TestWatchNamespace sees two workflows side by side, and what becomes of them.
func TestWatchNamespace(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		v := l.workflowNamed("v", l.job("x"))
		v.apply()
		l.ok(l.Add(l.Context(), &wire.Job{Uuid: "loose", Name: "job.loose", Type: "noop", Queue: "q"}))

		s := l.watched(WatchOptions{})
		s.untilStates("w", "a=queued b=held")
		s.untilStates("v", "x=queued")
		s.until("a job of nobody", func() bool { return s.listed[""].Jobs == 1 && len(s.loose.Jobs) == 1 })
		s.until("queue q", func() bool { return s.queues["q"].Info.Depth[1] == 3 })
		if n := s.listed["w"].Counts; n[conveyor.StateQueued] != 1 || n[conveyor.StateHeld] != 1 {
			l.Errorf("w is counted as %v", n)
		}

		l.work()
		s.untilStates("w", "a=completed b=completed")
		s.untilStates("v", "x=completed")
		s.until("four starts and ends", func() bool { return s.queues["q"].Started == 4 && s.queues["q"].Ended == 4 })
		s.until("counts", func() bool { return s.listed["w"].Counts[conveyor.StateCompleted] == 2 })

		l.declare(l.job("a", payload("other")), l.job("c", l.under("a")))
		l.apply()
		s.untilStates("w", "a=queued c=held")
		v.destroy()
		s.until("v is gone", func() bool { _, listed := s.listed["v"]; return !listed })
		v.workflow.Jobs = []*config.Job{l.job("y")}
		v.apply()
		s.untilStates("v", "y=queued")
		v.number = l.number
		v.work()
		s.untilStates("v", "y=completed")
		s.untilStates("w", "a=completed c=completed")
	})
}

// TestWatchRenamed carries a workflow over to another name while it is watched: who watches learns which one has its jobs now.
func TestWatchRenamed(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.under("a")))
		l.apply()
		s := l.watched(WatchOptions{})
		s.untilStates("w", "a=queued b=held")
		l.named("next", "w")
		l.apply()
		s.untilStates("next", "a=queued b=held")
		s.until("the name that is gone", func() bool {
			_, listed := s.listed["w"]
			return !listed && s.listed["next"].Former == "w"
		})
	})
}

// TestWatchOne is about one workflow, whatever others there are.
func TestWatchOne(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		l.workflowNamed("v", l.job("x")).apply()
		s := l.watched(WatchOptions{Workflow: "w"})
		s.untilStates("w", "a=queued")
		l.work()
		s.untilStates("w", "a=completed")
		s.until("counts", func() bool { return s.listed["w"].Counts[conveyor.StateCompleted] == 1 })
		if len(s.listed) != 1 || len(s.jobs) != 1 {
			l.Errorf("listed are %v, followed %v", s.listed, s.jobs)
		}
	})
}

// TestWatchFleet sees queues that are paused, and workers that come, work and die.
func TestWatchFleet(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		s := l.watched(WatchOptions{})
		s.untilStates("w", "a=queued")
		l.ok(l.PauseQueue(l.Context(), "q"))
		s.until("a pause by hand", func() bool { return s.queues["q"].Info.ByHand })
		l.ok(l.ResumeQueue(l.Context(), "q"))
		s.until("its end", func() bool { return !s.queues["q"].Info.Paused() })

		beat := func() {
			_, err := l.Beat(l.Context(), conveyor.WorkerInfo{ID: "w1", Host: "h", Queues: []string{"q"}, Types: []string{"noop"}, Capacity: 3})
			l.ok(err)
		}
		beat()
		s.until("a worker", func() bool { return s.workers["w1"].Alive && s.workers["w1"].Capacity == 3 })
		reply, err := l.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "w1", Number: 1, Worker: "w1", Queues: []string{"q"}, Want: 1})
		l.ok(err)
		s.until("its load", func() bool { return s.workers["w1"].Load == 1 && s.queues["q"].Info.Running == 1 })
		l.ok(l.SetProgress(l.Context(), reply.Reserved[0].Job.Uuid, reply.Reserved[0].Fence, conveyor.Progress{Done: 1, Total: 2}))
		s.until("progress", func() bool { return s.progress["job.a"].Done == 1 })
		late := l.watched(WatchOptions{})
		late.until("progress that was made before", func() bool { return late.progress["job.a"].Done == 1 })

		l.ok(l.Redis().Set(l.Context(), l.Prefix()+"clock", "+7000", 0).Err())
		s.until("its silence", func() bool { w, there := s.workers["w1"]; return there && !w.Alive })
		_, err = l.Tick(l.Context())
		l.ok(err)
		s.until("it is gone", func() bool { _, there := s.workers["w1"]; return !there })
		s.untilStates("w", "a=queued")
		l.work()
	})
}

// TestWatchTellsAll compares what was told with the engine's event log: no change is left out, and none is told twice.
func TestWatchTellsAll(t *testing.T) {
	onBoth(t, func(l *lab) {
		var jobs []*config.Job
		for i := range 40 {
			jobs = append(jobs, l.job(numbered("a", i)), l.job(numbered("b", i), l.after(numbered("a", i))))
		}
		l.declare(jobs...)
		l.apply()
		s := l.watched(WatchOptions{})
		s.until("w", func() bool { return len(s.jobs["w"]) == 80 })
		from, err := l.LastEvent(l.Context())
		l.ok(err)
		for {
			running := l.start(7)
			if len(running) == 0 {
				break
			}
			l.number++
			_, err := l.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "lab", Number: l.number, Done: []conveyor.Ack{
				{UUID: running[0].Job.Uuid, Fence: running[0].Fence, Verdict: conveyor.VerdictFailed, Failure: "boom"}}})
			l.ok(err)
			l.end(conveyor.VerdictDone, running[1:]...)
			_, err = l.Tick(l.Context())
			l.ok(err)
		}
		state := l.state()
		s.until("the end", func() bool {
			for _, status := range s.jobs["w"] {
				if !status.State.Ended() {
					return false
				}
			}
			return true
		})
		names := map[string]string{}
		for address, r := range state.Records {
			names[r.UUID.String()] = address
		}
		var want, got []string
		for {
			batch, err := l.Events(l.Context(), from, 0)
			l.ok(err)
			if len(batch.Events) == 0 {
				break
			}
			from = batch.Seq
			for _, e := range batch.Events {
				for i, j := range e.Jobs {
					want = append(want, fmt.Sprintf("%d.%d %s %s", e.Seq, i+1, names[j.UUID], j.State))
				}
			}
		}
		for _, c := range s.changes {
			got = append(got, fmt.Sprintf("%d.%d %s %s", c.Seq, c.Part, c.Addr, c.Status.State))
			if c.Status.State == conveyor.StateFailed && c.Failure != "boom" {
				l.Errorf("%s failed without a text", c.Addr)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			l.Errorf("told (-in the log +told):\n%s", diff)
		}
	})
}

// stepped is a watch that the test moves on.
func (l *lab) stepped() (*watcher, *sight) {
	s := newSight(l.T)
	mail := newMailbox(s)
	l.Cleanup(mail.close)
	w := newWatcher(l.Client, WatchOptions{turn: quick}, mail)
	l.ok(w.step(l.Context()))
	return w, s
}

// stepUntil moves a watch on until that much is seen.
func (l *lab) stepUntil(w *watcher, s *sight, what string, seen func() bool) {
	l.Helper()
	for range 1000 {
		if s.all(); seen() {
			return
		}
		l.ok(w.step(l.Context()))
	}
	l.Fatalf("not seen: %s", what)
}

// TestWatchGap cuts the event log under a watch, and empties the namespace: it goes on from how everything stands.
func TestWatchGap(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		w, s := l.stepped()
		l.work()
		l.ok(l.Add(l.Context(), &wire.Job{Uuid: "loose", Name: "job.loose", Type: "noop", Queue: "q"}))
		l.ok(l.Redis().XTrimMaxLen(l.Context(), l.Prefix()+"events", 1).Err())
		l.stepUntil(w, s, "the end of the jobs", func() bool { return s.states("w") == "a=completed b=completed" && s.loose.Total == 1 })

		keys, err := l.Redis().Keys(l.Context(), l.Prefix()+"*").Result()
		l.ok(err)
		l.ok(l.Redis().Del(l.Context(), keys...).Err())
		l.stepUntil(w, s, "an empty namespace", func() bool { return len(s.listed) == 0 && s.loose.Total == 0 })
		l.declare(l.job("c"))
		l.apply()
		l.stepUntil(w, s, "another life", func() bool { return s.states("w") == "c=queued" })
		if want := []string{"Events were missed", "Events were missed"}; !slices.Equal(s.warnings, want) {
			l.Errorf("warned of %q, want %q", s.warnings, want)
		}
		l.work()
	})
}

// TestWatchUnreadable has a workflow whose state is damaged: it is told so, the others go on, and it comes back.
func TestWatchUnreadable(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		l.workflowNamed("v", l.job("x")).apply()
		l.ok(l.Redis().HSet(l.Context(), l.Prefix()+stateKey("v"), "job.y", "1 junk").Err())
		w, s := l.stepped()
		l.stepUntil(w, s, "the problem", func() bool { return strings.Contains(s.listed["v"].Problem, "job.y") })
		l.work()
		l.stepUntil(w, s, "the other workflow", func() bool { return s.states("w") == "a=completed" })
		l.stepUntil(w, s, "its job among those of nobody", func() bool { return s.loose.Total == 1 && s.loose.Jobs[0].State == conveyor.StateCompleted })
		l.ok(l.Redis().HDel(l.Context(), l.Prefix()+stateKey("v"), "job.y").Err())
		w.flows["v"].readAt = w.began.Add(-problemEvery)
		l.stepUntil(w, s, "its recovery", func() bool {
			return s.states("v") == "x=completed" && s.listed["v"].Problem == "" && s.loose.Total == 0
		})
	})
}

// TestWatchLocked sees who applies.
func TestWatchLocked(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		w, s := l.stepped()
		_, held, err := acquireLock(l.Context(), l.Client, lockRequest{workflow: "w", who: "somebody@host", operation: "apply"})
		l.ok(err)
		l.stepUntil(w, s, "the holder", func() bool { h := s.listed["w"].Lock; return h != nil && h.Who == "somebody@host" })
		l.ok(held.release(l.Context()))
		l.stepUntil(w, s, "its end", func() bool { return s.listed["w"].Lock == nil })
		l.work()
	})
}

// TestWatchSearches finds a workflow that was applied before there was a list of them.
func TestWatchSearches(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		l.ok(l.Redis().Del(l.Context(), l.Prefix()+workflowsKey).Err())
		w, s := l.stepped()
		l.stepUntil(w, s, "the workflow", func() bool { return s.states("w") == "a=queued" })
		l.declare(l.job("a"), l.job("b"))
		l.apply()
		l.stepUntil(w, s, "its change", func() bool { return s.states("w") == "a=queued b=queued" })
		l.work()
	})
}

// TestWatchThroughOutage kills the server under a watch and starts it again: it goes on.
func TestWatchThroughOutage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	l := &lab{T: t, Client: newClient(t, server.Client(t)), run: Run{Detach: true}}
	l.declare(l.job("a"))
	l.apply()
	s := newSight(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Watch(ctx, l.Client, WatchOptions{turn: quick}, s) }()
	s.untilStates("w", "a=queued")
	server.Kill()
	server.Restart(t)
	l.work()
	s.untilStates("w", "a=completed")
	cancel()
	l.ok(<-done)
}

// commands counts what a client sends.
type commands struct{ sent, pipelines atomic.Int64 }

func (c *commands) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.sent.Add(1)
		c.pipelines.Add(1)
		return next(ctx, cmd)
	}
}

func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.sent.Add(int64(len(cmds)))
		c.pipelines.Add(1)
		return next(ctx, cmds)
	}
}

// TestWatchCosts bounds what a watch asks of the store: 10,000 jobs in 20 workflows are read with few commands, and an idle
// namespace with a handful in each turn.
func TestWatchCosts(t *testing.T) {
	onBoth(t, func(l *lab) {
		const workflows, jobs = 20, 500
		for i := range workflows {
			var declared []*config.Job
			for j := range jobs {
				declared = append(declared, l.job(numbered("j", j)))
			}
			l.workflowNamed(fmt.Sprintf("w%02d", i), declared...).apply()
		}
		c := l.another().Client
		count := &commands{}
		c.Redis().AddHook(count)
		s := newSight(t)
		mail := newMailbox(s)
		w := newWatcher(c, WatchOptions{}, mail)
		l.ok(w.step(l.Context()))
		// The statuses by the thousand, three hashes of each workflow, and some for clocks, queues, workers and locks.
		if n, most := count.sent.Load(), int64(workflows*jobs/1000*3+3*workflows+40); n > most {
			l.Errorf("%d commands to begin with, want at most %d", n, most)
		}
		l.Logf("%d commands, %d round trips to begin with", count.sent.Load(), count.pipelines.Load())
		count.sent.Store(0)
		count.pipelines.Store(0)
		const steps = 4 // of two seconds each
		for range steps {
			l.ok(w.step(l.Context()))
		}
		l.Logf("%d commands, %d round trips in %d idle turns", count.sent.Load(), count.pipelines.Load(), idleWait*steps)
		if n := count.sent.Load(); n > 5*idleWait*steps {
			l.Errorf("%d commands in %d idle turns", n, idleWait*steps)
		}
		mail.close()
		s.all()
		if len(s.listed) != workflows || len(s.jobs["w07"]) != jobs || s.queues["q"].Info.Depth[1] != workflows*jobs {
			l.Errorf("%d workflows are listed, one has %d jobs, the queue %v", len(s.listed), len(s.jobs["w07"]), s.queues["q"].Info.Depth)
		}
	})
}
