package outbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// TestMigrateAtOnce has ten processes begin on an empty database at the same moment.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		table := outbox.Table{Dialect: dialectOf(t, db)}
		var all sync.WaitGroup
		errs := make([]error, 10)
		for i := range errs {
			all.Go(func() { errs[i] = table.Migrate(t.Context(), db) })
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		insert(t, db, table, "a")
	})
}

// TestMigrateAnyName makes and drops tables whose names have to be quoted.
func TestMigrateAnyName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table outbox.Table
	}{
		{"words of SQL", outbox.Table{Name: "order", Columns: outbox.Columns{ID: "select", UUID: "index", Job: "from", CreatedAt: "when", DeadAt: "where", Reason: "null"}}},
		{"quotes", outbox.Table{Name: "a\"b`c'd\\e f", Columns: outbox.Columns{UUID: "u`\"'$1?"}}},
		{"capitals", outbox.Table{Name: "OutBox", Columns: outbox.Columns{ID: "ID", UUID: "Uuid"}}},
		{"longest", outbox.Table{Name: strings.Repeat("ä", 31) + "x"}},
	}
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				table := tt.table
				table.Dialect = dialectOf(t, db)
				for range 2 {
					if err := table.Migrate(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if err := table.Drop(t.Context(), db, false); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}

// TestSchemaIsMigrate runs the statements of Schema as a migration tool would, and Migrate finds nothing missing.
func TestSchemaIsMigrate(t *testing.T) {
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		table := outbox.Table{Dialect: dialectOf(t, db)}
		up, err := table.Schema()
		if err != nil {
			t.Fatal(err)
		}
		down, err := table.DropSchema()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			execute(t, db, append(up, up...)...)
			if err := table.Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			insert(t, db, table, "a")
			execute(t, db, down...)
		}
	})
}

// TestRowsOfOtherLanguages inserts with nothing but a uuid and bytes: the database fills in the rest, by its own clock.
func TestRowsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		insert(t, db, table, "a", "b")
		young := map[sqltest.System]string{
			sqltest.PostgreSQL: "abs(extract(epoch FROM now() - created_at)) < 60",
			sqltest.MariaDB:    "abs(TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP())) < 60",
			sqltest.SQLite:     "abs(unixepoch() - unixepoch(created_at)) < 60",
		}[db.System]
		var got []string
		rows, err := db.QueryContext(t.Context(), "SELECT uuid, "+young+" FROM "+table.String()+" WHERE dead_at IS NULL AND reason IS NULL ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var uuid string
			var now bool
			if err := rows.Scan(&uuid, &now); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(uuid, " ", now))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a true", "b true"}, got); diff != "" {
			t.Errorf("rows made just now (-want +got):\n%s", diff)
		}
		_, err = db.ExecContext(t.Context(), "INSERT INTO "+table.String()+" (uuid, job) VALUES ('a', 'x')")
		if err == nil {
			t.Error("a uuid was inserted twice")
		}
		_, err = db.ExecContext(t.Context(), "INSERT INTO "+table.String()+" (uuid, job) VALUES ('A', 'x')")
		if err != nil {
			t.Errorf("uuids that differ by case: %v", err)
		}
	})
}

// insert adds rows as a program without this package would. Their bytes are no job.
func insert(t *testing.T, db *sqltest.Database, table outbox.Table, uuids ...string) {
	t.Helper()
	for _, uuid := range uuids {
		execute(t, db, fmt.Sprintf("INSERT INTO %s (uuid, job) VALUES ('%s', 'x')", table, uuid))
	}
}

func execute(t *testing.T, db *sqltest.Database, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
