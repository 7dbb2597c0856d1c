package applier

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// Queues lists the queues that a workflow's records name, for a worker that serves them, and the serial number of the
// state they are of. It costs one small read while the serial number is still known, and lists nothing then. A
// workflow that was never applied has no queues and serial 0.
func Queues(ctx context.Context, c *conveyor.Client, workflow string, known int64) (names []string, serial int64, err error) {
	serial, err = readSerial(ctx, c, workflow)
	if err != nil || serial == known {
		return nil, serial, err
	}
	values, err := c.Redis().HGetAll(ctx, c.Prefix()+stateKey(workflow)).Result()
	if err != nil {
		return nil, 0, fmt.Errorf("read the queues of workflow %q: %w", workflow, storeError(err, stateKey(workflow)))
	}
	found := map[string]bool{}
	for address, value := range values {
		r, err := decodeRecord(address, value)
		if err != nil {
			return nil, 0, fmt.Errorf("read the queues of workflow %q: %w", workflow, err)
		}
		if !found[r.Queue] {
			found[r.Queue] = true
			names = append(names, r.Queue)
		}
	}
	slices.Sort(names)
	return names, serial, nil
}

// readSerial is the number that rises with every batch written to a workflow's state; 0 before the first.
func readSerial(ctx context.Context, c *conveyor.Client, workflow string) (int64, error) {
	key := metaKey(workflow)
	value, err := c.Redis().HGet(ctx, c.Prefix()+key, metaSerial).Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the state of workflow %q: %w", workflow, storeError(err, key))
	}
	return metaNumber(key, metaSerial, value)
}
