package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Entry is one row of an outbox, for people.
type Entry struct {
	ID   int64 // its place in the order of insertion
	UUID string
	Job  *wire.Job // nil when the row holds none
	Age  time.Duration
	// Dead tells a dead letter, and Reason why it is one.
	Dead   bool
	Reason string
}

// MaxEntries is how many entries List returns at most.
const MaxEntries = 1000

// List reads pending rows, or dead letters, in the order of their insertion: at most limit of those that follow the id after.
func (t Table) List(ctx context.Context, db DB, dead bool, after int64, limit int) ([]Entry, error) {
	s, err := t.usable(db)
	if err != nil {
		return nil, fmt.Errorf("list outbox: %w", err)
	}
	entries, err := s.entries(ctx, db, dead, after, min(max(limit, 1), MaxEntries))
	if err != nil {
		return nil, fmt.Errorf("list outbox %s: %w", t, err)
	}
	return entries, nil
}

func (s *statements) entries(ctx context.Context, db DB, dead bool, after int64, limit int) ([]Entry, error) {
	rows, err := db.QueryContext(ctx, s.list(dead, limit), after)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var entries []Entry
	for rows.Next() {
		e := Entry{Dead: dead}
		var bytes []byte
		var age int64
		var reason *string
		if err := rows.Scan(&e.ID, &e.UUID, &bytes, &age, &reason); err != nil {
			return nil, err
		}
		e.Age = max(time.Duration(age)*time.Microsecond, 0)
		if reason != nil {
			e.Reason = *reason
		}
		if job, err := decode(e.UUID, bytes); err == nil {
			e.Job = job
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// manyUUIDs is how many uuids one statement names.
const manyUUIDs = 500

// Retry makes dead letters pending again, and tells how many there were among these uuids. Relays take them with the next round.
func (t Table) Retry(ctx context.Context, db DB, uuids ...string) (int64, error) {
	return t.each(ctx, db, "retry", (*statements).revive, uuids)
}

// RetryAll is Retry for all dead letters.
func (t Table) RetryAll(ctx context.Context, db DB) (int64, error) {
	s, err := t.usable(db)
	if err != nil {
		return 0, fmt.Errorf("retry: %w", err)
	}
	n, err := affected(ctx, db, s.revive(0))
	if err != nil {
		return 0, fmt.Errorf("retry of outbox %s: %w", t, err)
	}
	return n, nil
}

// Delete removes rows, pending ones and dead letters, and tells how many there were among these uuids. Their jobs are never run,
// unless they were pushed already.
func (t Table) Delete(ctx context.Context, db DB, uuids ...string) (int64, error) {
	return t.each(ctx, db, "delete", (*statements).deleteUUIDs, uuids)
}

// each executes a statement over uuids, as often as they do not fit into one.
func (t Table) each(ctx context.Context, db DB, what string, statement func(*statements, int) string, uuids []string) (sum int64, err error) {
	s, err := t.usable(db)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	for chunk := range slices.Chunk(uuids, manyUUIDs) {
		args := make([]any, len(chunk))
		for i, uuid := range chunk {
			args[i] = uuid
		}
		n, err := affected(ctx, db, statement(s, len(chunk)), args...)
		if sum += n; err != nil {
			return sum, fmt.Errorf("%s in outbox %s: %w", what, t, err)
		}
	}
	return sum, nil
}

// affected executes a statement and tells how many rows it changed.
func affected(ctx context.Context, db DB, statement string, args ...any) (int64, error) {
	result, err := db.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
