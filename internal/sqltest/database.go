package sqltest

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"   // the driver of MariaDB
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL
	_ "modernc.org/sqlite"             // the driver of SQLite
)

// System is a database system, by its name.
type System string

// The systems, in the order of Systems.
const (
	PostgreSQL System = "PostgreSQL"
	MariaDB    System = "MariaDB"
	SQLite     System = "SQLite"
)

// Systems are all of them.
var Systems = []System{PostgreSQL, MariaDB, SQLite}

// Driver is the name that database/sql knows the system's driver by.
func (s System) Driver() string {
	return map[System]string{PostgreSQL: "pgx", MariaDB: "mysql", SQLite: "sqlite"}[s]
}

// Database is a database that belongs to one test.
type Database struct {
	*sql.DB
	System System
	DSN    string  // what other processes open it by, with System.Driver
	Server *Server // that it is in; nil for SQLite
}

// What the driver would print, as connections break under tests that kill servers, it returns too.
func init() { _ = mysql.SetLogger(&mysql.NopLogger{}) }

// Each runs the test once on a fresh database of every system, in parallel.
func Each(t *testing.T, test func(t *testing.T, db *Database)) {
	t.Helper()
	for _, s := range Systems {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, s))
		})
	}
}

// Open is a fresh, empty database of the system, on the server that all tests of this binary share, which none of them
// may stop. It is gone with the test.
func Open(tb testing.TB, s System) *Database {
	tb.Helper()
	if s == SQLite {
		return opened(tb, nil, s, sqliteDSN(filepath.Join(tb.TempDir(), "test.db")))
	}
	return shared(tb, s).Database(tb)
}

// opened connects to a database until the end of the test.
func opened(tb testing.TB, server *Server, s System, dsn string) *Database {
	tb.Helper()
	db, err := sql.Open(s.Driver(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() }) // a test may have closed it already
	return &Database{DB: db, System: s, DSN: dsn, Server: server}
}

// sqliteDSN opens a file as programs with more than one connection should: readers do not wait for the writer, and writers
// wait for each other instead of failing.
func sqliteDSN(path string) string {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(OFF)"}, "_txlock": {"immediate"}}
	return (&url.URL{Scheme: "file", Opaque: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}
