package conveyor

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// logged calls a function with each message that is logged.
type logged func(message string)

func (logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l logged) WithGroup(string) slog.Handler          { return l }
func (l logged) Handle(_ context.Context, r slog.Record) error {
	l(r.Message)
	return nil
}

// freeze makes the worker as one that stood still for longer than its lease, and the store say what it holds no more. Call it in look.
func (f *fakeStore) freeze(w *Worker, outdated ...string) {
	f.reply = BeatReply{Outdated: outdated}
	w.lease.mu.Lock()
	defer w.lease.mu.Unlock()
	w.lease.until = w.lease.until.Add(-2 * DeadAfter)
}

// TestStaleAttemptsDoNotStart: a worker that stood still for longer than its lease, between a reservation and the start of what it
// reserved, asks the store before it starts anything. What is not its own any more it never starts.
func TestStaleAttemptsDoNotStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		outdated []string
		want     []string
	}{
		"all are others' now":  {[]string{"u2", "u3"}, nil},
		"one is another's now": {[]string{"u2"}, []string{"u3"}},
		"nobody took them":     {nil, []string{"u2", "u3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				var w *Worker
				w = fakeWorker(t, f, WorkerOptions{Logger: slog.New(logged(func(message string) {
					if message == "jobs are given back" { // u1, for which there is no handler, is on its way to its start, and u2 comes next
						f.look(func() { f.freeze(w, tt.outdated...) })
					}
				}))})
				var started []string
				w.HandleRaw("t", func(_ context.Context, job *wire.Job) error {
					f.look(func() { started = append(started, job.GetUuid()) })
					return nil
				})
				stop := running(t, w)
				f.put(numbered(1, func(r *Reservation) { r.Job.Type = "unknown" }), numbered(2), numbered(3))
				synctest.Wait()
				f.look(func() {
					slices.Sort(started) // handlers are called one after the other, and run beside each other
					if diff := cmp.Diff(tt.want, started); diff != "" {
						t.Errorf("started (-want +got):\n%s", diff)
					}
					if f.calls["beat"] < 2 {
						t.Errorf("%d beats, want one at the start and one that asks", f.calls["beat"])
					}
				})
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestStaleAttemptIsNotFilled: the same between the start of an attempt and its handler, when the worker has read what other jobs left.
func TestStaleAttemptIsNotFilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		f.results = map[string][]byte{"up": []byte(`{"x":"1"}`)}
		w := fakeWorker(t, f, WorkerOptions{})
		f.fail = func(call string, _ bool) error {
			if call == "results" {
				f.freeze(w, "u1")
			}
			return nil
		}
		w.HandleRaw("t", func(context.Context, *wire.Job) error { t.Error("started"); return nil })
		stop := running(t, w)
		f.put(numbered(1, func(r *Reservation) {
			r.Job.Payload, r.Job.Results = []byte(`"`+readAs("v", "x")+`"`), []string{"up"}
		}))
		synctest.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if f.calls["results"] == 0 {
			t.Error("no results were read")
		}
		f.verdicts(t, VerdictBack)
	})
}
