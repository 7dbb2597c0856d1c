package rig

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/waybill-dev/waybill/internal/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, d Durability) *Redis {
	t.Helper()
	r, err := StartRedis(t.TempDir(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func set(t *testing.T, r *Redis, key string) {
	t.Helper()
	if err := r.Client().Set(t.Context(), key, "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, r *Redis, key string) bool {
	t.Helper()
	n, err := r.Client().Exists(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// TestKill: what each setting keeps when the process dies.
func TestKill(t *testing.T) {
	t.Parallel()
	for d, keeps := range map[Durability]bool{Always: true, EverySec: true, None: false} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			r := start(t, d)
			set(t, r, "a")
			r.Kill()
			if err := r.Restart(); err != nil {
				t.Fatal(err)
			}
			if got := has(t, r, "a"); got != keeps {
				t.Errorf("it has kept what was written: %t, want %t", got, keeps)
			}
		})
	}
}

// TestPowerCut: what came in the last second is gone, and what came before is there.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	r := start(t, EverySec)
	set(t, r, "before")
	written := time.Now()
	for { // until the tail has seen it for a second
		r.tail.mu.Lock()
		old := len(r.tail.samples) > 0 && r.tail.samples[len(r.tail.samples)-1].at.Sub(written) > 1200*time.Millisecond
		r.tail.mu.Unlock()
		if old {
			break
		}
	}
	set(t, r, "after")
	since, err := r.PowerCut()
	if err != nil {
		t.Fatal(err)
	}
	if since.Before(written) || time.Since(since) < time.Second {
		t.Errorf("it lost all since %s, which was written at %s", since, written)
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	if !has(t, r, "before") || has(t, r, "after") {
		t.Errorf("before is there: %t, and after: %t", has(t, r, "before"), has(t, r, "after"))
	}
}

// TestFailover: the replica has what WAIT confirmed, and the former primary follows it.
func TestFailover(t *testing.T) {
	t.Parallel()
	r := start(t, Replica)
	for i, key := range []string{"a", "b"} {
		set(t, r, key)
		if err := WaitReplica(t.Context(), r.Client()); err != nil {
			t.Fatal(err)
		}
		if err := r.Failover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !has(t, r, key) {
			t.Errorf("failover %d lost what the replica had confirmed", i+1)
		}
	}
	r.servers[1].kill()
	if err := WaitReplica(t.Context(), r.Client()); !errors.Is(err, ErrUnreplicated) {
		t.Errorf("without a replica: got %v", err)
	}
}

// TestProxy: what is lost, held back and cut is so, and nothing else.
func TestProxy(t *testing.T) {
	t.Parallel()
	r := start(t, None)
	dir, err := testserver.TempDir("wbs") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProxy(filepath.Join(dir, "p"), r.Dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: p.Addr(), MaxRetries: -1, PoolSize: 1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = rdb.Close() })
	ask := func() error { return rdb.Incr(t.Context(), "n").Err() }
	want := func(what string, n int64, good bool, err error) {
		t.Helper()
		if got, e := r.Client().IncrBy(t.Context(), "n", 0).Result(); e != nil || got != n || (err == nil) != good {
			t.Errorf("%s: it was counted to %d, want %d; the client got %v", what, got, n, err)
		}
	}
	want("nothing", 1, true, ask())
	p.LoseRequests(1)
	want("a lost request", 1, false, ask())
	want("the next", 2, true, ask())
	p.LoseReplies(1)
	want("a lost reply", 3, false, ask())
	want("the next", 4, true, ask())
	if p.Lost() != 2 {
		t.Errorf("it lost %d", p.Lost())
	}

	p.Partition()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	want("a partition", 4, false, rdb.Incr(ctx, "n").Err())
	p.Heal()

	conn, err := net.Dial("unix", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewReader(conn)
	if line, err := replies.ReadString('\n'); err != nil || line != "+PONG\r\n" {
		t.Fatalf("PING was answered by %q, %v", line, err)
	}
	p.Cut()
	if _, err := replies.ReadByte(); err == nil {
		t.Error("a connection lives that was cut")
	}
}
