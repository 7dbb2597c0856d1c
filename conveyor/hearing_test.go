package conveyor_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// process is another Client of the namespace, as another process has it.
func (e *engine) process() *conveyor.Client {
	e.Helper()
	c, err := conveyor.NewClient(e.rdb, conveyor.Options{Namespace: e.Namespace()})
	e.ok(err)
	return c
}

// work runs a worker of one queue until stop, with a handler for jobs of type "noop".
func (e *engine) work(c *conveyor.Client, queue string, handler conveyor.Handler) (stop func()) {
	e.Helper()
	return e.workWith(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: queue}}}, handler)
}

// workWith is work with other options.
func (e *engine) workWith(c *conveyor.Client, o conveyor.WorkerOptions, handler conveyor.Handler) (stop func()) {
	e.Helper()
	w, err := conveyor.NewWorker(c, o)
	e.ok(err)
	w.HandleRaw("noop", handler)
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-done; err != nil {
				e.Error(err)
			}
		}
	}
	e.Cleanup(stop)
	return stop
}

// ears are a listener that keeps what it heard.
type ears struct {
	*engine
	heard chan conveyor.Message
	stop  func()
}

func (e *engine) listen(c *conveyor.Client, uuid, event string, scope conveyor.Scope) *ears {
	e.Helper()
	h := &ears{engine: e, heard: make(chan conveyor.Message, 10_000)}
	var err error
	h.stop, err = c.On(e.Context(), uuid, event, scope, func(m conveyor.Message) { h.heard <- m })
	e.ok(err)
	e.Cleanup(h.stop)
	return h
}

// next waits for a message.
func (h *ears) next() conveyor.Message {
	h.Helper()
	select {
	case m := <-h.heard:
		return m
	case <-time.After(30 * time.Second):
		h.Fatal("nothing was heard")
		return conveyor.Message{}
	}
}

// until is the names of what is heard before a message of this name.
func (h *ears) until(name string) []string {
	h.Helper()
	names := []string{}
	for m := h.next(); m.Name != name; m = h.next() {
		names = append(names, m.Name)
	}
	return names
}

// hears wants these messages to be all that is heard until now: a broadcast is the mark.
func (h *ears) hears(uuid string, want ...string) {
	h.Helper()
	h.ok(h.Broadcast(h.Context(), uuid, "mark", nil))
	if diff := cmp.Diff(append([]string{}, want...), h.until("mark")); diff != "" {
		h.Errorf("heard (-want +got):\n%s", diff)
	}
}

// silent wants the listener to hear nothing more, though somebody else does.
func (h *ears) silent(uuid string) {
	h.Helper()
	witness := h.listen(h.Client, uuid, conveyor.AnyEvent, conveyor.Global)
	defer witness.stop()
	witness.hears(uuid)
	if n := len(h.heard); n > 0 {
		h.Errorf("heard %d messages, the first is %+v", n, <-h.heard)
	}
}

func attempt(ctx context.Context) *conveyor.Attempt { return conveyor.FromContext(ctx) }

func TestListeners(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D6a a handler's error or panic never harms the process", func(e *engine) {
			panicking := e.listen(e.Client, "d", conveyor.AnyEvent, conveyor.Global)
			for _, harm := range []func(conveyor.Message){func(conveyor.Message) { panic("listener") }, func(conveyor.Message) { runtime.Goexit() }} {
				unlisten, err := e.On(e.Context(), "d", conveyor.AnyEvent, conveyor.Global, harm)
				e.ok(err)
				e.Cleanup(unlisten)
			}
			stop := e.work(e.Client, "q", func(_ context.Context, j *wire.Job) error {
				switch j.Uuid {
				case "a":
					return errors.New("broken")
				case "b":
					panic("oh")
				case "c":
					runtime.Goexit()
				}
				return nil
			})
			e.add(job("a", attempts(1)), job("b", attempts(1)), job("c", attempts(1)), job("d", after(2, "a", "b", "c")))
			if _, err := e.Wait(e.Context(), "d"); err != nil {
				e.Error(err)
			}
			e.states("a failed, b failed, c failed, d completed")
			panicking.hears("d", "started", "success")
			stop()
		})
		e.Behaviour("D6b local listeners see this process, global ones all", func(e *engine) {
			other := e.process()
			local, global := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Local), e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Global)
			farLocal, farGlobal := e.listen(other, "a", conveyor.AnyEvent, conveyor.Local), e.listen(other, "a", conveyor.AnyEvent, conveyor.Global)
			stop := e.work(e.Client, "q", func(ctx context.Context, _ *wire.Job) error { return attempt(ctx).Emit(ctx, "hello", []byte("data")) })
			e.add(job("a"))
			_, err := e.Wait(e.Context(), "a")
			e.ok(err)
			stop()
			e.ok(e.Broadcast(e.Context(), "a", "mark", nil))
			want := []string{"started", "hello", "success"}
			for name, h := range map[string]*ears{"global": global, "global elsewhere": farGlobal} {
				if diff := cmp.Diff(want, h.until("mark")); diff != "" {
					e.Errorf("%s heard (-want +got):\n%s", name, diff)
				}
			}
			got := local.until("mark") // a message of this process does not wait for the log
			slices.Sort(got)
			if diff := cmp.Diff([]string{"hello", "started", "success"}, got); diff != "" {
				e.Errorf("local heard (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{}, farLocal.until("mark")); diff != "" {
				e.Errorf("local elsewhere heard (-want +got):\n%s", diff)
			}
		})
		e.Behaviour("D6c added inside a handler they are local and end with the attempt", func(e *engine) {
			inside := &ears{engine: e, heard: make(chan conveyor.Message, 100)}
			hear := func(m conveyor.Message) { inside.heard <- m }
			ready, leave := make(chan struct{}), make(chan struct{})
			var late *conveyor.Attempt
			stop := e.work(e.Client, "q", func(ctx context.Context, j *wire.Job) error {
				if j.Uuid == "other" {
					return nil
				}
				late = attempt(ctx)
				_, err := late.On(ctx, "ask", hear)
				_, err2 := e.On(ctx, "other", conveyor.AnyEvent, conveyor.Global, hear)
				close(ready)
				<-leave
				return errors.Join(err, err2)
			})
			e.add(job("a"))
			<-ready
			// A worker elsewhere does the other job: a global listener would hear of it, a local one hears the broadcast only.
			stopOther := e.work(e.process(), "elsewhere", func(ctx context.Context, _ *wire.Job) error { return attempt(ctx).Emit(ctx, "hello", nil) })
			e.add(job("other", queue("elsewhere")))
			_, err := e.Wait(e.Context(), "other")
			e.ok(err)
			stopOther()
			e.ok(e.Broadcast(e.Context(), "other", "to-all", nil))
			e.ok(e.Broadcast(e.Context(), "a", "ask", []byte("how far?")))
			got := []string{inside.next().Name, inside.next().Name} // each listener has a goroutine of its own
			slices.Sort(got)
			if diff := cmp.Diff([]string{"ask", "to-all"}, got); diff != "" {
				e.Errorf("heard (-want +got):\n%s", diff)
			}
			close(leave)
			_, err = e.Wait(e.Context(), "a")
			e.ok(err)
			inside.silent("a")
			e.ok(e.Broadcast(e.Context(), "a", "ask", nil))
			inside.silent("a")
			inside.silent("other")
			if _, err := late.On(e.Context(), "ask", hear); err == nil {
				e.Error("an attempt that is over can still listen")
			}
			stop()
		})
		e.Behaviour("D6d global ones end with retry and removal", func(e *engine) {
			global, only := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Global), e.listen(e.Client, "a", conveyor.EventSuccess, conveyor.Global)
			local := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Local)
			e.add(job("a"))
			e.run("a", conveyor.VerdictBack) // nothing spent: no retry
			e.run("a", conveyor.VerdictRetry)
			for _, want := range []string{"started", "started", "retry"} {
				if m := global.next(); m.Name != want {
					e.Errorf("heard %s, want %s", m.Name, want)
				}
			}
			again := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Global)
			e.run("a", conveyor.VerdictDone)
			again.hears("a", "started", "success") // it lives through the end
			e.ok(e.Remove(e.Context(), "a"))
			if m := again.next(); m.Name != conveyor.EventRemoved || m.Status.State != conveyor.StateUnknown {
				e.Errorf("heard %+v, want the removal", m)
			}
			e.add(job("a"))
			local.hears("a") // this process ran nothing
			for _, h := range []*ears{global, only, again} {
				h.silent("a")
			}
		})
		e.Behaviour("D6e Emit reaches local, then global", func(e *engine) {
			local, global := e.listen(e.Client, "a", "news", conveyor.Local), e.listen(e.process(), "a", "news", conveyor.Global)
			outdated := make(chan error, 1)
			stop := e.work(e.Client, "q", func(ctx context.Context, _ *wire.Job) error {
				a := attempt(ctx)
				if a.Fence() > 1 {
					return a.Emit(ctx, "news", []byte("good"))
				}
				// The store takes the job away, and this process does not know yet: only what needs no store is reached.
				e.ok(e.Leave(ctx, e.status("a").Owner))
				err := a.Emit(context.WithoutCancel(ctx), "news", []byte("late"))
				outdated <- err
				return err
			})
			e.add(job("a"))
			e.refused(<-outdated, conveyor.ErrOutdated)
			_, err := e.Wait(e.Context(), "a")
			e.ok(err)
			stop()
			for _, want := range []string{"late", "good"} {
				if m := local.next(); string(m.Data) != want || m.Seq != 0 {
					e.Errorf("local heard %+v, want %s without the log", m, want)
				}
			}
			if m := global.next(); string(m.Data) != "good" || m.Seq == 0 || m.Fence != 2 || m.Broadcast {
				e.Errorf("global heard %+v, want good", m)
			}
			local.silent("a")
			global.silent("a")
		})
		e.Behaviour("D6f Broadcast reaches every process that listens", func(e *engine) {
			other := e.process()
			var all []*ears
			for _, c := range []*conveyor.Client{e.Client, other} {
				for _, scope := range []conveyor.Scope{conveyor.Local, conveyor.Global} {
					all = append(all, e.listen(c, "a", "news", scope))
				}
			}
			stop := e.work(e.Client, "q", func(ctx context.Context, _ *wire.Job) error {
				return attempt(ctx).Broadcast(ctx, "news", []byte("inside"))
			})
			e.add(job("a"))
			_, err := e.Wait(e.Context(), "a")
			e.ok(err)
			stop()
			e.ok(other.Broadcast(e.Context(), "a", "news", []byte("outside")))
			for i, h := range all {
				for _, want := range []string{"inside", "outside"} {
					if m := h.next(); string(m.Data) != want || !m.Broadcast || m.UUID != "a" || !m.At.Equal(time.UnixMilli(e.now)) {
						e.Errorf("listener %d heard %+v, want %s", i, m, want)
					}
				}
				h.silent("a")
			}
		})
		e.Behaviour("D7a progress with events", func(e *engine) {
			h := e.listen(e.Client, "a", conveyor.EventProgress, conveyor.Global)
			e.add(job("a"))
			r := e.take("a")
			e.pass(time.Second)
			for _, row := range []struct {
				progress conveyor.Progress
				percent  int
				known    bool
			}{
				{conveyor.Progress{Text: "no idea"}, 0, false}, {conveyor.Progress{Done: 1, Total: 3, Text: "one of three"}, 33, true},
				{conveyor.Progress{Done: 299, Total: 300}, 99, true}, {conveyor.Progress{Done: 5, Total: 3}, 100, true}, {conveyor.Progress{Done: -1, Total: 3}, 0, true},
			} {
				e.ok(e.SetProgress(e.Context(), "a", r.Fence, row.progress))
				e.ok(e.SetProgress(e.Context(), "a", r.Fence, row.progress)) // told twice is told once
				want := row.progress
				want.At = time.UnixMilli(e.now)
				m := h.next()
				if diff := cmp.Diff(&want, m.Progress); diff != "" || m.Status.State != conveyor.StateRunning {
					e.Errorf("%s %+v", diff, m)
				}
				if percent, known := m.Progress.Percent(); percent != row.percent || known != row.known {
					e.Errorf("%+v is %d%%, %v", row.progress, percent, known)
				}
				stored, err := e.ProgressOf(e.Context(), "a")
				if diff := cmp.Diff(want, stored); diff != "" || err != nil {
					e.Error(diff, err)
				}
			}
			h.silent("a")
			e.end(r, conveyor.VerdictDone)
		})
	})
}

func attempts(n int32) func(*wire.Job) {
	return func(j *wire.Job) { j.MaxRetries = n }
}

// TestListenersEnd with the Redis client that they listen by: nothing is left that tries to read. TestMain looks for it.
func TestListenersEnd(t *testing.T) {
	onBoth(t, func(e *engine) {
		rdb := e.another()
		c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: e.Namespace()})
		e.ok(err)
		for _, uuid := range []string{"a", "b"} {
			if _, err := c.On(e.Context(), uuid, conveyor.AnyEvent, conveyor.Global, func(conveyor.Message) {}); err != nil {
				e.Error(err)
			}
		}
		e.ok(rdb.Close())
		if _, err := c.On(e.Context(), "a", conveyor.AnyEvent, conveyor.Local, func(conveyor.Message) {}); !errors.Is(err, redis.ErrClosed) {
			e.Errorf("listened by a closed client: %v", err)
		}
	})
}
