package conveyor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// QueueInfo is a queue as observers see it. Depths are counters: no list is scanned.
type QueueInfo struct {
	Name       string
	Depth      [3]int64 // queued jobs by priority
	Running    int64
	Settings   QueueSettings // as declared
	ByHand     bool          // paused with PauseQueue, whatever is declared
	DeclaredBy []string      // owners given with DeclaredBy, sorted
}

// Paused tells whether the queue gives out no jobs, by declaration or by hand.
func (q QueueInfo) Paused() bool { return q.ByHand || q.Settings.Paused }

// Queues lists the queues that have jobs or settings, by name.
func (c *Client) Queues(ctx context.Context) ([]QueueInfo, error) {
	pipe := c.rdb.Pipeline()
	list := c.QueuesIn(ctx, pipe)
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	return list()
}

// QueuesIn is Queues as part of a pipeline with other reads: call what it returns after Exec.
func (c *Client) QueuesIn(ctx context.Context, pipe redis.Pipeliner) func() ([]QueueInfo, error) {
	settings, depth := pipe.HGetAll(ctx, c.keys.queues()), pipe.HGetAll(ctx, c.keys.depth())
	slots := pipe.HGetAll(ctx, c.keys.slots())
	return func() ([]QueueInfo, error) {
		for _, cmd := range []redis.Cmder{settings, depth, slots} {
			if err := cmd.Err(); err != nil {
				return nil, read(ctx, "read queues", err)
			}
		}
		return c.queues(settings.Val(), depth.Val(), slots.Val())
	}
}

func (c *Client) queues(settings, depth, slots map[string]string) ([]QueueInfo, error) {
	infos := map[string]*QueueInfo{}
	of := func(name string) *QueueInfo {
		if infos[name] == nil {
			infos[name] = &QueueInfo{Name: name}
		}
		return infos[name]
	}
	for field, n := range depth {
		name, lane, ok := strings.Cut(field, ":")
		if !ok || len(lane) != 1 || lane[0] < '0' || lane[0] > '2' {
			return nil, fmt.Errorf("%s: field %q: %w", c.keys.depth(), field, ErrCorrupt)
		}
		of(name).Depth[lane[0]-'0'] = integer(n)
	}
	for name, n := range slots {
		of(name).Running = integer(n)
	}
	for name, text := range settings {
		s, err := parseQueueSettings(text)
		if err != nil {
			return nil, fmt.Errorf("%s: queue %s: %w", c.keys.queues(), name, err)
		}
		q := of(name)
		q.Settings, q.ByHand, q.DeclaredBy = s.QueueSettings, s.byHand, s.owners
	}
	out := make([]QueueInfo, 0, len(infos))
	for _, name := range slices.Sorted(maps.Keys(infos)) {
		out = append(out, *infos[name])
	}
	return out, nil
}

// PurgeQueue cancels all jobs that are queued in a queue when it begins, and tells how many. Jobs that are held, scheduled
// or running stay, and so do those that become ready meanwhile. It works in slices: an error says how many were cancelled
// before it, and repeating the call goes on.
func (c *Client) PurgeQueue(ctx context.Context, name string) (int, error) {
	if !validName(name) {
		return 0, fmt.Errorf("purge queue: %w: %q", ErrQueueName, name)
	}
	caller, upTo, cancelled := uuid.NewString(), "", 0
	for number := 1; ; number++ {
		reply, err := c.run(ctx, purgeScript, caller, number, name, upTo)
		if err != nil {
			return cancelled, fmt.Errorf("purge queue %s: after %d jobs: %w", name, cancelled, err)
		}
		p := texts(reply)
		if len(p) < 3 {
			return cancelled, fmt.Errorf("purge queue %s: unreadable reply", name)
		}
		c.warnDamaged(p[3:])
		cancelled += int(integer(p[0]))
		if upTo = p[1]; p[2] != "1" {
			return cancelled, nil
		}
	}
}
