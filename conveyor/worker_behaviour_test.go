package conveyor

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorkerBehaviours are the numbered behaviours (COVERAGE.md) of which the worker has its part.
func TestWorkerBehaviours(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T){
		"A12d a panic is a failed attempt with its stack, never a success":  panicFails,
		"A13b told to stop under load, a worker takes nothing new":          stoppedTakesNothing,
		"A13c running jobs finish or, at the deadline, go back":             stoppedEndsOrReturns,
		"A13d no heartbeat outlives the worker":                             stoppedIsSilent,
		"A15b a worker without handlers is an error":                        noHandlers,
		"A15c a type it has no handler for is given back unspent, and told": noHandler,
		"it asks for cycles at their ticks":                                 cyclesInTime,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, test)
		})
	}
}

// acks wants these verdicts, in this order.
func (f *fakeStore) verdicts(t *testing.T, want ...Verdict) {
	t.Helper()
	got := []Verdict{}
	f.look(func() {
		for _, a := range f.acks {
			got = append(got, a.Verdict)
		}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

func panicFails(t *testing.T) {
	f := newFakeStore()
	w := fakeWorker(t, f, WorkerOptions{})
	w.HandleRaw("t", func(context.Context, *wire.Job) error { panic("oh") })
	stop := running(t, w)
	f.put(numbered(1))
	synctest.Wait()
	if err := stop(); err != nil {
		t.Error(err)
	}
	f.verdicts(t, VerdictRetry)
	if text := f.acks[0].Failure; !strings.HasPrefix(text, "panic: oh\n") || !strings.Contains(text, "panicFails") {
		t.Errorf("failure %q, want the panic and its stack", text)
	}
}

// loaded is a worker with two slots, both busy.
func loaded(t *testing.T, takes time.Duration) (f *fakeStore, stop func() error) {
	f = newFakeStore()
	w := fakeWorker(t, f, WorkerOptions{Concurrency: 2, ShutdownTimeout: 30 * time.Second})
	w.HandleRaw("t", func(ctx context.Context, _ *wire.Job) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(takes):
			return nil
		}
	})
	stop = running(t, w)
	f.put(numbered(2), numbered(3))
	synctest.Wait()
	return f, stop
}

func stoppedTakesNothing(t *testing.T) {
	f, stop := loaded(t, time.Second)
	f.look(func() { f.ready = append(f.ready, numbered(1), numbered(4)) })
	if err := stop(); err != nil {
		t.Error(err)
	}
	if len(f.ready) != 2 {
		t.Errorf("%d jobs are left in the queue, want the two that nobody had taken", len(f.ready))
	}
}

func stoppedEndsOrReturns(t *testing.T) {
	for takes, want := range map[time.Duration]Verdict{20 * time.Second: VerdictDone, time.Hour: VerdictBack} {
		f, stop := loaded(t, takes)
		if err := stop(); err != nil {
			t.Error(err)
		}
		f.verdicts(t, want, want)
	}
}

func stoppedIsSilent(t *testing.T) {
	f, stop := loaded(t, 20*time.Second)
	if err := stop(); err != nil {
		t.Error(err)
	}
	elapse(time.Minute)
	if got := strings.Join(f.sequence, " "); !strings.HasSuffix(got, "beat leave") || strings.Contains(got, "leave beat") {
		t.Errorf("beats and leaves: %s", got)
	}
}

func noHandlers(t *testing.T) {
	f := newFakeStore()
	w := fakeWorker(t, f, WorkerOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Run(ctx); err == nil || !strings.Contains(err.Error(), "no handlers") || len(f.calls) > 0 {
		t.Errorf("got %v after the calls %v", err, f.calls)
	}
}

func noHandler(t *testing.T) {
	f := newFakeStore()
	var log bytes.Buffer
	w := fakeWorker(t, f, WorkerOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w.HandleRaw("other", func(context.Context, *wire.Job) error { return nil })
	stop := running(t, w)
	f.put(numbered(1))
	synctest.Wait()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]Ack{{UUID: "u1", Fence: 1, Verdict: VerdictNoHandler, Delay: BeatEvery}}, f.acks); diff != "" {
		t.Errorf("acknowledgements (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), `type \"t\"`) {
		t.Errorf("the log does not name the type:\n%s", log.String())
	}
}

// cyclesInTime lets a schedule tick every second, more often than a worker ticks otherwise: each is met within cycleSpread.
func cyclesInTime(t *testing.T) {
	f := newFakeStore()
	var late []time.Duration
	f.cycle = func() time.Duration {
		now := time.Now()
		late = append(late, now.Sub(now.Truncate(time.Second)))
		return now.Truncate(time.Second).Add(time.Second).Sub(now)
	}
	w := fakeWorker(t, f, WorkerOptions{})
	w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
	stop := running(t, w)
	time.Sleep(20*time.Second + BeatEvery)
	stop()
	if len(late) < 20 {
		t.Errorf("%d ticks in 20 s", len(late))
	}
	for i, by := range late {
		if i > 0 && by > cycleSpread {
			t.Errorf("tick %d came %s late", i, by)
		}
	}
}
