package conveyor_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// crew is a worker on an engine whose handler reports each start and then waits to be let go or told to stop.
type crew struct {
	*conveyor.Worker
	started chan string
	proceed chan struct{}
	stop    func() // tells it to drain
	ended   chan error
}

// hire starts a worker of type "noop". Jobs whose uuid begins with "quick" end at once.
func (e *engine) hire(o conveyor.WorkerOptions) *crew {
	e.Helper()
	if o.Queues == nil {
		o.Queues = []conveyor.QueueShare{{Name: "q"}}
	}
	w, err := conveyor.NewWorker(e.Client, o)
	e.ok(err)
	c := &crew{w, make(chan string, 1000), make(chan struct{}), nil, make(chan error, 1)}
	w.HandleRaw("noop", func(ctx context.Context, j *wire.Job) error {
		c.started <- j.GetUuid()
		if strings.HasPrefix(j.GetUuid(), "quick") {
			return nil
		}
		select {
		case <-c.proceed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(e.Context()))
	c.stop = stop
	go func() { c.ended <- w.Run(ctx) }()
	e.Cleanup(stop)
	return c
}

// starts wants these jobs to start next, in whatever order, as those of one reservation are concurrent.
func (c *crew) starts(e *engine, want ...string) {
	e.Helper()
	got := []string{}
	for range want {
		got = append(got, <-c.started)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		e.Fatalf("started (-want +got):\n%s", diff)
	}
}

func TestTeam(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D5a a worker registers id, team, capacity, host, queues", func(e *engine) {
			began := time.Now().Truncate(time.Millisecond)
			c := e.hire(conveyor.WorkerOptions{ID: "w1", Team: "night", Concurrency: 7, Queues: []conveyor.QueueShare{{Name: "b", Weight: 2}, {Name: "q"}}})
			e.add(job("quick"))
			c.starts(e, "quick")
			all, err := e.Workers(e.Context())
			e.ok(err)
			if len(all) != 1 || all[0].Started.Before(began) {
				e.Fatalf("workers %+v", all)
			}
			host, err := os.Hostname()
			e.ok(err)
			got := all[0]
			got.Started, got.Load = time.Time{}, 0
			want := conveyor.WorkerInfo{ID: "w1", Host: host, PID: os.Getpid(), Team: "night", Queues: []string{"b", "q"}, Types: []string{"noop"},
				Capacity: 7, LastBeat: time.UnixMilli(e.now), Alive: true}
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("worker (-want +got):\n%s", diff)
			}
			_, err = e.Wait(e.Context(), "quick")
			e.ok(err)
			c.stop()
			e.ok(<-c.ended)
			e.workers()
		})
		e.Behaviour("D5b a check-in renews load and running jobs", func(e *engine) {
			info := conveyor.WorkerInfo{ID: "w", Queues: []string{"q"}, Capacity: 10}
			_, err := e.Beat(e.Context(), info)
			e.ok(err)
			e.add(job("a"), job("b"))
			rs := e.reserves("a", "b")
			for range 3 { // each is in time, all together are not
				e.pass(conveyor.DeadAfter - time.Millisecond)
				info.Running = []conveyor.Holding{{UUID: "a", Fence: 1}, {UUID: "b", Fence: 1}}
				_, err := e.Beat(e.Context(), info)
				e.ok(err)
				e.tick()
			}
			e.states("a running, b running")
			info.Running, info.Alive = nil, true
			info.Load, info.LastBeat = 2, time.UnixMilli(e.now)
			e.workers(info)
			e.end(rs[0], conveyor.VerdictDone)
			e.pass(conveyor.BeatEvery)
			_, err = e.Beat(e.Context(), conveyor.WorkerInfo{ID: "w", Queues: []string{"q"}, Capacity: 10})
			e.ok(err)
			info.Load, info.LastBeat = 1, time.UnixMilli(e.now)
			e.workers(info)
			e.pass(conveyor.DeadAfter)
			e.tick()
			e.workers()
			e.states("a completed, b queued")
		})
		e.Behaviour("D5e pulls at once, up to its capacity", func(e *engine) {
			var want []string
			for i := range 12 {
				want = append(want, fmt.Sprintf("j%02d", i))
				e.add(job(want[i]))
			}
			c := e.hire(conveyor.WorkerOptions{Concurrency: 5})
			c.starts(e, want[:5]...)
			if q := e.info("q"); q.Running != 5 || q.Depth != [3]int64{0, 7, 0} {
				e.Errorf("%+v", q)
			}
			for i := range 7 { // whoever ends makes room for the next, and only for that
				c.proceed <- struct{}{}
				c.starts(e, want[5+i])
				if q := e.info("q"); q.Running != 5 {
					e.Errorf("%d run", q.Running)
				}
			}
			close(c.proceed)
			_, err := e.Wait(e.Context(), want...)
			e.ok(err)
			e.add(job("quick")) // to one that is idle
			c.starts(e, "quick")
			_, err = e.Wait(e.Context(), "quick")
			e.ok(err)
			c.stop()
			e.ok(<-c.ended)
		})
		e.Run("cancelling reaches a running job", func(e *engine) {
			e = &engine{e.tb, newEngine(e, e.rdb).world}
			c := e.hire(conveyor.WorkerOptions{Concurrency: 2})
			e.add(job("a"), job("b"))
			c.starts(e, "a", "b")
			e.ok(e.Cancel(e.Context(), "a"))
			_, err := e.Wait(e.Context(), "a")
			e.ok(err)
			e.states("a cancelled, b running")
			close(c.proceed)
			_, err = e.Wait(e.Context(), "b")
			e.ok(err)
			c.stop()
			e.ok(<-c.ended)
			e.states("a cancelled, b completed")
			e.sound()
		})
	})
}

func TestPriorities(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D7b priorities by name", func(e *engine) {
			for i, text := range []string{"low", "HIGH", "normal", "2", "0", "1", "High"} {
				p, err := conveyor.ParsePriority(text)
				e.ok(err)
				e.add(job(fmt.Sprintf("%d-%s", i, conveyor.PriorityName(p)), lane(p)))
			}
			rs := e.reserves("1-high", "3-high", "6-high", "2-normal", "5-normal", "0-low", "4-low")
			for _, r := range rs {
				e.end(r, conveyor.VerdictDone)
			}
			for _, text := range []string{"", "3", "-1", "01", "urgent", " low"} {
				_, err := conveyor.ParsePriority(text)
				e.refused(err, conveyor.ErrPriority)
			}
			if got := conveyor.PriorityName(7); got != "7" {
				e.Errorf("priority 7 is called %q", got)
			}
		})
		e.Behaviour("D7c higher first, FIFO inside, numerically", func(e *engine) {
			want := map[int32][]string{}
			for i := range 33 { // 9 comes before 10, which comes before 11
				p := int32(i * 7 % 3)
				uuid := fmt.Sprintf("%d", i)
				want[p] = append(want[p], uuid)
				e.add(job(uuid, lane(p)))
			}
			back := e.take(want[2][0])
			e.end(back, conveyor.VerdictBack) // its place is kept
			rs := e.reserves(slices.Concat(want[2], want[1], want[0])...)
			for _, r := range rs {
				e.end(r, conveyor.VerdictDone)
			}
		})
	})
}

func TestDrain(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D8a drain stops pulling", func(e *engine) {
			c := e.hire(conveyor.WorkerOptions{Concurrency: 2})
			e.add(job("a"), job("b"), job("c"), job("d"))
			c.starts(e, "a", "b")
			c.stop()
			close(c.proceed)
			e.ok(<-c.ended)
			e.states("a completed, b completed, c queued, d queued")
			e.workers()
		})
		e.Behaviour("D8b running jobs until the deadline", func(e *engine) {
			c := e.hire(conveyor.WorkerOptions{Concurrency: 2, ShutdownTimeout: time.Hour})
			e.add(job("intime"))
			c.starts(e, "intime")
			c.stop()
			c.proceed <- struct{}{}
			e.ok(<-c.ended)
			e.states("intime completed")
			c = e.hire(conveyor.WorkerOptions{Concurrency: 2, ShutdownTimeout: time.Millisecond})
			e.add(job("late"))
			c.starts(e, "late")
			c.stop()
			e.ok(<-c.ended) // nobody let it go: its context has ended
			e.states("late queued")
		})
		e.Behaviour("D8c the rest handed back, a sibling re-runs only what was active, once", func(e *engine) {
			first := e.hire(conveyor.WorkerOptions{Concurrency: 3, ShutdownTimeout: -1})
			e.add(job("quick1"), job("active1"), job("active2"), job("waiting1", lane(0)), job("waiting2", lane(0)))
			first.starts(e, "quick1", "active1", "active2", "waiting1") // three at a time
			_, err := e.Wait(e.Context(), "quick1")
			e.ok(err)
			first.stop()
			e.ok(<-first.ended)
			e.states("quick1 completed, active1 queued, active2 queued, waiting1 queued, waiting2 queued")
			sibling := e.hire(conveyor.WorkerOptions{Concurrency: 1})
			close(sibling.proceed)
			_, err = e.Wait(e.Context(), "active1", "active2", "waiting1", "waiting2")
			e.ok(err)
			sibling.stop()
			e.ok(<-sibling.ended)
			close(sibling.started)
			var ran []string
			for uuid := range sibling.started {
				ran = append(ran, uuid)
			}
			if diff := cmp.Diff([]string{"active1", "active2", "waiting1", "waiting2"}, ran); diff != "" {
				e.Errorf("the sibling ran (-want +got):\n%s", diff)
			}
			for uuid, fence := range map[string]int64{"quick1": 1, "active1": 2, "active2": 2, "waiting1": 2, "waiting2": 1} {
				if s := e.status(uuid); s.State != conveyor.StateCompleted || s.Fence != fence || s.Attempts != 0 || s.Lost != 0 {
					e.Errorf("%+v, want fence %d and nothing spent", s, fence)
				}
			}
		})
	})
}

// TestWeights: a worker with one slot takes from its queues in proportion to their weights while all have jobs.
func TestWeights(t *testing.T) {
	onBoth(t, func(e *engine) {
		const jobs = 40
		for _, q := range []string{"heavy", "light", "none"} {
			for i := range jobs {
				if q != "none" {
					e.add(job(fmt.Sprintf("quick-%s-%d", q, i), queue(q)))
				}
			}
		}
		c := e.hire(conveyor.WorkerOptions{Concurrency: 1, Queues: []conveyor.QueueShare{{Name: "none", Weight: 5}, {Name: "light"}, {Name: "heavy", Weight: 3}}})
		count := map[string]int{}
		for range 24 {
			_, rest, _ := strings.Cut(<-c.started, "-")
			q, _, _ := strings.Cut(rest, "-")
			count[q]++
		}
		// The turns of the empty queue go to whoever comes next in the order of that turn.
		if count["heavy"] < 2*count["light"] || count["light"] == 0 {
			e.Errorf("%v, want about three heavy ones for each light one", count)
		}
		c.stop()
		e.ok(<-c.ended)
	})
}

// TestSlots kills a worker after each of its calls, and hands back and reserves in every way: a slot of a limited queue is
// taken exactly as long as its job runs.
func TestSlots(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Concurrency: 3, Fair: true}))
		verdicts := []conveyor.Verdict{conveyor.VerdictDone, conveyor.VerdictRetry, conveyor.VerdictFailed, conveyor.VerdictHold,
			conveyor.VerdictBack, conveyor.VerdictNoHandler, conveyor.VerdictDefer}
		for calls := range 10 {
			for i := range 9 {
				e.add(job(fmt.Sprintf("c%d-%d", calls, i), lane(int32(i%3))))
			}
			r := conveyor.ExchangeRequest{Worker: fmt.Sprintf("w%d", calls), Queues: []string{"q"}, Want: 2}
			if calls%3 == 2 {
				r.Caller, r.Worker, r.Lease = r.Worker, "", time.Second
			}
			for range calls {
				r.Number++
				reply, err := e.Exchange(e.Context(), r)
				e.ok(err)
				r.Done = nil
				for i, got := range reply.Reserved {
					v := verdicts[(int(r.Number)+i+calls)%len(verdicts)]
					r.Done = append(r.Done, conveyor.Ack{UUID: got.Job.Uuid, Fence: got.Fence, Verdict: v, Delay: time.Second})
				}
				if q := e.info("q"); q.Running > 3 {
					e.Fatalf("%d run", q.Running)
				}
				e.sound()
			}
			switch calls % 4 { // what it held stays with it, or not
			case 1:
				e.ok(e.Leave(e.Context(), fmt.Sprintf("w%d", calls)))
			case 2:
				e.ok(e.PauseQueue(e.Context(), "q"))
				_, err := e.PurgeQueue(e.Context(), "q")
				e.ok(err)
				e.ok(e.ResumeQueue(e.Context(), "q"))
			}
			e.pass(conveyor.DeadAfter)
			e.tick()
			if q := e.info("q"); q.Running != 0 {
				e.Fatalf("after %d calls and the end of their maker %d slots are taken", calls, q.Running)
			}
		}
		e.add(job("n1", lane(2)), job("n2", lane(2)), job("n3", lane(2)), job("n4", lane(2)))
		if rs := e.reserve(9); len(rs) != 3 {
			e.Errorf("reserved %v, want as many as there are slots", names(rs))
		}
	})
}

// TestPauseUnderWorkers pauses and resumes a queue while workers are at it: what runs goes on, nothing starts, and nothing is
// lost or run twice.
func TestPauseUnderWorkers(t *testing.T) {
	onBoth(t, func(e *engine) {
		const jobs = 60
		var uuids []string
		for i := range jobs {
			uuids = append(uuids, fmt.Sprintf("j%d", i))
			e.add(job(uuids[i]))
		}
		crews := []*crew{e.hire(conveyor.WorkerOptions{Concurrency: 3}), e.hire(conveyor.WorkerOptions{Concurrency: 2})}
		ran := map[string]int{}
		var mu sync.Mutex
		note := func(c *crew) {
			for uuid := range c.started {
				mu.Lock()
				ran[uuid]++
				mu.Unlock()
			}
		}
		var noting sync.WaitGroup
		for _, c := range crews {
			noting.Go(func() { note(c) })
		}
		for range 4 {
			e.ok(e.PauseQueue(e.Context(), "q"))
			before := e.info("q")
			for range before.Running { // all that run end, and nobody takes their places
				select {
				case crews[0].proceed <- struct{}{}:
				case crews[1].proceed <- struct{}{}:
				}
			}
			for e.info("q").Running > 0 {
				e.tick()
			}
			if after := e.info("q"); after.Depth != before.Depth {
				e.Errorf("queued %v, before %v", after.Depth, before.Depth)
			}
			e.ok(e.ResumeQueue(e.Context(), "q"))
			for e.info("q").Running == 0 {
				e.tick()
			}
		}
		for _, c := range crews {
			close(c.proceed)
		}
		_, err := e.Wait(e.Context(), uuids...)
		e.ok(err)
		for _, c := range crews {
			c.stop()
			e.ok(<-c.ended)
			close(c.started)
		}
		noting.Wait()
		for _, uuid := range uuids {
			if ran[uuid] != 1 {
				e.Errorf("%s ran %d times", uuid, ran[uuid])
			}
		}
	})
}
