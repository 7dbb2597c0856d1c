package conveyor

import "slices"

// Middleware wraps every handler of a worker, for what concerns all: tracing, metrics, limits. It sees errors and panics
// of what it wraps, and may replace the context.
type Middleware func(next Handler) Handler

// Use adds middleware. The first one added is the outermost. It belongs before Run, like handlers.
func (w *Worker) Use(middleware ...Middleware) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase != phaseNew {
		w.o.Logger.Error("middleware ignored: it was added after Run")
		return
	}
	w.middleware = append(w.middleware, middleware...)
}

// wrap puts the middleware around each handler, once, when the worker starts.
func (w *Worker) wrap() {
	for jobType, r := range w.handlers {
		for _, m := range slices.Backward(w.middleware) {
			r.call = m(r.call)
		}
		w.handlers[jobType] = r
	}
}
