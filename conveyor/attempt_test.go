package conveyor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

var errBroken = errors.New("broken")

func TestAttemptVerdicts(t *testing.T) {
	t.Parallel()
	policy := func(p *wire.RetryPolicy) func(*Reservation) { return func(r *Reservation) { r.Job.RetryPolicy = p } }
	failed := func(n int) func(*Reservation) { return func(r *Reservation) { r.Attempts = n } }
	both := func(a, b func(*Reservation)) func(*Reservation) { return func(r *Reservation) { a(r); b(r) } }
	carries := func(r *Reservation) { r.Sync = map[string]string{"a": "1"} }
	fails := func(err error) Handler { return func(context.Context, *wire.Job) error { return err } }
	tests := []struct {
		name    string
		job     func(*Reservation)
		handler Handler
		want    Ack // without uuid and fence
		prefix  bool
	}{
		{name: "success", handler: fails(nil), want: Ack{Verdict: VerdictDone}},
		{name: "success with a result", want: Ack{Verdict: VerdictDone, Result: []byte("r")},
			handler: func(ctx context.Context, _ *wire.Job) error { return FromContext(ctx).SetResult([]byte("r")) }},
		{name: "error", handler: fails(errBroken), want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "broken"}},
		{name: "second error", job: failed(1), handler: fails(errBroken), want: Ack{Verdict: VerdictRetry, Delay: 2 * time.Second, Failure: "broken"}},
		{name: "third error of three", job: failed(2), handler: fails(errBroken), want: Ack{Verdict: VerdictFailed, Failure: "broken"}},
		{name: "the specification's max_retries", job: func(r *Reservation) { r.Job.MaxRetries = 1 }, handler: fails(errBroken),
			want: Ack{Verdict: VerdictFailed, Failure: "broken"}},
		{name: "no limit", job: both(failed(30), policy(&wire.RetryPolicy{MaxAttempts: proto.Int32(0)})), handler: fails(errBroken),
			want: Ack{Verdict: VerdictRetry, Delay: time.Hour, Failure: "broken"}},
		{name: "on hold when exhausted", job: policy(&wire.RetryPolicy{MaxAttempts: proto.Int32(1), HoldOnExhausted: true}), handler: fails(errBroken),
			want: Ack{Verdict: VerdictHold, Failure: "broken"}},
		{name: "permanent", handler: fails(fmt.Errorf("so: %w", Permanent(errBroken))), want: Ack{Verdict: VerdictFailed, Failure: "so: broken"}},
		{name: "permanent is exhausted too", job: policy(&wire.RetryPolicy{HoldOnExhausted: true}), handler: fails(Permanent(errBroken)),
			want: Ack{Verdict: VerdictHold, Failure: "broken"}},
		{name: "retry after", handler: fails(RetryAfter(errBroken, time.Minute)), want: Ack{Verdict: VerdictRetry, Delay: time.Minute, Failure: "broken"}},
		{name: "retry after the last", job: failed(2), handler: fails(RetryAfter(errBroken, time.Minute)), want: Ack{Verdict: VerdictFailed, Failure: "broken"}},
		{name: "defer", want: Ack{Verdict: VerdictDefer, Delay: time.Minute},
			handler: func(ctx context.Context, _ *wire.Job) error { FromContext(ctx).Defer(time.Minute); return nil }},
		{name: "sync", job: carries, want: Ack{Verdict: VerdictDone, Sync: map[string]string{"a": "1", "b": "2"}},
			handler: func(ctx context.Context, _ *wire.Job) error {
				a := FromContext(ctx)
				state := a.Sync()
				state["b"] = "2"
				return a.SetSync(state)
			}},
		{name: "sync that nobody sets", job: carries, want: Ack{Verdict: VerdictDone},
			handler: func(ctx context.Context, _ *wire.Job) error { FromContext(ctx).Sync()["b"] = "2"; return nil }},
		{name: "sync is cleared", job: carries, want: Ack{Verdict: VerdictDone, Sync: map[string]string{}},
			handler: func(ctx context.Context, _ *wire.Job) error { return FromContext(ctx).SetSync(nil) }},
		{name: "a page", job: carries, want: Ack{Verdict: VerdictDefer, Sync: map[string]string{"page": "2"}},
			handler: func(ctx context.Context, _ *wire.Job) error {
				a, state := FromContext(ctx), map[string]string{"page": "2"}
				a.Defer(0)
				err := a.SetSync(state)
				state["page"] = "3" // it is the caller's
				if a.Sync()["page"] != "2" {
					return Permanent(errBroken)
				}
				return err
			}},
		{name: "an error leaves no sync", job: carries, want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "broken"},
			handler: func(ctx context.Context, _ *wire.Job) error {
				return errors.Join(FromContext(ctx).SetSync(map[string]string{"b": "2"}), errBroken)
			}},
		{name: "sync without a name", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "set sync: invalid sync: the name of value \"2\" is empty"},
			handler: func(ctx context.Context, _ *wire.Job) error {
				return FromContext(ctx).SetSync(map[string]string{"": "2"})
			}},
		{name: "the number of its execution", job: func(r *Reservation) { r.MaxCycles, r.Cycles = 5, 2 }, want: Ack{Verdict: VerdictDone},
			handler: func(ctx context.Context, _ *wire.Job) error {
				if n := FromContext(ctx).Cycle(); n != 3 {
					return fmt.Errorf("cycle %d", n)
				}
				return nil
			}},
		{name: "no limit of executions is no number", job: func(r *Reservation) { r.Cycles = 2 }, want: Ack{Verdict: VerdictDone},
			handler: func(ctx context.Context, _ *wire.Job) error {
				if n := FromContext(ctx).Cycle(); n != 0 {
					return fmt.Errorf("cycle %d", n)
				}
				return nil
			}},
		{name: "an error wins over defer", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "broken"},
			handler: func(ctx context.Context, _ *wire.Job) error { FromContext(ctx).Defer(time.Minute); return errBroken }},
		{name: "an error leaves no result", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "broken"},
			handler: func(ctx context.Context, _ *wire.Job) error {
				return errors.Join(FromContext(ctx).SetResult([]byte("r")), errBroken)
			}},
		{name: "panic", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "panic: oh\n\ngoroutine "}, prefix: true,
			handler: func(context.Context, *wire.Job) error { panic("oh") }},
		{name: "panic with a permanent error", want: Ack{Verdict: VerdictFailed, Failure: "panic: broken\n"}, prefix: true,
			handler: func(context.Context, *wire.Job) error { panic(Permanent(errBroken)) }},
		{name: "end of the goroutine", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "the handler called runtime.Goexit"},
			handler: func(context.Context, *wire.Job) error { runtime.Goexit(); return nil }},
		{name: "timeout", job: func(r *Reservation) { r.Job.Timeout = durationpb.New(3 * time.Second) },
			want:    Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "timeout after 3s"},
			handler: func(ctx context.Context, _ *wire.Job) error { <-ctx.Done(); return ctx.Err() }},
		{name: "another error after the timeout", job: func(r *Reservation) { r.Job.Timeout = durationpb.New(3 * time.Second) },
			want:    Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "timeout after 3s: broken"},
			handler: func(ctx context.Context, _ *wire.Job) error { <-ctx.Done(); return errBroken }},
		{name: "success after the timeout", job: func(r *Reservation) { r.Job.Timeout = durationpb.New(3 * time.Second) },
			want:    Ack{Verdict: VerdictDone},
			handler: func(ctx context.Context, _ *wire.Job) error { <-ctx.Done(); return nil }},
		{name: "result over the limit", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "result of 1048577 bytes: too large, the limit is 1048576"},
			handler: func(ctx context.Context, _ *wire.Job) error {
				return FromContext(ctx).SetResult(make([]byte, MaxResult+1))
			}},
		{name: "long error", want: Ack{Verdict: VerdictRetry, Delay: time.Second, Failure: "xxx"}, prefix: true, handler: fails(errors.New(strings.Repeat("x", 10_000)))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				w := fakeWorker(t, f, WorkerOptions{})
				w.HandleRaw("t", tt.handler)
				r := numbered(1)
				if tt.job != nil {
					tt.job(&r)
				}
				f.ready = []Reservation{r}
				stop := running(t, w)
				elapse(time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if len(f.acks) != 1 {
					t.Fatalf("%d acknowledgements, want 1", len(f.acks))
				}
				got := f.acks[0]
				if len(got.Failure) > MaxFailure {
					t.Errorf("failure of %d bytes", len(got.Failure))
				}
				if tt.prefix && strings.HasPrefix(got.Failure, tt.want.Failure) {
					got.Failure = tt.want.Failure
				}
				tt.want.UUID, tt.want.Fence = "u1", 1
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("acknowledgement (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	d := durationpb.New
	tests := []struct {
		name   string
		policy *wire.RetryPolicy
		n      int
		random float64
		want   time.Duration
	}{
		{"default, least", nil, 1, 0, 800 * time.Millisecond},
		{"default, most", nil, 1, 1, 1200 * time.Millisecond},
		{"default doubles", nil, 5, 0.5, 16 * time.Second},
		{"default ends at an hour", nil, 40, 1, time.Hour},
		{"no overflow", nil, 1 << 30, 0.5, time.Hour},
		{"linear", &wire.RetryPolicy{Backoff: wire.RetryPolicy_LINEAR, Min: d(2 * time.Second)}, 3, 0.5, 6 * time.Second},
		{"constant", &wire.RetryPolicy{Backoff: wire.RetryPolicy_CONSTANT, Min: d(2 * time.Second)}, 9, 0.5, 2 * time.Second},
		{"max", &wire.RetryPolicy{Min: d(2 * time.Second), Max: d(5 * time.Second)}, 9, 0.5, 5 * time.Second},
		{"no jitter", &wire.RetryPolicy{Jitter: proto.Float64(0)}, 1, 0.99, time.Second},
		{"jitter out of its bounds", &wire.RetryPolicy{Jitter: proto.Float64(9)}, 1, 0, 0},
		{"max below min", &wire.RetryPolicy{Min: d(time.Minute), Max: d(time.Second)}, 1, 0.5, time.Second},
		{"negative min", &wire.RetryPolicy{Min: d(-time.Minute)}, 1, 0.5, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := backoff(tt.policy, tt.n, tt.random); got.Round(time.Microsecond) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAttemptAdds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{})
		w.HandleRaw("t", func(ctx context.Context, _ *wire.Job) error {
			a := FromContext(ctx)
			if err := a.AddChild(ctx, nil); !errors.Is(err, ErrNilJob) {
				t.Errorf("error %v, want %v", err, ErrNilJob)
			}
			heir := &wire.Job{Uuid: "heir", Type: "t", Queue: "q"}
			others := []*wire.Job{{Uuid: "x", Type: "t", Queue: "q"}, {Uuid: "y", Type: "t", Queue: "q"}}
			return errors.Join(a.AddChild(ctx, &wire.Job{Uuid: "child", Type: "t", Queue: "q"}), a.AddHeir(ctx, heir), a.AddMany(ctx, others))
		})
		r := numbered(1)
		r.Fence, r.Opening = 7, 2
		f.ready = []Reservation{r}
		stop := running(t, w)
		elapse(time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		edge := func(kind wire.Edge_Kind) []*wire.Edge {
			return []*wire.Edge{{Kind: kind, Uuid: "u1", Opening: 2, MadeBy: 7}}
		}
		want := []*wire.Job{
			{Uuid: "child", Type: "t", Queue: "q", ParentUuid: "u1", Edges: edge(wire.Edge_PARENT)},
			{Uuid: "heir", Type: "t", Queue: "q", PredecessorUuid: "u1", Edges: edge(wire.Edge_PREDECESSOR)},
			{Uuid: "x", Type: "t", Queue: "q"},
			{Uuid: "y", Type: "t", Queue: "q"},
		}
		if diff := cmp.Diff(want, f.added, cmp.Comparer(func(a, b *wire.Job) bool { return proto.Equal(a, b) })); diff != "" {
			t.Errorf("added (-want +got):\n%s", diff)
		}
	})
}

func TestFailureText(t *testing.T) {
	t.Parallel()
	got := failureText("a\xffb" + strings.Repeat("é", MaxFailure))
	if !strings.HasPrefix(got, "a\uFFFDbé") || !strings.HasSuffix(got, "é\n[cut]") || len(got) > MaxFailure {
		t.Errorf("%d bytes: %.10q ... %q", len(got), got, got[len(got)-10:])
	}
}

func TestFromContextOutside(t *testing.T) {
	t.Parallel()
	if a := FromContext(t.Context()); a != nil {
		t.Errorf("attempt %v outside a handler", a)
	}
}
