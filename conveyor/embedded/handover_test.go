package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestHandoverIsSilent closes the host again and again while others write: nobody sees an error, and what was
// counted is there.
func TestHandoverIsSilent(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	joiner := open(t, dir) // hosts first, and again whenever it is its turn
	rdb := joiner.Client()
	var counted atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			key := fmt.Sprint("n", i)
			for {
				select {
				case <-stop:
					return
				default:
				}
				var err error
				if i%2 == 0 {
					err = rdb.Incr(t.Context(), key).Err()
				} else {
					_, err = rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
						p.Incr(t.Context(), key)
						p.Get(t.Context(), key)
						return nil
					})
				}
				if err != nil {
					t.Errorf("a joiner sees the handover: %v", err)
					return
				}
				counted.Add(1)
			}
		})
	}
	for round := range int64(15) {
		for counted.Load() < 10*round && !t.Failed() { // others are at work in each round
			must(t, rdb.Ping(t.Context()))
		}
		other := openWith(t, dir, Options{})
		joiner.Suspend()
		must(t, other.Client().Incr(t.Context(), "other"))
		if !other.Hosting() {
			t.Error("a suspended store is still host")
		}
		joiner.Resume()
		closeStore(t, other)
		must(t, rdb.Incr(t.Context(), "other"))
	}
	close(stop)
	writers.Wait()
	var sum int64
	for i := range 4 {
		n, err := rdb.Get(t.Context(), fmt.Sprint("n", i)).Int64()
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != counted.Load() {
		t.Fatalf("the counters add up to %d, want %d", sum, counted.Load())
	}
	if n := rdb.Get(t.Context(), "other").Val(); n != "30" {
		t.Fatalf("other is %s, want 30", n)
	}
}

// TestHandoverKeepsWaiters hands over while a pop waits: it waits on at the next host, as long as it was told to.
func TestHandoverKeepsWaiters(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	host := open(t, dir)
	joiner := open(t, dir)
	rdb := joiner.Client()
	popped := make(chan string)
	go func() {
		got, err := rdb.BLPop(t.Context(), 0, "a", "b").Result()
		popped <- fmt.Sprint(got, err)
	}()
	waiters(t, host, 1)
	closeStore(t, host)
	waiters(t, joiner, 1)
	must(t, rdb.RPush(t.Context(), "b", "1"))
	if got := <-popped; got != "[b 1] <nil>" {
		t.Fatalf("BLPOP gave %s", got)
	}
	if n := rdb.Exists(t.Context(), "b").Val(); n != 0 {
		t.Fatal("the element was given and is still there")
	}
}

// waiters returns when n sessions wait at the host that s is or becomes.
func waiters(tb testing.TB, s *Store, n int) {
	tb.Helper()
	for tb.Context().Err() == nil {
		if err := s.Client().Ping(tb.Context()).Err(); err != nil {
			tb.Fatal(err)
		}
		s.mu.Lock()
		h := s.host
		s.mu.Unlock()
		if h == nil {
			continue
		}
		h.mu.Lock()
		got := len(h.waiting.all())
		h.mu.Unlock()
		if got == n {
			return
		}
	}
}

func TestSuspendedStoreWaitsForResume(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	must(t, s.Client().Set(t.Context(), "k", "v", 0))
	s.Suspend()
	if s.Hosting() {
		t.Fatal("a suspended store is host")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Client().Get(ctx, "k").Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a command of a suspended store ended with %v, want the deadline", err)
	}
	s.Resume()
	if got, err := s.Client().Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Fatalf("GET k is %q, %v after Resume, want v", got, err)
	}
}

// TestMutationIsNotResent loses the reply of a mutating command, by a host that dies when it has executed it: the
// caller sees the error, and the command was executed once.
func TestMutationIsNotResent(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	s := open(t, dir)
	rdb := s.Client()
	must(t, rdb.Incr(t.Context(), "n"))
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	h.mu.Lock()
	for session := range h.sessions {
		session.out.fail(errors.New("the line is cut")) // executes, and cannot answer
	}
	h.mu.Unlock()
	done := make(chan error)
	go func() { done <- rdb.Incr(t.Context(), "n").Err() }()
	executed := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		got, _ := h.ds.m.DB(0).Get("n")
		return got == "2"
	}
	for !executed() {
		if t.Context().Err() != nil {
			t.Fatal("the command never arrived")
		}
	}
	s.Suspend() // the connection ends without an answer
	s.Resume()
	if err := <-done; err == nil {
		t.Fatal("a mutating command whose reply was lost succeeded")
	}
	if got := rdb.Get(t.Context(), "n").Val(); got != "2" {
		t.Fatalf("n is %s, want 2: the command was sent again", got)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	closeStore(t, s)
	closeStore(t, s)
	if err := s.Client().Get(t.Context(), "k").Err(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Fatalf("a closed store answers %v", err)
	}
	s.Suspend()
	s.Resume()
}
