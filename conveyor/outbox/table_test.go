package outbox_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

func TestTable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	tests := []struct {
		name  string
		table outbox.Table
		want  string // the error; "" is none
	}{
		{"defaults", outbox.Table{Dialect: outbox.PostgreSQL}, ""},
		{"everything", outbox.Table{Dialect: outbox.MySQL, Name: "shop.outbox", Columns: outbox.Columns{ID: "nr", Reason: "why"}}, ""},
		{"63 bytes", outbox.Table{Dialect: outbox.SQLite, Name: long[1:] + "." + long[1:]}, ""},
		{"no dialect", outbox.Table{}, "outbox table: field Dialect: 0: no such SQL dialect: use PostgreSQL, MySQL or SQLite"},
		{"three parts", outbox.Table{Dialect: outbox.MySQL, Name: "a.b.c"}, `outbox table: field Name: "a.b.c": invalid identifier: it is a table or schema.table`},
		{"empty part", outbox.Table{Dialect: outbox.MySQL, Name: "a."}, `outbox table: field Name: "": invalid identifier: a part of it is empty`},
		{"too long", outbox.Table{Dialect: outbox.MySQL, Name: long}, `outbox table: field Name: "` + long + `": invalid identifier: 64 bytes, the limit is 63`},
		{"NUL", outbox.Table{Dialect: outbox.MySQL, Columns: outbox.Columns{Job: "a\x00b"}}, `outbox table: field Columns: "a\x00b": invalid identifier: it contains a NUL`},
		{"not UTF-8", outbox.Table{Dialect: outbox.MySQL, Columns: outbox.Columns{Job: "a\xff"}}, `outbox table: field Columns: "a\xff": invalid identifier: it is not UTF-8`},
		{"two columns of a name", outbox.Table{Dialect: outbox.MySQL, Columns: outbox.Columns{Job: "ID"}}, `outbox table: field Columns: invalid identifier: two columns are named "ID"`},
		{"SQLite has more columns", outbox.Table{Dialect: outbox.SQLite, Columns: outbox.Columns{Job: "claimed_by"}},
			`outbox table: field Columns: invalid identifier: two columns are named "claimed_by"`},
		{"and others do not", outbox.Table{Dialect: outbox.MySQL, Columns: outbox.Columns{Job: "claimed_by"}}, ""},
		{"all at once", outbox.Table{Name: ".", Columns: outbox.Columns{ID: "job"}}, strings.Join([]string{
			"outbox table: field Dialect: 0: no such SQL dialect: use PostgreSQL, MySQL or SQLite",
			`field Name: "": invalid identifier: a part of it is empty`,
			`field Name: "": invalid identifier: a part of it is empty`,
			`field Columns: invalid identifier: two columns are named "job"`,
		}, "\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.table.Schema()
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if err == nil {
				return
			}
			if !errors.Is(err, outbox.ErrIdentifier) && !errors.Is(err, outbox.ErrDialect) {
				t.Errorf("%v is neither sentinel", err)
			}
			if _, err := tt.table.DropSchema(); err == nil || err.Error() != tt.want {
				t.Errorf("DropSchema: %v", err)
			}
			if err := tt.table.Migrate(t.Context(), silent{t}); err == nil || err.Error() != tt.want {
				t.Errorf("Migrate: %v", err)
			}
			if err := outbox.NewScheduler(tt.table).AddJob(plain("a")); err == nil || err.Error() != "schedule: "+tt.want {
				t.Errorf("AddJob: %v", err)
			}
		})
	}
}

func TestDialect(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		names []string
		want  outbox.Dialect
	}{
		{[]string{"postgres", "PostgreSQL", "pgx"}, outbox.PostgreSQL},
		{[]string{"mysql", "MariaDB"}, outbox.MySQL},
		{[]string{"sqlite", "sqlite3"}, outbox.SQLite},
	} {
		for _, name := range append(row.names, row.want.String()) {
			if got, err := outbox.ParseDialect(name); err != nil || got != row.want {
				t.Errorf("%s is %v, %v, want %v", name, got, err, row.want)
			}
		}
	}
	if _, err := outbox.ParseDialect("oracle"); !errors.Is(err, outbox.ErrDialect) {
		t.Errorf("got %v", err)
	}
	if got := outbox.Dialect(9).String(); got != "Dialect(9)" {
		t.Errorf("an unknown dialect is %s", got)
	}
}

// TestOtherTable finds somebody else's table under the outbox's name: nothing of it is changed.
func TestOtherTable(t *testing.T) {
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		execute(t, db, "CREATE TABLE orders (id INTEGER PRIMARY KEY, job VARCHAR(9))", "INSERT INTO orders VALUES (1, 'lamp')")
		table := outbox.Table{Dialect: dialectOf(t, db), Name: "orders"}
		missing := "uuid, created_at, dead_at, reason"
		if table.Dialect == outbox.SQLite {
			missing += ", claimed_by, claimed_until"
		}
		want := " outbox orders: the table is not an outbox: it has no column " + missing + ", but id, job; name another table, or say what these columns are called"
		for what, err := range map[string]error{"migrate": table.Migrate(t.Context(), db), "drop": table.Drop(t.Context(), db, true)} {
			if !errors.Is(err, outbox.ErrOtherTable) {
				t.Fatalf("%s: got %v", what, err)
			}
			if diff := cmp.Diff(what+want, err.Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		var job string
		if err := db.QueryRowContext(t.Context(), "SELECT job FROM orders").Scan(&job); err != nil || job != "lamp" {
			t.Errorf("job %q, %v", job, err)
		}
	})
}

// TestMigrateOnlyReads has nothing to do, for want of nothing or of one thing.
func TestMigrateOnlyReads(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		migrate := func() []string {
			r := &recorder{DB: db}
			if err := table.Migrate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			return slices.Compact(r.statements)
		}
		if got := migrate(); !slices.Equal(got, []string{"SELECT"}) {
			t.Errorf("of a table that is complete it asks %v", got)
		}
		lost := map[sqltest.System][]string{
			sqltest.PostgreSQL: {"DROP INDEX waybill_outbox_pending", "DROP INDEX waybill_outbox_dead", "DROP TRIGGER waybill_outbox_notify ON waybill_outbox"},
			sqltest.SQLite:     {"DROP INDEX waybill_outbox_pending", "DROP INDEX waybill_outbox_dead"},
		}
		for _, drop := range lost[db.System] {
			execute(t, db, drop)
			if got := migrate(); !slices.Contains(got, "CREATE") {
				t.Errorf("after %s it asks %v", drop, got)
			}
			if got := migrate(); !slices.Equal(got, []string{"SELECT"}) {
				t.Errorf("after %s was mended it asks %v", drop, got)
			}
		}
		table.Silent = true
		if got := migrate(); !slices.Equal(got, []string{"SELECT"}) {
			t.Errorf("of a silent table that is complete it asks %v", got)
		}
	})
}

// TestDropKeepsJobs refuses to drop a table with rows, dead letters too, unless it is forced.
func TestDropKeepsJobs(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		insert(t, db, table, "a", "b", "c")
		execute(t, db, "UPDATE "+table.String()+" SET dead_at = created_at, reason = 'x' WHERE uuid = 'b'")
		err := table.Drop(t.Context(), db, false)
		want := "drop outbox waybill_outbox: the outbox still holds jobs: 2 pending (a relay pushes them), 1 dead (retry or delete them)"
		if !errors.Is(err, outbox.ErrNotEmpty) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		insert(t, db, table, "d")
		if err := table.Drop(t.Context(), db, true); err != nil {
			t.Error(err)
		}
		if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM "+table.String()); err == nil {
			t.Error("the table is there")
		}
	})
}

// TestSchemaPart makes tables in another schema, or what a database has in its place, next to one of the same name.
func TestSchemaPart(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, _ outbox.Table) {
		name := map[sqltest.System]string{sqltest.PostgreSQL: "other", sqltest.SQLite: "main"}[db.System]
		switch db.System {
		case sqltest.PostgreSQL:
			execute(t, db, "CREATE SCHEMA other")
		case sqltest.MariaDB:
			if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
				t.Fatal(err)
			}
		}
		table := outbox.Table{Dialect: dialectOf(t, db), Name: name + ".waybill_outbox"}
		for range 2 {
			if err := table.Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		insert(t, db, table, "a")
		if err := table.Drop(t.Context(), db, false); !errors.Is(err, outbox.ErrNotEmpty) {
			t.Errorf("got %v", err)
		}
		if err := table.Drop(t.Context(), db, true); err != nil {
			t.Error(err)
		}
	})
}

// TestNoDatabase gives every call a database that is none.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	table := outbox.Table{Dialect: outbox.SQLite}
	for _, db := range []outbox.DB{nil, (*sql.DB)(nil), (*sql.Tx)(nil), (*sql.Conn)(nil)} {
		s := outbox.NewScheduler(table)
		if err := s.AddJob(plain("a")); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"migrate": table.Migrate(t.Context(), db), "drop": table.Drop(t.Context(), db, false), "create": s.CreatePendingJobs(t.Context(), db),
		} {
			if err == nil || !strings.HasSuffix(err.Error(), ": the database is nil") {
				t.Errorf("%s with %#v: %v", what, db, err)
			}
		}
	}
}
