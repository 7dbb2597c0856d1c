package conveyor

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestWorkerOptions(t *testing.T) {
	t.Parallel()
	many := make([]QueueShare, maxQueues+1)
	for i := range many {
		many[i].Name = "q" + strings.Repeat("x", i%100) + string(rune('a'+i/100))
	}
	tests := []struct {
		name    string
		options WorkerOptions
		want    []string // nil: valid
	}{
		{"one queue", WorkerOptions{Queues: []QueueShare{{Name: "q"}}}, nil},
		{"no queue yet", WorkerOptions{Queues: []QueueShare{}}, nil},
		{"no word about queues", WorkerOptions{}, []string{"Queues: name at least one queue"}},
		{"all problems at once", WorkerOptions{
			Queues: []QueueShare{{Name: "a b"}, {Name: "q", Weight: -1}, {Name: "q"}}, ID: "w/1", Team: "t t", Concurrency: MaxConcurrency + 1,
			StopTimeout: -1,
		}, []string{`Queues[0]: name "a b"`, `Queues[1]: weight -1 of "q" is not in 1..1000`, `Queues[2]: queue "q" is named twice`, `field ID: "w/1"`, `field Team: "t t"`,
			"Concurrency: 10001 is not in 1..10000", "StopTimeout: -1ns is negative"}},
		{"negative concurrency", WorkerOptions{Queues: []QueueShare{}, Concurrency: -1}, []string{"Concurrency: -1"}},
		{"too many queues", WorkerOptions{Queues: many}, []string{"Queues: 1001 queues, the limit is 1000"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, err := newWorker(newFakeStore(), "ns", tt.options)
			if tt.want == nil {
				if err != nil || !validName(w.ID()) {
					t.Errorf("worker %v, error %v", w, err)
				}
				return
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
		})
	}
	if _, err := NewWorker(nil, WorkerOptions{}); err == nil {
		t.Error("a worker without a client")
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		queues []QueueShare
		want   string // whose turn it is
	}{
		{"one", []QueueShare{{Name: "a"}}, "aaa"},
		{"equal", []QueueShare{{Name: "a"}, {Name: "b", Weight: 1}, {Name: "c"}}, "abcabc"},
		{"by weight, not in a row", []QueueShare{{Name: "a", Weight: 4}, {Name: "b", Weight: 2}, {Name: "c", Weight: 1}}, "abacaba" + "abacaba"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			turns := newTurns(tt.queues)
			got := ""
			for range len(tt.want) {
				order := turns.next()
				got += order[0]
				slices.Sort(order)
				if diff := cmp.Diff(turns.names(), order); diff != "" {
					t.Errorf("not every queue has a place (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
		})
	}
	if got := newTurns(nil).next(); got != nil {
		t.Errorf("turns of no queue: %v", got)
	}
}

// TestWorkerSetQueues: a worker that serves no queue asks for what is in its inbox, and new queues are served and announced at once.
func TestWorkerSetQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		w := fakeWorker(t, f, WorkerOptions{Queues: []QueueShare{}})
		w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
		stop := running(t, w)
		elapse(time.Minute)
		f.look(func() {
			for _, r := range f.requests {
				if len(r.Queues) > 0 || r.Want == 0 || r.Worker != w.ID() {
					t.Errorf("asked %+v", r)
				}
			}
			if len(f.requests) < 10 {
				t.Errorf("asked %d times", len(f.requests))
			}
		})
		if err := w.SetQueues([]QueueShare{{Name: "a b"}}); err == nil {
			t.Error("a bad name was accepted")
		}
		if err := w.SetQueues([]QueueShare{{Name: "a"}, {Name: "b"}}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		f.look(func() {
			if diff := cmp.Diff([]string{"a", "b"}, slices.Sorted(slices.Values(f.requests[len(f.requests)-1].Queues))); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a", "b"}, f.beats[len(f.beats)-1].Queues); diff != "" {
				t.Errorf("announced (-want +got):\n%s", diff)
			}
		})
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
