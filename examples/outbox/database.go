package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL
	_ "modernc.org/sqlite"             // the driver of SQLite

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/outbox/pgnotify"
)

// database holds the orders, and the outbox beside them.
type database struct {
	*sql.DB
	outbox outbox.Table
	wake   outbox.Wake // tells the relay of new rows; nil where the database does not
	place  string      // for people
}

// openDatabase opens the database, a SQLite file in dir unless dsn names a PostgreSQL, and makes its tables when they are not there.
func openDatabase(ctx context.Context, dir, dsn string) (*database, error) {
	db := &database{outbox: outbox.Table{Dialect: outbox.PostgreSQL}, place: "orders in PostgreSQL"}
	driver, number := "pgx", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
	switch {
	case dsn == "":
		file := filepath.Join(dir, "shop.db")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		// Readers do not wait for the writer, and writers wait for each other.
		q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)"}, "_txlock": {"immediate"}}
		driver, dsn = "sqlite", (&url.URL{Scheme: "file", Opaque: filepath.ToSlash(file), RawQuery: q.Encode()}).String()
		db.outbox.Dialect, db.place = outbox.SQLite, "orders in "+file
		number = "INTEGER PRIMARY KEY"
	case !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://"):
		return nil, errors.New("-dsn begins with postgres://; without it the orders are in a SQLite file")
	}
	var err error
	if db.outbox.Dialect == outbox.PostgreSQL {
		listener, err := pgnotify.New(dsn, db.outbox, pgnotify.Options{})
		if err != nil {
			return nil, err
		}
		db.wake = listener.Wake
	}
	if db.DB, err = sql.Open(driver, dsn); err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS orders (number "+number+
		", customer TEXT NOT NULL, item TEXT NOT NULL, placed BIGINT NOT NULL, confirmed BIGINT NOT NULL DEFAULT 0)") // ms since 1970
	if err == nil {
		err = db.outbox.Migrate(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up the database: %w", err), db.Close())
	}
	return db, nil
}

// query numbers the question marks of a statement where PostgreSQL has them numbered.
func (db *database) query(text string) string {
	if db.outbox.Dialect != outbox.PostgreSQL {
		return text
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(text, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

func (db *database) insert(ctx context.Context, tx *sql.Tx, o order) (number int64, err error) {
	err = tx.QueryRowContext(ctx, db.query("INSERT INTO orders (customer, item, placed) VALUES (?, ?, ?) RETURNING number"),
		o.Customer, o.Item, o.Placed.UnixMilli()).Scan(&number)
	return number, err
}

const columns = "number, customer, item, placed, confirmed"

// scan reads an order from a row.
func scan(row interface{ Scan(...any) error }) (o order, err error) {
	var placed, confirmed int64
	err = row.Scan(&o.Number, &o.Customer, &o.Item, &placed, &confirmed)
	o.Placed = time.UnixMilli(placed)
	if confirmed > 0 {
		o.Confirmed = time.UnixMilli(confirmed)
	}
	return o, err
}

func (db *database) find(ctx context.Context, number int64) (order, error) {
	o, err := scan(db.QueryRowContext(ctx, db.query("SELECT "+columns+" FROM orders WHERE number = ?"), number))
	if err != nil {
		return order{}, fmt.Errorf("order %d: %w", number, err)
	}
	return o, nil
}

func (db *database) setConfirmed(ctx context.Context, o order) error {
	_, err := db.ExecContext(ctx, db.query("UPDATE orders SET confirmed = ? WHERE number = ?"), o.Confirmed.UnixMilli(), o.Number)
	return err
}

// latest reads the newest orders, and how many jobs wait in the outbox.
func (db *database) latest(ctx context.Context, limit int) (orders []order, pending int, err error) {
	rows, err := db.QueryContext(ctx, db.query("SELECT "+columns+" FROM orders ORDER BY number DESC LIMIT ?"), limit)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		o, err := scan(rows)
		if err != nil {
			return nil, 0, err
		}
		orders = append(orders, o)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM "+db.outbox.String()).Scan(&pending)
	return orders, pending, err
}
