package applier

import (
	"container/list"
	"sync"
)

// mailbox hands events to an Observer from a goroutine of its own, so that whoever posts never waits. It is unbounded,
// but an event that a later one makes obsolete leaves it: at most one JobChanged and one StillRunning per job and one
// Submitting, LockWaiting and StoreAway are in it, however slow the observer. Order is the order of posting; what replaces
// an earlier event stands at its own place, not at that one's.
type mailbox struct {
	observer Observer
	done     chan struct{} // closed when the last event was observed

	mu     sync.Mutex
	filled *sync.Cond
	events *list.List            // of Event
	latest map[any]*list.Element // by obsolescence key
	closed bool
}

// newMailbox starts the goroutine; close ends it. A nil observer gets nothing and costs nothing.
func newMailbox(o Observer) *mailbox {
	m := &mailbox{observer: o, done: make(chan struct{}), events: list.New(), latest: map[any]*list.Element{}}
	m.filled = sync.NewCond(&m.mu)
	if o == nil {
		close(m.done)
		return m
	}
	go m.deliver()
	return m
}

// post adds an event and returns at once. After close it does nothing.
func (m *mailbox) post(e Event) {
	if m.observer == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	key := obsoletes(e)
	if key != nil {
		if old := m.latest[key]; old != nil {
			e = keepFailure(e, old.Value.(Event))
			m.events.Remove(old)
		}
	}
	at := m.events.PushBack(e)
	if key != nil {
		m.latest[key] = at
	}
	m.filled.Signal()
}

// close waits until every event has been observed. It is called once.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.filled.Signal()
	m.mu.Unlock()
	<-m.done
}

func (m *mailbox) deliver() {
	defer close(m.done)
	for {
		e, ok := m.take()
		if !ok {
			return
		}
		m.observer.Observe(e)
	}
}

// take waits for the first event and removes it; false when the mailbox is closed and empty.
func (m *mailbox) take() (Event, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.events.Len() == 0 {
		if m.closed {
			return nil, false
		}
		m.filled.Wait()
	}
	e := m.events.Remove(m.events.Front()).(Event)
	if key := obsoletes(e); key != nil {
		delete(m.latest, key)
	}
	return e, true
}

// obsoletes is a key that e shares with the events it makes obsolete; nil for what must be seen.
func obsoletes(e Event) any {
	type changed struct{ addr any }
	type running struct{ addr any }
	type progress struct{ addr, uuid any }
	switch e := e.(type) {
	case JobChanged:
		return changed{e.Addr}
	case StillRunning:
		return running{e.Addr}
	case JobProgress:
		return progress{e.Addr, e.UUID}
	case Submitting:
		return "submitting"
	case LockWaiting:
		return "waiting"
	case StoreAway:
		return "away"
	case WorkflowsSeen:
		return "workflows"
	case QueuesSeen:
		return "queues"
	case WorkersSeen:
		return "workers"
	case LooseSeen:
		return "loose"
	default:
		return nil
	}
}

// keepFailure keeps what was told of a failed attempt when the event that told it becomes obsolete unseen.
func keepFailure(next, prior Event) Event {
	n, ok := next.(JobChanged)
	p, was := prior.(JobChanged)
	if ok && was && n.Failure == "" && n.Status.UUID == p.Status.UUID {
		n.Failure, n.LogTail = p.Failure, p.LogTail
		return n
	}
	return next
}
