package applier

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// store is a place to keep jobs in. Each connect is a connection of its own, as another process has it.
type store struct {
	name    string
	connect func(testing.TB) redis.UniversalClient
}

// envStore names the only store to test, redis or embedded, when it is set.
const envStore = "WAYBILL_TEST_STORE"

// onStore runs a test of one store, if that is wanted.
func onStore(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	if only := os.Getenv(envStore); only == "" || only == name {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// onStores runs a test on a real redis-server, and on the embedded store.
func onStores(t *testing.T, test func(t *testing.T, s store)) {
	t.Helper()
	onStore(t, "redis", func(t *testing.T) {
		server := redistest.Shared(t)
		test(t, store{"redis", func(tb testing.TB) redis.UniversalClient {
			o := server.Options()
			o.MaxRetries = -1
			return closing(tb, redis.NewClient(o), nil)
		}})
	})
	onStore(t, "embedded", func(t *testing.T) {
		dir := t.TempDir()
		test(t, store{"embedded", func(tb testing.TB) redis.UniversalClient {
			s, err := embedded.Open(tb.Context(), dir, embedded.Options{})
			if err != nil {
				tb.Fatal(err)
			}
			return closing(tb, s.Client(), s.Close)
		}})
	})
}

func closing(tb testing.TB, rdb redis.UniversalClient, then func() error) redis.UniversalClient {
	tb.Cleanup(func() {
		_ = rdb.Close()
		if then != nil {
			if err := then(); err != nil {
				tb.Error(err)
			}
		}
	})
	return rdb
}

// eachStore is onStores for a test that needs one client, in a namespace of its own.
func eachStore(t *testing.T, test func(t *testing.T, c *conveyor.Client)) {
	t.Helper()
	onStores(t, func(t *testing.T, s store) { test(t, newClient(t, s.connect(t))) })
}

func newClient(tb testing.TB, rdb redis.UniversalClient) *conveyor.Client {
	tb.Helper()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: redistest.Namespace()})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
