package applier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Run is one apply or destroy: an approved plan, and what it takes to make it again.
type Run struct {
	// Plan is what was approved. Workflow and Options are what it was made from and how: rows whose jobs have moved
	// on are decided again by them. All three are required, but for a saved plan, where Workflow is the one it holds.
	Plan     *planner.Plan
	Workflow *config.Workflow
	Options  planner.Options

	// Saved marks a plan that was read from a file: it fails with *StaleError when a record it touches has moved. A plan
	// of this process is made anew instead, and Approve is asked when the new one is another.
	Saved bool
	// Approve is asked under the lock whether a plan that was made anew may be applied. Without it every one may.
	Approve func(ctx context.Context, p *planner.Plan) (bool, error)
	// Judge is asked about each plan that takes the place of Plan: one that was made anew under the lock, and one whose rows were
	// decided again because jobs have moved on. An error ends the apply with *DeniedError. Without it nothing is denied.
	Judge func(p *planner.Plan) error

	// Keyring signs exec and http jobs and seals sensitive payloads. Needed only by a plan that submits such jobs.
	Keyring *conveyor.Keyring

	// Source is where the configuration came from, and Archive that configuration (config.Workflow.Archive), for the history. A saved
	// plan brings its own of both. Without a source Who stands in for its author; without an archive nothing can be rolled back to this
	// run, and WithoutArchive, if it is set, says why.
	Source         planner.Source
	Archive        []byte
	WithoutArchive string
	// Rollback is the number of the revision whose configuration this is; 0 for an apply of its own.
	Rollback int64
	// KeepRollback makes a run that would undo a rollback fail with *RolledBackError; see History.PassedOver.
	KeepRollback bool
	// Latest makes the run no revision of its own: it repairs what the history has already. It is the number of the latest revision
	// there, and the run fails with ErrNotLatest when that is another by now. 0 for a revision of its own.
	Latest int64

	Operation   string        // for whoever waits for the lock; default "apply", or "destroy" for such a plan
	Who         string        // the same; default user@host
	LockTimeout time.Duration // default DefaultLockTimeout; negative: ask once

	// Detach returns once everything is submitted.
	Detach bool
	// Observer gets what happens; nil for nobody. It may be slow.
	Observer Observer

	probe func(phase string) // tests: called before each write of the submission
	batch int                // tests: changes of one batch; default and limit conveyor.MaxBatch
}

func (r Run) withDefaults() Run {
	if r.Operation == "" {
		r.Operation = "apply"
		if r.Plan != nil && r.Plan.Destroy {
			r.Operation = "destroy"
		}
	}
	if r.Who == "" {
		r.Who = whoAmI()
	}
	switch {
	case r.LockTimeout == 0:
		r.LockTimeout = DefaultLockTimeout
	case r.LockTimeout < 0:
		r.LockTimeout = 0
	}
	if r.probe == nil {
		r.probe = func(string) {}
	}
	if r.batch == 0 {
		r.batch = conveyor.MaxBatch
	}
	return r
}

func (r Run) validate() error {
	var problems []error
	if r.Plan == nil {
		problems = append(problems, errors.New("option Plan is missing"))
	} else if r.Plan.Workflow == "" {
		problems = append(problems, errors.New("option Plan names no workflow"))
	}
	if r.Workflow == nil {
		problems = append(problems, errors.New("option Workflow is missing: rows whose jobs have moved on are planned again from it"))
	}
	return errors.Join(problems...)
}

func whoAmI() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// ErrNotLatest means that somebody has applied something since the history was read for a repair. Nothing was changed.
var ErrNotLatest = errors.New("there is a later revision by now; nothing was changed")

// ErrDeclined means that Approve refused the plan that was made anew. Nothing was changed.
var ErrDeclined = errors.New("the changed plan was not approved; nothing was changed")

// DeniedError means that Judge refused a plan that took the place of the approved one. What was submitted by then stands; mostly that
// is nothing.
type DeniedError struct {
	Done, Total int // rows
	Cause       error
}

func (e *DeniedError) Error() string {
	if e.Done == 0 {
		return fmt.Sprintf("the plan that was made anew is denied, and nothing was submitted: %v", e.Cause)
	}
	return fmt.Sprintf("after %d of %d changes the plan that was made anew is denied: %v", e.Done, e.Total, e.Cause)
}

func (e *DeniedError) Unwrap() error { return e.Cause }

// InterruptedError means that ctx ended before everything was submitted. What is in the store waits or runs; the next
// apply submits the rest.
type InterruptedError struct {
	Done, Total int // rows
	Cause       error
}

func (e *InterruptedError) Error() string {
	if e.Done == 0 {
		return "interrupted before anything was submitted; apply again to start over"
	}
	return fmt.Sprintf("interrupted after %d of %d changes; apply again to submit the rest", e.Done, e.Total)
}

func (e *InterruptedError) Unwrap() error { return e.Cause }

// Apply carries a plan out and follows the workflow's jobs until they are settled (DESIGN.md 5).
//
// When ctx ends while it submits, it stops after the batch in flight, releases the lock and fails with
// *InterruptedError. When ctx ends while it follows, the jobs go on, the Result says Interrupted and the error is nil: a
// caller with a worker of its own drains that one then, a caller without just leaves. A holder that loses its lock
// fails with ErrLockLost and writes nothing more. A row whose unique key stays held is left out, and told at the end as a
// *HeldKeyError.
func Apply(ctx context.Context, c *conveyor.Client, r Run) (Result, error) {
	r = r.withDefaults()
	if err := r.validate(); err != nil {
		return Result{}, fmt.Errorf("apply: %w", err)
	}
	mail := newMailbox(r.Observer)
	defer mail.close()
	result, err := apply(ctx, c, r, mail)
	mail.post(Done{Result: result, Err: err})
	return result, err
}

func apply(ctx context.Context, c *conveyor.Client, r Run, mail *mailbox) (Result, error) {
	s := &submission{client: c, run: r, mail: mail, workflow: r.Plan.Workflow}
	if err := s.submit(ctx); err != nil {
		return s.result(), err
	}
	submitted := s.result()
	if r.Detach {
		submitted.Detached = true
		return submitted, errors.Join(s.warnUnserved(ctx), s.errHeld())
	}
	f := &follower{client: c, workflow: s.workflow, mail: mail, keyID: r.Keyring.ID(), first: s.first}
	result, err := f.run(ctx)
	result.Added, result.Changed, result.Destroyed, result.From = submitted.Added, submitted.Changed, submitted.Destroyed, submitted.From
	result.Imported = submitted.Imported
	if err == nil && !result.Interrupted {
		err = forgetDeposed(ctx, c, s.workflow, r)
	}
	return result, errors.Join(err, s.errHeld())
}
