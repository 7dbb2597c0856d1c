package conveyor_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestPurgeCalls looks at the single calls that PurgeQueue makes.
func TestPurgeCalls(t *testing.T) {
	onBoth(t, func(e *engine) {
		// purge replies the jobs cancelled, the last place that goes, whether some are left, and damaged keys.
		purge := func(e *engine, number int, upTo string) []string {
			e.Helper()
			reply, err := conveyor.RunScript(e.Context(), e.Client, "purge", "me", number, "q", upTo)
			e.ok(err)
			var out []string
			for _, part := range reply.([]any) {
				out = append(out, fmt.Sprint(part))
			}
			return out
		}
		fill := func(e *engine, lanes ...int32) {
			e.Helper()
			for _, l := range lanes {
				var jobs []*wire.Job
				for i := range 100 {
					jobs = append(jobs, job(fmt.Sprintf("%d-%d", l, i), lane(l)))
				}
				e.add(jobs...)
			}
		}
		want := func(e *engine, got []string, want ...string) {
			e.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("reply (-want +got):\n%s", diff)
			}
		}
		e.alone("a repeated one gets the same reply and changes nothing, a late one is refused", func(e *engine) {
			fill(e, 1)
			e.add(job("last"))
			first := purge(e, 2, "")
			want(e, first, "100", "101", "1")
			before := dump(e)
			want(e, purge(e, 2, ""), first...)
			_, err := conveyor.RunScript(e.Context(), e.Client, "purge", "me", 1, "q", "")
			e.refused(err, conveyor.ErrOutdated)
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("something is changed (-before +after):\n%s", diff)
			}
			e.states("last queued")
		})
		e.alone("what came after the first one stays", func(e *engine) {
			fill(e, 1)
			e.add(job("before"))
			upTo := purge(e, 1, "")[1]
			e.add(job("behind"), job("above", lane(2)))
			want(e, purge(e, 2, upTo), "1", upTo, "0")
			e.states("before cancelled, behind queued, above queued")
			e.reserves("above", "behind")
			e.ok(e.Leave(e.Context(), "w"))
		})
		e.alone("one cancels two hundred at most", func(e *engine) {
			fill(e, 0, 1, 2)
			first := purge(e, 1, "")
			want(e, first, "200", "300", "1")
			want(e, purge(e, 2, "300"), "100", "300", "1")
			want(e, purge(e, 3, "300"), "0", "300", "0")
		})
		e.alone("one goes on with what earlier calls left to do", func(e *engine) {
			jobs := []*wire.Job{job("up", queue("other"))}
			for i := range 250 {
				jobs = append(jobs, job(fmt.Sprintf("h%03d", i), after(0, "up"), queue("other")))
			}
			e.add(jobs...)
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w", Number: 1, Queues: []string{"other"}, Want: 1})
			e.ok(err)
			e.number.Add(1)
			e.end(reply.Reserved[0], conveyor.VerdictDone)
			e.states("h249 held")
			want(e, purge(e, 1, ""), "0", "200", "0")
			e.states("up completed, h249 queued")
			e.ok(e.Leave(e.Context(), "w"))
		})
		e.alone("a lane that cannot be read is named, the others are purged", func(e *engine) {
			e.add(job("high", lane(2)), job("low", lane(0)))
			e.ok(e.rdb.Set(e.Context(), e.key("queue:q"), "x", 0).Err())
			want(e, purge(e, 1, ""), "2", "2", "0", e.key("queue:q"))
			e.states("high cancelled, low cancelled")
			e.ok(e.rdb.Del(e.Context(), e.key("queue:q")).Err())
		})
		e.alone("tickets of jobs that are elsewhere are dropped, unreadable ones set aside, wherever they stand", func(e *engine) {
			e.add(job("gone"), job("moved"), job("a"), job("done"))
			e.ok(e.Cancel(e.Context(), "gone"))
			e.ok(e.Update(e.Context(), job("moved", queue("other"))))
			e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), "newest").Err())
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), "oldest").Err())
			want(e, purge(e, 1, ""), "2", fmt.Sprint(e.lastPlace()), "0", e.key("queue:q"))
			e.states("gone cancelled, moved queued, a cancelled, done cancelled")
			if n := e.rdb.LLen(e.Context(), e.key("setaside")).Val(); n != 2 {
				e.Errorf("%d set aside", n)
			}
			if keys := e.keys(); slices.Contains(keys, "queue:q") {
				e.Errorf("the list is there still: %v", keys)
			}
		})
	})
}

// lastPlace is the last place that was given.
func (e *engine) lastPlace() int64 {
	e.Helper()
	n, err := e.rdb.Get(e.Context(), e.key("seq")).Int64()
	e.ok(err)
	return n
}
