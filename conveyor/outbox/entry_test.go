package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestEntries lists, retries and deletes what a relay left.
func TestEntries(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		r.writeRow("broken", []byte("\xff\xff"))
		r.writeJob(&wire.Job{Uuid: "typeless", Queue: "q"})
		r.once(r.relay(r.client, outbox.RelayOptions{}), outbox.Relayed{Dead: 2})
		r.write("a", "b", "c")
		r.execute("UPDATE {} SET created_at = '2020-01-01 00:00:00' WHERE uuid = 'a'")
		wantRows := func(want []string, dead bool, after int64, limit int) int64 {
			r.Helper()
			entries, err := r.table.List(r.Context(), r.db, dead, after, limit)
			r.ok(err)
			var got []string
			for _, e := range entries {
				got = append(got, fmt.Sprintf("%s %s %v %v", e.UUID, e.Job.GetQueue(), e.Dead, e.Reason != ""))
				after = e.ID
			}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Errorf("entries (-want +got):\n%s", diff)
			}
			return after
		}
		last := wantRows([]string{"a q false false", "b q false false"}, false, 0, 2)
		wantRows([]string{"c q false false"}, false, last, 2)
		wantRows([]string{"broken  true true", "typeless q true true"}, true, 0, 10)

		b, err := r.table.Backlog(r.Context(), r.db)
		r.ok(err)
		if b.Oldest < 5*365*24*time.Hour || b.Oldest > 100*365*24*time.Hour {
			r.Errorf("the oldest row is %s old", b.Oldest)
		}
		if b.Oldest = 0; b != (outbox.Backlog{Pending: 3, Dead: 2}) {
			r.Errorf("backlog %+v", b)
		}
		number := func(want int64) func(int64, error) {
			return func(n int64, err error) {
				r.Helper()
				if n != want || err != nil {
					r.Errorf("%d rows, %v; want %d", n, err, want)
				}
			}
		}
		number(1)(r.table.Retry(r.Context(), r.db, "broken", "a", "never"))
		number(1)(r.table.RetryAll(r.Context(), r.db))
		number(0)(r.table.RetryAll(r.Context(), r.db))
		r.wants(nil, "broken", "typeless", "a", "b", "c")
		number(2)(r.table.Delete(r.Context(), r.db, "broken", "a", "never"))
		number(0)(r.table.Delete(r.Context(), r.db))
		r.wants(nil, "typeless", "b", "c")
	})
}
