package conveyor

import (
	"log/slog"
	"runtime/debug"
	"sync"
)

// Scope says how far a listener hears.
type Scope uint8

// The scopes.
const (
	// Local hears what attempts in this process send, and the built-in events of jobs whose latest attempt ran in it: on a Worker
	// of the same Client. It also hears broadcasts of anybody.
	Local Scope = iota
	// Global hears what attempts in any process send, the built-in events whoever ran the job, and broadcasts.
	Global
)

// maxWaiting is how many messages wait for one listener that is slower than they come; after that the oldest are lost to it.
const maxWaiting = 1024

// listener is one function that hears of one job. Messages wait for it in a queue of its own, and a goroutine calls it, one
// message at a time and in their order, while there are any: so a slow listener holds up nobody but itself.
type listener struct {
	// Immutable.
	uuid   string
	event  string // AnyEvent: all
	scope  Scope
	heard  func(Message)
	logger *slog.Logger

	after int64 // events of the log up to this number were before its time; under the lock of hearing

	mu      sync.Mutex
	queue   []Message
	missed  bool // messages were lost since the last one that was put into queue
	calling bool // a goroutine works off queue
	ended   bool
}

// since tells whether an event of the log is of the listener's time; 0 is none of the log.
func (l *listener) since(seq int64) bool { return seq == 0 || seq > l.after }

// wants tells whether the listener is for an event.
func (l *listener) wants(name string, seq int64) bool {
	return (l.event == name || l.event == AnyEvent) && l.since(seq)
}

// put queues a message.
func (l *listener) put(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	m.Missed, l.missed = l.missed, false
	if l.queue = append(l.queue, m); len(l.queue) > maxWaiting {
		l.queue = l.queue[1:]
		l.queue[0].Missed = true
	}
	if !l.calling {
		l.calling = true
		go l.work()
	}
}

// lose notes that messages did not reach the listener.
func (l *listener) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed = true
}

// end lets nothing more in; with drop what waits is not heard either.
func (l *listener) end(drop bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if drop {
		l.queue = nil
	}
}

func (l *listener) next() (Message, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.queue, l.calling = nil, false
		return Message{}, false
	}
	m := l.queue[0]
	l.queue[0] = Message{}
	l.queue = l.queue[1:]
	return m, true
}

// work calls the listener for all that waits.
func (l *listener) work() {
	over := false
	defer func() {
		if !over { // the listener ended its goroutine instead of returning
			go l.work()
		}
	}()
	for {
		m, ok := l.next()
		if !ok {
			over = true
			return
		}
		l.call(m)
	}
}

// call keeps a panic of the listener from harming the process.
func (l *listener) call(m Message) {
	defer func() {
		if value := recover(); value != nil {
			l.logger.Error("a listener panicked", "uuid", l.uuid, "event", m.Name, "panic", value, "stack", string(debug.Stack()))
		}
	}()
	l.heard(m)
}
