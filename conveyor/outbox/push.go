package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// PushJobs puts the jobs on the queue from inside a running job, by the client of its worker: ctx is the one that the handler was
// given, or one made from it; any other is ErrNoAttempt. The jobs do not depend on the one that pushes them, and stay if it fails. Otherwise
// it is PushJobsWithClient.
func (s *Scheduler) PushJobs(ctx context.Context) error {
	attempt := conveyor.FromContext(ctx)
	if attempt == nil {
		return s.push(ctx, nil, ErrNoAttempt)
	}
	return s.push(ctx, attempt.AddMany, nil)
}

// PushJobsWithClient puts the jobs on the queue, in the order in which they were collected. It belongs behind the commit of the
// transaction that CreatePendingJobs was part of, and asks no database. Without jobs it does nothing.
//
// The first job that is refused ends it: those before it are on the queue, those behind it were not tried, and their rows are
// left for a relay. Called again it goes on where it ended; a job whose answer was lost is sent twice, and is one job.
func (s *Scheduler) PushJobsWithClient(ctx context.Context, c *conveyor.Client) error {
	if c == nil {
		return s.push(ctx, nil, errors.New("the client is nil"))
	}
	return s.push(ctx, c.AddMany, nil)
}

// PushJobsAndDeletePendingJobs is PushJobs and then, if that pushed all, DeletePendingJobs.
func (s *Scheduler) PushJobsAndDeletePendingJobs(ctx context.Context, db DB) error {
	if err := s.PushJobs(ctx); err != nil {
		return err
	}
	return s.DeletePendingJobs(ctx, db)
}

// PushJobsWithClientAndDeletePendingJobs is PushJobsWithClient and then, if that pushed all, DeletePendingJobs.
func (s *Scheduler) PushJobsWithClientAndDeletePendingJobs(ctx context.Context, c *conveyor.Client, db DB) error {
	if err := s.PushJobsWithClient(ctx, c); err != nil {
		return err
	}
	return s.DeletePendingJobs(ctx, db)
}

// push sends what is unsent. No way to send it is an error only if there is something to send.
func (s *Scheduler) push(ctx context.Context, add func(context.Context, []*wire.Job, ...conveyor.AddOption) error, noWay error) error {
	if err := s.ready(); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	switch {
	case len(s.jobs) == 0:
		return nil
	case noWay != nil:
		return fmt.Errorf("push: %w", noWay)
	case !s.created:
		return fmt.Errorf("push: %w", ErrNotCreated)
	}
	for s.pushed < len(s.jobs) {
		chunk := s.jobs[s.pushed:min(len(s.jobs), s.pushed+conveyor.MaxBatch)]
		err := add(ctx, chunk)
		if err == nil {
			s.pushed += len(chunk)
			continue
		}
		if len(chunk) > 1 && ctx.Err() == nil && !errors.Is(err, conveyor.ErrUnavailable) {
			// One of them is refused, and the others of its batch with it: one by one they tell which. Those that were stored all the
			// same are known by their uuids.
			err = s.pushSingly(ctx, add, chunk)
		}
		if err != nil {
			return fmt.Errorf("push: %d of %d jobs are on the queue: %w", s.pushed, len(s.jobs), err)
		}
	}
	return nil
}

func (s *Scheduler) pushSingly(ctx context.Context, add func(context.Context, []*wire.Job, ...conveyor.AddOption) error, jobs []*wire.Job) error {
	for _, job := range jobs {
		if err := add(ctx, []*wire.Job{job}); err != nil {
			return err
		}
		s.pushed++
	}
	return nil
}
