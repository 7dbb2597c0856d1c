package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"
)

// hold has a batch of rows in hand: no other relay takes them until it is settled, or its holder is gone.
type hold interface {
	// settle removes the rows of acknowledged jobs, makes dead letters of others, and gives back the rest.
	settle(ctx context.Context, pushed []int64, letters []letter) error
}

// take gets hold of the next rows. It ends with ctx, and then holds nothing for longer than a claim lasts.
func (r *Relay) take(ctx context.Context, leeway time.Duration) (hold, *batch, error) {
	b := &batch{asked: r.limit}
	if r.sql.dialect == SQLite {
		h, err := r.claim(ctx, leeway, b)
		return h, b, err
	}
	h, err := r.lock(ctx, leeway, b)
	return h, b, err
}

// locked are rows that a transaction has locked.
type locked struct {
	sql *relayStatements
	tx  *sql.Tx
	end context.CancelFunc // of the context that the transaction lives by
}

// lock takes rows by their locks.
func (r *Relay) lock(ctx context.Context, leeway time.Duration, b *batch) (_ *locked, err error) {
	taking, taken := context.WithTimeout(ctx, databaseTimeout)
	defer taken()
	// The transaction outlives ctx, so that a batch in hand is finished. Until there is one it does not.
	living, end := context.WithTimeout(context.WithoutCancel(ctx), 2*databaseTimeout+r.o.PushTimeout)
	goOn := context.AfterFunc(taking, end)
	h := &locked{sql: r.sql, end: end}
	defer func() {
		if !goOn() && err == nil {
			err = context.Cause(taking)
		}
		if err != nil {
			h.drop()
			if taking.Err() != nil {
				err = context.Cause(taking)
			}
		}
	}()
	if h.tx, err = r.db.BeginTx(living, &sql.TxOptions{Isolation: sql.LevelReadCommitted}); err != nil {
		return nil, err
	}
	if r.sql.prepare != "" {
		if _, err := h.tx.ExecContext(living, r.sql.prepare); err != nil {
			return nil, err
		}
	}
	if err := b.read(living, h.tx, r.sql.take(leeway, r.limit)); err != nil {
		return nil, err
	}
	return h, nil
}

// drop gives all rows back.
func (h *locked) drop() {
	if h.tx != nil {
		_ = h.restore()     // a connection that it fails on is of no use to anybody
		_ = h.tx.Rollback() // after a commit, or without a connection, there is nothing to roll back
	}
	h.end()
}

// restore gives the connection back as it was.
func (h *locked) restore() error {
	if h.sql.restore == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), databaseTimeout)
	defer cancel()
	_, err := h.tx.ExecContext(ctx, h.sql.restore)
	return err
}

func (h *locked) settle(ctx context.Context, pushed []int64, letters []letter) error {
	defer h.drop()
	if len(pushed)+len(letters) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	if err := h.sql.settle(ctx, h.tx, pushed, letters); err != nil {
		return err
	}
	if err := h.restore(); err != nil {
		return err
	}
	return h.tx.Commit()
}

// claimed are rows that carry a relay's name.
type claimed struct {
	relay *Relay
	batch *batch
}

// claim takes rows by writing the relay's name into them: SQLite has one writer at a time, which must not wait for a queue.
func (r *Relay) claim(ctx context.Context, leeway time.Duration, b *batch) (*claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	if err := b.read(ctx, r.db, r.sql.claim(leeway, r.limit), r.name, r.name); err != nil {
		return nil, err
	}
	return &claimed{relay: r, batch: b}, nil
}

func (h *claimed) settle(ctx context.Context, pushed []int64, letters []letter) (err error) {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	r, rest := h.relay, h.batch.undecided(pushed, letters)
	if len(rest)+len(letters) == 0 {
		return r.sql.settle(ctx, r.db, pushed, nil)
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to roll back
	if err := r.sql.settle(ctx, tx, pushed, letters, r.name); err != nil {
		return err
	}
	if len(rest) > 0 {
		if _, err := tx.ExecContext(ctx, r.sql.unclaim(rest), r.name); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// settle removes rows and buries others; more are further parameters of burying.
func (s *relayStatements) settle(ctx context.Context, db DB, pushed []int64, letters []letter, more ...any) error {
	if len(pushed) > 0 {
		statement, args := s.deleteIDs(pushed)
		if _, err := db.ExecContext(ctx, statement, args...); err != nil {
			return err
		}
	}
	for _, l := range letters {
		if _, err := db.ExecContext(ctx, s.bury(), append([]any{l.reason, l.id}, more...)...); err != nil {
			return err
		}
	}
	return nil
}

// read takes the rows that a query answers with into the batch, in the order of their ids.
func (b *batch) read(ctx context.Context, db DB, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var uuid, job []byte
		if err := rows.Scan(&id, &uuid, &job); err != nil {
			return err
		}
		b.add(id, string(uuid), job)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	slices.SortFunc(b.rows, func(x, y row) int { return cmp.Compare(x.id, y.id) })
	return rows.Close()
}
