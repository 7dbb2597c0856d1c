package embedded

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

func txSet(ctx context.Context, key, value string) func(redis.Pipeliner) error {
	return func(p redis.Pipeliner) error {
		p.Set(ctx, key, value, 0)
		p.SAdd(ctx, "set", value)
		return nil
	}
}

// TestNoAcknowledgedWriteIsLost kills the process that hosts and writes, at another moment each round, and looks
// for what it had been told is written.
func TestNoAcknowledgedWriteIsLost(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	acked := map[string]bool{}
	for round := range 12 {
		c := startChild(t, "write", dir, fmt.Sprintf("START=%d", round*1_000_000))
		if got := c.line(t); got != "hosting true" {
			t.Fatalf("round %d: the child says %q", round, got)
		}
		for range 20 + 150*round {
			acked[c.line(t)] = true
		}
		for _, key := range c.kill() {
			acked[key] = true
		}
	}
	rdb := open(t, dir).Client()
	set := map[string]bool{}
	for _, m := range rdb.SMembers(t.Context(), "set").Val() {
		set[m] = true
	}
	lost := 0
	for key := range acked {
		n, _ := strconv.Atoi(key)
		if got := rdb.Get(t.Context(), "k"+key).Val(); got != key || n/4%3 == 2 && !set[key] {
			lost++
		}
	}
	if lost > 0 || len(acked) < 1000 {
		t.Fatalf("%d of %d acknowledged writes are lost", lost, len(acked))
	}
	// A script and a transaction are there wholly or not at all.
	for _, key := range rdb.LRange(t.Context(), "list", 0, -1).Val() {
		if rdb.Exists(t.Context(), "k"+key).Val() != 1 {
			t.Fatalf("%s is in the list, and its key is not there", key)
		}
	}
	for key := range set {
		if rdb.Exists(t.Context(), "k"+key).Val() != 1 {
			t.Fatalf("%s is in the set, and its key is not there", key)
		}
	}
}

func TestKilledHostIsTakenOver(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	c := startChild(t, "serve", dir)
	if got := c.line(t); got != "hosting true" {
		t.Fatalf("the child says %q", got)
	}
	s := open(t, dir)
	rdb := s.Client()
	if s.Hosting() {
		t.Fatal("two processes host the store")
	}
	must(t, rdb.Set(t.Context(), "k", "v", 0))
	must(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "x", ID: "1-0", Values: []string{"a", "b"}}))

	// A read that waits survives the death of its host.
	read := make(chan error)
	go func() {
		got, err := rdb.XRead(t.Context(), &redis.XReadArgs{Streams: []string{"x", "1-0"}, Block: 0}).Result()
		if err == nil && (len(got) != 1 || got[0].Messages[0].ID != "2-0") {
			err = fmt.Errorf("XREAD gave %v", got)
		}
		read <- err
	}()
	c.kill()
	if got, err := rdb.Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Fatalf("GET k is %q, %v after the takeover, want v", got, err)
	}
	if !s.Hosting() {
		t.Fatal("nobody took the store over")
	}
	must(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "x", ID: "2-0", Values: []string{"a", "b"}}))
	if err := <-read; err != nil {
		t.Fatal(err)
	}
}
