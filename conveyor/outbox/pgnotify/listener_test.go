package pgnotify_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/outbox/pgnotify"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// TestMain looks for goroutines that listeners left behind.
func TestMain(m *testing.M) {
	code := sqltest.Run(m.Run)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after all tests ended:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// listening is a Listener at work.
type listening struct {
	*testing.T
	db    *sqltest.Database
	table outbox.Table
	woken chan struct{}
}

// listen starts a Listener and waits until it listens. It ends with the test.
func listen(t *testing.T, db *sqltest.Database, table outbox.Table) *listening {
	t.Helper()
	if err := table.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	l, err := pgnotify.New(db.DSN, table, pgnotify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &listening{T: t, db: db, table: table, woken: make(chan struct{}, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Wake(ctx, func() { s.woken <- struct{}{} }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	<-s.woken // it has connected
	return s
}

func (s *listening) execute(statement string) {
	s.Helper()
	if _, err := s.db.ExecContext(s.Context(), strings.ReplaceAll(statement, "{}", `"`+s.table.String()+`"`)); err != nil {
		s.Fatal(err)
	}
}

const row = `INSERT INTO {} (uuid, job) VALUES (gen_random_uuid()::text, '')`

func TestWake(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", `Odd "name`, strings.Repeat("x", 63)} {
		t.Run("table "+name, func(t *testing.T) {
			t.Parallel()
			db := sqltest.Open(t, sqltest.PostgreSQL)
			table := outbox.Table{Dialect: outbox.PostgreSQL, Name: name}
			s := listen(t, db, table)
			insert := strings.ReplaceAll(row, "{}", `"`+strings.ReplaceAll(table.String(), `"`, `""`)+`"`)
			for range 3 {
				s.execute(insert)
				<-s.woken
			}
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), insert); err != nil {
				t.Fatal(err)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			s.execute(insert) // notifications come in order: that of a rollback would come before this one
			<-s.woken
			select {
			case <-s.woken:
				t.Error("a transaction that was rolled back woke the relay")
			default:
			}
		})
	}
}

// TestWakeReconnects kills the connection, and then the whole server: each time it is said that there may be rows.
func TestWakeReconnects(t *testing.T) {
	t.Parallel()
	server := sqltest.Start(t, sqltest.PostgreSQL)
	s := listen(t, server.Database(t), outbox.Table{Dialect: outbox.PostgreSQL})
	for range 3 {
		s.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
		<-s.woken
	}
	server.Restart(t)
	<-s.woken
	s.execute(row)
	<-s.woken
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := outbox.Table{Dialect: outbox.PostgreSQL}
	for _, tt := range []struct {
		name, dsn string
		table     outbox.Table
		want      string
	}{
		{"dialect", "postgres://x", outbox.Table{Dialect: outbox.SQLite}, "pgnotify: the table is one of sqlite, and only PostgreSQL notifies"},
		{"table", "postgres://x", outbox.Table{Dialect: outbox.PostgreSQL, Name: "a.b.c"}, "it is a table or schema.table"},
		{"address", "postgres://me:secret@x:port/", good, "pgnotify: the address cannot be read: invalid port"},
		{"password", "postgres://me:%c@secret@x/", good, "pgnotify: the address cannot be read: failed to parse as URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := pgnotify.New(tt.dsn, tt.table, pgnotify.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
