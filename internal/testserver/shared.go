package testserver

import (
	"errors"
	"sync"
	"testing"
)

// Shared is a server that all tests of a binary use, started by the first that asks for it. It lives in a package variable, since
// a test binary has no other place that outlives its tests.
type Shared[S any] struct {
	start func() (S, error)
	stop  func(S)

	mu      sync.Mutex
	managed bool // somebody will stop the server
	running bool
	server  S
	err     error
}

// NewShared is a server that starts and stops like this.
func NewShared[S any](start func() (S, error), stop func(S)) *Shared[S] {
	return &Shared[S]{start: start, stop: stop}
}

var errUnmanaged = errors.New("a shared server needs `func TestMain(m *testing.M) { PACKAGE.Main(m) }` in this package, with the PACKAGE that it is from")

// Manage allows tests to ask for the server. What it returns stops that, if it runs, and is called after all tests.
func (s *Shared[S]) Manage() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.managed = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running {
			s.stop(s.server)
			s.running = false
		}
	}
}

// Get is the server. A server that did not start fails every test that asks for it.
func (s *Shared[S]) Get(tb testing.TB) S {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.managed {
		tb.Fatal(errUnmanaged)
	}
	if !s.running && s.err == nil {
		s.server, s.err = s.start()
		s.running = s.err == nil
	}
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.server
}
