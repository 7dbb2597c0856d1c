package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
			if err := cmd.Err(); err != nil {
				return nil, read(ctx, "read "+c.keys.status(), err)
			}
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

// Stored is a job as the store holds it. Its Job is nil where Client.Get finds no bytes, its Status unknown where there is no job.
type Stored struct {
	Status Status
	Job    *wire.Job
}

// Get returns a job's status, and its bytes as far as they can be found without scanning a list: those of a job that
// runs, failed, was updated, has several edges or is large. Otherwise the job is nil. ErrNotFound means no status entry.
func (c *Client) Get(ctx context.Context, uuid string) (*wire.Job, Status, error) {
	found, err := c.GetAll(ctx, []string{uuid})
	if err != nil {
		return nil, Status{}, err
	}
	if found[0].Status.State == StateUnknown {
		return nil, found[0].Status, fmt.Errorf("get %s: %w", uuid, ErrNotFound)
	}
	return found[0].Job, found[0].Status, nil
}

// getSlice is how many jobs one request reads: each may have a MiB of payload.
const getSlice = 100

// GetAll is Get of many jobs, in order, with one request for each hundred. One that the store does not hold is no error.
func (c *Client) GetAll(ctx context.Context, uuids []string) ([]Stored, error) {
	out := make([]Stored, 0, len(uuids))
	for part := range slices.Chunk(uuids, getSlice) {
		found, err := c.getSome(ctx, part)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (c *Client) getSome(ctx context.Context, uuids []string) ([]Stored, error) {
	pipe := c.rdb.Pipeline()
	statuses := c.statusesIn(ctx, pipe, uuids)
	bytes, failed := make([]*redis.StringCmd, len(uuids)), pipe.HMGet(ctx, c.keys.failed(), uuids...)
	for i, uuid := range uuids {
		bytes[i] = pipe.Get(ctx, c.keys.job(uuid))
	}
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	list, err := statuses()
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", named(uuids), err)
	}
	out := make([]Stored, len(uuids))
	for i, uuid := range uuids {
		out[i].Status = list[i]
		if list[i].State == StateUnknown {
			continue
		}
		raw, err := bytes[i].Bytes()
		if errors.Is(err, redis.Nil) {
			if err = failed.Err(); err == nil {
				kept, found := failed.Val()[i].(string)
				if !found {
					continue
				}
				raw = []byte(kept)
			}
		}
		if err != nil {
			return nil, read(ctx, "get "+uuid, err)
		}
		out[i].Job = &wire.Job{}
		if err := proto.Unmarshal(raw, out[i].Job); err != nil {
			return nil, fmt.Errorf("get %s: %w: bytes of the job: %w", uuid, ErrCorrupt, err)
		}
	}
	return out, nil
}

// named tells what a request is about.
func named(uuids []string) string {
	if len(uuids) == 1 {
		return uuids[0]
	}
	return fmt.Sprintf("%s and %d more", uuids[0], len(uuids)-1)
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
