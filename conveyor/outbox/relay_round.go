package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Round is one step of a relay: it takes rows, pushes their jobs and removes those that were acknowledged.
type Round struct {
	Relayed
	Took time.Duration
	// Err is why it did not do all it set out to do, ErrQueue or ErrDatabase; nil if it did.
	Err error
}

// databaseTimeout bounds one exchange with the database: a relay has to get away from one that has stopped answering.
const databaseTimeout = 30 * time.Second

// round takes a batch, has the queue take its jobs, and settles what becomes of each row. It reports whether there may be more to
// do. Once rows are in hand it goes on to their end whatever becomes of ctx; that takes no longer than its timeouts.
func (r *Relay) round(ctx context.Context, leeway time.Duration) (done Relayed, more bool, err error) {
	r.pushing.Wait()
	if r.doubtful {
		// No row is held, no transaction open, while it is not known that somebody listens.
		if err := r.probe(ctx); err != nil {
			return done, false, fmt.Errorf("%w: %w", ErrQueue, err)
		}
	}
	h, b, err := r.take(ctx, leeway)
	if err != nil {
		return done, false, fmt.Errorf("%w: take rows: %w", ErrDatabase, err)
	}
	ctx = context.WithoutCancel(ctx)
	pushErr := r.push(ctx, b)
	pushed, letters := b.close()
	if err := h.settle(ctx, pushed, letters); err != nil {
		r.limit = max(len(b.all)/2, 1) // what is too much for the time that it may take would be so for ever
		return done, false, errors.Join(fmt.Errorf("%w: remove rows of acknowledged jobs: %w", ErrDatabase, err), pushErr)
	}
	r.report(letters)
	done = Relayed{Pushed: len(pushed), Dead: len(letters)}
	r.doubtful = pushErr != nil
	switch decided := len(pushed) + len(letters); {
	case b.cut: // so many are held in vain otherwise
		r.limit = max(decided, 1)
	case errors.Is(pushErr, errSlow) && decided > 0:
		r.limit, pushErr = max(decided/2, 1), nil
		return done, true, nil
	case errors.Is(pushErr, errSlow): // fewer may get through
		r.limit = max(len(b.all)/2, 1)
	case pushErr == nil && b.full():
		r.limit = min(2*r.limit, r.o.Batch)
	}
	return done, b.full() && pushErr == nil, pushErr
}

// maxReported bounds the dead letters of one round that are logged one by one.
const maxReported = 10

func (r *Relay) report(letters []letter) {
	for i, l := range letters {
		if i == maxReported {
			r.o.Logger.Warn("more dead letters", "count", len(letters)-i)
			return
		}
		r.o.Logger.Warn("a job cannot be pushed and is a dead letter now", "uuid", l.uuid, "reason", l.reason)
	}
}

// probe asks the queue for the time.
func (r *Relay) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.o.PushTimeout)
	defer cancel()
	_, err := r.client.Now(ctx)
	return err
}

// errSlow is why a push ended before its batch was done.
var errSlow = errors.New("the time for a batch is over")
