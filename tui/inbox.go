package tui

import (
	"sync"

	"github.com/waybill-dev/waybill/applier"
)

// inbox carries events from whoever tells them to the view, which takes them by frames: a burst costs one drawing.
// Putting never waits.
type inbox struct {
	filled chan struct{} // holds one token while events or the end are to be taken

	mu     sync.Mutex
	events []applier.Event
	closed bool
}

func newInbox() *inbox { return &inbox{filled: make(chan struct{}, 1)} }

func (i *inbox) put(e applier.Event) {
	i.mu.Lock()
	if !i.closed {
		i.events = append(i.events, e)
	}
	i.mu.Unlock()
	i.wake()
}

// close lets what was put be taken, and then tells the end.
func (i *inbox) close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.wake()
}

func (i *inbox) wake() {
	select {
	case i.filled <- struct{}{}:
	default:
	}
}

// take waits for events and returns all there are; last tells that none will follow.
func (i *inbox) take() (events []applier.Event, last bool) {
	<-i.filled
	i.mu.Lock()
	defer i.mu.Unlock()
	events, i.events = i.events, nil
	if i.closed {
		i.wake() // whoever takes again is told again
	}
	return events, i.closed
}

// drain returns what was put and not taken, without waiting.
func (i *inbox) drain() []applier.Event {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	return events
}
