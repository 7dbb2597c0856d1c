package bridge

import (
	"context"
	"slices"
	"time"
)

// close looks after jobs that the fleet has done the own work of and whose children it still has. Every Absence it also searches for
// these children, so that one that failed there or was lost fails its parent instead of keeping it forever.
func (b *Bridge) close(ctx context.Context, uuids []string) error {
	search := time.Since(b.searched) >= b.o.Absence
	var queues []string
	if search && len(uuids) > 0 {
		if err := b.step(); err != nil {
			return err
		}
		var cursor uint64
		for {
			keys, next, err := b.o.Fleet.ScanType(ctx, cursor, theirQueue("*"), scanAtOnce, "list").Result()
			if err != nil {
				return inFleet("find their queues", err)
			}
			queues = append(queues, keys...)
			if cursor = next; cursor == 0 {
				break
			}
		}
		b.searched = time.Now()
	}
	slices.Sort(queues)
	queues = slices.Compact(queues)
	for part := range slices.Chunk(uuids, lookAtOnce) {
		if err := b.step(); err != nil {
			return err
		}
		args := []any{b.keys.prefix, b.o.Absence.Milliseconds(), search}
		args = append(args, anys(part)...)
		args = append(args, "")
		args = append(args, anys(queues)...)
		if err := closingScript.Run(ctx, b.o.Fleet, []string{theirScheduled, theirFailed}, args...).Err(); err != nil {
			return inFleet("look after jobs with children", err)
		}
	}
	b.closing = make(map[string]bool, len(uuids))
	for _, uuid := range uuids {
		b.closing[uuid] = true
	}
	return nil
}
