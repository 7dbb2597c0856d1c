package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Event is one script call that changed jobs, with the whole status of each job after it. Seq has no gaps.
type Event struct {
	Seq  int64
	At   time.Time // the store's clock
	Kind string    // what was called: "add", "apply", "update", "cancel", "retry", "release", "exchange", "tick", "leave", "progress"
	Jobs []Status  // StateUnknown: nothing is left of the job
}

// EventBatch is what Events found.
type EventBatch struct {
	Events []Event
	Seq    int64 // pass it as after next time
	Gap    bool  // events between after and the first one are gone: read statuses anew, then go on
}

// Events returns what happened after event number after, waiting up to block for the first one; block 0 never waits.
// Together with LastEvent and Statuses it gives a view that loses nothing: take LastEvent, read the statuses, then
// follow from there.
func (c *Client) Events(ctx context.Context, after int64, block time.Duration) (EventBatch, error) {
	out := EventBatch{Seq: after}
	args := &redis.XReadArgs{
		Streams: []string{c.keys.events(), strconv.FormatInt(after, 10) + "-0"}, Count: eventSlice, Block: -1,
	}
	if block > 0 {
		args.Block = max(block, time.Millisecond)
	}
	streams, err := c.rdb.XRead(ctx, args).Result()
	if errors.Is(err, redis.Nil) {
		return c.checkLost(ctx, out)
	}
	if err != nil {
		return out, read(ctx, "read "+c.keys.events(), err)
	}
	for _, m := range streams[0].Messages {
		e, err := decodeEvent(m)
		if err != nil {
			return out, err
		}
		out.Gap = out.Gap || len(out.Events) == 0 && e.Seq != after+1
		out.Events = append(out.Events, e)
		out.Seq = e.Seq
	}
	return out, nil
}

// checkLost notices that the log was emptied, or belongs to another life of the namespace: then nothing would ever come.
func (c *Client) checkLost(ctx context.Context, out EventBatch) (EventBatch, error) {
	if out.Seq == 0 {
		return out, nil
	}
	last, err := c.LastEvent(ctx)
	if err == nil && last < out.Seq {
		out.Seq, out.Gap = last, true
	}
	return out, err
}

// eventSlice is how many events one read returns.
const eventSlice = 200

// decodeEvent reads an entry of the log: kind k, time t, and jobs j, a line "<uuid> <status entry>" each; the entry is empty
// for a job of which nothing is left.
func decodeEvent(m redis.XMessage) (Event, error) {
	seq, _, _ := strings.Cut(m.ID, "-")
	text := func(field string) string {
		s, _ := m.Values[field].(string)
		return s
	}
	e := Event{Seq: integer(seq), Kind: text("k"), At: time.UnixMilli(integer(text("t")))}
	for line := range strings.SplitSeq(text("j"), "\n") {
		uuid, entry, ok := strings.Cut(line, " ")
		switch {
		case !ok:
			return e, fmt.Errorf("event %s: %w: %q", m.ID, ErrCorrupt, line)
		case entry == "":
			e.Jobs = append(e.Jobs, Status{UUID: uuid})
		default:
			s, err := decodeStatus(uuid, entry)
			if err != nil {
				return e, fmt.Errorf("event %s: %w", m.ID, err)
			}
			e.Jobs = append(e.Jobs, s)
		}
	}
	return e, nil
}

// LastEvent is the number of the latest event, 0 before the first.
func (c *Client) LastEvent(ctx context.Context) (int64, error) {
	n, err := c.rdb.Get(ctx, c.keys.lastEvent()).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, read(ctx, "read "+c.keys.lastEvent(), err)
}
