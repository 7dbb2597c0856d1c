package outbox_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// long asks for the tests that take minutes.
var long = flag.Bool("long", false, "also run the tests that take minutes")

// processMain is what the binary does instead of running tests, when it was started as a process of one.
var processMain = func() (code int, ok bool) { return 0, false }

// TestMain runs the tests on servers that they share, and then looks for goroutines that schedulers and relays left behind.
func TestMain(m *testing.M) {
	if code, ok := processMain(); ok {
		os.Exit(code)
	}
	flag.Parse()
	code := sqltest.Run(func() int { return redistest.Run(m) })
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after all tests ended:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// eachTable runs the test on a fresh outbox in every database system, in parallel.
func eachTable(t *testing.T, test func(t *testing.T, db *sqltest.Database, table outbox.Table)) {
	t.Helper()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		test(t, db, migrated(t, db))
	})
}

// migrated makes an outbox in the database.
func migrated(tb testing.TB, db *sqltest.Database) outbox.Table {
	tb.Helper()
	table := outbox.Table{Dialect: dialectOf(tb, db)}
	if err := table.Migrate(tb.Context(), db); err != nil {
		tb.Fatal(err)
	}
	return table
}

// dialectOf is the dialect that the database speaks.
func dialectOf(tb testing.TB, db *sqltest.Database) outbox.Dialect {
	tb.Helper()
	d, err := outbox.ParseDialect(string(db.System))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
