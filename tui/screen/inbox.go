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

const (
	frame      = 33 * time.Millisecond // the least time between two drawings that events cause
	frameLimit = 2000                  // the most events of one message, so that keys are answered in between
)

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

// take waits for events and returns those there are; full tells that more are left.
func (i *Inbox) take() (_ Events, full bool) {
	<-i.filled
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	if full = len(events) > frameLimit; full {
		events, i.events = events[:frameLimit:frameLimit], events[frameLimit:]
	}
	if full || i.closed {
		i.wake() // whoever takes again is told again
	}
	return Events{Events: events, Last: i.closed && !full}, full
}

// Frames is the command that waits for the next Events: the first ones come at once, later ones not before a frame has
// passed, unless there are many. A view runs it anew after each message.
func (i *Inbox) Frames() tea.Cmd {
	var previous time.Time
	return func() tea.Msg {
		if wait := frame - time.Since(previous); wait > 0 {
			time.Sleep(wait)
		}
		events, full := i.take()
		if previous = time.Now(); full {
			previous = time.Time{}
		}
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
