package redistest_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func TestServerAnswersAtItsURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		start  func(testing.TB, ...string) *redistest.Server
		scheme string
	}{
		"unix socket":   {redistest.Start, "unix://"},
		"loopback port": {redistest.StartTCP, "redis://127.0.0.1:"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.start(t)
			if !strings.HasPrefix(s.URL(), test.scheme) {
				t.Fatalf("URL is %q, want it to start with %q", s.URL(), test.scheme)
			}
			o, err := redis.ParseURL(s.URL())
			if err != nil {
				t.Fatal(err)
			}
			rdb := redis.NewClient(o)
			defer func() { _ = rdb.Close() }()
			if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Client(t).Get(t.Context(), "k").Result(); err != nil || got != "v" {
				t.Fatalf("GET k is %q, %v, want v", got, err)
			}
		})
	}
}

func TestRestartFindsTheAppendOnlyFile(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	rdb := s.Client(t)
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := rdb.Ping(t.Context()).Err(); err == nil {
		t.Fatal("a killed server answers PING")
	}
	s.Restart(t)
	if got, err := s.Client(t).Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Fatalf("GET k after the restart is %q, %v, want v", got, err)
	}
}

func TestPausedServerAnswersAfterResume(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := s.Options()
	o.MaxRetries, o.ContextTimeoutEnabled = -1, true
	rdb := redis.NewClient(o)
	defer func() { _ = rdb.Close() }()
	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := rdb.Ping(ctx).Err(); err == nil {
		t.Fatal("a paused server answers PING")
	}
	s.Resume()
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryIsRemovedWithTheTest(t *testing.T) {
	t.Parallel()
	var dir string
	t.Run("server", func(t *testing.T) { dir = redistest.Start(t).Dir() })
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("%s is still there: %v", dir, err)
	}
}

func TestSharedIsOneServer(t *testing.T) {
	t.Parallel()
	a, b := redistest.Shared(t), redistest.Shared(t)
	if a != b {
		t.Fatal("two calls gave two servers")
	}
	if one, other := redistest.Namespace(), redistest.Namespace(); one == other {
		t.Fatalf("two namespaces are both %q", one)
	}
	if err := a.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestMiniredisRunsScripts(t *testing.T) {
	t.Parallel()
	got, err := redistest.Miniredis(t).Eval(t.Context(), "return redis.call('INCR', KEYS[1])", []string{"k"}).Int()
	if err != nil || got != 1 {
		t.Fatalf("EVAL is %d, %v, want 1", got, err)
	}
}
