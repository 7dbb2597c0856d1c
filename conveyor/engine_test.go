package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// engine is one namespace as a test sees it.
type engine struct {
	tb
	*world
}

// tb is what a test, or a drawn sequence of operations, gives to its checks.
type tb interface {
	rapid.TB
	Cleanup(func())
	Context() context.Context
}

// world is one namespace under test, with a clock that stands still until it is moved.
type world struct {
	*conveyor.Client
	rdb    redis.UniversalClient
	now    int64        // ms
	number atomic.Int64 // of exchanges, whoever calls
}

// Run runs a subtest on the same namespace.
func (e *engine) Run(name string, test func(e *engine)) {
	e.tb.(*testing.T).Run(name, func(t *testing.T) { test(&engine{t, e.world}) })
}

// Behaviour runs the subtest of a numbered behaviour (COVERAGE.md) in a namespace of its own, so that it fails alone.
func (e *engine) Behaviour(name string, test func(e *engine)) {
	e.tb.(*testing.T).Run(name, func(t *testing.T) {
		alone := newEngine(t, e.rdb)
		test(alone)
		alone.sound()
	})
}

// start is when every engine's clock begins: a whole second, in milliseconds.
const start = int64(1_800_000_000_000)

// stores are the servers that every test runs on.
var stores = []struct {
	name string
	open func(t *testing.T) redis.UniversalClient
}{
	{"redis", func(t *testing.T) redis.UniversalClient { return redistest.Shared(t).Client(t) }},
	{"miniredis", func(t *testing.T) redis.UniversalClient { return redistest.Miniredis(t) }},
}

// others are servers that every test runs on when envStore names them: `make cluster` and the like.
var others = []struct {
	name string
	open func(t *testing.T) redis.UniversalClient
}{
	{"cluster", func(t *testing.T) redis.UniversalClient { return redistest.SharedCluster(t).Client(t) }},
	{"sentinel", func(t *testing.T) redis.UniversalClient { return redistest.SharedSentinels(t).Client(t) }},
	{"valkey", func(t *testing.T) redis.UniversalClient { return redistest.SharedValkey(t).Client(t) }},
}

// envStore names the only store to test, when it is set.
const envStore = "WAYBILL_TEST_ENGINE"

func init() {
	only := os.Getenv(envStore)
	if only == "" {
		return
	}
	for _, s := range slices.Concat(stores, others) {
		if s.name == only {
			stores = append(stores[:0:0], s)
			return
		}
	}
	panic(fmt.Sprintf("%s=%s names no store of these tests", envStore, only))
}

// onBoth runs a test on a real Redis and on the server that the embedded store is built on, and then wants Verify to be silent.
func onBoth(t *testing.T, test func(e *engine)) {
	t.Helper()
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, store.open(t))
			test(e)
			e.sound()
		})
	}
}

func newEngine(t tb, rdb redis.UniversalClient) *engine {
	t.Helper()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: redistest.Namespace()})
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t, &world{Client: c, rdb: rdb}}
	e.at(start)
	return e
}

// another is a client of the same server, which the caller closes.
func (e *engine) another() redis.UniversalClient {
	e.Helper()
	return redistest.Another(e.tb, e.rdb)
}

func (e *engine) key(name string) string { return e.Prefix() + name }

// at moves the clock.
func (e *engine) at(ms int64) {
	e.Helper()
	e.now = ms
	e.ok(e.rdb.Set(e.Context(), e.key("clock"), fmt.Sprintf("=%d", ms), 0).Err())
}

func (e *engine) pass(d time.Duration) {
	e.Helper()
	e.at(e.now + d.Milliseconds())
}

func (e *engine) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// sound wants no violation of an invariant.
func (e *engine) sound() {
	e.Helper()
	violations, err := e.Verify(context.WithoutCancel(e.Context()))
	e.ok(err)
	for _, v := range violations {
		e.Errorf("violation: %+v", v)
	}
}

// job is a job of queue "q"; uuid may be empty.
func job(uuid string, change ...func(*wire.Job)) *wire.Job {
	j := &wire.Job{Uuid: uuid, Type: "noop", Queue: "q"}
	for _, f := range change {
		f(j)
	}
	return j
}

func under(parents ...string) func(*wire.Job) {
	return func(j *wire.Job) {
		for _, p := range parents {
			j.Edges = append(j.Edges, &wire.Edge{Kind: wire.Edge_PARENT, Uuid: p})
		}
	}
}

func after(runIf wire.Edge_RunIf, predecessors ...string) func(*wire.Job) {
	return func(j *wire.Job) {
		group := int32(0)
		for _, e := range j.Edges {
			group = max(group, e.Group+1)
		}
		for _, p := range predecessors {
			j.Edges = append(j.Edges, &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: p, RunIf: runIf, Group: group})
		}
	}
}

func edge(e *wire.Edge) func(*wire.Job) { return func(j *wire.Job) { j.Edges = append(j.Edges, e) } }

func runAt(ms int64) func(*wire.Job) {
	return func(j *wire.Job) { j.RunAt = timestamppb.New(time.UnixMilli(ms)) }
}

func queue(name string) func(*wire.Job) { return func(j *wire.Job) { j.Queue = name } }

func lane(priority int32) func(*wire.Job) { return func(j *wire.Job) { j.Priority = &priority } }

func (e *engine) add(jobs ...*wire.Job) {
	e.Helper()
	e.ok(e.AddMany(e.Context(), jobs))
}

// exchange acknowledges and reserves as worker "w".
func (e *engine) exchange(want int, done ...conveyor.Ack) conveyor.ExchangeReply {
	e.Helper()
	return e.exchangeAs("w", want, done...)
}

func (e *engine) exchangeAs(worker string, want int, done ...conveyor.Ack) conveyor.ExchangeReply {
	e.Helper()
	reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
		Worker: worker, Number: e.number.Add(1), Queues: []string{"q"}, Want: want, Done: done,
	})
	e.ok(err)
	return reply
}

// reserve returns the attempts it started.
func (e *engine) reserve(want int) []conveyor.Reservation {
	e.Helper()
	return e.exchange(want).Reserved
}

// take reserves one job and wants it to be this one.
func (e *engine) take(uuid string) conveyor.Reservation {
	e.Helper()
	got := e.reserve(1)
	if len(got) != 1 || got[0].Job.Uuid != uuid {
		e.Fatalf("reserved %v, want %s", names(got), uuid)
	}
	return got[0]
}

// run takes a job and ends its attempt.
func (e *engine) run(uuid string, verdict conveyor.Verdict) {
	e.Helper()
	e.end(e.take(uuid), verdict)
}

func (e *engine) end(r conveyor.Reservation, verdict conveyor.Verdict) {
	e.Helper()
	if out := e.exchange(0, ack(r, verdict)).Outdated; len(out) > 0 {
		e.Fatalf("%s: outdated", r.Job.Uuid)
	}
}

func ack(r conveyor.Reservation, verdict conveyor.Verdict) conveyor.Ack {
	return conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence, Verdict: verdict}
}

func names(rs []conveyor.Reservation) []string {
	out := []string{}
	for _, r := range rs {
		out = append(out, r.Job.Uuid)
	}
	return out
}

// nothing wants no job to be ready.
func (e *engine) nothing() {
	e.Helper()
	if got := e.reserve(10); len(got) > 0 {
		e.Fatalf("reserved %v, want nothing", names(got))
	}
}

// reserves wants exactly these jobs, in this order.
func (e *engine) reserves(want ...string) []conveyor.Reservation {
	e.Helper()
	got := e.reserve(100)
	if diff := cmp.Diff(want, names(got)); diff != "" {
		e.Fatalf("reserved (-want +got):\n%s", diff)
	}
	return got
}

func (e *engine) status(uuid string) conveyor.Status {
	e.Helper()
	s, err := e.Statuses(e.Context(), []string{uuid})
	e.ok(err)
	return s[0]
}

// states wants jobs to be in states: "a queued, b failed".
func (e *engine) states(want string) {
	e.Helper()
	var uuids, got []string
	for part := range strings.SplitSeq(want, ", ") {
		uuid, _, _ := strings.Cut(part, " ")
		uuids = append(uuids, uuid)
	}
	found, err := e.Statuses(e.Context(), uuids)
	e.ok(err)
	for _, s := range found {
		state := s.State.String()
		if s.ChildFailed {
			state += "(child)"
		}
		got = append(got, s.UUID+" "+state)
	}
	if diff := cmp.Diff(strings.Split(want, ", "), got); diff != "" {
		e.Fatalf("states (-want +got):\n%s", diff)
	}
}

func (e *engine) tick() conveyor.TickReply {
	e.Helper()
	reply, err := e.Tick(e.Context())
	e.ok(err)
	return reply
}

// keys lists the namespace's keys that hold jobs, without bookkeeping.
func (e *engine) keys() []string {
	e.Helper()
	var out []string
	for _, name := range e.scan() {
		if name == "scheduled" || strings.HasPrefix(name, "queue:") || strings.HasPrefix(name, "jobs:") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// scan lists all keys of the namespace, without its prefix. A key that is written meanwhile may come twice.
func (e *engine) scan() (names []string) {
	e.Helper()
	var node redis.Cmdable = e.rdb
	if cluster, ok := e.rdb.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(e.Context(), e.Prefix())
		e.ok(err)
		node = master
	}
	iter := node.Scan(e.Context(), 0, e.Prefix()+"*", 1000).Iterator()
	for iter.Next(e.Context()) {
		names = append(names, strings.TrimPrefix(iter.Val(), e.Prefix()))
	}
	e.ok(iter.Err())
	return names
}

func (e *engine) wantKeys(want ...string) {
	e.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, e.keys()); diff != "" {
		e.Fatalf("keys (-want +got):\n%s", diff)
	}
}

// list reads a list as jobs, the next one first.
func (e *engine) list(name string) []*wire.Job {
	e.Helper()
	entries, err := e.rdb.LRange(e.Context(), e.key(name), 0, -1).Result()
	e.ok(err)
	slices.Reverse(entries)
	var out []*wire.Job
	for _, entry := range entries {
		j := &wire.Job{}
		e.ok(proto.Unmarshal([]byte(entry), j))
		out = append(out, j)
	}
	return out
}

func delayed(d time.Duration) func(*wire.Job) {
	return func(j *wire.Job) { j.After = durationpb.New(d) }
}

// active tells whether a child is in its parent's active set.
func (e *engine) active(parent, child string) bool {
	e.Helper()
	in, err := e.rdb.SIsMember(e.Context(), e.key("jobs:"+parent+":active"), child).Result()
	e.ok(err)
	return in
}

// refused wants this error.
func (e *engine) refused(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("got %v, want %v", err, want)
	}
}

func (e *engine) beat(worker string, running ...conveyor.Holding) conveyor.BeatReply {
	e.Helper()
	reply, err := e.Beat(e.Context(), conveyor.WorkerInfo{ID: worker, Host: "host", Queues: []string{"q"}, Capacity: 10, Running: running})
	e.ok(err)
	return reply
}

// chain is three jobs: a parent, its child and the heir of both.
func chain(prefix string) []*wire.Job {
	return []*wire.Job{job(prefix+"h", after(0, prefix+"p", prefix+"c")), job(prefix+"c", under(prefix+"p")), job(prefix + "p")}
}

func xadd(key string) *redis.XAddArgs {
	return &redis.XAddArgs{Stream: key, Values: []string{"x", "y"}}
}

func redisZ(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
