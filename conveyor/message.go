package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// MaxMessage is how many bytes of data one message carries. Messages go through the event log, which is bounded: for more,
// store it elsewhere and send where.
const MaxMessage = 16 << 10

// ErrEventName says that a name cannot be an event's.
var ErrEventName = errors.New("event name is not of [A-Za-z0-9._-]{1,128}, or is built in")

// Message is what a listener hears: what an attempt or a client sent, or a built-in event of the job.
type Message struct {
	UUID string // the job
	Name string // as sent, or one of the built-in names
	Data []byte // as sent
	// Broadcast tells that it was sent to every listener for the job; otherwise it reached local ones of the sender's process
	// and global ones.
	Broadcast bool
	Fence     int64     // the attempt that sent it; 0: a client
	Seq       int64     // of the event in the log; 0 for what a local listener hears of its own process, which needs no log
	At        time.Time // the store's clock; zero when Seq is

	// Status and Progress belong to built-in events: the job's status after it, and what was told by a progress event.
	Status   Status
	Progress *Progress
	// Missed tells a listener that messages before this one are lost to it: it was too slow, or its process fell behind the
	// log. Only listeners set it.
	Missed bool
}

// emission is one message on its way to the store.
type emission struct {
	uuid      string
	fence, n  int64 // of the attempt and its messages; fence 0: a client, n the number of its call
	broadcast bool
	name      string
	data      []byte
	caller    string // of a client
}

func (m *emission) validate() error {
	var problems []error
	if !validName(m.uuid) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrUUID, m.uuid))
	}
	if !validName(m.name) || builtIn[m.name] {
		problems = append(problems, fmt.Errorf("%w: %q", ErrEventName, m.name))
	}
	if len(m.data) > MaxMessage {
		problems = append(problems, fmt.Errorf("data of %d bytes: %w, the limit is %d", len(m.data), ErrTooLarge, MaxMessage))
	}
	return errors.Join(problems...)
}

// emit sends one message. Repeating it tells nothing again.
func (c *Client) emit(ctx context.Context, m emission) error {
	scope := "e"
	if m.broadcast {
		scope = "b"
	}
	_, err := c.run(ctx, emitScript, m.uuid, m.fence, m.n, scope, m.name, m.data, m.caller)
	return err
}

// Broadcast sends a message to every listener for a job in every process, local ones included. It is told once however
// often the way to Redis fails during the call; when the call fails with ErrUnavailable nobody knows whether it was told.
// A job never seen is ErrNotFound.
func (c *Client) Broadcast(ctx context.Context, uuid, name string, data []byte) error {
	m := emission{uuid: uuid, broadcast: true, name: name, data: data, caller: c.broadcasts.id}
	if err := m.validate(); err != nil {
		return fmt.Errorf("broadcast: %w", err)
	}
	if err := c.broadcasts.begin(ctx); err != nil {
		return fmt.Errorf("broadcast %s to %s: %w", name, uuid, err)
	}
	defer c.broadcasts.end()
	c.broadcasts.number++
	m.n = c.broadcasts.number
	if err := c.emit(ctx, m); err != nil {
		return fmt.Errorf("broadcast %s to %s: %w", name, uuid, err)
	}
	return nil
}

// broadcaster numbers the broadcasts of a Client, which neither uuid nor fence makes idempotent: one is in flight at a time.
type broadcaster struct {
	id     string
	turn   chan struct{} // 1 slot, taken during a call
	number int64         // of the latest call; of whoever has the turn
}

func newBroadcaster() *broadcaster {
	return &broadcaster{id: "client-" + strings.ReplaceAll(uuid.NewString(), "-", ""), turn: make(chan struct{}, 1)}
}

func (b *broadcaster) begin(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *broadcaster) end() { <-b.turn }
