package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// pending is the table that the examples use. With PostgreSQL it would be outbox.Table{Dialect: outbox.PostgreSQL}.
var pending = outbox.Table{Dialect: outbox.SQLite}

// exampleShop is a database with a table of orders and an outbox, and a client of an embedded store, both in a temporary directory.
func exampleShop() (db *sql.DB, client *conveyor.Client, closeAll func()) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "outbox-example-")
	if err != nil {
		log.Fatal(err)
	}
	if db, err = sql.Open("sqlite", filepath.Join(dir, "shop.db")); err != nil {
		log.Fatal(err)
	}
	if _, err = db.ExecContext(ctx, "CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)"); err != nil {
		log.Fatal(err)
	}
	if err = pending.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	store, err := embedded.Open(ctx, dir, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if client, err = conveyor.NewClient(store.Client(), conveyor.Options{Namespace: "shop"}); err != nil {
		log.Fatal(err)
	}
	return db, client, func() { _ = errors.Join(db.Close(), store.Close(), os.RemoveAll(dir)) }
}

// work runs the jobs of a queue until a handler calls stop.
func work(client *conveyor.Client, queue string, register func(worker *conveyor.Worker, stop func())) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: queue}}, Concurrency: 1})
	if err != nil {
		log.Fatal(err)
	}
	register(worker, stop)
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// An order and the job that confirms it: the nine steps from one end to the other.
func Example() {
	db, client, closeAll := exampleShop()
	defer closeAll()
	ctx := context.Background()

	order := func(item string) error {
		tx, err := db.BeginTx(ctx, nil) // 1
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // does nothing after the commit
		var id int64
		if err := tx.QueryRowContext(ctx, "INSERT INTO orders (item) VALUES (?) RETURNING id", item).Scan(&id); err != nil { // 2
			return err
		}
		jobs := outbox.NewScheduler(pending)
		if err := jobs.AddJob(&wire.Job{Type: "confirm", Queue: "mail"}, id); err != nil { // 3
			return err
		}
		if err := jobs.CreatePendingJobs(ctx, tx); err != nil { // 4
			return err
		}
		if err := tx.Commit(); err != nil { // 5
			return err // 6
		}
		if err := jobs.PushJobsWithClientAndDeletePendingJobs(ctx, client, db); err != nil { // 7, 8, 9
			log.Println("a relay will push it:", err)
		}
		return nil
	}
	if err := order("lamp"); err != nil {
		log.Fatal(err)
	}

	work(client, "mail", func(worker *conveyor.Worker, stop func()) {
		conveyor.HandleJSON(worker, "confirm", func(ctx context.Context, id int64) error {
			defer stop()
			var item string
			if err := db.QueryRowContext(ctx, "SELECT item FROM orders WHERE id = ?", id).Scan(&item); err != nil {
				return err
			}
			fmt.Printf("order %d is confirmed: %s\n", id, item)
			return nil
		})
	})
	// Output: order 1 is confirmed: lamp
}

// Jobs of several types about the same row.
func ExampleScheduler_AddJobs() {
	jobs := outbox.NewScheduler(pending)
	err := jobs.AddJobs([]*wire.Job{
		{Type: "confirm", Queue: "mail"},
		{Type: "pack", Queue: "warehouse"},
	}, 17)
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range jobs.Jobs() {
		fmt.Printf("%s(%s) in %s\n", job.GetType(), job.GetPayload(), job.GetQueue())
	}
	// Output:
	// confirm(17) in mail
	// pack(17) in warehouse
}

// A job that writes rows and adds jobs for them needs no client: its context has the one of its worker.
func ExampleScheduler_PushJobs() {
	db, client, closeAll := exampleShop()
	defer closeAll()
	if err := client.Add(context.Background(), &wire.Job{Type: "import", Queue: "shop"}); err != nil {
		log.Fatal(err)
	}

	work(client, "shop", func(worker *conveyor.Worker, stop func()) {
		conveyor.HandleJSON(worker, "import", func(ctx context.Context, _ struct{}) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			jobs := outbox.NewScheduler(pending)
			for _, item := range []string{"lamp", "chair"} {
				if _, err := tx.ExecContext(ctx, "INSERT INTO orders (item) VALUES (?)", item); err != nil {
					return err
				}
				if err := jobs.AddJob(&wire.Job{Type: "pack", Queue: "shop"}, item); err != nil {
					return err
				}
			}
			if err := jobs.CreatePendingJobs(ctx, tx); err != nil {
				return err
			}
			if err := tx.Commit(); err != nil {
				return err
			}
			return jobs.PushJobsAndDeletePendingJobs(ctx, db)
		})
		packed := 0
		conveyor.HandleJSON(worker, "pack", func(_ context.Context, item string) error {
			fmt.Println("packed", item)
			if packed++; packed == 2 {
				stop()
			}
			return nil
		})
	})
	// Output:
	// packed lamp
	// packed chair
}

// A job that is signed, for workers that run no other.
func ExamplePrepare() {
	keyring, err := conveyor.NewKeyring("a secret of the shop's own")
	if err != nil {
		log.Fatal(err)
	}
	jobs := outbox.NewScheduler(pending, outbox.Prepare(func(job *wire.Job) error {
		return keyring.Sign("shop", job) // the namespace
	}))
	if err := jobs.AddJob(&wire.Job{Type: "refund", Queue: "money"}, 17); err != nil {
		log.Fatal(err)
	}
	fmt.Println("verified:", keyring.Verify("shop", jobs.Jobs()[0]) == nil)
	// Output: verified: true
}

// What a migration tool gets for a table in a schema of its own, on a database whose relays need not be told of new rows.
func ExampleTable_Schema() {
	table := outbox.Table{Dialect: outbox.PostgreSQL, Name: "shop.outbox", Silent: true}
	statements, err := table.Schema()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statements {
		fmt.Println(s + ";")
	}
	// Output:
	// CREATE TABLE IF NOT EXISTS "shop"."outbox" (
	// 	"id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	// 	"uuid" text NOT NULL UNIQUE,
	// 	"job" bytea NOT NULL,
	// 	"created_at" timestamptz NOT NULL DEFAULT clock_timestamp(),
	// 	"dead_at" timestamptz,
	// 	"reason" text
	// );
	// CREATE INDEX IF NOT EXISTS "outbox_pending" ON "shop"."outbox" ("id") WHERE "dead_at" IS NULL;
	// CREATE INDEX IF NOT EXISTS "outbox_dead" ON "shop"."outbox" ("id") WHERE "dead_at" IS NOT NULL;
}

// Names for a house with rules of its own.
func ExampleTable_Migrate() {
	db, _, closeAll := exampleShop()
	defer closeAll()
	table := outbox.Table{
		Dialect: outbox.SQLite,
		Name:    "T_JOBS",
		Columns: outbox.Columns{ID: "JOB_NO", UUID: "JOB_UUID", Job: "JOB_BYTES"},
	}
	for range 2 { // at every start of the program
		if err := table.Migrate(context.Background(), db); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(table, "is there")
	// Output: T_JOBS is there
}
