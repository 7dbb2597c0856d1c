package conveyor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// hearing is all listeners of a Client. While there is any, one goroutine follows the event log and hands out what it says.
type hearing struct {
	log    eventLog
	logger *slog.Logger
	// turn has 1 slot. Whoever has it moves on in the log: the follower while it hands out events, On while it finds the place from
	// which a listener hears.
	turn chan struct{}

	mu     sync.Mutex
	topics map[string]*topic // by uuid
	hosted map[string]bool   // ids of the workers of this Client
	quit   context.CancelFunc
}

// eventLog is what hearing needs of a Client.
type eventLog interface {
	snapshot(ctx context.Context, uuids []string) (trail, []Status, error)
}

// topic is one job that somebody listens to.
type topic struct {
	listeners []*listener // in the order they were added
	latest    Status
	after     int64 // latest is the status after this event or a later one
	here      bool  // the latest attempt ran in this process
}

func newHearing(log eventLog, logger *slog.Logger) *hearing {
	return &hearing{log: log, logger: logger, turn: make(chan struct{}, 1), topics: map[string]*topic{}, hosted: map[string]bool{}}
}

func (h *hearing) begin(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *hearing) end() { <-h.turn }

// ears are all listeners of the Client.
func (c *Client) ears() *hearing { return c.hearing }

// host makes a worker one of this process.
func (h *hearing) host(workerID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hosted[workerID] = true
}

// On calls heard for each event of this name of a job, from now on: built-in ones, and messages sent by Emit and Broadcast. The
// name AnyEvent stands for all. The job need not exist yet. ctx bounds the call and not the listener, except that a
// listener which is added inside a handler (with its context) is local, whatever scope says, and ends with the attempt.
//
// Other listeners end when stop is called. Global ones also end after they heard, or would have heard, that their job
// is retried or removed: whoever wants to hear of the next attempt listens again, and nothing is left of a listener whose
// job is gone. They live through the job's end otherwise. All end when the Redis client is closed.
//
// The calls of one listener are made one after the other, in order, on a goroutine of their own. A listener that is slow
// holds up neither the worker nor other listeners: what comes meanwhile waits, up to 1024 messages, then the oldest are lost and
// the next one says Missed. Panics of a listener are logged. After stop, which may be called from anywhere and more than once,
// no call begins.
func (c *Client) On(ctx context.Context, uuid, event string, scope Scope, heard func(Message)) (stop func(), err error) {
	if a := FromContext(ctx); a != nil {
		return a.on(ctx, uuid, event, heard)
	}
	l, err := c.hearing.on(ctx, uuid, event, scope, heard)
	if err != nil {
		return nil, err
	}
	return func() { c.hearing.off(l, true) }, nil
}

func (h *hearing) on(ctx context.Context, uuid, event string, scope Scope, heard func(Message)) (*listener, error) {
	var problems []error
	if !validName(uuid) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrUUID, uuid))
	}
	if event != AnyEvent && !validName(event) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrEventName, event))
	}
	if scope > Global {
		problems = append(problems, fmt.Errorf("scope %d is neither Local nor Global", scope))
	}
	if heard == nil {
		problems = append(problems, errors.New("no function to call"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := h.begin(ctx); err != nil {
		return nil, fmt.Errorf("listen to %s: %w", uuid, err)
	}
	defer h.end()
	at, found, err := h.log.snapshot(ctx, []string{uuid})
	if err != nil {
		return nil, fmt.Errorf("listen to %s: %w", uuid, err)
	}
	l := &listener{uuid: uuid, event: event, scope: scope, heard: heard, logger: h.logger, after: at.seq}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[uuid]
	if t == nil {
		t = &topic{latest: found[0], after: at.seq, here: h.hosted[found[0].Owner]}
		h.topics[uuid] = t
	}
	t.listeners = append(t.listeners, l)
	if h.quit == nil {
		ctx, cancel := context.WithCancel(context.Background()) // it outlives the call
		h.quit = cancel
		go h.follow(ctx, at)
	}
	return l, nil
}

// off ends a listener.
func (h *hearing) off(l *listener, drop bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l, drop)
}

// remove is off for who has the lock. With the last listener the follower ends.
func (h *hearing) remove(l *listener, drop bool) {
	l.end(drop)
	t := h.topics[l.uuid]
	if t == nil {
		return
	}
	t.listeners = slices.DeleteFunc(t.listeners, func(other *listener) bool { return other == l })
	if len(t.listeners) == 0 {
		delete(h.topics, l.uuid)
	}
	if len(h.topics) == 0 && h.quit != nil {
		h.quit()
		h.quit = nil
	}
}

// near tells local listeners what an attempt in this process sent, without the log.
func (h *hearing) near(m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[m.UUID]; t != nil {
		t.tell(m, true, false)
	}
}

// tell hands a message to the listeners that want it, local ones first.
func (t *topic) tell(m Message, local, global bool) {
	for _, scope := range []Scope{Local, Global} {
		for _, l := range t.listeners {
			if l.scope == scope && l.wants(m.Name, m.Seq) && (scope == Local && local || scope == Global && global) {
				l.put(m)
			}
		}
	}
}

// follow hands out what the log says until ctx ends.
func (h *hearing) follow(ctx context.Context, t trail) {
	for pause := newPause(); ctx.Err() == nil; {
		batch, err := t.next(ctx, lifeEvery)
		switch {
		case err == nil && !batch.Gap:
			err = h.hand(ctx, batch.Events)
		case err == nil, errors.Is(err, ErrCorrupt): // what cannot be read is passed over
			if err != nil {
				h.logger.Error("listeners miss what cannot be read", "error", err)
			}
			err = h.heal(ctx, &t)
		}
		if err == nil {
			pause = newPause()
			continue
		}
		if errors.Is(err, redis.ErrClosed) {
			h.close(ctx)
			return
		}
		if ctx.Err() == nil {
			h.logger.Warn("listeners wait for the store", "error", err)
		}
		pause.wait(ctx)
	}
}

// close ends all listeners of a Client whose Redis client was closed.
func (h *hearing) close(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	for _, t := range h.topics {
		for _, l := range slices.Clone(t.listeners) {
			h.remove(l, false)
		}
	}
}

// hand tells listeners of events.
func (h *hearing) hand(ctx context.Context, events []Event) error {
	if err := h.begin(ctx); err != nil {
		return err
	}
	defer h.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range events {
		if ctx.Err() != nil { // the last listener has gone; another follower may have begun
			return ctx.Err()
		}
		e := &events[i]
		for _, s := range e.Jobs {
			if t := h.topics[s.UUID]; t != nil && e.Seq > t.after {
				names := announcements(t.latest, s)
				if e.Progress != nil {
					names = append(names, EventProgress)
				}
				h.announce(t, s, names, e)
			}
		}
		if m := e.Message; m != nil {
			if t := h.topics[m.UUID]; t != nil {
				t.tell(*m, m.Broadcast, true)
			}
		}
	}
	return nil
}

// announce tells the built-in events of a job. Its global listeners end with a retry and with its removal.
func (h *hearing) announce(t *topic, s Status, names []string, e *Event) {
	t.latest = s
	if s.Owner != "" {
		t.here = h.hosted[s.Owner]
	}
	for _, name := range names {
		m := Message{UUID: s.UUID, Name: name, Seq: e.Seq, At: e.At, Status: s, Fence: s.Fence}
		if name == EventProgress {
			m.Progress = e.Progress
		}
		t.tell(m, t.here, true)
		if name == EventRetry || name == EventRemoved {
			for _, l := range slices.Clone(t.listeners) {
				if l.scope == Global && l.since(e.Seq) {
					h.remove(l, false)
				}
			}
		}
	}
}

// heal goes on from where the jobs stand now: messages in between are lost, and what the statuses tell is not.
func (h *hearing) heal(ctx context.Context, t *trail) error {
	if err := h.begin(ctx); err != nil {
		return err
	}
	defer h.end()
	h.mu.Lock()
	uuids := make([]string, 0, len(h.topics))
	for uuid := range h.topics {
		uuids = append(uuids, uuid)
	}
	h.mu.Unlock()
	at, found, err := h.log.snapshot(ctx, uuids)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	*t = at
	for _, s := range found {
		topic := h.topics[s.UUID]
		if topic == nil {
			continue
		}
		for _, l := range topic.listeners {
			l.lose()
			l.after = 0 // the numbers may have begun anew
		}
		topic.after = at.seq
		h.announce(topic, s, announcements(topic.latest, s), &Event{Seq: at.seq})
	}
	return nil
}
