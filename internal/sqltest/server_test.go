package sqltest_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/internal/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

func TestEachDatabaseIsFresh(t *testing.T) {
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		for _, d := range []*sqltest.Database{db, sqltest.Open(t, db.System)} {
			exec(t, d.DB, "CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(20))", "INSERT INTO things VALUES (1, 'é')")
		}
	})
}

// TestSystems are those that the subtests of Each are named for.
func TestSystems(t *testing.T) {
	t.Parallel()
	got := []sqltest.System{}
	for _, s := range sqltest.Systems {
		got = append(got, sqltest.Open(t, s).System)
	}
	if diff := cmp.Diff([]sqltest.System{"PostgreSQL", "MariaDB", "SQLite"}, got); diff != "" {
		t.Errorf("systems (-want +got):\n%s", diff)
	}
}

// TestDSNOpensTheDatabase opens it as another process would.
func TestDSNOpensTheDatabase(t *testing.T) {
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		exec(t, db.DB, "CREATE TABLE things (id INTEGER PRIMARY KEY)", "INSERT INTO things VALUES (7)")
		other, err := sql.Open(db.System.Driver(), db.DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		var id int
		if err := other.QueryRowContext(t.Context(), "SELECT id FROM things").Scan(&id); err != nil || id != 7 {
			t.Errorf("id %d, %v, want 7", id, err)
		}
	})
}

// TestKilledServerLosesNothing commits, kills the server at once, and starts it again.
func TestKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []sqltest.System{sqltest.PostgreSQL, sqltest.MariaDB} {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			server := sqltest.Start(t, s)
			db := server.Database(t)
			exec(t, db.DB, "CREATE TABLE things (id INTEGER PRIMARY KEY)", "INSERT INTO things VALUES (7)")
			server.Kill()
			if err := db.PingContext(t.Context()); err == nil {
				t.Error("a killed server answers")
			}
			server.Restart(t)
			var id int
			if err := db.QueryRowContext(t.Context(), "SELECT id FROM things").Scan(&id); err != nil || id != 7 {
				t.Errorf("id %d, %v, want 7", id, err)
			}
		})
	}
}

// TestServersAreInOtherTimeZones tells that a test would notice a local time taken for a universal one.
func TestServersAreInOtherTimeZones(t *testing.T) {
	t.Parallel()
	for s, query := range map[sqltest.System]string{
		sqltest.PostgreSQL: "SELECT EXTRACT(TIMEZONE FROM now())::int",
		sqltest.MariaDB:    "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), NOW()) * 60",
	} {
		var seconds int
		if err := sqltest.Open(t, s).QueryRowContext(t.Context(), query).Scan(&seconds); err != nil {
			t.Fatal(err)
		}
		if got := time.Duration(seconds) * time.Second; got != 5*time.Hour+30*time.Minute {
			t.Errorf("%s is %s ahead of universal time", s, got)
		}
	}
}

func TestDirectoryIsRemovedWithTheTest(t *testing.T) {
	t.Parallel()
	var dir string
	t.Run("server", func(t *testing.T) {
		_, socket, _ := strings.Cut(sqltest.Start(t, sqltest.MariaDB).DSN(""), "(")
		socket, _, _ = strings.Cut(socket, ")")
		dir = filepath.Dir(socket)
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
