package conveyor_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/enginemodel"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// drawing is a small graph, what becomes of its jobs, and the order in which they are submitted.
type drawing struct {
	enginemodel.Graph
	fates []enginemodel.Fate
	order []int
}

func (d drawing) String() string {
	return fmt.Sprintf("submitted as %v:%s", d.order, d.Describe(d.fates))
}

// drawAny is any acyclic graph of a size.
func drawAny(random *rand.Rand, size int) drawing {
	return drawing{
		enginemodel.Numbered(size, random.IntN(enginemodel.Numbers(size))),
		enginemodel.FateNumbered(size, random.IntN(enginemodel.FateNumbers(size))), random.Perm(size),
	}
}

// play submits drawings, runs them all, and wants of every job what the rules say.
func (e *engine) play(drawings ...drawing) {
	e.Helper()
	var jobs []*wire.Job
	var cancel conveyor.Batch
	of, fates := map[string]int{}, map[string]enginemodel.Fate{}
	for n, d := range drawings {
		for _, i := range d.order {
			j := d.Job(fmt.Sprintf("g%d-", n), i)
			jobs, of[j.Uuid], fates[j.Uuid] = append(jobs, j), n, d.fates[i]
			if d.fates[i] == enginemodel.CancelledWaiting {
				cancel.Changes = append(cancel.Changes, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: j.Uuid})
			}
		}
	}
	e.add(jobs...)
	e.ok(e.Apply(e.Context(), cancel))
	var done []conveyor.Ack
	for {
		reply := e.exchange(conveyor.MaxBatch, done...)
		done = nil
		var stop conveyor.Batch
		for _, r := range reply.Reserved {
			if r.Fence > 1 {
				e.Fatalf("%s: %s starts again", drawings[of[r.Job.Uuid]], r.Job.Uuid)
			}
			if fates[r.Job.Uuid] == enginemodel.CancelledRunning {
				stop.Changes = append(stop.Changes, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: r.Job.Uuid})
			}
			done = append(done, enginemodel.End(r, fates[r.Job.Uuid]))
		}
		e.ok(e.Apply(e.Context(), stop))
		if len(done) == 0 && !reply.More {
			break
		}
	}
	stuck := conveyor.Batch{} // what waits in a circle is taken away
	for n, d := range drawings {
		uuids := make([]string, len(d.Graph))
		for i := range uuids {
			uuids[i] = d.Job(fmt.Sprintf("g%d-", n), i).Uuid
		}
		got, err := e.Statuses(e.Context(), uuids)
		e.ok(err)
		for i, want := range d.Rules(d.fates) {
			if found := enginemodel.OutcomeOf(got[i]); found != want {
				e.Fatalf("%s: j%d is %s, %q, want %q", d, i, got[i].State, found, want)
			}
			if want == enginemodel.Open {
				stuck.Changes = append(stuck.Changes, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuids[i]})
			}
		}
	}
	e.ok(e.Apply(e.Context(), stuck))
	for e.tick().More {
	}
}

// TestSmallGraphs plays every graph of one and two jobs, in every order, and drawn ones of three and four.
func TestSmallGraphs(t *testing.T) {
	onBoth(t, func(e *engine) {
		var all []drawing
		for size := 1; size <= 2; size++ {
			for n := range enginemodel.AnyNumbers(size) {
				for k := range enginemodel.FateNumbers(size) {
					order := []int{0, 1}[:size]
					all = append(all, drawing{enginemodel.AnyNumbered(size, n), enginemodel.FateNumbered(size, k), order})
					if size == 2 {
						all = append(all, drawing{enginemodel.AnyNumbered(size, n), enginemodel.FateNumbered(size, k), []int{1, 0}})
					}
				}
			}
		}
		seed := rand.Uint64()
		if os.Getenv(envStore) == "miniredis" {
			seed = 1 // the tests of mutants must find the same each time
		}
		e.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for range 150 {
			all = append(all, drawAny(random, 3), drawAny(random, 4))
		}
		e.playAll(all)
	})
}

// playAll plays drawings, many at once, each time in a namespace of their own.
func (e *engine) playAll(all []drawing) {
	e.Helper()
	for part := range slices.Chunk(all, 45) {
		alone := newEngine(e.tb, e.rdb)
		alone.play(part...)
		alone.sound()
		if e.Failed() {
			return
		}
	}
}

// graphsOfThree are all graphs of three jobs under all fates; of those with circles, of which most are stuck at once, every
// one under one of the fates.
func graphsOfThree() []drawing {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	var all []drawing
	for n := range enginemodel.Numbers(3) {
		for k := range enginemodel.FateNumbers(3) {
			all = append(all, drawing{enginemodel.Numbered(3, n), enginemodel.FateNumbered(3, k), orders[(n+k)%len(orders)]})
		}
	}
	for n := range enginemodel.AnyNumbers(3) {
		all = append(all, drawing{enginemodel.AnyNumbered(3, n), enginemodel.FateNumbered(3, n%enginemodel.FateNumbers(3)), orders[n%len(orders)]})
	}
	return all
}

// TestGraphs plays every graph of three jobs, and two thousand drawn ones of four, on both stores when -long asks for it, and
// otherwise some of them, beginning anywhere.
func TestGraphs(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	all := graphsOfThree()
	for range 2000 {
		all = append(all, drawAny(random, 4))
	}
	for _, store := range []struct {
		name string
		step int
		open func(t *testing.T) *engine
	}{
		{"redis", 10, func(t *testing.T) *engine { return newEngine(t, redistest.Shared(t).Client(t)) }},
		{"miniredis", 100, func(t *testing.T) *engine { return newEngine(t, redistest.Miniredis(t)) }},
	} {
		var some []drawing
		for i := random.IntN(store.step); i < len(all); i += store.step {
			some = append(some, all[i])
		}
		if *long {
			some = all
		}
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			store.open(t).playAll(some)
			t.Logf("%d graphs", len(some))
		})
	}
}
