package conveyor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// fakeStore is the part of the engine that a worker calls, in memory, for tests in a bubble of synctest: time in them is fake
// too, so they take none and nothing in them is a matter of luck.
type fakeStore struct {
	mu       sync.Mutex
	ready    []Reservation
	acks     []Ack
	requests []ExchangeRequest // each call, also repeated ones
	replies  map[int64]ExchangeReply
	beats    []WorkerInfo
	calls    map[string]int
	reply    BeatReply
	cycle    func() time.Duration // until the next tick of a schedule, asked at each tick; nil: there is none
	workers  []WorkerInfo
	log      string
	pieces   []int64
	progress []Progress
	added    []*wire.Job
	results  map[string][]byte
	sent     []emission
	left     bool
	sequence []string // beats and leaves, in order

	// fail is asked before each call and after what it does: what it returns is the call's error. A call that fails after it was
	// done is one whose reply was lost.
	fail func(call string, done bool) error

	woken chan struct{}
}

func newFakeStore() *fakeStore {
	return &fakeStore{replies: map[int64]ExchangeReply{}, calls: map[string]int{}, woken: make(chan struct{}, 1)}
}

// put makes jobs ready and wakes the worker.
func (f *fakeStore) put(reserved ...Reservation) {
	f.mu.Lock()
	f.ready = append(f.ready, reserved...)
	f.mu.Unlock()
	hint(f.woken)
}

// do counts a call and runs it under the lock, between two questions for an error.
func (f *fakeStore) do(call string, what func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call]++
	if f.fail != nil {
		if err := f.fail(call, false); err != nil {
			return err
		}
	}
	what()
	if f.fail != nil {
		return f.fail(call, true)
	}
	return nil
}

func (f *fakeStore) Exchange(_ context.Context, r ExchangeRequest) (reply ExchangeReply, err error) {
	err = f.do("exchange", func() {
		f.requests = append(f.requests, r)
		known, ok := f.replies[r.Number]
		if !ok {
			f.acks = append(f.acks, r.Done...)
			n := min(r.Want, len(f.ready))
			known.Reserved, f.ready = f.ready[:n:n], f.ready[n:]
			f.replies[r.Number] = known
		}
		reply = known
		reply.Reserved = nil
		for _, r := range known.Reserved { // as decoded from bytes
			r.Job = proto.CloneOf(r.Job)
			reply.Reserved = append(reply.Reserved, r)
		}
	})
	return reply, err
}

func (f *fakeStore) Beat(_ context.Context, w WorkerInfo) (reply BeatReply, err error) {
	err = f.do("beat", func() {
		f.beats = append(f.beats, w)
		f.sequence = append(f.sequence, "beat")
		reply = f.reply
	})
	return reply, err
}

func (f *fakeStore) Tick(context.Context) (reply TickReply, err error) {
	err = f.do("tick", func() {
		if f.cycle != nil {
			reply.Cycle = f.cycle()
		}
	})
	return reply, err
}

func (f *fakeStore) Leave(context.Context, string) error {
	return f.do("leave", func() { f.left = true; f.sequence = append(f.sequence, "leave") })
}

func (f *fakeStore) WaitWake(_ context.Context, _ string, timeout time.Duration) (bool, error) {
	if err := f.do("wait", func() {}); err != nil {
		return false, err
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-f.woken:
		return true, nil
	case <-t.C:
		return false, nil
	}
}

func (f *fakeStore) wake(context.Context, string) error { hint(f.woken); return nil }

func (f *fakeStore) Workers(context.Context) (workers []WorkerInfo, err error) {
	err = f.do("workers", func() { workers = f.workers })
	return workers, err
}

func (f *fakeStore) AppendLog(_ context.Context, _ string, _, n int64, text []byte) error {
	return f.do("log", func() {
		if len(f.pieces) == 0 || n > f.pieces[len(f.pieces)-1] {
			f.pieces, f.log = append(f.pieces, n), f.log+string(text)
		}
	})
}

func (f *fakeStore) SetProgress(_ context.Context, _ string, _ int64, p Progress) error {
	return f.do("progress", func() { f.progress = append(f.progress, p) })
}

func (f *fakeStore) AddMany(_ context.Context, jobs []*wire.Job, _ ...AddOption) error {
	return f.do("add", func() {
		for _, job := range jobs {
			f.added = append(f.added, proto.CloneOf(job))
		}
	})
}

func (f *fakeStore) Statuses(_ context.Context, uuids []string) (list []Status, err error) {
	err = f.do("statuses", func() {
		for _, uuid := range uuids {
			list = append(list, Status{UUID: uuid})
		}
	})
	return list, err
}

func (f *fakeStore) Results(_ context.Context, uuids []string) (list [][]byte, err error) {
	err = f.do("results", func() {
		for _, uuid := range uuids {
			list = append(list, f.results[uuid])
		}
	})
	return list, err
}

func (f *fakeStore) emit(_ context.Context, m emission) error {
	return f.do("emit", func() { f.sent = append(f.sent, m) })
}

func (f *fakeStore) ears() *hearing { return newHearing(f, slog.New(slog.DiscardHandler)) }

func (f *fakeStore) snapshot(context.Context, []string) (trail, []Status, error) {
	return trail{}, nil, errors.New("nobody can listen here")
}

// look reads the store's fields.
func (f *fakeStore) look(read func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	read()
}

// elapse lets time pass in a bubble.
func elapse(d time.Duration) { <-time.After(d) }

// numbered is a reservation of a job of type "t".
func numbered(n int, change ...func(*Reservation)) Reservation {
	r := Reservation{Job: &wire.Job{Uuid: fmt.Sprintf("u%d", n), Type: "t", Queue: "q"}, Fence: 1, Opening: 1}
	for _, c := range change {
		c(&r)
	}
	return r
}

// fakeWorker is a worker of queue q on a fake store, with no jitter.
func fakeWorker(t *testing.T, f *fakeStore, o WorkerOptions) *Worker {
	t.Helper()
	if o.Queues == nil {
		o.Queues = []QueueShare{{Name: "q"}}
	}
	if o.Random == nil {
		o.Random = func() float64 { return 0.5 }
	}
	w, err := newWorker(f, "ns", o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// running runs a worker and returns how to stop it: with the error of Run.
func running(t *testing.T, w *Worker) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}
