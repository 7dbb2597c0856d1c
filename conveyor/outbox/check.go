package outbox

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoTable means that the outbox's table was not made yet.
var ErrNoTable = errors.New("there is no such table")

// Check tells whether the table is there (else ErrNoTable) and is an outbox (else ErrOtherTable).
func (t Table) Check(ctx context.Context, db DB) error {
	t = t.withDefaults()
	if err := t.validate(); err != nil {
		return err
	}
	if absent(db) {
		return errNoDB
	}
	exists, err := t.exists(ctx, db)
	if err == nil && !exists {
		err = fmt.Errorf("%w: see Migrate", ErrNoTable)
	}
	if err == nil {
		err = t.check(ctx, db)
	}
	if err != nil {
		return fmt.Errorf("outbox %s: %w", t.Name, err)
	}
	return nil
}
