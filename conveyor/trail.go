package conveyor

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// lifeEvery is how often a reader of the event log looks whether it is still the same log, and how long it waits in one
// call: an idle one costs four commands in that time.
const lifeEvery = 2 * time.Second

// trail is a place in the event log to go on from. It belongs to one goroutine.
type trail struct {
	c       *Client
	seq     int64     // of the last event seen
	told    time.Time // when that event was told; zero when it is not known
	life    string    // of the namespace: a log that was emptied and filled again has another one, and may have the same numbers
	checked time.Time
	unsure  bool // a call has failed since: a replica may have taken over that never got the last events, and gives their numbers again
}

// next returns what happened since, and goes on to there. It waits up to block for the first event. With a Gap the reader has
// to start over from a snapshot; one that waits, but shorter than lifeEvery, learns of it up to that much later.
func (t *trail) next(ctx context.Context, block time.Duration) (EventBatch, error) {
	batch, err := t.follow(ctx, block)
	t.unsure = t.unsure || err != nil
	return batch, err
}

func (t *trail) follow(ctx context.Context, block time.Duration) (EventBatch, error) {
	if !t.told.IsZero() && (t.unsure || time.Since(t.checked) >= lifeEvery) {
		told, err := t.c.Told(ctx, t.seq)
		if err != nil {
			return EventBatch{Seq: t.seq}, err
		}
		if !told.Equal(t.told) {
			return EventBatch{Seq: t.seq, Gap: true}, nil
		}
	}
	t.unsure = false
	batch, err := t.c.eventsAfter(ctx, t.seq, block)
	if err != nil {
		return batch, err
	}
	if len(batch.Events) == 0 && (block == 0 || block >= lifeEvery) || time.Since(t.checked) >= lifeEvery {
		at, err := t.c.head(ctx)
		if err != nil {
			return EventBatch{Seq: t.seq}, err
		}
		if len(batch.Events) == 0 && at.seq > t.seq { // it came meanwhile, or nothing is left of the log
			if batch, err = t.c.eventsAfter(ctx, t.seq, 0); err != nil {
				return batch, err
			}
			batch.Gap = batch.Gap || len(batch.Events) == 0
		}
		t.checked = at.checked
		if t.life == "" { // the log had no event yet
			t.life = at.life
		}
		batch.Gap = batch.Gap || at.seq < t.seq || at.life != t.life
	}
	if n := len(batch.Events); n > 0 {
		t.seq, t.told = batch.Seq, batch.Events[n-1].At
	}
	return batch, nil
}

// Told is when an event was told, zero when the log does not hold it. A replica that took over for a primary that died may not have
// got the last events, and gives their numbers to others: whoever follows the log by Events asks after a call that failed, and
// starts over where the last event that it knows was told at another time.
func (c *Client) Told(ctx context.Context, seq int64) (time.Time, error) {
	id := strconv.FormatInt(seq, 10) + "-0"
	found, err := c.rdb.XRange(ctx, c.keys.events(), id, id).Result()
	if err != nil || len(found) == 0 {
		return time.Time{}, read(ctx, "read "+c.keys.events(), err)
	}
	return timeTold(found[0]), nil
}

// head is the end of the log, without when its last event was told.
func (c *Client) head(ctx context.Context) (trail, error) {
	head, err := c.rdb.MGet(ctx, c.keys.lastEvent(), c.keys.life()).Result()
	if err != nil {
		return trail{}, read(ctx, "read "+c.keys.lastEvent(), err)
	}
	return c.trailOf(head, nil)
}

// here is the end of the log.
func (c *Client) here(ctx context.Context) (trail, error) {
	pipe := c.moment(ctx)
	head, err := c.readHead(ctx, pipe)
	if err != nil {
		return trail{}, read(ctx, "read "+c.keys.lastEvent(), err)
	}
	return head()
}

// readHead ends a pipeline with what tells the end of the log, executes it, and returns what makes a trail of that. A log that is
// no stream is none.
func (c *Client) readHead(ctx context.Context, pipe redis.Pipeliner) (func() (trail, error), error) {
	head, last := pipe.MGet(ctx, c.keys.lastEvent(), c.keys.life()), pipe.XRevRangeN(ctx, c.keys.events(), "+", "-", 1)
	if err := transact(ctx, pipe); err != nil && (err != last.Err() || !redis.HasErrorPrefix(err, "WRONGTYPE")) {
		return nil, err
	}
	return func() (trail, error) { return c.trailOf(head.Val(), last.Val()) }, nil
}

// trailOf makes a trail of the last event's number, the namespace's life and the last event, if the log has one.
func (c *Client) trailOf(head []any, last []redis.XMessage) (trail, error) {
	t := trail{c: c, checked: time.Now()}
	if len(last) > 0 {
		t.told = timeTold(last[0])
	}
	if last, ok := head[0].(string); ok {
		seq, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return t, fmt.Errorf("%s is %q: %w", c.keys.lastEvent(), last, ErrCorrupt)
		}
		t.seq = seq
	}
	t.life, _ = head[1].(string)
	return t, nil
}

// snapshot reads the statuses of jobs, and the place in the log that they belong to, at one moment.
func (c *Client) snapshot(ctx context.Context, uuids []string) (trail, []Status, error) {
	pipe := c.moment(ctx)
	found := c.statusesIn(ctx, pipe, uuids)
	head, err := c.readHead(ctx, pipe)
	if err != nil {
		return trail{}, nil, read(ctx, "read "+c.keys.status(), err)
	}
	t, err := head()
	if err != nil {
		return t, nil, err
	}
	statuses, err := found()
	return t, statuses, err
}
