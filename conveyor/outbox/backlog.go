package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// MaxCount is how far Backlog counts: databases count by reading.
const MaxCount = 100_000

// Backlog is what lies in an outbox.
type Backlog struct {
	Pending, Dead int64 // at most MaxCount
	// Oldest is how long the first row in line has been there, by the database's clock; 0: there is none.
	Oldest time.Duration
}

// Backlog counts what lies in the outbox.
func (t Table) Backlog(ctx context.Context, db DB) (Backlog, error) {
	s, err := t.usable(db)
	if err != nil {
		return Backlog{}, fmt.Errorf("outbox backlog: %w", err)
	}
	var b Backlog
	var age int64
	err = errors.Join(queryOne(ctx, db, &b.Pending, s.countUpTo(false, MaxCount)), queryOne(ctx, db, &b.Dead, s.countUpTo(true, MaxCount)))
	if err == nil && b.Pending > 0 {
		if err = queryOne(ctx, db, &age, s.oldest()); errors.Is(err, sql.ErrNoRows) {
			err = nil // it was relayed meanwhile
		}
	}
	if err != nil {
		return Backlog{}, fmt.Errorf("outbox %s: %w", t, err)
	}
	b.Oldest = max(time.Duration(age)*time.Microsecond, 0)
	return b, nil
}

// usable are the statements of a table, if it and the database can be used.
func (t Table) usable(db DB) (*statements, error) {
	if absent(db) {
		return nil, errNoDB
	}
	return t.statements()
}
