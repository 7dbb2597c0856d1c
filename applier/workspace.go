package applier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// ErrStateExists says that there is a state of this name already.
var ErrStateExists = errors.New("exists already")

// ErrNoState says that there is no state of this name.
var ErrNoState = errors.New("does not exist")

// NotEmptyError says that a state has records, so that it is not deleted.
type NotEmptyError struct {
	Workflow string
	Records  int
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("the state of workflow %q has %d records", e.Workflow, e.Records)
}

// Workspaces lists the workspaces of a workflow that have a state, sorted. The default one is among them, state or not.
func Workspaces(ctx context.Context, c *conveyor.Client, workflow string) ([]string, error) {
	serials, err := readWorkflows(ctx, c)
	if err != nil {
		return nil, err
	}
	list := []string{config.DefaultWorkspace}
	for name := range serials {
		if of, workspace := config.SplitStateName(name); of == workflow && workspace != config.DefaultWorkspace {
			list = append(list, workspace)
		}
	}
	slices.Sort(list)
	return list, nil
}

// CreateState makes an empty state with a lineage of its own, which an apply would make too.
func CreateState(ctx context.Context, c *conveyor.Client, workflow string, o StateChange) error {
	return underLock(ctx, c, workflow, o, func(ctx context.Context, s *submission) error {
		switch {
		case !s.fresh:
			return fmt.Errorf("the state of workflow %q %w", workflow, ErrStateExists)
		case o.DryRun:
			return nil
		}
		return s.writeMeta(ctx, "identity")
	})
}

// DeleteState removes a state and whatever the store has of it but its lock's fence, which refuses what arrives late, and the lease of
// a controller that leads. One with records
// is a *NotEmptyError, unless these are to be forgotten: their jobs are left alone then, as by Forget. A state of that name that
// is made later has another lineage, so no uuid comes twice. It tells how many records were forgotten.
func DeleteState(ctx context.Context, c *conveyor.Client, workflow string, forget bool, o StateChange) (forgotten int, err error) {
	err = underLock(ctx, c, workflow, o, func(ctx context.Context, s *submission) error {
		forgotten = len(s.state.Records)
		switch {
		case s.fresh:
			return fmt.Errorf("the state of workflow %q %w", workflow, ErrNoState)
		case forgotten > 0 && !forget:
			return &NotEmptyError{Workflow: workflow, Records: forgotten}
		case o.DryRun:
			return nil
		}
		return s.deleteState(ctx)
	})
	return forgotten, err
}

// deleteState removes what a state is made of, its identity last: killed in between, it is still there, and is deleted by the next try.
func (s *submission) deleteState(ctx context.Context) error {
	var rows []*planner.Row
	for _, addr := range sortedAddrs(s.state) {
		name := addr.String()
		rows = append(rows, &planner.Row{Addr: addr, Action: planner.Forget, Reason: planner.ReasonForgotten, Prior: s.state.Records[name], Live: s.state.Live[name]})
	}
	if err := s.writeByHand(ctx, rows); err != nil {
		return err
	}
	guard, owner := conveyor.GuardedBy(*s.lock.guard()), conveyor.DeclaredBy(s.workflow)
	for _, queue := range slices.Sorted(maps.Keys(s.state.Queues)) {
		if err := s.client.DeleteQueueSettings(ctx, queue, guard, owner); err != nil {
			return fmt.Errorf("remove the settings of queue %q: %w", queue, err)
		}
	}
	fields, err := s.client.Redis().HKeys(ctx, s.client.Prefix()+metaKey(s.workflow)).Result()
	if err != nil {
		return fmt.Errorf("read the state of workflow %q: %w", s.workflow, storeError(err, metaKey(s.workflow)))
	}
	if err := s.deleteHistory(ctx); err != nil {
		return err
	}
	if err := s.deleteMemory(ctx); err != nil {
		return err
	}
	var outputs, rest []conveyor.Attach
	for _, field := range fields {
		if strings.HasPrefix(field, metaOutput) {
			outputs = append(outputs, metaRemove(s.workflow, field))
		} else {
			rest = append(rest, metaRemove(s.workflow, field))
		}
	}
	for some := range slices.Chunk(outputs, conveyor.MaxBatch/2) {
		if err := s.writeMeta(ctx, "outputs", some...); err != nil {
			return err
		}
	}
	rest = append(rest, conveyor.Attach{Key: workflowsKey, Field: s.workflow, Version: -1})
	if err := s.apply(ctx, conveyor.Batch{Guard: s.lock.guard(), Companions: rest}); err != nil {
		return fmt.Errorf("delete the state of workflow %q: %w", s.workflow, err)
	}
	return nil
}

// deleteHistory removes all revisions and archives.
func (s *submission) deleteHistory(ctx context.Context) error {
	for _, key := range []string{revisionsKey(s.workflow), archivesKey(s.workflow)} {
		fields, err := s.client.Redis().HKeys(ctx, s.client.Prefix()+key).Result()
		if err != nil {
			return fmt.Errorf("read the history of workflow %q: %w", s.workflow, storeError(err, key))
		}
		if err := s.deleteFields(ctx, "history", key, fields); err != nil {
			return err
		}
	}
	return nil
}

// deleteMemory removes what the controllers of the workflow remember. One that leads keeps its lease.
func (s *submission) deleteMemory(ctx context.Context) error {
	leader, err := ReadLeader(ctx, s.client, s.workflow)
	if err != nil {
		return err
	}
	key := controllerKey(s.workflow)
	fields, err := s.client.Redis().HKeys(ctx, s.client.Prefix()+key).Result()
	if err != nil {
		return fmt.Errorf("read what the controller of workflow %q remembers: %w", s.workflow, storeError(err, key))
	}
	if leader != nil {
		fields = slices.DeleteFunc(fields, func(field string) bool {
			return field != waitingField && field != consentField && !strings.HasPrefix(field, noteField)
		})
	}
	return s.deleteFields(ctx, "controller", key, fields)
}

// deleteFields removes fields of a hash that belongs to the workflow.
func (s *submission) deleteFields(ctx context.Context, what, key string, fields []string) error {
	for some := range slices.Chunk(fields, conveyor.MaxBatch/2) {
		var writes []conveyor.Attach
		for _, field := range some {
			writes = append(writes, conveyor.Attach{Key: key, Field: field, Version: -1})
		}
		if err := s.writeMeta(ctx, what, writes...); err != nil {
			return err
		}
	}
	return nil
}

// underLock takes the lock of a workflow and does something with its state as it is by then.
func underLock(ctx context.Context, c *conveyor.Client, workflow string, o StateChange, do func(context.Context, *submission) error) error {
	r := Run{Who: o.Who, Operation: o.Operation, LockTimeout: o.LockTimeout, Observer: o.Observer}.withDefaults()
	mail := newMailbox(r.Observer)
	defer mail.close()
	s := &submission{client: c, run: r, workflow: workflow, mail: mail, done: map[config.Addr]*planner.Row{}}
	held, l, err := acquireLock(ctx, c, lockRequest{workflow: workflow, who: r.Who, operation: r.Operation, timeout: r.LockTimeout,
		waiting: func(e LockWaiting) { mail.post(e) }, patient: s.patient()})
	if err != nil {
		return err
	}
	s.lock = l
	defer func() { _ = l.release(ctx) }() // the lease ends it
	snap, err := readSnapshot(held, c, workflow)
	if err != nil {
		return causeOf(held, err)
	}
	s.state, s.meta, s.fresh = snap.state, snap.meta, snap.state.Lineage == uuid.Nil
	if s.fresh {
		s.state.Lineage = uuid.New()
	}
	return causeOf(held, do(held, s))
}
