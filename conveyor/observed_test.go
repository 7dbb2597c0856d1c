package conveyor_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/metrics"
)

// TestObserved shows what the metrics of a process say of the operations it called.
func TestObserved(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C13a each operation is counted, with its errors and how long it took, and what became of jobs", func(e *engine) {
			m, ctx := metrics.New(), e.Context()
			c, err := conveyor.NewClient(e.rdb, conveyor.Options{Namespace: e.Namespace(), Observer: m})
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
			page := httptest.NewRecorder()
			m.Handler(metrics.HandlerOptions{}).ServeHTTP(page, httptest.NewRequestWithContext(ctx, "GET", "/metrics", nil))
			var got []string
			for line := range strings.Lines(page.Body.String()) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				if strings.HasPrefix(name, "waybill_") && !strings.Contains(name, "_bucket{") && !strings.Contains(name, "_sum{") && value != "0" {
					got = append(got, name+" "+value)
				}
			}
			want := []string{
				`waybill_acknowledgements_outdated_total 1`,
				`waybill_jobs_expired_total 1`,
				`waybill_jobs_obsolete_total 1`,
				`waybill_leases_extended_total 1`,
				`waybill_operation_duration_seconds_count{operation="add"} 4`,
				`waybill_operation_duration_seconds_count{operation="cancel"} 1`,
				`waybill_operation_duration_seconds_count{operation="exchange"} 4`,
				`waybill_operation_duration_seconds_count{operation="tick"} 1`,
				`waybill_operation_errors_total{kind="not_found",operation="cancel"} 1`,
				`waybill_operations_total{operation="add"} 4`,
				`waybill_operations_total{operation="cancel"} 1`,
				`waybill_operations_total{operation="exchange"} 4`,
				`waybill_operations_total{operation="tick"} 1`,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("figures (-want +got):\n%s", diff)
			}
			e.ok(c.Cancel(ctx, "root"))
		})
	})
}
