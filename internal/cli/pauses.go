package cli

import (
	"slices"
	"sync"
)

// pauses are what has to happen before the process is stopped from the keyboard (Ctrl-Z) and after it goes on: the embedded
// store is handed over to other processes, for a stopped host would freeze everybody, and a view gives the terminal back.
type pauses struct {
	mu    sync.Mutex
	hooks []*hook // in the order they were added; the latest pauses first
	end   func()  // ends waiting for the signal; nil without hooks
}

// hook pauses something and returns how it goes on.
type hook struct{ pause func() (resume func()) }

// with adds a hook until the returned function is called.
func (p *pauses) with(pause func() (resume func())) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &hook{pause: pause}
	if p.hooks = append(p.hooks, h); p.end == nil {
		p.end = onSuspend(p.pause)
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		p.hooks = slices.DeleteFunc(p.hooks, func(other *hook) bool { return other == h })
		var end func()
		if len(p.hooks) == 0 {
			end, p.end = p.end, nil
		}
		p.mu.Unlock()
		if end != nil {
			end()
		}
	})
}

// pause pauses all, and returns how they go on.
func (p *pauses) pause() (resume func()) {
	p.mu.Lock()
	hooks := slices.Clone(p.hooks)
	p.mu.Unlock()
	var resumes []func()
	for _, h := range slices.Backward(hooks) {
		resumes = append(resumes, h.pause())
	}
	return func() {
		for _, resume := range slices.Backward(resumes) {
			resume()
		}
	}
}
