package conveyor_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/enginemodel"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// sequences is how many histories TestModel draws, in parts of a hundred. `make soak` draws ten thousand. A failure prints
// the part and its seed; -run 'TestModel/<part>$' -rapid.seed=<seed> plays it again.
var sequences = flag.Int("model.sequences", 200, "histories that TestModel draws, in parts of 100")

const historySteps = 60 // of a history

// TestModel draws histories of sixty operations: modelWorkers that never come back, replies that are lost and asked for again,
// requests repeated later, owners that come too late. Each operation is made on the reference model, on a real
// Redis and on the embedded store's server: they answer the same, and after every operation all jobs have the status
// that the model predicts. Verify is silent after every tenth operation and at the end, when both servers hold the same
// bytes. Then everything ends, and after retention nothing is left.
func TestModel(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t).Client(t)
	for part := range (*sequences + 99) / 100 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			mini := redistest.Miniredis(t)
			rapid.Check(t, func(rt *rapid.T) {
				h := newHistory(rt, server, mini)
				h.templates = part%2 == 1
				h.play()
				mini.FlushAll(rt.Context())
			})
		})
	}
}

// TestHistories plays histories that are the same each time. They are few, but for the tests of mutants, which ask them too.
func TestHistories(t *testing.T) {
	t.Parallel()
	n := 4
	if os.Getenv(envStore) == "miniredis" {
		n = 150
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var servers []redis.UniversalClient
			for _, store := range stores {
				servers = append(servers, store.open(t))
			}
			var failure any
			rapid.Custom(func(rt *rapid.T) (failed bool) {
				if failure != nil { // rapid tries again what fails
					return true
				}
				defer func() { failure = recover() }()
				h := newHistory(rt, servers...)
				h.templates = seed%2 == 1
				h.play()
				return false
			}).Example(seed)
			if failure != nil {
				t.Error(failure)
			}
		})
	}
}

// history is one drawn sequence of operations on the model and on the stores.
type history struct {
	*rapid.T
	model   *enginemodel.Engine
	stores  []*engine
	made    int
	uuids   []string                            // ever used
	held    map[string][]conveyor.Reservation   // what each worker believes it runs; "" reserves without a worker
	ghosts  []conveyor.Reservation              // what modelWorkers held that forgot it: late owners
	numbers map[string]int64                    // of exchanges, by caller
	last    map[string]conveyor.ExchangeRequest // by caller
	seen    map[string]bool                     // uuids that were stored once

	templates bool              // it is about templates and their cycles
	template  map[string]bool   // uuids that are, or are to be, templates
	families  map[string]string // the root of each of them
	gated     map[string]bool   // roots that have a gate
	ways      []*slowTicker     // to the stores
	late      []held            // what tickers have not stored yet
	trace     []string
}

// newHistory is one on the model and a namespace that all these servers have.
func newHistory(rt *rapid.T, servers ...redis.UniversalClient) *history {
	h := &history{T: rt, model: enginemodel.New(start), held: map[string][]conveyor.Reservation{},
		numbers: map[string]int64{}, last: map[string]conveyor.ExchangeRequest{}, seen: map[string]bool{},
		template: map[string]bool{}, families: map[string]string{}, gated: map[string]bool{}}
	namespace := redistest.Namespace()
	for _, rdb := range servers {
		way, through := newSlowTicker(), redistest.Another(rt, rdb)
		rt.Cleanup(func() { _ = through.Close() })
		through.AddHook(way)
		h.ways = append(h.ways, way)
		c, err := conveyor.NewClient(through, conveyor.Options{Namespace: namespace})
		if err != nil {
			rt.Fatal(err)
		}
		e := &engine{rt, &world{Client: c, rdb: rdb, now: start}}
		e.at(start)
		h.stores = append(h.stores, e)
	}
	return h
}

func (h *history) play() {
	ops := []func(){ // as many as five bits can tell apart: rapid draws numbers mostly small, but bits evenly
		h.add, h.add, h.add, h.add, h.exchange, h.exchange, h.exchange, h.exchange, h.exchange, h.exchange, h.list,
		h.pass, h.pass, h.tick, h.cancel, h.update, h.replace, h.reopen, h.make, h.batch, h.crash, h.ghost, h.repeat, h.leave, h.retry,
		h.release, h.beat, h.queue, h.queue, h.batch, h.fenced, h.remove,
	}
	if h.templates {
		ops = h.cyclic()
	}
	for i := range historySteps {
		op := 0
		for bit := range 5 {
			if rapid.Bool().Draw(h.T, "op") {
				op |= 1 << bit
			}
		}
		ops[op]()
		h.compare()
		if i%10 == 9 {
			h.sound()
		}
	}
	h.sound()
	if len(h.stores) > 1 {
		if diff := gocmp.Diff(bytesOf(h.stores[0]), bytesOf(h.stores[1])); diff != "" {
			h.fatal("the stores differ (-redis +miniredis):\n%s", diff)
		}
	}
	h.drain()
}

func (h *history) int(name string, least, most int) int {
	return rapid.IntRange(least, most).Draw(h.T, name)
}

func (h *history) one(name string, of int) bool { return h.int(name, 1, of) == of }

func (h *history) fatal(format string, args ...any) {
	h.Helper()
	h.Fatalf("%s\n\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(h.trace, "\n"))
}

func (h *history) log(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf("%3d +%dms ", len(h.trace), h.model.Now()-start)+fmt.Sprintf(format, args...))
}

// do makes one operation everywhere and wants the model's answer. Now and then the reply is lost and the request repeated.
func (h *history) do(model func() (any, error), store func(e *engine) (any, error)) any {
	h.Helper()
	times := 1
	if h.one("lost reply", 6) {
		times = 2
		h.log("lost reply: next request is made twice")
	}
	var want any
	for range times {
		var err error
		want, err = model()
		for i, e := range h.stores {
			got, errGot := store(e)
			if kind := errorKind(err); kind != errorKind(errGot) {
				h.fatal("%s: error %v, the model says %v", stores[i].name, errGot, err)
			}
			if diff := gocmp.Diff(want, got, protocmp.Transform()); diff != "" && err == nil {
				h.fatal("%s answers otherwise than the model (-model +store):\n%s", stores[i].name, diff)
			}
		}
	}
	return want
}

// errorKind is what must agree of two errors.
func errorKind(err error) string {
	var conflict *conveyor.ConflictError
	var held *conveyor.UniqueError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &conflict):
		return conflict.Error()
	case errors.As(err, &held):
		return held.Error()
	}
	for _, kind := range []error{conveyor.ErrOutdated, conveyor.ErrNotFound, conveyor.ErrState, conveyor.ErrUnknownUpstream, conveyor.ErrGuard,
		conveyor.ErrQueueDeclaredPaused, conveyor.ErrTemplate, conveyor.ErrNotTemplate, conveyor.ErrDownstream, conveyor.ErrNotScheduled,
		conveyor.ErrBackfill} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return err.Error()
}

// compare wants every job to be as the model predicts.
func (h *history) compare() {
	h.Helper()
	h.cycles()
	uuids := h.known()
	want := h.model.Statuses(uuids)
	for _, s := range want {
		h.seen[s.UUID] = h.seen[s.UUID] || s.State != conveyor.StateUnknown
	}
	rank(want)
	for i, e := range h.stores {
		got, err := e.Statuses(e.Context(), uuids)
		e.ok(err)
		rank(got)
		for k := range got {
			if got[k].State == conveyor.StateSkipped && !slices.Contains(h.model.Causes(got[k].UUID), got[k].Cause) {
				h.fatal("%s: %s was skipped for %q, the model knows %q", stores[i].name, got[k].UUID, got[k].Cause, h.model.Causes(got[k].UUID))
			}
			got[k].Cause, got[k].HeldSince = "", time.Time{}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			h.fatal("%s differs from the model (-model +store):\n%s", stores[i].name, diff)
		}
	}
}

// rank leaves of the places what they mean: the order of jobs that are queued, and of those that are due at one time.
func rank(all []conveyor.Status) {
	var order []*conveyor.Status
	for i := range all {
		if s := &all[i]; s.State == conveyor.StateQueued || s.State == conveyor.StateScheduled {
			order = append(order, s)
		} else {
			s.Place = 0
		}
	}
	slices.SortFunc(order, func(a, b *conveyor.Status) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Queue, b.Queue), -cmp.Compare(a.Priority, b.Priority), a.DueAt.Compare(b.DueAt),
			cmp.Compare(a.Place, b.Place))
	})
	for i, s := range order {
		if s.Place > 0 {
			s.Place = int64(i + 1)
		}
	}
}

func (h *history) sound() {
	h.Helper()
	for i, e := range h.stores {
		found, err := e.Verify(e.Context())
		e.ok(err)
		if len(found) > 0 {
			h.fatal("%s: violations: %v", stores[i].name, found)
		}
	}
}

func (h *history) pass() {
	d := time.Duration(h.int("pass", 1, 4000)) * time.Millisecond
	if h.one("long", 40) && !h.templates {
		d = 8 * 24 * time.Hour
	}
	h.log("pass %s", d)
	h.move(d)
	if !h.one("silent", 4) {
		for _, w := range modelWorkers[1:] {
			h.beatOf(w)
		}
	}
}

func (h *history) move(d time.Duration) {
	h.model.Pass(d.Milliseconds())
	for _, e := range h.stores {
		e.pass(d)
	}
}

// bytesOf is the store without its wake-ups, which are hints, and without the names that purges make up.
func bytesOf(e *engine) []string {
	return slices.DeleteFunc(strings.Split(dump(e), "\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, " ")
		return strings.HasPrefix(name, "wake:") || name == "callers" || strings.HasPrefix(name, "call:") && strings.Contains(name, "-")
	})
}

// drain lets everything end: queues run, missing upstreams come, holds are released, attempts succeed. What then still waits,
// waits in a circle, for a job that was withdrawn, or for an opening that never comes, and is cancelled.
func (h *history) drain() {
	for _, name := range []string{"q", "q2"} {
		h.setQueue(name, conveyor.QueueSettings{})
		h.resumeQueue(name)
	}
	for _, uuid := range h.uuids {
		if h.status(uuid).State == conveyor.StateTemplate {
			h.cancelOf(uuid)
		}
	}
	for i := range h.made + 2 {
		if uuid := fmt.Sprintf("j%d", i); !slices.Contains(h.uuids, uuid) {
			h.uuids = append(h.uuids, uuid)
			h.addJobs(enginemodel.Added{}, job(uuid))
		}
	}
	for range 60 {
		h.log("drain")
		h.move(10 * time.Second)
		h.tick()
		live := 0
		for _, s := range h.model.Statuses(h.known()) {
			switch {
			case s.State == conveyor.StateOnHold:
				h.releaseOf(s.UUID)
				live++
			case s.State == conveyor.StateQueued && s.Inbox() != "":
				h.cancelOf(s.UUID)
				live++
			case !s.State.Ended() && s.State != conveyor.StateUnknown:
				live++
			}
		}
		if live == 0 {
			break
		}
		reply := h.exchangeAs(h.drainer(100))
		end := h.drainer(0)
		for _, res := range reply.Reserved {
			end.Done = append(end.Done, ack(res, conveyor.VerdictDone))
		}
		if len(end.Done) == 0 {
			for _, s := range h.model.Statuses(h.known()) {
				if s.State == conveyor.StateHeld {
					h.cancelOf(s.UUID)
				}
			}
		}
		h.exchangeAs(end)
		h.compare()
	}
	for _, s := range h.model.Statuses(h.known()) {
		if !s.State.Ended() && s.State != conveyor.StateUnknown {
			h.fatal("I11: %s is %s in the end: %+v", s.UUID, s.State, s)
		}
	}
	h.sound()
	for _, uuid := range h.known() {
		if s := h.model.Statuses([]string{uuid})[0]; s.Recorded {
			h.apply(conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeRelease, UUID: uuid}}})
		}
	}
	h.move(8 * 24 * time.Hour)
	h.tick()
	h.tick()
	h.compare()
	for i, e := range h.stores {
		if left := h.leftovers(e); len(left) > 0 {
			h.fatal("%s: I13: after retention there is %q", stores[i].name, left)
		}
	}
}

// drainer is a caller that takes what there is.
func (h *history) drainer(want int) conveyor.ExchangeRequest {
	h.numbers["drain"]++
	return conveyor.ExchangeRequest{Caller: "drain", Lease: time.Minute, Number: h.numbers["drain"], Queues: []string{"q", "q2"}, Want: want}
}

// leftovers are the keys that stay although nothing of a job may.
func (h *history) leftovers(e *engine) (left []string) {
	for _, name := range e.scan() {
		switch name {
		case "clock", "seq", "events", "events:seq", "events:life", "queues", "record":
		default:
			if !strings.HasPrefix(name, "wake:") { // these have a TTL, and the server's time stands still for nobody
				left = append(left, name)
			}
		}
	}
	return left
}
