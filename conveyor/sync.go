package conveyor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
)

// Bounds of the state that is carried from one execution to the next: it stands in a hash of the store, and is read and
// written with each execution.
const (
	MaxSync      = 64
	MaxSyncName  = 128      // bytes
	MaxSyncValue = 1 << 10  // bytes
	MaxSyncTotal = 16 << 10 // bytes of all names and values
)

// A state that cannot be carried. ErrSyncTotal is one of values that are well each, and too much together; it is ErrSync too.
var (
	ErrSync      = errors.New("invalid sync")
	ErrSyncTotal = fmt.Errorf("%w as a whole: carry a name or a cursor, and keep what it leads to elsewhere", ErrSync)
)

// Sync returns what the next execution of a job gets, of a template the next occurrence; empty when it carries nothing, or is not
// known. It only reads.
func (c *Client) Sync(ctx context.Context, uuid string) (map[string]string, error) {
	packed, err := c.rdb.HGet(ctx, c.keys.sync(), uuid).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, read(ctx, "sync of "+uuid, err)
	}
	return unpackLabels(packed), nil
}

// checkSync joins all that is wrong with such a state.
func checkSync(state map[string]string) error {
	var problems []error
	if n := len(state); n > MaxSync {
		problems = append(problems, fmt.Errorf("%w: %d values, the limit is %d: %w", ErrSync, n, MaxSync, ErrTooLarge))
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(state)) {
		total += len(name) + len(state[name])
		switch value := state[name]; {
		case name == "":
			problems = append(problems, fmt.Errorf("%w: the name of value %.40q is empty", ErrSync, value))
		case len(name) > MaxSyncName || len(value) > MaxSyncValue:
			problems = append(problems, fmt.Errorf("%w: %.40q: name of %d bytes, value of %d, the limits are %d and %d: %w",
				ErrSync, name, len(name), len(value), MaxSyncName, MaxSyncValue, ErrTooLarge))
		}
	}
	if total > MaxSyncTotal && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%w: %d bytes of names and values, the limit is %d: %w", ErrSyncTotal, total, MaxSyncTotal, ErrTooLarge))
	}
	return errors.Join(problems...)
}
