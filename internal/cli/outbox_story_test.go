package cli_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/sqldb"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// TestOutboxStories runs the stories of testdata/outbox on each database, of which DSN is one that is empty.
func TestOutboxStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "outbox", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories in testdata/outbox: %v", err)
	}
	stores := map[sqltest.System]string{sqltest.PostgreSQL: "redis", sqltest.MariaDB: "redis", sqltest.SQLite: "embedded"}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
				if !slices.Contains(wantedStores(), stores[db.System]) {
					t.Skip("another store is wanted")
				}
				tell(t, file, stores[db.System], "DSN="+db.DSN, "WAYBILL_OUTBOX_DSN="+db.DSN)
			})
		})
	}
}

// pending writes a job into the outbox of the story as a program does: pending UUID TYPE QUEUE. Of type "broken" it writes a row
// that holds no job.
func pending(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pending UUID TYPE QUEUE")
	}
	ctx := context.Background()
	db, err := sqldb.Open(ctx, ts.Getenv("DSN"), sqldb.Options{})
	ts.Check(err)
	defer db.Close() //nolint:errcheck // nothing to lose
	table := outbox.Table{Dialect: db.Dialect}
	if args[1] == "broken" {
		_, err = db.ExecContext(ctx, "INSERT INTO "+table.String()+" (uuid, job) VALUES ('"+args[0]+"', 'no job')")
		ts.Check(err)
		return
	}
	s := outbox.NewScheduler(table)
	ts.Check(s.AddJob(&wire.Job{Uuid: args[0], Type: args[1], Queue: args[2]}))
	ts.Check(s.CreatePendingJobs(ctx, db))
}
