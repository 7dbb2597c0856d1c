package outbox

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
)

// CreatePendingJobs writes a row for each job that was collected, by one statement. It belongs into the transaction that writes what
// the jobs are about: both are committed then, or neither. Nothing goes to the queue. Without jobs it does nothing.
//
// After an error the transaction has to be rolled back. After a transaction was rolled back nothing may be pushed: the Scheduler
// cannot know of it, and is thrown away.
func (s *Scheduler) CreatePendingJobs(ctx context.Context, tx DB) error {
	query, args, err := s.createStatement(tx)
	if err != nil {
		return fmt.Errorf("create pending jobs: %w", err)
	}
	if query == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("create %s: %w", s.count(), err)
	}
	s.created = true
	return nil
}

// createStatement checks all that can be wrong before anything is sent; "" is nothing to send.
func (s *Scheduler) createStatement(tx DB) (string, []any, error) {
	if err := s.ready(); err != nil {
		return "", nil, err
	}
	switch {
	case len(s.jobs) == 0:
		return "", nil, nil
	case s.created:
		return "", nil, ErrCreated
	case absent(tx):
		return "", nil, errNoDB
	}
	if limit := s.sql.maxInsert(); len(s.jobs) > limit {
		return "", nil, fmt.Errorf("%d: %w: %s takes at most %d", len(s.jobs), ErrTooMany, s.sql.dialect, limit)
	}
	if err := conveyor.Check(s.jobs...); err != nil { // now among each other as well
		return "", nil, err
	}
	args := make([]any, 0, 2*len(s.jobs))
	for _, job := range s.jobs {
		bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(job)
		if err != nil {
			return "", nil, fmt.Errorf("job %s: %w: %w", job.Uuid, conveyor.ErrMarshal, err)
		}
		args = append(args, job.Uuid, bytes)
	}
	return s.sql.insert(len(s.jobs)), args, nil
}

// DeletePendingJobs removes the rows of jobs that were all pushed, by one statement; rows that a relay has removed already do not
// matter. Nothing goes to the queue. Without jobs it does nothing.
//
// An error needs nobody's attention: a relay finds the rows that are left, pushes the jobs again, which does nothing, and removes them.
func (s *Scheduler) DeletePendingJobs(ctx context.Context, db DB) error {
	if err := s.ready(); err != nil {
		return fmt.Errorf("delete pending jobs: %w", err)
	}
	switch {
	case len(s.jobs) == 0 || s.deleted:
		return nil
	case s.pushed < len(s.jobs):
		return fmt.Errorf("delete %s: %d of them: %w", s.count(), len(s.jobs)-s.pushed, ErrNotPushed)
	case absent(db):
		return fmt.Errorf("delete %s: %w", s.count(), errNoDB)
	}
	args := make([]any, len(s.jobs))
	for i, job := range s.jobs {
		args[i] = job.Uuid
	}
	if err := s.delete(ctx, db, args); err != nil {
		return fmt.Errorf("delete %s: %w", s.count(), err)
	}
	s.deleted = true
	return nil
}

// deleteTries is how often MySQL is told to delete. It finds rows by their uuids, and a relay that has one of them in hand deletes it
// by its id: where they meet in the middle, MySQL ends one of the two statements as a deadlock.
const deleteTries = 3

// delete sends the statement. Where it is a transaction of its own it is sent again after a failure, which does no harm.
func (s *Scheduler) delete(ctx context.Context, db DB, args []any) error {
	tries := 1
	if _, own := db.(beginner); own && s.sql.dialect == MySQL {
		tries = deleteTries
	}
	for {
		_, err := db.ExecContext(ctx, s.sql.deleteUUIDs(len(args)), args...)
		if tries--; err == nil || tries == 0 || ctx.Err() != nil {
			return err
		}
	}
}

// count names the jobs in errors.
func (s *Scheduler) count() string {
	if len(s.jobs) == 1 {
		return "1 pending job"
	}
	return fmt.Sprintf("%d pending jobs", len(s.jobs))
}
