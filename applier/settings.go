package applier

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// writeQueues brings queue settings up to date before any job is written, so that no limit is late. The list of the
// queues that belong to the workflow is stored first and shortened last: killed in between, the next plan sees a
// queue of its own whose settings differ, and none is left behind.
func (s *submission) writeQueues(ctx context.Context) error {
	if len(s.plan.Queues) == 0 {
		return nil
	}
	claimed := slices.Collect(maps.Keys(s.state.Queues))
	declared := map[string]bool{}
	for _, name := range claimed {
		declared[name] = true
	}
	for _, q := range s.plan.Queues {
		claimed = append(claimed, q.Name)
		declared[q.Name] = q.Next != nil
	}
	if err := s.writeMeta(ctx, "queues", metaWrite(s.workflow, metaQueues, queueList(claimed))); err != nil {
		return err
	}
	for _, q := range s.plan.Queues {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.run.probe("queues")
		var err error
		guard, owner := conveyor.GuardedBy(*s.lock.guard()), conveyor.DeclaredBy(s.workflow)
		if q.Next == nil {
			err = s.client.DeleteQueueSettings(ctx, q.Name, guard, owner)
		} else {
			err = s.client.SetQueue(ctx, q.Name, conveyor.QueueSettings{
				Concurrency: q.Next.Concurrency, Weight: q.Next.Weight, Paused: q.Next.Paused,
				Fair: q.Next.Fair, KeepFor: q.Next.KeepFor, KeepCount: q.Next.KeepCount,
			}, guard, owner)
		}
		if err != nil {
			return fmt.Errorf("write the settings of queue %q: %w", q.Name, err)
		}
	}
	maps.DeleteFunc(declared, func(_ string, is bool) bool { return !is })
	if len(declared) == len(slices.Compact(slices.Sorted(slices.Values(claimed)))) {
		return nil
	}
	return s.writeMeta(ctx, "queues", metaWrite(s.workflow, metaQueues, queueList(slices.Collect(maps.Keys(declared)))))
}

// writeOutputs stores the outputs that differ, with the uuids that stand by now. They come after the rows: an apply
// that was killed before shows them as changes once more.
func (s *submission) writeOutputs(ctx context.Context) error {
	uuids := s.uuidsAfter()
	var writes []conveyor.Attach
	for _, o := range s.run.Plan.Outputs {
		if o.Next == "" {
			delete(s.state.Outputs, o.Name)
			writes = append(writes, metaRemove(s.workflow, metaOutput+o.Name))
			continue
		}
		value, err := fillPlaceholders([]byte(o.Next), uuids)
		if err != nil {
			return fmt.Errorf("store output %q: %w", o.Name, err)
		}
		s.state.Outputs[o.Name] = string(value)
		writes = append(writes, metaWrite(s.workflow, metaOutput+o.Name, string(value)))
	}
	for some := range slices.Chunk(writes, conveyor.MaxBatch/2) {
		if err := s.writeMeta(ctx, "outputs", some...); err != nil {
			return err
		}
	}
	return nil
}

// writeMeta writes fields of the meta hash under the guard.
func (s *submission) writeMeta(ctx context.Context, phase string, writes ...conveyor.Attach) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	first, err := s.inscribe(ctx)
	if err != nil {
		return err
	}
	if s.fresh {
		first = append(first, s.identity()...)
	}
	s.run.probe(phase)
	b := (&chunk{}).batch(s.lock, s.meta.serial+1, s.state.Floor, append(first, writes...))
	if err := s.apply(ctx, b); err != nil {
		return fmt.Errorf("write the %s of workflow %q: %w", phase, s.workflow, err)
	}
	s.inscribed()
	s.fresh = false
	s.meta.serial++
	return nil
}
