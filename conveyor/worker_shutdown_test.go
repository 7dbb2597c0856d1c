package conveyor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorkerDrains covers how running jobs end when the worker is told to stop. A bubble ends only when all its goroutines
// have, so each row also shows that the worker leaves none.
func TestWorkerDrains(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		takes   time.Duration // of the handler
		deaf    bool          // to the end of its context
		timeout time.Duration // ShutdownTimeout
		want    Verdict
		took    time.Duration // from the stop to the end of Run
		err     string
	}{
		{name: "jobs that end in time are done", takes: 10 * time.Second, timeout: 30 * time.Second, want: VerdictDone, took: 10 * time.Second},
		{name: "others are handed back at the deadline", takes: time.Hour, timeout: 30 * time.Second, want: VerdictBack, took: 30 * time.Second},
		{name: "at once when so told", takes: time.Hour, timeout: -1, want: VerdictBack},
		{name: "the deaf are done if they end after all", takes: 35 * time.Second, deaf: true, timeout: 30 * time.Second, want: VerdictDone, took: 35 * time.Second},
		{name: "the deaf are left behind", takes: time.Hour, deaf: true, timeout: 30 * time.Second, took: 45 * time.Second,
			err: "handlers did not stop within 15s of being told to"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				w := fakeWorker(t, f, WorkerOptions{Concurrency: 2, ShutdownTimeout: tt.timeout})
				closed := false
				w.AtEnd(func() { closed = true })
				w.HandleRaw("t", func(ctx context.Context, _ *wire.Job) error {
					if tt.deaf {
						elapse(tt.takes)
						return nil
					}
					select {
					case <-ctx.Done():
						return context.Cause(ctx)
					case <-time.After(tt.takes):
						return nil
					}
				})
				stop := running(t, w)
				f.put(numbered(1))
				synctest.Wait()
				at := time.Now()
				f.look(func() { f.ready = append(f.ready, numbered(2)) }) // not to be taken
				err := stop()
				if got := time.Since(at); got != tt.took {
					t.Errorf("it took %s, want %s", got, tt.took)
				}
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				if tt.err == "" {
					want := []Ack{{UUID: "u1", Fence: 1, Verdict: tt.want}}
					if diff := cmp.Diff(want, f.acks); diff != "" {
						t.Errorf("acknowledgements (-want +got):\n%s", diff)
					}
				}
				if closed != (tt.err == "") {
					t.Errorf("what the handlers share: closed %v", closed)
				}
				if got := f.sequence[len(f.sequence)-1]; got != "leave" {
					t.Errorf("the last call of beat and leave is %s", got)
				}
				for _, r := range f.requests[2:] {
					if r.Want != 0 {
						t.Errorf("call %d asks for %d jobs", r.Number, r.Want)
					}
				}
				if tt.err != "" {
					elapse(tt.takes) // for the one left behind
				}
			})
		})
	}
}

// TestWorkerDrainsReservation: what a call reserves that was on its way when the worker was told to stop goes back unstarted.
func TestWorkerDrainsReservation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		ctx, cancel := context.WithCancel(t.Context())
		f.ready = []Reservation{numbered(1)}
		f.fail = func(call string, _ bool) error {
			if call == "exchange" {
				cancel()
			}
			return nil
		}
		w := fakeWorker(t, f, WorkerOptions{})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { t.Error("started"); return nil })
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]Ack{{UUID: "u1", Fence: 1, Verdict: VerdictBack}}, f.acks); diff != "" {
			t.Errorf("acknowledgements (-want +got):\n%s", diff)
		}
	})
}

// TestWorkerDrainsWithoutStore: a store that is away holds a worker no longer than its deadlines.
func TestWorkerDrainsWithoutStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
		stop := running(t, w)
		elapse(time.Second)
		f.look(func() { f.fail = func(string, bool) error { return errLost } })
		f.put(numbered(1))
		elapse(time.Minute)
		at := time.Now()
		err := stop()
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("error %v, want %v", err, ErrUnavailable)
		}
		if got := time.Since(at); got > 2*leaveTimeout {
			t.Errorf("it took %s without a running job", got)
		}
	})
}

func TestWorkerRunsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := fakeWorker(t, newFakeStore(), WorkerOptions{})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
		if err := running(t, w)(); err != nil {
			t.Error(err)
		}
		if err := w.Run(t.Context()); err == nil {
			t.Error("a second Run started")
		}
	})
}
