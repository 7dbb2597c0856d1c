package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// errLost is a reply that did not come.
var errLost = fmt.Errorf("connection reset: %w", ErrUnavailable)

func TestWorkerRunsInOrderWithinSlots(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 3, 50} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				const jobs = 120
				var want []string
				for i := range jobs {
					f.ready = append(f.ready, numbered(i))
					want = append(want, fmt.Sprintf("u%d", i))
				}
				w := fakeWorker(t, f, WorkerOptions{Concurrency: slots})
				var mu sync.Mutex
				var got []string
				running_, most := 0, 0
				w.HandleRaw("t", func(_ context.Context, j *wire.Job) error {
					mu.Lock()
					got = append(got, j.GetUuid())
					running_++
					most = max(most, running_)
					mu.Unlock()
					elapse(time.Second)
					mu.Lock()
					running_--
					mu.Unlock()
					return nil
				})
				stop := running(t, w)
				elapse(5 * time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if slots == 1 {
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("start order (-want +got):\n%s", diff)
					}
				}
				for i, uuid := range got { // attempts of one reservation are concurrent
					if at := slices.Index(want, uuid); at/slots != i/slots {
						t.Errorf("%s, number %d, started as number %d", uuid, at, i)
					}
				}
				if most != slots {
					t.Errorf("%d at a time, want %d", most, slots)
				}
				if len(f.acks) != jobs {
					t.Errorf("%d acknowledgements, want %d", len(f.acks), jobs)
				}
			})
		})
	}
}

// TestWorkerRepeatsUnanswered loses replies before and after the store acted; nothing is lost or doubled.
func TestWorkerRepeatsUnanswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		n := 0
		f.fail = func(call string, done bool) error {
			n++
			if (call == "exchange" || call == "log" || call == "add") && (n%3 == 0 || done && n%4 == 0) {
				return errLost
			}
			return nil
		}
		for i := range 40 {
			f.ready = append(f.ready, numbered(i))
		}
		w := fakeWorker(t, f, WorkerOptions{Concurrency: 4})
		var mu sync.Mutex
		ran := map[string]int{}
		w.HandleRaw("t", func(ctx context.Context, j *wire.Job) error {
			mu.Lock()
			ran[j.GetUuid()]++
			mu.Unlock()
			return FromContext(ctx).AddChild(ctx, &wire.Job{Type: "t", Queue: "q"})
		})
		stop := running(t, w)
		elapse(10 * time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		for uuid, n := range ran {
			if n != 1 {
				t.Errorf("job %s ran %d times", uuid, n)
			}
		}
		acked := map[string]int{}
		for _, a := range f.acks {
			acked[a.UUID]++
		}
		if len(ran) != 40 || len(acked) != 40 || len(f.acks) != 40 {
			t.Errorf("%d jobs ran, %d were acknowledged in %d acknowledgements, want 40 each", len(ran), len(acked), len(f.acks))
		}
		last := int64(0)
		for _, r := range f.requests {
			if r.Number != last && r.Number != last+1 {
				t.Errorf("call number %d after %d", r.Number, last)
			}
			last = r.Number
		}
		children := map[string]bool{}
		for _, j := range f.added {
			children[j.GetUuid()] = true
		}
		if len(children) != 40 {
			t.Errorf("%d children, want 40", len(children))
		}
	})
}

func TestWorkerIdleCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
		stop := running(t, w)
		elapse(10 * time.Second)
		total := func() (n int) {
			f.look(func() {
				for _, c := range f.calls {
					n += c
				}
			})
			return n
		}
		before := total()
		elapse(100 * time.Second)
		if got := total() - before; got > 200 {
			t.Errorf("%d calls in 100 s idle, want at most 200: %v", got, f.calls)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestWorkerWakesAndWaitsForDue: a wake-up is acted on at once, and a due time that the store told when it comes.
func TestWorkerWakesAndWaitsForDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{})
		began := make(chan time.Time, 1)
		w.HandleRaw("t", func(context.Context, *wire.Job) error { began <- time.Now(); return nil })
		stop := running(t, w)
		elapse(time.Second)
		at := time.Now()
		f.put(numbered(1))
		if d := (<-began).Sub(at); d != 0 {
			t.Errorf("started %s after the wake-up", d)
		}
		synctest.Wait() // the acknowledgement, number 3, is answered
		f.look(func() {
			n := int64(len(f.requests) + 1)
			f.replies[n] = ExchangeReply{Next: 700 * time.Millisecond}
			f.replies[n+1] = ExchangeReply{Reserved: []Reservation{numbered(2)}}
		})
		hint(f.woken)
		at = time.Now()
		if d := (<-began).Sub(at); d != 700*time.Millisecond {
			t.Errorf("started %s after the call that told of a due job in 700ms", d)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestWorkerLeaseLapses: when no beat is answered any more, attempts end at the lease's end, with nothing new before the next
// beat.
func TestWorkerLeaseLapses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{Concurrency: 2})
		var ended time.Time
		var cause error
		w.HandleRaw("t", func(ctx context.Context, j *wire.Job) error {
			if j.GetUuid() == "u2" {
				return nil
			}
			<-ctx.Done()
			ended, cause = time.Now(), context.Cause(ctx)
			return cause
		})
		stop := running(t, w)
		f.put(numbered(1))
		elapse(BeatEvery + BeatEvery/2)
		var last time.Time
		f.look(func() {
			last = time.Now().Add(-BeatEvery / 2) // of the latest beat
			f.fail = func(call string, _ bool) error {
				if call == "beat" {
					return errLost
				}
				return nil
			}
		})
		elapse(DeadAfter)
		if !errors.Is(cause, ErrOutdated) || ended.Sub(last) != DeadAfter {
			t.Errorf("ended %s after the latest beat with cause %v, want after %s with %v", ended.Sub(last), cause, DeadAfter, ErrOutdated)
		}
		f.put(numbered(2))
		elapse(time.Minute)
		f.look(func() {
			for _, a := range f.acks {
				if a.Verdict != VerdictBack {
					t.Errorf("acknowledgement %+v while the lease is lost", a)
				}
			}
			f.fail = nil
		})
		f.put(numbered(3))
		elapse(BeatEvery)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := f.acks[len(f.acks)-1]; got.UUID != "u3" {
			t.Errorf("last acknowledgement %+v, want one of u3", got)
		}
	})
}

func TestWorkerHeedsBeatReply(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		reply BeatReply
		want  error
	}{
		{"cancel", BeatReply{Cancel: []string{"u1"}}, ErrCancelled},
		{"outdated", BeatReply{Outdated: []string{"u1"}}, ErrOutdated},
		{"another's", BeatReply{Outdated: []string{"u7"}, Cancel: []string{"u8"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				w := fakeWorker(t, f, WorkerOptions{})
				var cause error
				w.HandleRaw("t", func(ctx context.Context, _ *wire.Job) error {
					select {
					case <-ctx.Done():
						cause = context.Cause(ctx)
						return cause
					case <-time.After(30 * time.Second):
						return nil
					}
				})
				stop := running(t, w)
				f.put(numbered(1))
				synctest.Wait()
				f.look(func() { f.reply = tt.reply })
				elapse(time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if !errors.Is(cause, tt.want) {
					t.Errorf("cause %v, want %v", cause, tt.want)
				}
				want := Ack{UUID: "u1", Fence: 1, Verdict: VerdictDone}
				if tt.want != nil {
					want.Verdict = VerdictBack
				}
				if diff := cmp.Diff([]Ack{want}, f.acks); diff != "" {
					t.Errorf("acknowledgements (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]Holding{{"u1", 1}}, f.beats[1].Running); diff != "" {
					t.Errorf("running in the beat (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestWorkerRefusedAcknowledgement: one acknowledgement that the store refuses for good takes no other with it, and ends the worker.
func TestWorkerRefusedAcknowledgement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{Concurrency: 5})
		poisoned := fmt.Errorf("jobs:u2:children: %w", ErrCorrupt)
		store := &refusing{f, "u2", poisoned}
		w.engine = store
		w.HandleRaw("t", func(context.Context, *wire.Job) error { elapse(time.Second); return nil })
		for i := range 5 {
			f.ready = append(f.ready, numbered(i))
		}
		err := w.Run(t.Context())
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v, want %v", err, poisoned)
		}
		var got []string
		for _, a := range f.acks {
			got = append(got, a.UUID)
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"u0", "u1", "u3", "u4"}, got); diff != "" {
			t.Errorf("acknowledged (-want +got):\n%s", diff)
		}
		if !f.left {
			t.Error("the worker did not leave")
		}
	})
}

// refusing refuses calls that acknowledge one job.
type refusing struct {
	*fakeStore
	uuid string
	err  error
}

func (r *refusing) Exchange(ctx context.Context, q ExchangeRequest) (ExchangeReply, error) {
	for _, a := range q.Done {
		if a.UUID == r.uuid {
			return ExchangeReply{}, r.err
		}
	}
	return r.fakeStore.Exchange(ctx, q)
}

func TestWorkerStart(t *testing.T) {
	t.Parallel()
	noop := func(context.Context, *wire.Job) error { return nil }
	tests := []struct {
		name  string
		setUp func(w *Worker)
		want  []string
	}{
		{"no handlers", func(*Worker) {}, []string{"it has no handlers"}},
		{"all mistakes at once", func(w *Worker) {
			w.HandleRaw("", noop)
			w.HandleRaw("a", nil)
			w.HandleRaw("b", noop)
			w.HandleRaw("b", noop)
			HandleJSON[int](w, "c", nil)
		}, []string{"empty job type", `handler of job type "a" is nil`, `"b" has two handlers`, `handler of job type "c" is nil`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStore()
			w := fakeWorker(t, f, WorkerOptions{})
			tt.setUp(w)
			err := w.Run(t.Context())
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
			if len(f.calls) != 0 {
				t.Errorf("calls %v before it refused to start", f.calls)
			}
		})
	}
}

// TestWorkerSameID: a worker with the id of one that was just killed waits until that is announced dead; one with the id of a
// live worker does not start.
func TestWorkerSameID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		f.workers = []WorkerInfo{{ID: "w"}}
		w := fakeWorker(t, f, WorkerOptions{ID: "w"})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
		stop := running(t, w)
		elapse(DeadAfter)
		f.look(func() {
			if len(f.beats) > 0 {
				t.Error("it registered beside the other")
			}
			f.workers = nil
		})
		elapse(BeatEvery)
		f.look(func() {
			if len(f.beats) == 0 {
				t.Error("it did not register after the other was gone")
			}
		})
		if err := stop(); err != nil {
			t.Error(err)
		}

		f = newFakeStore()
		f.workers = []WorkerInfo{{ID: "w"}}
		w = fakeWorker(t, f, WorkerOptions{ID: "w"})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
		if err := w.Run(t.Context()); !errors.Is(err, ErrWorkerID) {
			t.Errorf("error %v, want %v", err, ErrWorkerID)
		}
		if len(f.beats) > 0 || f.left {
			t.Error("it touched the other's registration")
		}
	})
}
