package redistest

import (
	"crypto/rand"
	"os"
	"testing"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// shared is the server of this test binary.
var shared = testserver.NewShared(func() (*Server, error) { return startUnix(nil) }, (*Server).remove)

// Main is the whole of a TestMain: it runs the tests and stops the shared server after them.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main without the exit, for a TestMain that has more to check. It returns the exit code.
func Run(m *testing.M) int {
	defer shared.Manage()()
	return m.Run()
}

// Shared is the one server of this test binary, started by the first test that asks. Tests on it run in
// parallel: each uses a Namespace of its own, and none kills, pauses or flushes it.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	return shared.Get(tb)
}

// Namespace is a fresh key namespace that no other test uses.
func Namespace() string { return "t-" + rand.Text() }
