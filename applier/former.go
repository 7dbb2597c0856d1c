package applier

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// ErrTwoStates says that a workflow cannot be carried over to another name, since there is state under both.
var ErrTwoStates = errors.New("there is state under both names")

// ErrFormerAppeared says that the former name got state after the plan was made that knew of none.
var ErrFormerAppeared = errors.New("the former name has got state since the plan was made; nothing was changed. Plan again")

// holds tells whether anything is left under a workflow's name that a plan could differ from. Lineage and floor alone are not.
func (s *snapshot) holds() bool {
	return len(s.state.Records) > 0 || len(s.state.Outputs) > 0 || len(s.meta.queues) > 0
}

// readRecordsOf reads the records of a workflow, or those that its former name has, if they are to be carried over still. A workflow
// that was carried over once is never taken from there again: whatever is under the old name since then is another's.
func readRecordsOf(ctx context.Context, c *conveyor.Client, w *config.Workflow) (*snapshot, error) {
	snap, err := readRecords(ctx, c, w.Name)
	if err != nil || w.MovedFrom == "" || snap.meta.former == w.MovedFrom {
		return snap, err
	}
	former, err := readRecords(ctx, c, w.MovedFrom)
	if err != nil || !former.holds() {
		return snap, err
	}
	if snap.holds() {
		return nil, fmt.Errorf("carry workflow %q over to %q: %w (records: %d under the old one, %d under the new one), and which of the two "+
			"the files mean cannot be told; nothing was changed. Remove moved_from to go on with what %[2]q has, and leave %[1]q as it is. To "+
			"carry %[1]q over after all, destroy %[2]q first, with moved_from removed",
			w.MovedFrom, w.Name, ErrTwoStates, len(former.state.Records), len(snap.state.Records))
	}
	former.meta.serial = max(former.meta.serial, snap.meta.serial)
	former.state.Workflow, former.state.Former = w.Name, w.MovedFrom
	return former, nil
}

// acquire takes the lock of the workflow, and that of its former name if the plan carries the state over from there. The two are
// always taken in the order of the names, so that no two applies wait for each other.
func (s *submission) acquire(ctx context.Context) (held context.Context, release func(tell bool), err error) {
	names := []string{s.workflow}
	if former := s.run.Plan.Former; former != "" {
		names = []string{min(s.workflow, former), max(s.workflow, former)}
	}
	var taken []*lock
	release = func(tell bool) {
		for _, l := range taken {
			if released := l.release(ctx); released != nil && tell {
				s.mail.post(Warning{Summary: "The state lock could not be released", Detail: released.Error()})
			}
		}
	}
	held = ctx
	for _, name := range names {
		var l *lock
		held, l, err = acquireLock(held, s.client, lockRequest{
			workflow: name, who: s.run.Who, operation: s.run.Operation, timeout: s.run.LockTimeout,
			waiting: func(e LockWaiting) { s.mail.post(e) }, patient: s.patient(),
		})
		if err != nil {
			release(false)
			return nil, nil, err
		}
		taken = append(taken, l)
		if name == s.workflow {
			s.lock = l
		} else {
			s.formerLock = l
		}
	}
	return held, release, nil
}

// carryOver gives the state its new name, before anything else is written. It is one script: killed at any instant, all of it is
// under the one name or under the other.
func (s *submission) carryOver(ctx context.Context) error {
	old := s.state.Former
	if old == "" {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	keys := []string{lockKey(old), stateKey(old), metaKey(old), lockKey(s.workflow), stateKey(s.workflow), metaKey(s.workflow), workflowsKey, "queues",
		revisionsKey(old), revisionsKey(s.workflow), archivesKey(old), archivesKey(s.workflow),
		controllerKey(old), controllerKey(s.workflow), "clock"}
	for i := range keys {
		keys[i] = s.client.Prefix() + keys[i]
	}
	serial := s.meta.serial + 1
	args := []any{s.formerLock.fence, s.lock.fence, old, s.workflow, serial}
	for _, name := range s.meta.queues {
		args = append(args, name)
	}
	s.run.probe("carry")
	var answer string
	err := s.patient().call(ctx, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
		defer cancel()
		answer, err = carryScript.Run(ctx, s.client.Redis(), keys, args...).Text()
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("carry workflow %q over to %q: %w", old, s.workflow, storeError(err, stateKey(old)))
	case answer == "GUARD":
		return ErrLockLost
	case answer != "DONE":
		return fmt.Errorf("carry workflow %q over to %q: the script answered %q under both locks, which is a bug in Waybill; nothing was changed", old, s.workflow, answer)
	}
	s.meta.serial, s.meta.former, s.state.Former = serial, old, ""
	return nil
}
