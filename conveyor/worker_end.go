package conveyor

import "slices"

// AtEnd has Run call f when no handler runs any more, for what handlers share; the last one added is called first. A worker
// that gave up waiting for handlers calls none.
func (w *Worker) AtEnd(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.atEnd = append(w.atEnd, f)
}

func (w *Worker) end() {
	w.mu.Lock()
	active, calls := w.active, slices.Clone(w.atEnd)
	w.mu.Unlock()
	if active > 0 {
		return
	}
	w.attempts.Wait()
	for _, f := range slices.Backward(calls) {
		f()
	}
}
