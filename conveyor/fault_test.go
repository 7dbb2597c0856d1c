package conveyor_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// faultKinds are the ways in which the k-th request of a run goes wrong.
var faultKinds = []struct {
	name string
	plan func(k int) func(n int) redistest.Fault
}{
	{"request lost", func(k int) func(int) redistest.Fault { return at(redistest.LoseRequest, k) }},
	{"reply lost", func(k int) func(int) redistest.Fault { return at(redistest.LoseReply, k) }},
	// The k-th is repeated as the next request.
	{"both replies lost", func(k int) func(int) redistest.Fault { return at(redistest.LoseReply, k, k+1) }},
}

// faultRates are networks that break again and again, at requests drawn from a seed.
var faultRates = []struct {
	name string
	plan func(n int) redistest.Fault
}{
	{"one in eight requests or replies lost", func(n int) redistest.Fault { return drawn(n, 8) }},
	{"every second request or reply lost", func(n int) redistest.Fault { return drawn(n, 2) }},
}

// often loses a third of all requests or replies, and never three in a row: each call gets through, under the number it has.
func often(n int) redistest.Fault {
	if n%3 == 0 {
		return redistest.Pass
	}
	return drawn(n, 2)
}

// drawn has one in so many requests meet one of the two faults.
func drawn(n, oneIn int) redistest.Fault {
	r := rand.New(rand.NewPCG(uint64(n), uint64(oneIn)))
	if r.IntN(oneIn) > 0 {
		return redistest.Pass
	}
	return redistest.LoseRequest + redistest.Fault(r.IntN(2))
}

func at(fault redistest.Fault, numbers ...int) func(int) redistest.Fault {
	return func(n int) redistest.Fault {
		if slices.Contains(numbers, n) {
			return fault
		}
		return redistest.Pass
	}
}

// scenario is a part of what clients and workers ask of the engine. Each is played for itself: what a run costs grows with its
// requests, and the number of runs too.
type scenario struct {
	name string
	play func(f *faulty)
}

var scenarios = slices.Concat(jobScenarios, templateScenarios)

// TestFaults plays scenarios that together use every operation, each undisturbed and then once for each of its requests and each
// kind of fault: every answer, and all that is stored at its end, is the same. So nothing is lost, nothing is done twice and no
// retry is spent.
func TestFaults(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	used, played := map[string]bool{}, 0
	t.Cleanup(func() {
		for _, script := range conveyor.Scripts() {
			if !used[script] && played == len(stores)*len(scenarios) {
				t.Errorf("no scenario uses script %s: add what does", script)
			}
		}
	})
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					seen := playFaults(t, store.open(t), s)
					mu.Lock()
					defer mu.Unlock()
					played++
					for name := range seen {
						used[name] = true
					}
				})
			}
		})
	}
}

// playFaults plays one scenario in all ways, and tells which commands it uses.
func playFaults(t *testing.T, rdb redis.UniversalClient, s scenario) (seen map[string]int) {
	t.Helper()
	var want played
	alone(t, func(t *strand) {
		playFaulty(t, rdb, s, nil) // loads the scripts, so that all runs make the same requests
		want = playFaulty(t, rdb, s, nil)
	})
	t.Logf("%d requests: %v", want.requests, want.seen)
	for _, kind := range faultKinds {
		eachAtOnce(t, want.requests, func(t *strand, i int) {
			t.same(fmt.Sprintf("%s, request %d", kind.name, i+1), want, playFaulty(t, rdb, s, kind.plan(i+1)))
		})
	}
	alone(t, func(t *strand) { t.same("often", want, playFaulty(t, rdb, s, often)) })
	return want.seen
}

// same wants a run with faults to be like the undisturbed one.
func (s *strand) same(what string, want, got played) {
	s.Helper()
	if got.hits == 0 {
		s.Errorf("%s: nothing was lost", what)
	}
	if diff := cmp.Diff(want.answers, got.answers); diff != "" {
		s.Errorf("%s: answers (-undisturbed +faulty):\n%s", what, diff)
	}
	if diff := cmp.Diff(want.stored, got.stored); diff != "" {
		s.Errorf("%s: the store (-undisturbed +faulty):\n%s", what, diff)
	}
}

// eachAtOnce calls f for 0 to n-1, several at once: each waits most of the time. A fatal failure ends only its own call.
func eachAtOnce(t *testing.T, n int, f func(t *strand, i int)) {
	var workers sync.WaitGroup
	numbers := make(chan int)
	for range min(n, 8) {
		workers.Go(func() {
			for i := range numbers {
				done := make(chan struct{})
				go func() {
					defer close(done)
					s := &strand{T: t}
					defer s.end()
					f(s, i)
				}()
				<-done
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
}

// alone calls f as eachAtOnce does, once.
func alone(t *testing.T, f func(t *strand)) {
	eachAtOnce(t, 1, func(t *strand, _ int) { f(t) })
}

// strand is a goroutine of a test that fails, and cleans up, by itself.
type strand struct {
	*testing.T
	cleanups []func()
}

func (s *strand) Fatal(args ...any) {
	s.Helper()
	s.Error(args...)
	runtime.Goexit()
}

func (s *strand) Fatalf(format string, args ...any) {
	s.Helper()
	s.Errorf(format, args...)
	runtime.Goexit()
}

func (s *strand) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *strand) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

// played is what came of one run of the scenario.
type played struct {
	answers  []string
	stored   []string
	requests int
	hits     int
	seen     map[string]int // scripts, by name
}

// faulty is a scenario under way. Its client goes through a proxy; the engine beside it does not.
type faulty struct {
	*engine
	c       *conveyor.Client
	answers []string
	calls   int64
}

func playFaulty(t *strand, rdb redis.UniversalClient, s scenario, plan func(int) redistest.Fault) played {
	t.Helper()
	proxy := redistest.ProxyTo(t, rdb)
	proxy.Plan(plan)
	through := proxy.Client()
	t.Cleanup(func() { _ = through.Close() })
	e := newEngine(t, rdb)
	c, err := conveyor.NewClient(through, conveyor.Options{Namespace: e.Namespace()})
	e.ok(err)
	f := &faulty{engine: e, c: c}
	s.play(f)
	f.sound()
	names, seen := conveyor.Scripts(), map[string]int{}
	for command, n := range proxy.Seen() {
		if verb, called, _ := strings.Cut(command, " "); verb == "EVALSHA" || verb == "FCALL" {
			command = names[called]
		}
		seen[command] += n
	}
	return played{f.answers, entries(e), proxy.Requests(), proxy.Hits(), seen}
}

// ask makes a call, and again as long as the way to Redis is broken, as any caller does. The answer is what the undisturbed run must
// get too.
func (f *faulty) ask(name string, call func() (any, error)) {
	f.Helper()
	for {
		answer, err := call()
		if errors.Is(err, conveyor.ErrUnavailable) {
			continue
		}
		if err != nil {
			f.Fatalf("%s: %v", name, err)
		}
		f.answers = append(f.answers, fmt.Sprintf("%s: %v", name, answer))
		return
	}
}

// do is ask without an answer.
func (f *faulty) do(name string, call func() error) {
	f.Helper()
	f.ask(name, func() (any, error) { return "", call() })
}

// see notes the states of jobs, without the proxy.
func (f *faulty) see(uuids ...string) {
	f.Helper()
	statuses, err := f.Statuses(f.Context(), uuids)
	f.ok(err)
	for _, s := range statuses {
		f.answers = append(f.answers, fmt.Sprintf("%+v", s))
	}
}

// give acknowledges and reserves, as a worker does: under one number until it is answered.
func (f *faulty) give(r conveyor.ExchangeRequest) map[string]conveyor.Reservation {
	f.Helper()
	f.calls++
	r.Number = f.calls
	if r.Queues == nil {
		r.Queues = []string{"q"}
	}
	got := map[string]conveyor.Reservation{}
	f.ask(fmt.Sprintf("exchange %d", r.Number), func() (any, error) {
		clear(got)
		reply, err := f.c.Exchange(f.Context(), r)
		for _, r := range reply.Reserved {
			got[r.Job.Uuid] = r
		}
		return fmt.Sprint(names(reply.Reserved), reply.Outdated, reply.More, reply.Next, reply.Now.UnixMilli()), err
	})
	for _, uuid := range slices.Sorted(maps.Keys(got)) {
		r := got[uuid]
		f.answers = append(f.answers, fmt.Sprint(uuid, r.Fence, r.Attempts, r.Lost, r.Cycles, r.Sync))
	}
	return got
}

// drawnCaller is the name of a caller without a name of its own: a random uuid, or as much in hexadecimal.
var drawnCaller = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|client-[0-9a-f]{32}`)

// entries are the lines of a dump, with a line for each event, so that a difference shows what it is. What is kept to answer drawn
// callers again is left out.
func entries(e *engine) []string {
	e.Helper()
	lines := strings.Split(strings.ReplaceAll(drawnCaller.ReplaceAllString(dump(e), "?"), "} {", "}\n{"), "\n")
	slices.Sort(lines)
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "call:? ") })
}

func sortAcks(acks []conveyor.Ack) {
	slices.SortFunc(acks, func(a, b conveyor.Ack) int { return strings.Compare(a.UUID, b.UUID) })
}
