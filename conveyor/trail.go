package conveyor

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// lifeEvery is how often a reader of the event log looks whether it is still the same log, and how long it waits in one
// call: an idle one costs three commands in that time.
const lifeEvery = 2 * time.Second

// trail is a place in the event log to go on from. It belongs to one goroutine.
type trail struct {
	c       *Client
	seq     int64  // of the last event seen
	life    string // of the namespace: a log that was emptied and filled again has another one, and may have the same numbers
	checked time.Time
}

// next returns what happened since, and goes on to there. It waits up to block for the first event. With a Gap the reader has
// to start over from a snapshot; one that waits, but shorter than lifeEvery, learns of it up to that much later.
func (t *trail) next(ctx context.Context, block time.Duration) (EventBatch, error) {
	batch, err := t.c.eventsAfter(ctx, t.seq, block)
	if err != nil {
		return batch, err
	}
	if len(batch.Events) == 0 && (block == 0 || block >= lifeEvery) || time.Since(t.checked) >= lifeEvery {
		at, err := t.c.here(ctx)
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
	t.seq = batch.Seq
	return batch, nil
}

// here is the end of the log.
func (c *Client) here(ctx context.Context) (trail, error) {
	head, err := c.rdb.MGet(ctx, c.keys.lastEvent(), c.keys.life()).Result()
	if err != nil {
		return trail{}, read(ctx, "read "+c.keys.lastEvent(), err)
	}
	return c.trailOf(head)
}

// trailOf makes a trail of the last event's number and the namespace's life.
func (c *Client) trailOf(head []any) (trail, error) {
	t := trail{c: c, checked: time.Now()}
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
	pipe := c.rdb.TxPipeline()
	head := pipe.MGet(ctx, c.keys.lastEvent(), c.keys.life())
	found := c.statusesIn(ctx, pipe, uuids)
	if _, err := pipe.Exec(ctx); err != nil {
		return trail{}, nil, read(ctx, "read "+c.keys.status(), err)
	}
	t, err := c.trailOf(head.Val())
	if err != nil {
		return t, nil, err
	}
	statuses, err := found()
	return t, statuses, err
}
