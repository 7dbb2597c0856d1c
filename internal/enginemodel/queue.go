package enginemodel

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// queue is what steers one: what is declared, and a pause by hand.
type queue struct {
	conveyor.QueueSettings
	hand bool
}

// keepCount is how many ended jobs a queue keeps by default.
const keepCount = 100_000

// keeps is for how many milliseconds, and how many, ended jobs of a queue are kept.
func (q queue) keeps() (ms int64, count int) {
	ms, count = conveyor.Retention.Milliseconds(), keepCount
	if q.KeepFor > 0 {
		ms = q.KeepFor.Milliseconds()
	}
	if q.KeepCount > 0 {
		count = q.KeepCount
	}
	return ms, count
}

// SetQueue declares a queue's settings; the zero value is the defaults. A pause by hand stays.
func (e *Engine) SetQueue(name string, s conveyor.QueueSettings) {
	q := e.queues[name]
	q.QueueSettings = s
	e.queues[name] = q
}

// PauseQueue pauses a queue by hand.
func (e *Engine) PauseQueue(name string) {
	q := e.queues[name]
	q.hand = true
	e.queues[name] = q
}

// ResumeQueue ends that; a queue that is declared paused stays as it is.
func (e *Engine) ResumeQueue(name string) error {
	q := e.queues[name]
	if q.Paused {
		return fmt.Errorf("resume %s: %w", name, conveyor.ErrQueueDeclaredPaused)
	}
	q.hand = false
	e.queues[name] = q
	return nil
}

// PurgeQueue cancels all queued jobs of a queue, in the order in which they would have started.
func (e *Engine) PurgeQueue(name string) int {
	jobs := e.queued(name)
	for _, j := range jobs {
		e.closeAs(j, cancelled)
	}
	e.settleAll()
	return len(jobs)
}

// part is how many of a queue's jobs a caller gets of n that it wants: no more than there are and than may run. A fair queue
// deals them out: each job goes to the worker with the least to do that has a free slot, among equals to the one who
// asks.
func (e *Engine) part(name, asker string, n int) int {
	q := e.queues[name]
	if q.Paused || q.hand {
		return 0
	}
	jobs := len(e.queued(name))
	if q.Concurrency > 0 {
		jobs = min(jobs, max(0, q.Concurrency-e.running(name)))
	}
	if !q.Fair || asker == "" {
		return min(n, jobs)
	}
	loads := map[string]int{asker: len(e.owned(asker))}
	for id, w := range e.workers {
		if id != asker && slices.Contains(w.queues, name) && w.capacity > 0 {
			loads[id] = len(e.owned(id))
		}
	}
	own := 0
	for range jobs {
		next := asker
		for id, load := range loads {
			if id != asker && load < e.workers[id].capacity && (load < loads[next]) {
				next = id
			}
		}
		loads[next]++
		if next == asker {
			own++
		}
	}
	return min(n, own)
}
