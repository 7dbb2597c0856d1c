package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// all runs n goroutines and waits for them.
func all(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func TestConcurrent(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A11a many schedulers move a scheduled job once", func(e *engine) {
			e.add(job("s1", runAt(e.now+1000)), job("s2", runAt(e.now+1000)))
			e.pass(time.Second)
			all(8, func(int) {
				if _, err := e.Tick(e.Context()); err != nil {
					e.Error(err)
				}
			})
			e.states("s1 queued, s2 queued")
			for _, r := range e.reserves("s1", "s2") {
				e.end(r, conveyor.VerdictDone)
			}
			e.nothing()
		})
		e.Behaviour("A16a from any number of goroutines, first in first out for each", func(e *engine) {
			all(8, func(i int) {
				for k := range 20 {
					if err := e.Add(e.Context(), job(fmt.Sprintf("g%d-%02d", i, k))); err != nil {
						e.Error(err)
					}
				}
			})
			rs := e.reserve(200)
			byAdder := map[string][]string{}
			for _, r := range rs {
				adder, _, _ := strings.Cut(r.Job.Uuid, "-")
				byAdder[adder] = append(byAdder[adder], r.Job.Uuid)
				e.end(r, conveyor.VerdictDone)
			}
			for adder, got := range byAdder {
				if len(got) != 20 || !slices.IsSorted(got) {
					e.Errorf("%s: %v", adder, got)
				}
			}
		})
		e.Behaviour("C12a ids are unique, however many are added at once", func(e *engine) {
			made := make([][]*wire.Job, 10)
			all(len(made), func(i int) {
				for range 200 {
					made[i] = append(made[i], job(""))
				}
				if err := e.AddMany(e.Context(), made[i]); err != nil {
					e.Error(err)
				}
			})
			ids := map[string]bool{}
			for _, j := range slices.Concat(made...) {
				ids[j.Uuid] = true
			}
			if n := e.rdb.LLen(e.Context(), e.key("queue:q")).Val(); len(ids) != 2000 || n != 2000 {
				e.Errorf("%d ids, %d jobs", len(ids), n)
			}
			_, err := e.PurgeQueue(e.Context(), "q")
			e.ok(err)
		})
		e.Behaviour("A16b first in first out inside each queue and lane", func(e *engine) {
			want := map[string][]string{}
			for i := range 60 {
				q, priority := []string{"q", "r"}[i%2], int32(i%3)
				list := fmt.Sprintf("%s%d", q, priority)
				want[list] = append(want[list], fmt.Sprintf("%s-%02d", list, i))
				e.add(job(want[list][len(want[list])-1], queue(q), lane(priority)))
			}
			got := map[string][]string{}
			for range 12 {
				reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
					Worker: "w", Number: e.number.Add(1), Queues: []string{"r", "q"}, Want: 5,
				})
				e.ok(err)
				for _, r := range reply.Reserved {
					list, _, _ := strings.Cut(r.Job.Uuid, "-")
					got[list] = append(got[list], r.Job.Uuid)
					e.end(r, conveyor.VerdictDone)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				e.Error(diff)
			}
		})
		e.Behaviour("A11b many workers run each job of many graphs once", func(e *engine) {
			for i := range 10 {
				e.add(chain(fmt.Sprintf("c%d", i))...)
			}
			var mu sync.Mutex
			ran := map[string]int{}
			all(4, func(i int) {
				r := conveyor.ExchangeRequest{Worker: fmt.Sprintf("w%d", i), Queues: []string{"q"}, Want: 3}
				for idle := 0; idle < 3; {
					r.Number++
					reply, err := e.Exchange(e.Context(), r)
					if err != nil {
						e.Error(err)
						return
					}
					r.Done = nil
					mu.Lock()
					for _, got := range reply.Reserved {
						ran[got.Job.Uuid]++
						r.Done = append(r.Done, ack(got, conveyor.VerdictDone))
					}
					mu.Unlock()
					if idle++; len(reply.Reserved) > 0 {
						idle = 0
					}
				}
			})
			for len(ran) < 30 { // what became ready after the last worker looked
				for _, r := range e.reserve(10) {
					ran[r.Job.Uuid]++
					e.end(r, conveyor.VerdictDone)
				}
			}
			for u, n := range ran {
				if n != 1 {
					e.Errorf("%s ran %d times", u, n)
				}
			}
			e.wantKeys()
		})
	})
}

// TestCrashAnywhere lets a worker die after every one of its calls: what it had not acknowledged runs again, the rest does not.
func TestCrashAnywhere(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A11c a crash at any point re-runs exactly the unfinished work", func(e *engine) {
			for crash := range 8 {
				e.add(chain(fmt.Sprintf("x%d", crash))...)
				runs := map[string]int{}
				work := func(worker string, calls int) {
					r := conveyor.ExchangeRequest{Worker: worker, Queues: []string{"q"}, Want: 1}
					for range calls {
						r.Number++
						reply, err := e.Exchange(e.Context(), r)
						e.ok(err)
						for _, a := range r.Done {
							runs[a.UUID]++ // its work counts when it is acknowledged
						}
						r.Done = nil
						for _, got := range reply.Reserved {
							r.Done = append(r.Done, ack(got, conveyor.VerdictDone))
						}
					}
				}
				work(fmt.Sprintf("dies%d", crash), crash)
				e.pass(conveyor.DeadAfter)
				e.tick()
				e.sound()
				work(fmt.Sprintf("next%d", crash), 6)
				want := map[string]int{}
				for _, part := range []string{"p", "c", "h"} {
					want[fmt.Sprintf("x%d%s", crash, part)] = 1
				}
				if diff := cmp.Diff(want, runs); diff != "" {
					e.Errorf("after %d calls (-want +got):\n%s", crash, diff)
				}
			}
			e.wantKeys()
		})
	})
}

// The empty namespace gives the specification's keys exactly.
func TestEmptyNamespace(t *testing.T) {
	t.Parallel()
	rdb := redistest.Miniredis(t)
	c, err := conveyor.NewClient(rdb, conveyor.Options{EmptyNamespace: true})
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t, &world{Client: c, rdb: rdb}}
	e.at(start)
	e.add(job("p"), job("c", under("p")), job("h", after(0, "p")), job("s", runAt(start+1)))
	e.ok(e.Add(e.Context(), job("d", under("gone")), conveyor.ParentDead()))
	e.wantKeys("queue:q", "jobs:p:children", "jobs:p:onComplete", "scheduled", "jobs:gone:active")
	e.take("p")
	e.wantKeys("queue:q", "jobs:p", "jobs:p:children", "jobs:p:onComplete", "scheduled", "jobs:gone:active")
	e.sound()
}
