package bridge

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Bounds of one look at clients' jobs.
const (
	scanAtOnce = 1000 // of one command
	scanPages  = 10   // of one look; the next goes on
)

// finishAll closes on their side the clients' jobs that have ended here, and finds those that somebody waits for since.
func (b *Bridge) finishAll(ctx context.Context) error {
	for range scanPages {
		if err := b.step(); err != nil {
			return err
		}
		uuids, next, err := b.o.Fleet.SScan(ctx, b.keys.taken(), b.scanned, "", scanAtOnce).Result()
		if err != nil {
			return inFleet("read "+b.keys.taken(), err)
		}
		if err := b.finish(ctx, uuids); err != nil {
			return err
		}
		if b.scanned = next; next == 0 {
			break
		}
	}
	if _, err := b.takeFrom(ctx, ""); err != nil {
		return err
	}
	_, err := b.addFresh(ctx)
	return err
}

// finish looks at some of the clients' jobs.
func (b *Bridge) finish(ctx context.Context, uuids []string) error {
	for part := range slices.Chunk(uuids, scanAtOnce) {
		statuses, err := b.client.Statuses(ctx, part)
		if err != nil {
			return err
		}
		var over []conveyor.Status
		var live []string
		for _, s := range statuses {
			if s.State.Ended() || s.State == conveyor.StateUnknown {
				over = append(over, s)
			} else {
				live = append(live, s.UUID)
			}
		}
		if len(live) > 0 && b.o.FromClients {
			if err := b.step(); err != nil {
				return err
			}
			if err := lateScript.Run(ctx, b.o.Fleet, []string{b.keys.open()}, append([]any{b.keys.prefix}, anys(live)...)...).Err(); err != nil {
				return inFleet("look for what waits for jobs of clients", err)
			}
		}
		for group := range slices.Chunk(over, conveyor.MaxBatch) {
			if err := b.finishOver(ctx, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishOver closes jobs that are over. One that nobody knows here is over if it was added.
func (b *Bridge) finishOver(ctx context.Context, over []conveyor.Status) error {
	uuids := make([]string, len(over))
	for i, s := range over {
		uuids[i] = s.UUID
	}
	jobs, err := b.clientJobs(ctx, uuids)
	if err != nil {
		return err
	}
	texts, err := b.client.Failures(ctx, uuids)
	if err != nil {
		return err
	}
	for i, c := range jobs {
		if c == nil || !c.added {
			continue
		}
		how, why := "failed", texts[i]
		switch s := over[i]; s.State {
		case conveyor.StateCompleted, conveyor.StateObsolete:
			how = "done"
		case conveyor.StateSkipped:
			how = "skipped"
		case conveyor.StateUnknown:
			why = "nothing is left of it in namespace " + b.client.Namespace()
		default:
			if why == "" {
				why = "it is " + s.State.String() + " in namespace " + b.client.Namespace()
			}
		}
		if err := b.finishOne(ctx, c, how, why, over[i]); err != nil {
			return err
		}
	}
	return nil
}

// finishOne closes one job on their side, by the order of steps of a worker of theirs.
func (b *Bridge) finishOne(ctx context.Context, c *clientJob, how, why string, s conveyor.Status) error {
	job := &wire.Job{}
	if err := proto.Unmarshal([]byte(c.bytes), job); err != nil {
		return fmt.Errorf("close %s: %w", c.uuid, err) // it was read before it was added
	}
	job.Status, job.LastFailure = wire.Status_FAILED, why
	job.Retry += int32(max(s.Attempts, 1))
	failed, err := proto.Marshal(job)
	if err != nil {
		return fmt.Errorf("close %s: %w", c.uuid, err)
	}
	if err := b.step(); err != nil {
		return err
	}
	reply, err := finishScript.Run(ctx, b.o.Fleet, []string{b.keys.client(c.uuid), b.keys.taken(), b.keys.open()}, b.keys.prefix, c.uuid, how, failed, why).Text()
	if err != nil {
		return inFleet("close "+c.uuid, err)
	}
	if reply == "done" {
		b.tell(Event{Kind: Closed, UUID: c.uuid, Queue: job.GetQueue(), Detail: s.State.String()})
	}
	return nil
}
