package applier

import (
	"container/list"
	"fmt"
	"sync"
)

// mailbox hands events to an Observer from a goroutine of its own, so that whoever posts never waits. Order is the order of
// posting, and every fact reaches the observer, however slow it is: what leaves the mailbox unseen is only what a later event
// makes worthless, as the former number of rows submitted or of seconds a job runs.
//
// Memory has an end, so facts do too: beyond foldBeyond events a JobChanged takes the place of the former one of its job that
// still waits. How many were folded so is told as a Warning, when the observer has caught up.
type mailbox struct {
	observer Observer
	done     chan struct{} // closed when the last event was observed

	mu     sync.Mutex
	filled *sync.Cond
	events *list.List            // of Event
	latest map[any]*list.Element // by what the event is about: the last one that waits
	beyond int                   // foldBeyond; tests fold sooner
	folded int                   // facts that were lost so, not told yet
	closed bool
}

// foldBeyond is how many events wait for a slow observer before facts are folded: all that one reading of the whole event log
// can hold (conveyor keeps about 50,000 changes), and some 40 MB.
const foldBeyond = 1 << 16

// newMailbox starts the goroutine; close ends it. A nil observer gets nothing and costs nothing.
func newMailbox(o Observer) *mailbox {
	m := &mailbox{observer: o, done: make(chan struct{}), events: list.New(), latest: map[any]*list.Element{}, beyond: foldBeyond}
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
	key, fact := about(e)
	if key != nil {
		if old := m.latest[key]; old != nil && (!fact || m.events.Len() >= m.beyond) {
			if fact {
				e = keepFailure(e, old.Value.(Event))
				m.folded++
			}
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
	if m.folded > 0 && m.events.Len() <= max(1, m.beyond/2) {
		lost := m.folded
		m.folded = 0
		return Warning{Summary: "Changes of jobs were left out", Detail: fmt.Sprintf("Whoever reads this was so slow that %d changes were told "+
			"together with a later one of the same job. Where each job stands is right.", lost)}, true
	}
	first := m.events.Front()
	e := m.events.Remove(first).(Event)
	if key, _ := about(e); key != nil && m.latest[key] == first {
		delete(m.latest, key)
	}
	return e, true
}

// about is a key that an event shares with those a later one of them can stand for; nil for what must be seen. A fact is stood
// for only when memory wants it.
func about(e Event) (key any, fact bool) {
	type changed struct{ addr any }
	type running struct{ addr any }
	type progress struct{ addr, uuid any }
	type within struct{ workflow, key any }
	switch e := e.(type) {
	case JobChanged:
		return changed{e.Addr}, true
	case StillRunning:
		return running{e.Addr}, false
	case JobProgress:
		return progress{e.Addr, e.UUID}, false
	case Submitting:
		return "submitting", false
	case LockWaiting:
		return "waiting", false
	case StoreAway:
		return "away", false
	case WorkflowsSeen:
		return "workflows", true
	case QueuesSeen:
		return "queues", false
	case WorkersSeen:
		return "workers", false
	case LooseSeen:
		return "loose", false
	case OfWorkflow:
		if key, fact = about(e.Event); key != nil {
			key = within{e.Workflow, key}
		}
		return key, fact
	default:
		return nil, false
	}
}

// keepFailure keeps what was told of a failed attempt when the event that told it is folded.
func keepFailure(next, prior Event) Event {
	if n, ok := next.(OfWorkflow); ok {
		if p, was := prior.(OfWorkflow); was {
			n.Event = keepFailure(n.Event, p.Event)
		}
		return n
	}
	n, ok := next.(JobChanged)
	p, was := prior.(JobChanged)
	if ok && was && n.Failure == "" && n.Status.UUID == p.Status.UUID {
		n.Failure, n.LogTail = p.Failure, p.LogTail
		return n
	}
	return next
}
