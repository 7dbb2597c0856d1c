package redistest

import (
	"crypto/rand"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// The servers of this test binary, each started by the first test that asks for it.
var (
	shared          = testserver.NewShared(func() (*Server, error) { return startUnix("", nil) }, (*Server).remove)
	sharedValkey    = testserver.NewShared(func() (*Server, error) { return startUnix("valkey-server", nil) }, (*Server).remove)
	sharedCluster   = testserver.NewShared(func() (*Cluster, error) { return startCluster(ClusterOptions{}) }, (*Cluster).remove)
	sharedSentinels = testserver.NewShared(func() (*Sentinels, error) { return startSentinels(SentinelOptions{}) }, (*Sentinels).remove)
)

// Main is the whole of a TestMain: it runs the tests and stops the shared servers after them.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main without the exit, for a TestMain that has more to check. It returns the exit code.
func Run(m *testing.M) int {
	defer shared.Manage()()
	defer sharedValkey.Manage()()
	defer sharedCluster.Manage()()
	defer sharedSentinels.Manage()()
	return m.Run()
}

// Shared is the one server of this test binary, started by the first test that asks. Tests on it run in
// parallel: each uses a Namespace of its own, and none kills, pauses or flushes it.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	return shared.Get(tb)
}

// SharedValkey is Shared for valkey-server. Where that is not installed the test fails.
func SharedValkey(tb testing.TB) *Server {
	tb.Helper()
	return sharedValkey.Get(tb)
}

// SharedCluster is one Cluster of three primaries for all tests of this binary. Nobody moves its slots, nor kills its nodes.
func SharedCluster(tb testing.TB) *Cluster {
	tb.Helper()
	return sharedCluster.Get(tb)
}

// SharedSentinels is one primary with a replica and three Sentinels for all tests of this binary. Nobody kills any of them.
func SharedSentinels(tb testing.TB) *Sentinels {
	tb.Helper()
	return sharedSentinels.Get(tb)
}

// Namespace is a fresh key namespace that no other test uses.
func Namespace() string { return "t-" + rand.Text() }

// helper is what a test, or a drawn sequence of operations, gives to its helpers.
type helper interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Another is a client of the same store and with the same options as another one. The caller closes it; one of Sentinels lives no
// longer than the first.
func Another(tb helper, rdb redis.UniversalClient) redis.UniversalClient {
	tb.Helper()
	switch rdb := rdb.(type) {
	case *redis.Client:
		o := *rdb.Options()
		return redis.NewClient(&o)
	case *redis.ClusterClient:
		o := *rdb.Options()
		return redis.NewClusterClient(&o)
	}
	tb.Fatalf("another %T is not known", rdb)
	return nil
}
