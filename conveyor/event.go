package conveyor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Event is what one script call has to tell: the jobs it changed, with the whole status of each after it, and the workers that
// came or went; or a message. Seq has no gaps.
type Event struct {
	Seq int64
	At  time.Time // the store's clock
	// Kind is what was called: "add", "apply", "update", "cancel", "retry", "release", "exchange", "tick", "beat", "leave",
	// "progress", "emit" or "repair". More may come.
	Kind     string
	Jobs     []Status // StateUnknown: nothing is left of the job
	Workers  []WorkerEvent
	Progress *Progress // of Jobs[0]; nil unless Kind is "progress"
	Message  *Message  // nil unless Kind is "emit"
	Repairs  []string  // what Repair has mended, a sentence each
}

// WorkerEvent announces a worker.
type WorkerEvent struct {
	ID     string
	Change WorkerChange
}

// WorkerChange is how a worker came or went.
type WorkerChange string

// The changes. With the last two the worker owns nothing any more: its jobs are back in their places.
const (
	WorkerJoined WorkerChange = "joined" // it registered, or is back after it was lost
	WorkerLeft   WorkerChange = "left"   // it signed off
	WorkerLost   WorkerChange = "lost"   // it was silent for DeadAfter
)

// EventBatch is what Events found.
type EventBatch struct {
	Events []Event
	Seq    int64 // pass it as after next time
	Gap    bool  // events between after and the first one are gone: read statuses anew, then go on
}

// Events returns what happened after event number after, waiting up to block for the first one; block 0 never waits, and
// whoever waits returns at once when ctx ends. Together with LastEvent and Statuses it gives a view that loses nothing: take
// LastEvent, read the statuses, then follow from there. Subscribe does so by itself.
func (c *Client) Events(ctx context.Context, after int64, block time.Duration) (EventBatch, error) {
	out, err := c.eventsAfter(ctx, after, block)
	if err != nil || len(out.Events) > 0 {
		return out, err
	}
	last, err := c.LastEvent(ctx)
	switch {
	case err != nil || last == after:
		return out, err
	case last > after: // it came meanwhile, or nothing is left of the log
		if out, err = c.eventsAfter(ctx, after, 0); err != nil || len(out.Events) > 0 {
			return out, err
		}
	}
	out.Seq, out.Gap = last, true // also when the log was emptied: then nothing would ever come
	return out, nil
}

func (c *Client) eventsAfter(ctx context.Context, after int64, block time.Duration) (EventBatch, error) {
	out := EventBatch{Seq: after}
	messages, err := c.await(ctx, c.keys.events(), strconv.FormatInt(after, 10)+"-0", eventSlice, block)
	if err != nil {
		return out, err
	}
	for _, m := range messages {
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

// eventSlice is how many events one read returns.
const eventSlice = 200

// timeTold is when an entry of the log was told.
func timeTold(m redis.XMessage) time.Time {
	text, _ := m.Values["t"].(string)
	return time.UnixMilli(integer(text))
}

// decodeEvent reads an entry of the log; lua/lib/tell.lua says what is in it.
func decodeEvent(m redis.XMessage) (Event, error) {
	seq, _, _ := strings.Cut(m.ID, "-")
	text := func(field string) string {
		s, _ := m.Values[field].(string)
		return s
	}
	e := Event{Seq: integer(seq), Kind: text("k"), At: timeTold(m)}
	corrupt := func(what string) (Event, error) { return e, fmt.Errorf("event %s: %w: %q", m.ID, ErrCorrupt, what) }
	for line := range linesOf(text("r")) {
		e.Repairs = append(e.Repairs, line)
	}
	for line := range linesOf(text("j")) {
		uuid, entry, ok := strings.Cut(line, " ")
		switch {
		case !ok:
			return corrupt(line)
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
	for line := range linesOf(text("w")) {
		change, id, ok := strings.Cut(line, " ")
		if !ok {
			return corrupt(line)
		}
		e.Workers = append(e.Workers, WorkerEvent{ID: id, Change: WorkerChange(change)})
	}
	if line := text("p"); line != "" {
		f := strings.SplitN(line, " ", 4)
		if len(f) != 4 {
			return corrupt(line)
		}
		e.Progress = &Progress{Done: integer(f[1]), Total: integer(f[2]), Text: f[3], At: e.At}
	}
	if line := text("m"); line != "" {
		f := strings.Split(line, " ")
		if len(f) != 4 {
			return corrupt(line)
		}
		e.Message = &Message{UUID: f[1], Name: f[3], Data: []byte(text("x")), Broadcast: f[0] == "b", Fence: integer(f[2]), Seq: e.Seq, At: e.At}
	}
	return e, nil
}

// linesOf are the lines of a text, none of an empty one.
func linesOf(text string) iter.Seq[string] {
	if text == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(text, "\n")
}

// LastEvent is the number of the latest event, 0 before the first.
func (c *Client) LastEvent(ctx context.Context) (int64, error) {
	n, err := c.rdb.Get(ctx, c.keys.lastEvent()).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, read(ctx, "read "+c.keys.lastEvent(), err)
}
