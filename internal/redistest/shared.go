package redistest

import (
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"testing"
)

// shared is the server of this test binary. It lives in package variables because a test binary has no other
// place that outlives its tests.
var shared struct {
	mu      sync.Mutex
	managed bool // Run will stop the server
	server  *Server
	err     error
}

var errUnmanaged = errors.New("redistest.Shared needs `func TestMain(m *testing.M) { redistest.Main(m) }` in this package")

// Main is the whole of a TestMain: it runs the tests and stops the shared server after them.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main without the exit, for a TestMain that has more to check. It returns the exit code.
func Run(m *testing.M) int {
	shared.mu.Lock()
	shared.managed = true
	shared.mu.Unlock()
	defer func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if shared.server != nil {
			shared.server.remove()
			shared.server = nil
		}
	}()
	return m.Run()
}

// Shared is the one server of this test binary, started by the first test that asks. Tests on it run in
// parallel: each uses a Namespace of its own, and none kills, pauses or flushes it.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.managed {
		tb.Fatal(errUnmanaged)
	}
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = startUnix(nil)
	}
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.server
}

// Namespace is a fresh key namespace that no other test uses.
func Namespace() string { return "t-" + rand.Text() }
