package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestMain turns this binary into a child process when a test asks for one, and else runs the tests and then
// looks for goroutines that a closed store left behind.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(runChild(role))
	}
	code := redistest.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after all stores were closed:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// storeDir is a directory for a store whose socket fits into it.
func storeDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "wbe")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// testOptions log to the test, which shows it when the test fails.
func testOptions(tb testing.TB) Options {
	return Options{Logger: slog.New(slog.NewTextHandler(tb.Output(), nil))}
}

// open opens the store in dir until the end of the test.
func open(tb testing.TB, dir string) *Store {
	tb.Helper()
	return openWith(tb, dir, testOptions(tb))
}

func openWith(tb testing.TB, dir string, o Options) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closeStore(tb, s) })
	return s
}

func closeStore(tb testing.TB, s *Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Errorf("close the store: %v", err)
	}
}

// must fails the test when a command failed.
func must(tb testing.TB, cmd redis.Cmder) {
	tb.Helper()
	if err := cmd.Err(); err != nil {
		tb.Fatalf("%v: %v", cmd.Args(), err)
	}
}

// dump reads everything a server holds in its first database, in a form to compare.
func dump(tb testing.TB, rdb redis.UniversalClient) map[string]any {
	tb.Helper()
	ctx := context.Background()
	all := map[string]any{}
	keys, err := rdb.Keys(ctx, "*").Result()
	if err != nil {
		tb.Fatal(err)
	}
	for _, key := range keys {
		all[key] = dumpKey(tb, ctx, rdb, key)
		if at, err := rdb.PExpireTime(ctx, key).Result(); err == nil && at > 0 {
			all[key+" expires"] = at
		}
	}
	return all
}

func dumpKey(tb testing.TB, ctx context.Context, rdb redis.UniversalClient, key string) any {
	tb.Helper()
	var value any
	var err error
	switch kind := rdb.Type(ctx, key).Val(); kind {
	case "string":
		value, err = rdb.Get(ctx, key).Result()
	case "hash":
		value, err = rdb.HGetAll(ctx, key).Result()
	case "list":
		value, err = rdb.LRange(ctx, key, 0, -1).Result()
	case "set":
		var members []string
		members, err = rdb.SMembers(ctx, key).Result()
		set := map[string]bool{}
		for _, m := range members {
			set[m] = true
		}
		value = set
	case "zset":
		value, err = rdb.ZRangeWithScores(ctx, key, 0, -1).Result()
	case "stream":
		value, err = rdb.XRange(ctx, key, "-", "+").Result()
	default:
		err = fmt.Errorf("a key of type %q", kind)
	}
	if err != nil {
		tb.Fatalf("read %s: %v", key, err)
	}
	return value
}
