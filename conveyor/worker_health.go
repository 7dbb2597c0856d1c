package conveyor

import (
	"errors"
	"fmt"
	"time"
)

// WorkerStats is what a worker does at one moment.
type WorkerStats struct {
	Capacity int
	Running  int // attempts whose handler has not ended
	// OldestProgress is how long ago the attempt that is longest without progress came so far as it is; it counts from the
	// attempt's start when it tells none. 0: nothing runs.
	OldestProgress time.Duration
}

// Stats tells what the worker does now.
func (w *Worker) Stats() WorkerStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := WorkerStats{Capacity: w.o.Concurrency, Running: w.active}
	for _, a := range w.held {
		a.mu.Lock()
		if !a.over && !a.toldAt.IsZero() {
			s.OldestProgress = max(s.OldestProgress, time.Since(a.toldAt))
		}
		a.mu.Unlock()
	}
	return s
}

// reached takes note of an exchange or a tick that was answered.
func (w *Worker) reached() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.contact = time.Now()
}

// Live tells why the worker has to be taken for dead: neither an exchange nor a tick of it succeeded within this time. A
// worker that works does one of them at least every BeatEvery. nil: it is alive; one that was made a moment ago is, too.
func (w *Worker) Live(within time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, what := w.contact, "it last reached the store"
	if last.IsZero() {
		last, what = w.startedAt, "it has not reached the store since it was started"
	}
	if age := time.Since(last); age > within {
		return fmt.Errorf("worker %s: %s %s ago, the limit is %s", w.o.ID, what, age.Round(time.Millisecond), within)
	}
	return nil
}

// Ready tells why the worker takes no jobs: it has not registered yet, drains, has ended, or is not Live.
func (w *Worker) Ready(within time.Duration) error {
	w.mu.Lock()
	phase, draining, registered := w.phase, w.draining, !w.contact.IsZero()
	w.mu.Unlock()
	switch {
	case phase == phaseEnded:
		return errors.New("worker " + w.o.ID + " has ended")
	case draining:
		return errors.New("worker " + w.o.ID + " drains")
	case phase == phaseNew || !registered:
		return errors.New("worker " + w.o.ID + " has not registered yet")
	}
	return w.Live(within)
}
