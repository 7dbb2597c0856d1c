package conveyor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorkerHealth follows a worker from before its start to after its end, over an outage of its store.
func TestWorkerHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const within = 10 * time.Second
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{ShutdownTimeout: time.Minute})
		release := make(chan struct{})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { <-release; return nil })
		wants := func(when, live, ready string) {
			t.Helper()
			for _, c := range []struct {
				name, want string
				err        error
			}{{"live", live, w.Live(within)}, {"ready", ready, w.Ready(within)}} {
				if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
					t.Errorf("%s, %s: %v, want %q", when, c.name, c.err, c.want)
				}
			}
		}
		down := func(is bool) {
			f.look(func() {
				f.fail = nil
				if is {
					f.fail = func(string, bool) error { return errLost }
				}
			})
		}
		wants("before the start", "", "has not registered yet")
		stop := running(t, w)
		synctest.Wait()
		wants("started", "", "")
		elapse(time.Minute)
		wants("idle", "", "")
		f.put(numbered(1))
		elapse(time.Minute)
		wants("with a long job and no free slot", "", "")
		down(true)
		elapse(within + BeatEvery)
		wants("without store", "last reached the store", "last reached the store")
		down(false)
		elapse(3 * BeatEvery)
		wants("with the store again", "", "")
		ended := make(chan error)
		go func() { ended <- stop() }()
		elapse(3 * BeatEvery)
		wants("draining", "", "drains")
		f.mu.Lock()
		offered := f.beats[len(f.beats)-1].Capacity
		f.mu.Unlock()
		if offered != 0 {
			t.Errorf("a worker that drains offers %d slots", offered)
		}
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		wants("ended", "", "has ended")
	})
}

func TestWorkerStats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{Concurrency: 3})
		step := make(chan struct{})
		w.HandleRaw("t", func(ctx context.Context, j *wire.Job) error {
			if j.GetUuid() == "u1" {
				for i := range int64(3) {
					<-step
					FromContext(ctx).Progress(Progress{Done: min(i+1, 2), Total: 9}) // the third tells nothing new
				}
			}
			<-step
			return nil
		})
		wants := func(want WorkerStats) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, w.Stats()); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		}
		wants(WorkerStats{Capacity: 3})
		stop := running(t, w)
		f.put(numbered(1))
		elapse(5 * time.Second)
		wants(WorkerStats{Capacity: 3, Running: 1, OldestProgress: 5 * time.Second})
		for _, age := range []time.Duration{0, 0, 2 * time.Second} {
			step <- struct{}{}
			wants(WorkerStats{Capacity: 3, Running: 1, OldestProgress: age})
			elapse(time.Second)
			wants(WorkerStats{Capacity: 3, Running: 1, OldestProgress: age + time.Second})
			elapse(time.Second)
		}
		step <- struct{}{}
		wants(WorkerStats{Capacity: 3})
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestWorkerTellsItsObserver of how attempts end.
func TestWorkerTellsItsObserver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, o := newFakeStore(), &outcomes{}
		w := fakeWorker(t, f, WorkerOptions{})
		w.observer = o
		w.HandleRaw("t", func(ctx context.Context, j *wire.Job) error {
			elapse(time.Second)
			switch j.GetUuid() {
			case "u1":
				return context.DeadlineExceeded
			case "u2":
				return Permanent(context.DeadlineExceeded)
			case "u3":
				FromContext(ctx).Defer(time.Second)
			case "u4":
				panic("no")
			case "u5":
				f.look(func() { f.reply = BeatReply{Cancel: []string{"u5"}} })
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		stop := running(t, w)
		for i := range 6 {
			f.put(numbered(i))
			elapse(10 * time.Second)
		}
		f.put(numbered(6, func(r *Reservation) { r.Job.Type = "unheard" }))
		elapse(10 * time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		want := []Outcome{OutcomeDone, OutcomeRetry, OutcomeFailed, OutcomeDefer, OutcomeRetry, OutcomeCancelled, OutcomeNoHandler}
		if diff := cmp.Diff(want, o.seen); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if o.took[0] != time.Second {
			t.Errorf("took %s", o.took[0])
		}
	})
}

type outcomes struct {
	seen []Outcome
	took []time.Duration
}

func (o *outcomes) Called(string, time.Duration, error) {}
func (o *outcomes) Happened(Incident, int)              {}
func (o *outcomes) Attempted(_ string, outcome Outcome, took time.Duration) {
	o.seen, o.took = append(o.seen, outcome), append(o.took, took)
}
