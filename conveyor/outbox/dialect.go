package outbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrDialect means a database that the package has no SQL for.
var ErrDialect = errors.New("no such SQL dialect")

// Dialect is the SQL that a database understands. The zero value is none, so that a table for the wrong database is not made
// by forgetting to name the right one.
type Dialect int

// The databases that have a dialect, with the oldest versions that understand all of it.
const (
	PostgreSQL Dialect = iota + 1 // 14
	MySQL                         // MySQL 8.0.13, MariaDB 10.6
	SQLite                        // 3.35
)

var dialectNames = map[Dialect]string{PostgreSQL: "postgres", MySQL: "mysql", SQLite: "sqlite"}

// String is the dialect's name as ParseDialect reads it.
func (d Dialect) String() string {
	if name, ok := dialectNames[d]; ok {
		return name
	}
	return fmt.Sprintf("Dialect(%d)", int(d))
}

// ParseDialect reads the name of a database, whatever its case: postgres, postgresql or pgx; mysql or mariadb; sqlite or
// sqlite3. These are also the names that drivers register, so that it takes what sql.Open was given.
func ParseDialect(name string) (Dialect, error) {
	switch strings.ToLower(name) {
	case "postgres", "postgresql", "pgx":
		return PostgreSQL, nil
	case "mysql", "mariadb":
		return MySQL, nil
	case "sqlite", "sqlite3":
		return SQLite, nil
	}
	return 0, fmt.Errorf("%w: %.40q: use postgres, mysql or sqlite", ErrDialect, name)
}

// quote makes an identifier of a name that was checked. SQLite gets backticks like MySQL, since it takes a name in double
// quotes that no column has for a text: a condition over a missing column would be wrong instead of refused.
func (d Dialect) quote(name string) string {
	if d == PostgreSQL {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// parameter is the n-th placeholder of a statement, from 1.
func (d Dialect) parameter(n int) string {
	if d == PostgreSQL {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// maxParameters is how many of them a statement may have.
func (d Dialect) maxParameters() int {
	if d == SQLite {
		return 32_766
	}
	return 65_535 // a 16-bit number in both protocols
}

// sqliteTime is a moment as SQLite compares it: texts of one length, in UTC, with milliseconds.
const sqliteTime = "strftime('%Y-%m-%d %H:%M:%f', 'now'"

// now is the database's clock as it stands, also late in a transaction that began long ago.
func (d Dialect) now() string {
	switch d {
	case PostgreSQL:
		return "clock_timestamp()"
	case MySQL:
		return "UTC_TIMESTAMP(6)"
	}
	return sqliteTime + ")"
}

// nowPlus is the clock moved by a duration, which may be negative.
func (d Dialect) nowPlus(by time.Duration) string {
	switch d {
	case PostgreSQL:
		return fmt.Sprintf("clock_timestamp() + interval '%d microseconds'", by.Microseconds())
	case MySQL:
		return fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND", by.Microseconds())
	}
	return fmt.Sprintf("%s, '%+.3f seconds')", sqliteTime, by.Seconds())
}

// age is how long ago a column's time was, in microseconds. Asked for in this form it needs no driver to read times.
func (d Dialect) age(column string) string {
	switch d {
	case PostgreSQL:
		return "(extract(epoch FROM clock_timestamp() - " + column + ") * 1000000)::bigint"
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, " + column + ", UTC_TIMESTAMP(6))"
	}
	return "CAST(round((julianday('now') - julianday(" + column + ")) * 86400000) * 1000 AS INTEGER)"
}
