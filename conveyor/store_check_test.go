package conveyor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestCheckStore(t *testing.T) {
	t.Parallel()
	redisWith := func(args ...string) func(*testing.T) redis.UniversalClient {
		return func(t *testing.T) redis.UniversalClient { return redistest.Start(t, args...).Client(t) }
	}
	const nobody = "192.0.2.1" // reserved for documentation: nothing answers there
	for _, row := range []struct {
		name string
		open func(t *testing.T) redis.UniversalClient
		want []string // parts of the refusal; none: the store is fit
	}{
		{"as it comes", redisWith(), nil},
		{"bounded without eviction", redisWith("--maxmemory", "100mb"), nil},
		{"evicting, but unbounded", redisWith("--maxmemory-policy", "allkeys-lru"), nil},
		{"evicting what has a TTL", redisWith("--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"), nil},
		{"evicting", redisWith("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lfu"), []string{
			"its maxmemory-policy allkeys-lfu throws jobs away once maxmemory (104857600 bytes) is reached: set maxmemory-policy noeviction"}},
		{"replica", redisWith("--replicaof", nobody+" 6379"), []string{"it is a read-only replica of " + nobody + ":6379: name the primary"}},
		{"two faults", redisWith("--replicaof", nobody+" 6379", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-random"), []string{
			"allkeys-random", "replica"}},
		{"without the right to ask", func(t *testing.T) redis.UniversalClient {
			server := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
			if err := server.Client(t).Do(t.Context(), "ACL", "SETUSER", "poor", "on", "nopass", "~*", "+@all", "-info", "-config").Err(); err != nil {
				t.Fatal(err)
			}
			o := server.Options()
			o.Username, o.Password = "poor", "any"
			rdb := redis.NewClient(o)
			t.Cleanup(func() { _ = rdb.Close() })
			return rdb
		}, nil},
		{"without the right to CONFIG", func(t *testing.T) redis.UniversalClient {
			server := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
			if err := server.Client(t).Do(t.Context(), "ACL", "SETUSER", "poor", "on", "nopass", "~*", "+@all", "-config").Err(); err != nil {
				t.Fatal(err)
			}
			o := server.Options()
			o.Username, o.Password = "poor", "any"
			rdb := redis.NewClient(o)
			t.Cleanup(func() { _ = rdb.Close() })
			return rdb
		}, []string{"noeviction"}},
		{"miniredis", func(t *testing.T) redis.UniversalClient { return redistest.Miniredis(t) }, nil},
		{"embedded", func(t *testing.T) redis.UniversalClient {
			s, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s.Client()
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, err := conveyor.NewClient(row.open(t), conveyor.Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = c.CheckStore(t.Context())
			if len(row.want) == 0 {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, conveyor.ErrStore) || errors.Is(err, conveyor.ErrUnavailable) {
				t.Fatalf("got %v, want %v", err, conveyor.ErrStore)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it says %q, want %q in it", err, want)
				}
			}
			w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}})
			if err != nil {
				t.Fatal(err)
			}
			w.HandleRaw("t", func(context.Context, *wire.Job) error { return nil })
			if err := w.Run(t.Context()); !errors.Is(err, conveyor.ErrStore) {
				t.Errorf("a worker starts on it: %v", err)
			}
		})
	}
}
