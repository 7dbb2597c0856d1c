package conveyor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// counterViolations compares the counters of depth and slots with the statuses. Statuses are read while jobs move; the event
// log tells what they became by the moment the counters are read. Without a whole log nothing is said.
func (c *Client) counterViolations(ctx context.Context, a *census) ([]Violation, error) {
	if a.wrong[a.keys.depth()] || a.wrong[a.keys.slots()] || a.wrong[a.keys.lastEvent()] || a.wrong[a.keys.events()] || a.wrong[a.keys.status()] {
		return nil, nil
	}
	pipe := c.moment(ctx)
	depth, slots := pipe.HGetAll(ctx, a.keys.depth()), pipe.HGetAll(ctx, a.keys.slots())
	last := pipe.Get(ctx, a.keys.lastEvent())
	if err := transact(ctx, pipe); passOver(err) != nil {
		return nil, read(ctx, "verify counters", err)
	}
	at := integer(last.Val())
	changed, whole, err := c.changedSince(ctx, a.before, at)
	if err != nil || !whole {
		return nil, err
	}
	queued, running := map[string]int64{}, map[string]int64{}
	count := func(s Status) {
		switch s.State {
		case StateQueued:
			queued[fmt.Sprintf("%s:%d", s.Queue, s.Priority)]++
		case StateRunning:
			running[s.Queue]++
		}
	}
	for uuid, entry := range a.entries {
		if _, moved := changed[uuid]; !moved {
			if s, err := decodeStatus(uuid, entry); err == nil {
				count(s)
			}
		}
	}
	for s := range maps.Values(changed) {
		count(s)
	}
	return append(a.compareCounters("depth", depth.Val(), queued, at), a.compareCounters("slots", slots.Val(), running, at)...), nil
}

// changedSince is the last status of each job that events changed, and whether all those events were there.
func (c *Client) changedSince(ctx context.Context, after, until int64) (map[string]Status, bool, error) {
	changed := map[string]Status{}
	for after < until {
		batch, err := c.Events(ctx, after, time.Duration(0))
		if errors.Is(err, ErrCorrupt) {
			return nil, false, nil
		}
		if err != nil || batch.Gap || len(batch.Events) == 0 {
			return nil, false, err
		}
		for _, e := range batch.Events {
			if e.Seq <= until {
				for _, s := range e.Jobs {
					changed[s.UUID] = s
				}
			}
		}
		after = batch.Seq
	}
	return changed, true, nil
}

func (a *census) compareCounters(name string, stored map[string]string, counted map[string]int64, at int64) []Violation {
	var out []Violation
	key := a.keys.key(name)
	say := func(field, text string, n int64) {
		out = append(out, Violation{"I1", "", key, fmt.Sprintf("%s is %q, the statuses say %d", field, text, n),
			fmt.Sprintf("set %s of %s to %d", field, name, n),
			newFix("counter", name, field, strconv.FormatInt(n-integer(text), 10), strconv.FormatInt(at, 10))})
	}
	for field, n := range counted {
		if text := stored[field]; text != strconv.FormatInt(n, 10) {
			say(field, text, n)
		}
	}
	for field, text := range stored {
		if _, ok := counted[field]; !ok {
			say(field, text, 0)
		}
	}
	return out
}
