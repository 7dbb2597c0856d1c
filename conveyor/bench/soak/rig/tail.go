package rig

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// tail follows the size of a journal, so that a power failure can be played: what came after a moment goes.
type tail struct {
	path func() string
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	samples []sample // of the latest seconds, of one file, oldest first
}

type sample struct {
	at   time.Time
	path string
	file os.FileInfo
}

// follow looks at a journal ten times a second until close.
func follow(path func() string) *tail {
	t := &tail{path: path, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			t.look()
			select {
			case <-tick.C:
			case <-t.stop:
				return
			}
		}
	}()
	return t
}

func (t *tail) close() {
	close(t.stop)
	<-t.done
}

func (t *tail) look() {
	at, path := time.Now(), t.path()
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.samples); n > 0 && (!os.SameFile(t.samples[n-1].file, info) || t.samples[n-1].file.Size() > info.Size()) {
		t.samples = nil // a new file, or one that was cut
	}
	t.samples = append(t.samples, sample{at, path, info})
	if len(t.samples) > 100 {
		t.samples = t.samples[50:]
	}
}

// cut takes from the journal what was written after the latest moment that is at least age ago, and tells that moment. Nobody may
// have the file open. Without a sample as old as that it cuts nothing.
func (t *tail) cut(age time.Duration) (time.Time, error) {
	t.look() // a file that was made anew meanwhile has no past that could be cut
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for i := len(t.samples) - 1; i >= 0; i-- {
		s := t.samples[i]
		if now.Sub(s.at) < age {
			continue
		}
		t.samples = nil
		if err := os.Truncate(s.path, s.file.Size()); err != nil {
			return time.Time{}, fmt.Errorf("cut a journal: %w", err)
		}
		return s.at, nil
	}
	return now, nil
}
