package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// TestDeleteWaitsForNobody removes the rows of one transaction from a table that has little else in it than rows that others have
// written and not committed, or locked.
func TestDeleteWaitsForNobody(t *testing.T) {
	t.Parallel()
	for _, system := range []sqltest.System{sqltest.PostgreSQL, sqltest.MariaDB} { // SQLite has one writer at a time
		t.Run(string(system), func(t *testing.T) {
			t.Parallel()
			db, s := sqltest.Open(t, system), newStore(t)
			table := migrated(t, db)
			fill(t, db, table, 2)
			scheduler := outbox.NewScheduler(table)
			if err := scheduler.AddJobs([]*wire.Job{{Uuid: "a", Type: "t", Queue: "q"}, {Uuid: "b", Type: "t", Queue: "q"}}); err != nil {
				t.Fatal(err)
			}
			if err := scheduler.CreatePendingJobs(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			others, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // as relays do
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = others.Rollback() }()
			for _, statement := range []string{
				fmt.Sprintf("INSERT INTO %s (uuid, job) VALUES ('A', 'x'), ('c', 'x')", table),
				fmt.Sprintf("SELECT id FROM %s WHERE dead_at IS NULL ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED", table),
			} {
				if _, err := others.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of the 50 that MariaDB would wait
			defer cancel()
			if err := scheduler.PushJobsWithClientAndDeletePendingJobs(ctx, s.Client, db); err != nil {
				t.Error(err)
			}
			s.wantQueued([]string{"a", "b"})
		})
	}
}

// TestStorm has programs go through the whole pattern, and some of them die half way or roll back, while relays take all that
// they find at once. Nobody fails for another's sake, and each job that was committed is on the queue once.
func TestStorm(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		s := newStore(t)
		var told onlooker
		for range 3 {
			told, _ = runRelayOf(t, db, table, s.Client)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		var committed []string
		for program := range 6 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(program)))
				for range 30 {
					uuids, err := transact(t, db, table, s, 1+random.IntN(5), random.IntN(4))
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					committed = append(committed, uuids...)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		told.empty(t, db, table)
		s.wantQueued(committed)
	})
}

// transact is one run of the pattern with so many jobs, to its end or until it rolls back (0), or dies after its commit (1) or push
// (2). It returns what was committed.
func transact(t *testing.T, db *sqltest.Database, table outbox.Table, s *store, jobs, fate int) ([]string, error) {
	ctx := t.Context()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	scheduler := outbox.NewScheduler(table)
	var uuids []string
	for range jobs {
		if err := scheduler.AddJob(&wire.Job{Type: "t", Queue: "q"}, "payload"); err != nil {
			return nil, err
		}
	}
	for _, job := range scheduler.Jobs() {
		uuids = append(uuids, job.Uuid)
	}
	if err := scheduler.CreatePendingJobs(ctx, tx); err != nil || fate == 0 {
		return nil, err
	}
	if err := tx.Commit(); err != nil || fate == 1 {
		return uuids, err
	}
	if err := scheduler.PushJobsWithClient(ctx, s.Client); err != nil || fate == 2 {
		return uuids, err
	}
	return uuids, scheduler.DeletePendingJobs(ctx, db)
}
