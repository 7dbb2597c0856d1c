package sqltest

import (
	"os"
	"testing"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// servers are those of this test binary, by their systems.
var servers = map[System]*testserver.Shared[*Server]{
	PostgreSQL: testserver.NewShared(func() (*Server, error) { return start(PostgreSQL) }, (*Server).remove),
	MariaDB:    testserver.NewShared(func() (*Server, error) { return start(MariaDB) }, (*Server).remove),
}

// Main is the whole of a TestMain: it runs the tests and stops the shared servers after them.
func Main(m *testing.M) { os.Exit(Run(m.Run)) }

// Run is Main without the exit, for a TestMain that has more to do. It returns what run returns, the exit code.
//
//	os.Exit(sqltest.Run(func() int { return redistest.Run(m) }))
func Run(run func() int) int {
	for _, s := range servers {
		defer s.Manage()()
	}
	return run()
}

func shared(tb testing.TB, system System) *Server {
	tb.Helper()
	s := servers[system]
	if s == nil {
		tb.Fatalf("there is no database system named %q", system)
	}
	return s.Get(tb)
}
