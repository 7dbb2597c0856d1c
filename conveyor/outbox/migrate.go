package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrOtherTable means that a table exists under the outbox's name and is not one.
	ErrOtherTable = errors.New("the table is not an outbox")
	// ErrNotEmpty refuses to drop a table that still holds jobs.
	ErrNotEmpty = errors.New("the outbox still holds jobs")
)

// migrationLock is the advisory lock that migrations of one PostgreSQL database take turns by: two that create the same thing
// at the same moment would both find it missing.
const migrationLock = 0x57617962 // "Wayb"

// Migrate makes the table and what belongs to it, or whatever of that is missing: it may be called at every start, by any number
// of processes at once. Where nothing is missing it only reads, so that it waits for no lock and needs no right to create.
// On PostgreSQL it is one transaction, or part of the one that db is; MySQL commits whatever transaction a table is created in. A table of
// that name with other columns is left alone, and the error is ErrOtherTable.
func (t Table) Migrate(ctx context.Context, db DB) error {
	t = t.withDefaults()
	if err := t.validate(); err != nil {
		return err
	}
	if absent(db) {
		return fmt.Errorf("migrate outbox %s: %w", t.Name, errNoDB)
	}
	complete, err := t.complete(ctx, db)
	if err != nil {
		return fmt.Errorf("migrate outbox %s: %w", t.Name, err)
	}
	if complete {
		return nil
	}
	err = t.alone(ctx, db, func(db DB) error {
		if _, err := db.ExecContext(ctx, t.createTable()); err != nil {
			return err
		}
		if err := t.check(ctx, db); err != nil {
			return err
		}
		for _, statement := range t.createRest() {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("migrate outbox %s: %w", t.Name, err)
	}
	return nil
}

// Drop removes the table and what belongs to it. While it holds rows, pending ones or dead letters, that is ErrNotEmpty unless
// force is set. Without such a table there is nothing to do.
func (t Table) Drop(ctx context.Context, db DB, force bool) error {
	t = t.withDefaults()
	statements, err := t.DropSchema()
	if err != nil {
		return err
	}
	err = t.alone(ctx, db, func(db DB) error {
		exists, err := t.exists(ctx, db)
		if err != nil {
			return err
		}
		if exists {
			if err := t.check(ctx, db); err != nil {
				return err
			}
			if err := t.lockOut(ctx, db); err != nil {
				return err
			}
			if err := t.checkEmpty(ctx, db); err != nil && !force {
				return err
			}
		}
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("drop outbox %s: %w", t.Name, err)
	}
	return nil
}

// alone runs statements that change the schema. On PostgreSQL they take effect together, and one process after the other; the
// other databases take each on its own.
func (t Table) alone(ctx context.Context, db DB, do func(DB) error) (err error) {
	if absent(db) {
		return errNoDB
	}
	if t.Dialect != PostgreSQL {
		return do(db)
	}
	var tx *sql.Tx
	if b, ok := db.(beginner); ok {
		if tx, err = b.BeginTx(ctx, nil); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = tx.Rollback() // the error that led here says more
			}
		}()
		db = tx
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", migrationLock)); err != nil {
		return err
	}
	if err := do(db); err != nil {
		return err
	}
	if tx != nil {
		return tx.Commit()
	}
	return nil
}

// complete tells whether all that Migrate makes is there.
func (t Table) complete(ctx context.Context, db DB) (bool, error) {
	exists, err := t.exists(ctx, db)
	if err != nil || !exists {
		return false, err
	}
	if err := t.check(ctx, db); err != nil {
		return false, err
	}
	schema, _ := t.split()
	pending, dead, parts := t.beside("_pending"), t.beside("_dead"), int64(2)
	var n int64
	switch t.Dialect {
	case PostgreSQL:
		if !t.Silent {
			parts++
		}
		err = queryOne(ctx, db, &n, "SELECT count(to_regclass($1::text)) + count(to_regclass($2::text)) + "+
			"(SELECT count(*) FROM pg_trigger WHERE NOT $3::boolean AND tgrelid = to_regclass($4::text) AND tgname = $5::text)",
			t.in(schema, pending), t.in(schema, dead), t.Silent, t.quoted(), t.beside("_notify"))
	case SQLite:
		err = queryOne(ctx, db, &n, "SELECT count(*) FROM "+t.sqliteMaster()+" WHERE lower(name) IN (lower(?), lower(?))", pending, dead)
	default:
		return true, nil // the table is made with its indexes
	}
	return n == parts, err
}

// check compares the columns of the table that exists with those that it has to have; more do not matter.
func (t Table) check(ctx context.Context, db DB) error {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+t.quoted()+" WHERE 1 = 0")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	has, err := rows.Columns()
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range t.names() {
		if !slices.ContainsFunc(has, func(c string) bool { return c == name || t.Dialect != PostgreSQL && strings.EqualFold(c, name) }) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: it has no column %s, but %s; name another table, or say what these columns are called",
			ErrOtherTable, strings.Join(missing, ", "), strings.Join(has, ", "))
	}
	return rows.Err()
}

// exists tells whether there is a table of that name.
func (t Table) exists(ctx context.Context, db DB) (bool, error) {
	schema, name := t.split()
	var n int64
	var err error
	switch {
	case t.Dialect == PostgreSQL:
		err = queryOne(ctx, db, &n, "SELECT count(to_regclass($1::text))", t.quoted())
	case t.Dialect == SQLite:
		err = queryOne(ctx, db, &n, "SELECT count(*) FROM "+t.sqliteMaster()+" WHERE lower(name) = lower(?)", name)
	case schema == "":
		err = queryOne(ctx, db, &n, "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", name)
	default:
		err = queryOne(ctx, db, &n, "SELECT count(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", schema, name)
	}
	return n > 0, err
}

// sqliteMaster is the list of what there is in the table's file.
func (t Table) sqliteMaster() string {
	schema, _ := t.split()
	return t.in(schema, "sqlite_master")
}

// lockOut keeps PostgreSQL's writers away until the table is gone, so that none adds a row after they were counted.
func (t Table) lockOut(ctx context.Context, db DB) error {
	if t.Dialect != PostgreSQL {
		return nil
	}
	_, err := db.ExecContext(ctx, "LOCK TABLE "+t.quoted()+" IN ACCESS EXCLUSIVE MODE")
	return err
}

func (t Table) checkEmpty(ctx context.Context, db DB) error {
	s, err := t.statements()
	if err != nil {
		return err
	}
	var pending, dead int64
	if err := errors.Join(queryOne(ctx, db, &pending, s.count(false)), queryOne(ctx, db, &dead, s.count(true))); err != nil {
		return err
	}
	if pending+dead > 0 {
		return fmt.Errorf("%w: %d pending (a relay pushes them), %d dead (retry or delete them)", ErrNotEmpty, pending, dead)
	}
	return nil
}

var errNoDB = errors.New("the database is nil")

// queryOne reads the one value that a query answers with.
func queryOne(ctx context.Context, db DB, value any, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := rows.Scan(value); err != nil {
		return err
	}
	return rows.Close()
}
