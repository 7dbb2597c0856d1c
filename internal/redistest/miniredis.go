package redistest

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
)

// Watch, when it is set before any test, is given each command that a Miniredis of the named test is sent, or called
// from a script.
var Watch func(test, command string, args []string)

// Miniredis is a client of a fresh in-process server, the one that the embedded store is built on. It has no
// journal, and its TTLs stand still. Server and client end with the test.
func Miniredis(tb testing.TB) *redis.Client {
	tb.Helper()
	m := miniredis.RunT(tb)
	if watch, test := Watch, tb.Name(); watch != nil {
		m.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
			watch(test, command, args)
			return false
		})
	}
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	tb.Cleanup(func() { _ = rdb.Close() }) // a test may have closed it already
	return rdb
}
