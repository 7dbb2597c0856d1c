package outbox

import (
	"context"
	"database/sql"
)

// DB is what statements are sent through: a *sql.DB, *sql.Tx or *sql.Conn, whatever driver is behind it, and whatever else
// has these two methods of theirs, such as the ConnPool of a GORM statement.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

var (
	_ DB = (*sql.DB)(nil)
	_ DB = (*sql.Tx)(nil)
	_ DB = (*sql.Conn)(nil)
)

// beginner is a DB that can begin a transaction: a *sql.DB or *sql.Conn, but no *sql.Tx.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// absent tells whether there is no database behind db, in which case its methods would panic.
func absent(db DB) bool {
	switch db := db.(type) {
	case nil:
		return true
	case *sql.DB:
		return db == nil
	case *sql.Tx:
		return db == nil
	case *sql.Conn:
		return db == nil
	}
	return false
}
