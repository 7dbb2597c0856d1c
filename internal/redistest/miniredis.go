package redistest

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Miniredis is a client of a fresh in-process server, the one that the embedded store is built on. It has no
// journal, and its TTLs stand still. Server and client end with the test.
func Miniredis(tb testing.TB) *redis.Client {
	tb.Helper()
	m := miniredis.RunT(tb)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	tb.Cleanup(func() { _ = rdb.Close() }) // a test may have closed it already
	return rdb
}
