package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// processMain is what the binary does instead of running tests, when it was started as a process of one.
var processMain = func() (code int, ok bool) { return 0, false }

func TestMain(m *testing.M) {
	if code, ok := processMain(); ok {
		os.Exit(code)
	}
	goleak.VerifyTestMain(leakless{m})
}

type leakless struct{ m *testing.M }

func (l leakless) Run() int { return redistest.Run(l.m) }

const queue = "shop.Order"

// errKilled is the end of a process at a step.
var errKilled = errors.New("killed")

// rig is an engine and a fleet on one server of the test's own: the fleet's keys are literal.
type rig struct {
	testing.TB
	ctx    context.Context
	server *redistest.Server
	rdb    *redis.Client
	client *conveyor.Client
	fleet  *conveyorstand.Fleet
	sub    *redis.PubSub
	shift  time.Duration // of both clocks

	mu   sync.Mutex
	runs map[string]int // by uuid
	plan func(job *wire.Job, run int) error
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	server := redistest.Start(tb)
	rdb := server.Client(tb)
	r := &rig{TB: tb, ctx: tb.Context(), server: server, rdb: rdb}
	r.sub = rdb.Subscribe(r.ctx, conveyorstand.Events)
	tb.Cleanup(func() { r.sub.Close() }) //nolint:errcheck // the test is over
	if _, err := r.sub.Receive(r.ctx); err != nil {
		tb.Fatal(err)
	}
	r.reset()
	return r
}

// reset empties the server.
func (r *rig) reset() {
	r.Helper()
	if err := r.rdb.FlushAll(r.ctx).Err(); err != nil {
		r.Fatal(err)
	}
	r.fresh()
}

// fresh makes a client and a fleet without history.
func (r *rig) fresh() {
	r.Helper()
	var err error
	if r.client, err = conveyor.NewClient(r.rdb, conveyor.Options{Namespace: redistest.Namespace()}); err != nil {
		r.Fatal(err)
	}
	r.shift, r.runs, r.plan = 0, map[string]int{}, func(*wire.Job, int) error { return nil }
	r.fleet = &conveyorstand.Fleet{Redis: r.rdb, Now: func() time.Time { return time.Now().Add(r.shift) }}
}

func (r *rig) worker(id string) *conveyorstand.Worker {
	fleet := *r.fleet
	return &conveyorstand.Worker{Fleet: &fleet, ID: id, Queues: []string{queue}, Handle: func(_ context.Context, job *wire.Job) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.runs[job.GetUuid()]++
		return r.plan(job, r.runs[job.GetUuid()])
	}}
}

func (r *rig) bridge(id string, change ...func(*Options)) *Bridge {
	r.Helper()
	o := Options{Queues: []string{queue}, Fleet: r.rdb, ID: holderPrefix + id, Look: time.Millisecond, Absence: time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	b, err := New(r.client, o)
	if err != nil {
		r.Fatal(err)
	}
	return b
}

// silence ends what hear reads.
const silence = "silence"

// hear tells a bridge all that was published so far; nil drops it.
func (r *rig) hear(b *Bridge) {
	r.Helper()
	if err := r.rdb.Publish(r.ctx, conveyorstand.Events, silence).Err(); err != nil {
		r.Fatal(err)
	}
	for {
		m, err := r.sub.ReceiveMessage(r.ctx)
		if err != nil {
			r.Fatal(err)
		}
		if m.Payload == silence {
			return
		}
		if b == nil {
			continue
		}
		if err := b.hear(r.ctx, m.Payload); err != nil && !errors.Is(err, errKilled) {
			r.Fatal(err)
		}
	}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// pass lets time go by, for the engine and for the fleet.
func (r *rig) pass(d time.Duration) {
	r.Helper()
	r.shift += d
	if err := r.rdb.Set(r.ctx, r.client.Prefix()+"clock", "+"+strconv.FormatInt(r.shift.Milliseconds(), 10), 0).Err(); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) add(jobs ...*wire.Job) {
	r.Helper()
	if err := r.client.AddMany(r.ctx, jobs); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) round(b *Bridge) {
	r.Helper()
	b.looked = time.Time{}
	if _, err := b.round(r.ctx); err != nil {
		r.Fatal(err)
	}
}

// work has a worker run all that is queued.
func (r *rig) work(w *conveyorstand.Worker) {
	r.Helper()
	for {
		more, err := w.Once(r.ctx)
		if err != nil {
			r.Fatal(err)
		}
		if !more {
			return
		}
	}
}

func (r *rig) status(uuid string) conveyor.Status {
	r.Helper()
	s, err := r.client.Statuses(r.ctx, []string{uuid})
	if err != nil {
		r.Fatal(err)
	}
	return s[0]
}

func (r *rig) wantStates(want string, uuids ...string) {
	r.Helper()
	got := ""
	for _, uuid := range uuids {
		got += " " + uuid + " " + r.status(uuid).State.String()
	}
	if got[1:] != want {
		r.Errorf("the jobs are %q, want %q", got[1:], want)
	}
}

// verify wants the engine sound and nothing of ours left in the fleet's store but what is set aside.
func (r *rig) verify() {
	r.Helper()
	violations, err := r.client.Verify(r.ctx)
	if err != nil {
		r.Fatal(err)
	}
	for _, v := range violations {
		r.Errorf("violation: %v", v)
	}
	left, err := r.rdb.Keys(r.ctx, "conv:bridge:"+r.client.Namespace()+":*").Result()
	left = slices.DeleteFunc(left, func(key string) bool { return strings.HasSuffix(key, ":setaside") })
	if err != nil || len(left) > 0 {
		r.Errorf("left in the fleet's store: %v %v", left, err)
	}
}

func job(uuid string, edges ...*wire.Edge) *wire.Job {
	return &wire.Job{Uuid: uuid, Type: queue, Queue: queue, Payload: []byte("payload of " + uuid), Edges: edges}
}

func after(uuid string) *wire.Edge { return &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: uuid} }

func below(uuid string) *wire.Edge { return &wire.Edge{Kind: wire.Edge_PARENT, Uuid: uuid} }

// killedAt makes a step hook that ends everything from the n-th step on.
func killedAt(n int) (step func() error, reached func() bool) {
	count := 0
	return func() error {
		if count++; count >= n {
			return fmt.Errorf("step %d: %w", n, errKilled)
		}
		return nil
	}, func() bool { return count >= n }
}
