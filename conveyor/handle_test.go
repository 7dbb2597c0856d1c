package conveyor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestHandleTyped(t *testing.T) {
	t.Parallel()
	binary, err := proto.Marshal(&wire.Edge{Uuid: "a", Opening: 2})
	if err != nil {
		t.Fatal(err)
	}
	brace, err := proto.Marshal(wrapperspb.String(strings.Repeat("x", '{'))) // "\n{xxx"
	if err != nil {
		t.Fatal(err)
	}
	minute, err := proto.Marshal(durationpb.New(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	type load struct {
		Day  string
		Rows int
	}
	var got any
	text := func(w *Worker) {
		Handle(w, func(_ context.Context, m *wrapperspb.StringValue) error { got = m.GetValue(); return nil })
	}
	span := func(w *Worker) {
		Handle(w, func(_ context.Context, m *durationpb.Duration) error { got = m.AsDuration(); return nil })
	}
	object := func(w *Worker) {
		Handle(w, func(_ context.Context, m *structpb.Struct) error { got = m.AsMap(); return nil })
	}
	edge := func(w *Worker) {
		Handle(w, func(_ context.Context, m *wire.Edge) error { got = m.GetUuid() + m.GetKind().String(); return nil })
	}
	inJSON := func(w *Worker) {
		HandleJSON(w, "shop.v1.Load", func(_ context.Context, l load) error { got = l; return nil })
	}
	pointer := func(w *Worker) {
		HandleJSON(w, "shop.v1.Load", func(_ context.Context, l *load) error { got = *l; return nil })
	}
	tests := []struct {
		name     string
		register func(*Worker)
		jobType  string
		payload  string
		want     any
		failure  string
	}{
		{"protobuf, binary", edge, "wire.Edge", string(binary), "aPARENT", ""},
		{"protobuf, JSON", edge, "wire.Edge", ` {"uuid":"b","kind":"PREDECESSOR"}`, "bPREDECESSOR", ""},
		{"protobuf, binary that begins as JSON may", text, "google.protobuf.StringValue", string(brace), strings.Repeat("x", '{'), ""},
		{"protobuf, JSON of a known message", text, "google.protobuf.StringValue", `"x"`, "x", ""},
		{"protobuf, binary that begins with a quote", edge, "wire.Edge", "\"\x01x" + string(binary), "aPARENT", ""},
		{"protobuf, binary of a known message", span, "google.protobuf.Duration", string(minute), time.Minute, ""},
		{"protobuf, JSON of a struct", object, "google.protobuf.Struct", `{"a":{"b":[1,null]}}`, map[string]any{"a": map[string]any{"b": []any{1.0, nil}}}, ""},
		{"protobuf, empty", edge, "wire.Edge", "", "PARENT", ""},
		{"protobuf, noise", edge, "wire.Edge", "\xff\xff", nil, "the payload is not a wire.Edge"},
		{"protobuf, unknown JSON field", edge, "wire.Edge", `{"uid":"b"}`, nil, "the payload is not a wire.Edge"},
		{"JSON", inJSON, "shop.v1.Load", `{"day":"today","rows":3,"more":true}`, load{"today", 3}, ""},
		{"JSON into a pointer", pointer, "shop.v1.Load", `{"day":"today"}`, load{Day: "today"}, ""},
		{"JSON, empty", inJSON, "shop.v1.Load", "", load{}, ""},
		{"JSON, noise", inJSON, "shop.v1.Load", "noise", nil, "the payload is not JSON for conveyor.load"},
		{"JSON, wrong type", inJSON, "shop.v1.Load", `{"rows":"x"}`, nil, "cannot unmarshal string"},
	}
	for _, tt := range tests { // in turn: they share got
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got = nil
				f := newFakeStore()
				w := fakeWorker(t, f, WorkerOptions{})
				tt.register(w)
				r := numbered(1)
				r.Job.Type, r.Job.Payload = tt.jobType, []byte(tt.payload)
				f.ready = []Reservation{r}
				stop := running(t, w)
				elapse(time.Second)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("handled (-want +got):\n%s", diff)
				}
				want := VerdictDone
				if tt.failure != "" {
					want = VerdictFailed // at once: no attempt mends it
				}
				if a := f.acks[0]; a.Verdict != want || !strings.Contains(a.Failure, tt.failure) {
					t.Errorf("acknowledgement %+v, want verdict %d with %q", a, want, tt.failure)
				}
				if diff := cmp.Diff([]string{tt.jobType}, f.beats[0].Types); diff != "" {
					t.Errorf("registered types (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestHandleNeedsGeneratedType(t *testing.T) {
	t.Parallel()
	w := fakeWorker(t, newFakeStore(), WorkerOptions{})
	Handle(w, func(context.Context, proto.Message) error { return nil })
	Handle[*durationpb.Duration](w, nil)
	if err := w.Run(t.Context()); err == nil || strings.Count(err.Error(), "Handle needs a function over a generated message type") != 2 {
		t.Errorf("error %v", err)
	}
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		trace := func(name string) Middleware {
			return func(next Handler) Handler {
				return func(ctx context.Context, j *wire.Job) error {
					got = append(got, name+" in")
					err := next(ctx, j)
					got = append(got, name+" out")
					return err
				}
			}
		}
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{})
		w.Use(trace("a"), trace("b"))
		w.Use(trace("c"))
		Handle(w, func(_ context.Context, m *wrapperspb.StringValue) error { got = append(got, m.GetValue()); return nil })
		r := numbered(1)
		r.Job.Type, r.Job.Payload = "google.protobuf.StringValue", []byte("\x0a\x01x")
		f.ready = []Reservation{r}
		stop := running(t, w)
		elapse(time.Second)
		w.HandleRaw("late", func(context.Context, *wire.Job) error { return nil })
		w.Use(trace("late"))
		elapse(BeatEvery)
		if err := stop(); err != nil {
			t.Error(err)
		}
		want := []string{"a in", "b in", "c in", "x", "c out", "b out", "a out"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"google.protobuf.StringValue"}, f.beats[len(f.beats)-1].Types); diff != "" {
			t.Errorf("types after a late registration (-want +got):\n%s", diff)
		}
	})
}
