package conveyor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// readSlice is how many hash fields one command reads.
const readSlice = 1000

// Statuses returns the status of each uuid, in order; StateUnknown for those without an entry. It only reads.
func (c *Client) Statuses(ctx context.Context, uuids []string) ([]Status, error) {
	if len(uuids) == 0 {
		return []Status{}, nil
	}
	pipe := c.rdb.Pipeline()
	statuses := c.statusesIn(ctx, pipe, uuids)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, read(ctx, "read "+c.keys.status(), err)
	}
	return statuses()
}

// StatusesAt is Statuses at one moment, with the number of the last event before it: what Events tells after that number happened
// after what was read. Subscribe does so by itself; this is for a reader that does other things in between.
func (c *Client) StatusesAt(ctx context.Context, uuids []string) ([]Status, int64, error) {
	t, found, err := c.snapshot(ctx, uuids)
	return found, t.seq, err
}

// statusesIn is Statuses as part of a pipeline with other reads: call what it returns after Exec.
func (c *Client) statusesIn(ctx context.Context, pipe redis.Pipeliner, uuids []string) func() ([]Status, error) {
	var cmds []*redis.SliceCmd
	for from := 0; from < len(uuids); from += readSlice {
		cmds = append(cmds, pipe.HMGet(ctx, c.keys.status(), uuids[from:min(from+readSlice, len(uuids))]...))
	}
	return func() ([]Status, error) {
		out := make([]Status, 0, len(uuids))
		for _, cmd := range cmds {
			for _, v := range cmd.Val() {
				uuid := uuids[len(out)]
				entry, ok := v.(string)
				if !ok {
					out = append(out, Status{UUID: uuid})
					continue
				}
				s, err := decodeStatus(uuid, entry)
				if err != nil {
					return nil, err
				}
				out = append(out, s)
			}
		}
		return out, nil
	}
}

// Get returns a job's status, and its bytes as far as they can be found without scanning a list: those of a job that
// runs, failed, was updated, has several edges or is large. Otherwise the job is nil. ErrNotFound means no status entry.
func (c *Client) Get(ctx context.Context, uuid string) (*wire.Job, Status, error) {
	statuses, err := c.Statuses(ctx, []string{uuid})
	if err != nil {
		return nil, Status{}, fmt.Errorf("get %s: %w", uuid, err)
	}
	s := statuses[0]
	if s.State == StateUnknown {
		return nil, s, fmt.Errorf("get %s: %w", uuid, ErrNotFound)
	}
	bytes, err := c.rdb.Get(ctx, c.keys.job(uuid)).Bytes()
	if errors.Is(err, redis.Nil) {
		bytes, err = c.rdb.HGet(ctx, c.keys.failed(), uuid).Bytes()
	}
	if errors.Is(err, redis.Nil) {
		return nil, s, nil
	}
	if err != nil {
		return nil, s, read(ctx, "get "+uuid, err)
	}
	job := &wire.Job{}
	if err := proto.Unmarshal(bytes, job); err != nil {
		return nil, s, fmt.Errorf("get %s: %w: bytes of the job: %w", uuid, ErrCorrupt, err)
	}
	return job, s, nil
}

// Now is the store's clock, in milliseconds: the only clock that decides anything here.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	pipe := c.rdb.Pipeline()
	now, clock := pipe.Time(ctx), pipe.Get(ctx, c.keys.clock())
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return time.Time{}, read(ctx, "read the store's clock", err)
	}
	return testClock(now.Val().Truncate(time.Millisecond), clock.Val()), nil
}
