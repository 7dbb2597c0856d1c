package screen

import (
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
)

// Inbox carries events from whoever tells them to a view, which takes them by frames: a burst costs one drawing.
// Putting never waits.
type Inbox struct {
	filled chan struct{} // holds one token while events or the end are to be taken

	mu     sync.Mutex
	events []applier.Event
	closed bool
}

// Events is the message with what happened since the last frame. Last tells that nothing will follow.
type Events struct {
	Events []applier.Event
	Last   bool
}

// frame is the least time between two drawings that events cause.
const frame = 33 * time.Millisecond

// NewInbox returns an empty Inbox.
func NewInbox() *Inbox { return &Inbox{filled: make(chan struct{}, 1)} }

// Put adds an event; after Close it is dropped.
func (i *Inbox) Put(e applier.Event) {
	i.mu.Lock()
	if !i.closed {
		i.events = append(i.events, e)
	}
	i.mu.Unlock()
	i.wake()
}

// Close lets what was put be taken, and then tells the end.
func (i *Inbox) Close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.wake()
}

func (i *Inbox) wake() {
	select {
	case i.filled <- struct{}{}:
	default:
	}
}

// take waits for events and returns all there are.
func (i *Inbox) take() Events {
	<-i.filled
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	if i.closed {
		i.wake() // whoever takes again is told again
	}
	return Events{Events: events, Last: i.closed}
}

// Frames is the command that waits for the next Events: the first ones come at once, later ones not before a frame has
// passed. A view runs it anew after each message.
func (i *Inbox) Frames() tea.Cmd {
	var previous time.Time
	return func() tea.Msg {
		if wait := frame - time.Since(previous); wait > 0 {
			time.Sleep(wait)
		}
		events := i.take()
		previous = time.Now()
		return events
	}
}

// Drain returns what was put and not taken, without waiting.
func (i *Inbox) Drain() []applier.Event {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	return events
}
