package outbox_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// BenchmarkAddJob collects a job with an argument, in memory.
func BenchmarkAddJob(b *testing.B) {
	template := &wire.Job{Type: "confirm", Queue: "mail"}
	b.ReportAllocs()
	for b.Loop() {
		if err := outbox.NewScheduler(outbox.Table{Dialect: outbox.PostgreSQL}).AddJob(template, 17); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTransaction commits a row: alone, with the row of a job, and with all nine steps.
func BenchmarkTransaction(b *testing.B) {
	for _, system := range sqltest.Systems {
		for _, steps := range []string{"row", "row and job", "row and job, pushed and deleted"} {
			b.Run(fmt.Sprintf("%s/%s", system, steps), func(b *testing.B) {
				db := sqltest.Open(b, system)
				table := migrated(b, db)
				client, err := conveyor.NewClient(redistest.Shared(b).Client(b), conveyor.Options{Namespace: redistest.Namespace()})
				if err != nil {
					b.Fatal(err)
				}
				ctx := b.Context()
				if _, err := db.ExecContext(ctx, "CREATE TABLE things (name VARCHAR(64) PRIMARY KEY)"); err != nil {
					b.Fatal(err)
				}
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					n++
					if err := commitThing(ctx, db, table, client, fmt.Sprint(n), steps); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func commitThing(ctx context.Context, db *sqltest.Database, table outbox.Table, client *conveyor.Client, name, steps string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := addThing(ctx, tx, name); err != nil {
		return err
	}
	if steps == "row" {
		return tx.Commit()
	}
	jobs := outbox.NewScheduler(table)
	if err := jobs.AddJob(&wire.Job{Type: "confirm", Queue: "mail"}, name); err != nil {
		return err
	}
	if err := jobs.CreatePendingJobs(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil || steps == "row and job" {
		return err
	}
	return jobs.PushJobsWithClientAndDeletePendingJobs(ctx, client, db)
}
