package conveyor_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// tally counts what an observer is told.
type tally map[string]int

func (t tally) Called(operation string, took time.Duration, err error) {
	t["called "+operation]++
	if took > 0 {
		t["took "+operation]++
	}
	if err != nil {
		t["failed "+operation]++
	}
}

func (t tally) Attempted(queue string, _ conveyor.Outcome, _ time.Duration) {
	t["attempted of "+queue]++
}

func (t tally) Happened(what conveyor.Incident, n int) { t[string(what)] += n }

// TestObserved shows what an observer is told of the operations that its process called.
func TestObserved(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C13a each operation is counted, with its errors and how long it took, and what became of jobs", func(e *engine) {
			seen, ctx := tally{}, e.Context()
			c, err := conveyor.NewClient(e.rdb, conveyor.Options{Namespace: e.Namespace(), Observer: seen})
			e.ok(err)
			exchange := func(number int64, want int, done ...conveyor.Ack) conveyor.ExchangeReply {
				reply, err := c.Exchange(ctx, conveyor.ExchangeRequest{Caller: "c", Number: number, Queues: []string{"q"}, Want: want,
					Lease: time.Minute, Done: done})
				e.ok(err)
				return reply
			}
			e.ok(c.Add(ctx, job("root", queue("other"), labelled("a=1"))))
			e.ok(c.Add(ctx, job("obsolete", dropIf("a=1"))))
			e.ok(c.Add(ctx, job("expires", queue("other"), waitsFor(time.Second))))
			e.ok(c.Add(ctx, job("runs")))
			e.refused(c.Cancel(ctx, "never"), conveyor.ErrNotFound)
			r := exchange(1, 1).Reserved[0]
			extend := ack(r, conveyor.VerdictExtend)
			extend.Delay = time.Minute
			exchange(2, 0, extend)
			exchange(3, 0, ack(r, conveyor.VerdictDone))
			r.Fence++
			exchange(4, 0, ack(r, conveyor.VerdictDone))
			e.pass(time.Second)
			_, err = c.Tick(ctx)
			e.ok(err)
			e.states("root queued, obsolete obsolete, expires expired, runs completed")
			var got []string
			for _, what := range slices.Sorted(maps.Keys(seen)) {
				got = append(got, fmt.Sprint(what, " ", seen[what]))
			}
			want := []string{
				"ack outdated 1", "called add 4", "called cancel 1", "called exchange 4", "called tick 1", "failed cancel 1",
				"job expired 1", "job obsolete 1", "lease extended 1", "took add 4", "took cancel 1", "took exchange 4", "took tick 1",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("told (-want +got):\n%s", diff)
			}
			e.ok(c.Cancel(ctx, "root"))
		})
	})
}
