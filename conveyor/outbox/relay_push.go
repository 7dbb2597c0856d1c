package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// grace is how long a push whose time is over is waited for: a client that heeds its context comes back at once.
const grace = 250 * time.Millisecond

// push has the queue take the jobs of a batch, in order. It returns within PushTimeout, whatever the Redis client does: what it
// has not acknowledged by then is given back, and the next round waits until the client has come back too.
func (r *Relay) push(ctx context.Context, b *batch) error {
	if len(b.rows) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.o.PushTimeout, fmt.Errorf("%w: %s", errSlow, r.o.PushTimeout))
	defer cancel()
	result := make(chan error, 1)
	r.pushing.Go(func() { result <- r.pushAll(ctx, b) })
	var err error
	back := true
	select {
	case err = <-result:
	case <-ctx.Done():
		patience := time.NewTimer(grace)
		defer patience.Stop()
		select {
		case err = <-result:
		case <-patience.C:
			back = false
		}
	}
	switch {
	case !back:
		err = context.Cause(ctx)
	case err != nil && over(ctx) != nil:
		err = fmt.Errorf("%w: %s: %w", errSlow, r.o.PushTimeout, err)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrQueue, err)
	}
	return err
}

// pushAll pushes in chunks of one script each. One that is refused has changed nothing, and goes job by job.
func (r *Relay) pushAll(ctx context.Context, b *batch) error {
	for chunk := range slices.Chunk(b.rows, conveyor.MaxBatch) {
		if err := over(ctx); err != nil {
			return err
		}
		jobs := make([]*wire.Job, len(chunk))
		for i, row := range chunk {
			jobs[i] = row.job
		}
		err := r.client.AddMany(ctx, jobs)
		switch {
		case err == nil:
			b.acknowledge(chunk...)
		case away(ctx, err):
			return err
		default:
			if err := r.pushEach(ctx, b, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxStrange is after how many failures in a row, of a kind that says nothing of a job, the queue itself is taken to be what fails.
const maxStrange = 3

// pushEach pushes jobs one by one. What is refused for good becomes a dead letter. A job that fails in a way that is not known to
// be its own fault stays, and its neighbours go on; the first such failure is the error.
func (r *Relay) pushEach(ctx context.Context, b *batch, rows []row) error {
	var strange error
	streak := 0
	for _, row := range rows {
		if err := over(ctx); err != nil {
			return err
		}
		err := conveyor.Check(row.job)
		if err != nil {
			b.bury(row.id, row.job.Uuid, err)
			continue
		}
		err = r.client.Add(ctx, row.job)
		switch {
		case err == nil:
			b.acknowledge(row)
			streak = 0
		case away(ctx, err):
			return err
		case r.refused(ctx, row.job, err):
			b.bury(row.id, row.job.Uuid, err)
			streak = 0
		default:
			if strange == nil {
				strange = err
			}
			if streak++; streak == maxStrange {
				return strange
			}
		}
	}
	return strange
}

// over tells that the time for a push is. A process that was stopped for longer has to look at the clock: its timers have not rung
// yet.
func over(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// away tells whether the queue did not answer, or is not able to take any job.
func away(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, conveyor.ErrUnavailable)
}

// refused tells whether the queue will not take this job however often it is asked. Of errors that are not known to be about the
// job, such as a password that has changed, none is.
func (r *Relay) refused(ctx context.Context, job *wire.Job, err error) bool {
	for _, reason := range []error{conveyor.ErrUnique, conveyor.ErrTemplate, conveyor.ErrUnknownUpstream, conveyor.ErrState} {
		if errors.Is(err, reason) {
			return true
		}
	}
	var conflict *conveyor.ConflictError
	if errors.As(err, &conflict) {
		return true
	}
	if errors.Is(err, conveyor.ErrCorrupt) { // where this job goes, unless it is what all go through
		_, err := r.client.Statuses(ctx, []string{job.Uuid})
		return err == nil
	}
	return false
}
