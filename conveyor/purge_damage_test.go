package conveyor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPurgeBesideDamage purges a queue in which stands what is no job: what nobody can read is set aside, and all others go.
func TestPurgeBesideDamage(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, ticket string
			aside        int64
		}{
			{"a ticket that cannot be read", "junk", 1},
			{"a ticket without a name", "\n\x00", 1},
			{"bytes that begin as no ticket does", "\v\x01x", 1},
			{"a ticket of nobody", "\n\x05ghost", 0},
		} {
			e.Behaviour(row.name, func(e *engine) {
				e.add(job("a"))
				e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), row.ticket).Err())
				e.add(job("b"))
				e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), row.ticket).Err())
				e.add(job("c"))
				n, err := e.PurgeQueue(e.Context(), "q")
				e.ok(err)
				e.states("a cancelled, b cancelled, c cancelled")
				if diff := cmp.Diff([]int64{3, 2 * row.aside}, []int64{int64(n), e.rdb.LLen(e.Context(), e.key("setaside")).Val()}); diff != "" {
					e.Errorf("cancelled and set aside (-want +got):\n%s", diff)
				}
			})
		}
		e.Behaviour("a job whose status cannot be read", func(e *engine) {
			e.add(job("a"), job("b"))
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "a", "???").Err())
			n, err := e.PurgeQueue(e.Context(), "q")
			e.ok(err)
			if diff := cmp.Diff([]int64{1, 1}, []int64{int64(n), e.rdb.LLen(e.Context(), e.key("setaside")).Val()}); diff != "" {
				e.Errorf("cancelled and set aside (-want +got):\n%s", diff)
			}
			e.ok(e.rdb.HDel(e.Context(), e.key("status"), "a").Err())
			e.ok(e.rdb.HDel(e.Context(), e.key("depth"), "q:1").Err())
		})
	})
}
