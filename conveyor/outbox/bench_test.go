package outbox_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// What each drain has to do: rows are taken in batches of the same size by relays and by the loop that they are compared with.
const (
	drainRows  = 20_000
	drainBatch = 500
)

// BenchmarkDrain drains a table: with a loop that deletes batches, reads what it deleted and commits, which is the least that
// anything has to do that takes rows out of a table; with one relay, and with three at once. The servers do not sync
// their files (package sqltest), so the disk is no part of it.
//
//	go test ./conveyor/outbox -run '^$' -bench Drain -benchtime 3x
func BenchmarkDrain(b *testing.B) {
	for _, system := range sqltest.Systems {
		b.Run(string(system), func(b *testing.B) {
			b.Run("loop", func(b *testing.B) {
				db := sqltest.Open(b, system)
				table := migrated(b, db)
				perRow(b, db, table, nil, func() { deleteAll(b, db, table) })
			})
			for _, relays := range []int{1, 3} {
				b.Run(fmt.Sprintf("relays-%d", relays), func(b *testing.B) {
					db := sqltest.Open(b, system)
					table, s := migrated(b, db), storeOn(b, redistest.Start(b))
					perRow(b, db, table, s, func() {
						var all sync.WaitGroup
						for range relays {
							all.Go(func() { relayAll(b, db, table, s) })
						}
						all.Wait()
					})
				})
			}
		})
	}
}

// perRow fills the table and has it drained, again and again, into a store that is empty each time.
func perRow(b *testing.B, db *sqltest.Database, table outbox.Table, s *store, drain func()) {
	b.Helper()
	for range b.N {
		b.StopTimer()
		uuids := fill(b, db, table, drainRows)
		b.StartTimer()
		drain()
		b.StopTimer()
		if n := count(b, db, table, "1 = 1"); n != 0 {
			b.Fatalf("%d rows are left", n)
		}
		if s != nil {
			s.wantQueued(uuids)
			if err := s.rdb.FlushAll(b.Context()).Err(); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(drainRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(0, "ns/op")
}

// deleteAll is the loop.
func deleteAll(b *testing.B, db *sqltest.Database, table outbox.Table) {
	b.Helper()
	oldest := fmt.Sprintf("SELECT id FROM %s ORDER BY id LIMIT %d", table, drainBatch)
	statement := map[sqltest.System]string{
		sqltest.PostgreSQL: fmt.Sprintf("DELETE FROM %s WHERE id IN (%s FOR UPDATE SKIP LOCKED) RETURNING id, uuid, job", table, oldest),
		sqltest.MariaDB:    fmt.Sprintf("DELETE FROM %s ORDER BY id LIMIT %d RETURNING id, uuid, job", table, drainBatch),
		sqltest.SQLite:     fmt.Sprintf("DELETE FROM %s WHERE id IN (%s) RETURNING id, uuid, job", table, oldest),
	}[db.System]
	for n := drainBatch; n == drainBatch; {
		rows, err := db.QueryContext(b.Context(), statement)
		if err != nil {
			b.Fatal(err)
		}
		var id int64
		var uuid string
		var job []byte
		for n = 0; rows.Next(); n++ {
			if err := rows.Scan(&id, &uuid, &job); err != nil {
				b.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			b.Fatal(err)
		}
		_ = rows.Close()
	}
}

// relayAll runs a relay, with connections of its own, until it finds no more.
func relayAll(b *testing.B, db *sqltest.Database, table outbox.Table, s *store) {
	c, err := conveyor.NewClient(clientOf(b, s.server), conveyor.Options{Namespace: s.Namespace()})
	if err != nil {
		b.Error(err)
		return
	}
	relay, err := outbox.NewRelay(db.DB, table, c, outbox.RelayOptions{Leeway: -1, Batch: drainBatch})
	if err != nil {
		b.Error(err)
		return
	}
	if _, err := relay.Once(b.Context()); err != nil {
		b.Error(err)
	}
}
