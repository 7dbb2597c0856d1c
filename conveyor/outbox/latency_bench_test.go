package outbox_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/outbox/pgnotify"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// BenchmarkCommitToQueue measures from the return of a commit to the job's place on its queue, where a worker would find it: pushed by
// whoever committed; by a relay that PostgreSQL notifies; and by one with no other news than its interval, of 10 ms.
func BenchmarkCommitToQueue(b *testing.B) {
	b.Run("pushed", func(b *testing.B) {
		db, s := sqltest.Open(b, sqltest.PostgreSQL), newStore(b)
		table := migrated(b, db)
		latency(b, db, table, s, func(scheduler *outbox.Scheduler) {
			if err := scheduler.PushJobsWithClientAndDeletePendingJobs(b.Context(), s.Client, db); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("notified", func(b *testing.B) {
		db, s := sqltest.Open(b, sqltest.PostgreSQL), newStore(b)
		table := migrated(b, db)
		listener, err := pgnotify.New(db.DSN, table, pgnotify.Options{})
		if err != nil {
			b.Fatal(err)
		}
		listening := make(chan struct{}, 1000)
		relayFor(b, db, table, s, outbox.RelayOptions{Interval: time.Minute, Wake: func(ctx context.Context, woken func()) error {
			return listener.Wake(ctx, func() {
				woken()
				select {
				case listening <- struct{}{}:
				default:
				}
			})
		}})
		<-listening
		latency(b, db, table, s, func(*outbox.Scheduler) {})
	})
	for _, system := range sqltest.Systems {
		b.Run("interval/"+string(system), func(b *testing.B) {
			db, s := sqltest.Open(b, system), newStore(b)
			table := migrated(b, db)
			relayFor(b, db, table, s, outbox.RelayOptions{Interval: 10 * time.Millisecond, Leeway: -1})
			latency(b, db, table, s, func(*outbox.Scheduler) {})
		})
	}
}

// relayFor runs a relay until the benchmark ends.
func relayFor(b *testing.B, db *sqltest.Database, table outbox.Table, s *store, o outbox.RelayOptions) {
	b.Helper()
	relay, err := outbox.NewRelay(db.DB, table, s.Client, o)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
}

// latency commits one job at a time and waits until it is on the queue.
func latency(b *testing.B, db *sqltest.Database, table outbox.Table, s *store, push func(*outbox.Scheduler)) {
	b.Helper()
	var waits []time.Duration
	for b.Loop() {
		tx, err := db.BeginTx(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		scheduler := outbox.NewScheduler(table)
		if err := scheduler.AddJob(&wire.Job{Type: "t", Queue: "q"}, "payload"); err != nil {
			b.Fatal(err)
		}
		if err := scheduler.CreatePendingJobs(b.Context(), tx); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
		committed := time.Now()
		push(scheduler)
		if err := s.rdb.BRPop(b.Context(), time.Minute, s.Prefix()+"queue:q").Err(); err != nil {
			b.Fatal(err)
		}
		waits = append(waits, time.Since(committed))
	}
	slices.Sort(waits)
	for _, q := range []struct {
		share float64
		unit  string
	}{{0.5, "p50-ms"}, {0.99, "p99-ms"}, {1, "max-ms"}} {
		at := waits[min(len(waits)-1, int(q.share*float64(len(waits))))]
		b.ReportMetric(float64(at.Microseconds())/1000, q.unit)
	}
	b.ReportMetric(0, "ns/op")
}
