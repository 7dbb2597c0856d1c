package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
)

// turns watches the event log for jobs that start out of turn (I5): within a queue those of a higher priority go first, and of one priority
// those that became ready first, also after leases were lost. Events tell whole statuses, so that the log alone shows it.
type turns struct {
	queued map[string]conveyor.Status
	starts int
}

// observe takes in what a subscription tells, and returns what was out of turn.
func (t *turns) observe(o conveyor.Observation) (found []string) {
	if o.Snapshot {
		t.queued = map[string]conveyor.Status{}
		for _, s := range o.Jobs {
			t.note(s)
		}
		return nil
	}
	// What this script put into a queue may have come there after it took the others.
	before := map[string]conveyor.Status{}
	for _, s := range o.Jobs {
		if was, ok := t.queued[s.UUID]; ok {
			before[s.UUID] = was
			delete(t.queued, s.UUID)
		}
	}
	for _, s := range o.Jobs {
		if was, waited := before[s.UUID]; s.State == conveyor.StateRunning && waited {
			t.starts++
			if first, ok := t.first(was); ok {
				found = append(found, fmt.Sprintf("I5: event %d starts %s of queue %s at place %d, priority %d, and %s waits there at place %d, priority %d",
					o.Seq, s.UUID, was.Queue, was.Place, was.Priority, first.UUID, first.Place, first.Priority))
			}
		}
	}
	for _, s := range o.Jobs {
		t.note(s)
	}
	return found
}

func (t *turns) note(s conveyor.Status) {
	if s.State == conveyor.StateQueued {
		t.queued[s.UUID] = s
	}
}

// first finds a job whose turn was before that of a started one.
func (t *turns) first(started conveyor.Status) (conveyor.Status, bool) {
	for _, s := range t.queued {
		if s.Queue == started.Queue && cmp.Or(started.Priority-s.Priority, cmp.Compare(s.Place, started.Place)) < 0 {
			return s, true
		}
	}
	return conveyor.Status{}, false
}

// watchTurns follows the event log until ctx ends. A store that is away is waited for; one that has lost something tells a new snapshot.
func (c *conductor) watchTurns(ctx context.Context) {
	if c.redis == nil {
		return // a reader from outside does not take over from a host that dies
	}
	var t turns
	for ctx.Err() == nil {
		rdb := c.redis.Client()
		client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
		if err != nil {
			c.say("soak: %v", err)
			return
		}
		here, leave := context.WithCancel(ctx)
		for o, err := range client.Subscribe(here, conveyor.SubscribeOptions{}) {
			if err != nil {
				break
			}
			if found := t.observe(o); len(found) > 0 {
				c.note(history.Record{Kind: history.Verify, Violations: found})
				c.say("        VIOLATION %s", found[0])
			}
			if c.redis.Client() != rdb { // the replica has taken over
				break
			}
		}
		leave()
	}
	c.note(history.Record{Kind: history.Turns, Count: t.starts})
}
