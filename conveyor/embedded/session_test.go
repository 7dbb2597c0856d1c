package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

// dialRaw is a bare connection to a store's host.
func dialRaw(t *testing.T, s *Store) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", s.paths.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestMalformedInput sends what no client sends. The host answers or hangs up, and serves on.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	for input, want := range map[string]string{
		"*0\r\n*1\r\n$4\r\nPING\r\n":           "+PONG\r\n",
		"*-1\r\n*1\r\n$4\r\nPING\r\n":          "+PONG\r\n",
		"\r\n*1\r\n$4\r\nPING\r\n":             "+PONG\r\n",
		"PING\r\n":                             "-ERR Protocol error",
		"*1\r\n:4\r\n":                         "-ERR Protocol error",
		"*1\r\n$-1\r\n":                        "-ERR Protocol error",
		"*99999999999999999999\r\n":            "-ERR Protocol error",
		"*1048577\r\n":                         "-ERR Protocol error",
		"*1\r\n$99999999999\r\n":               "-ERR Protocol error",
		"*x\r\n":                               "-ERR Protocol error",
		"*1\r\n$4\r\nPINGxx":                   "-ERR Protocol error",
		"*" + strings.Repeat("1", 1<<17):       "-ERR Protocol error",
		"*1\r\n$0\r\n\r\n":                     "-ERR unknown command",
		"*2\r\n$6\r\nSELECT\r\n$2\r\n99\r\n":   "-ERR DB index",
		"*1\r\n$6\r\nSELECT\r\n":               "-ERR DB index",
		"*1\r\n$4\r\nXADD\r\n":                 "-ERR wrong number",
		"*1\r\n$4\r\nEVAL\r\n":                 "-ERR wrong number",
		"*1\r\n$5\r\nBLPOP\r\n":                "-ERR wrong number",
		"*1\r\n$9\r\nSUBSCRIBE\r\n":            "-ERR wrong number",
		"*2\r\n$5\r\nXREAD\r\n$5\r\nBLOCK\r\n": "-ERR wrong number",
		"*1\r\n$5\r\nHELLO\r\n":                "-ERR wrong number",
		"*5\r\n$4\r\nXADD\r\n$1\r\nk\r\n$6\r\nMAXLEN\r\n$1\r\n~\r\n$1\r\n1\r\n": "-ERR",
		"*1\r\n$6\r\nSWAPDB\r\n":                      "-ERR unknown command",
		"*3\r\n$5\r\nPFADD\r\n$1\r\nk\r\n$1\r\nv\r\n": "-ERR unknown command",
	} {
		conn := dialRaw(t, s)
		if _, err := io.WriteString(conn, input); err != nil && !isBroken(err) {
			t.Fatal(err)
		}
		_ = conn.(*net.UnixConn).CloseWrite()
		reply, err := bufio.NewReader(conn).ReadString('\n')
		if !strings.HasPrefix(reply, want) && !(isBroken(err) && len(input) > 1<<16) {
			t.Errorf("%.40q is answered by %q, %v, want %q", input, reply, err, want)
		}
		_ = conn.Close()
	}
	must(t, s.Client().Set(t.Context(), "k", "v", 0))
}

// TestSlowSubscriberFreezesNobody publishes far more than any buffer holds to one who does not read.
func TestSlowSubscriberFreezesNobody(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	slow := dialRaw(t, s)
	if _, err := io.WriteString(slow, "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n"); err != nil {
		t.Fatal(err)
	}
	rdb := s.Client()
	sub := rdb.Subscribe(t.Context(), "c")
	defer func() { _ = sub.Close() }()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	for rdb.PubSubNumSub(t.Context(), "c").Val()["c"] < 2 {
		if t.Context().Err() != nil {
			t.Fatal("nobody subscribed")
		}
	}
	message := strings.Repeat("x", 100<<10)
	for range maxUnsent/len(message) + 10 {
		must(t, rdb.Publish(t.Context(), "c", message))
		if m, err := sub.ReceiveMessage(t.Context()); err != nil || len(m.Payload) != len(message) {
			t.Fatalf("the subscriber that reads gets %v", err)
		}
	}
	// The one who does not read is disconnected in the end, and what it cost is free again.
	for rdb.PubSubNumSub(t.Context(), "c").Val()["c"] != 1 {
		if t.Context().Err() != nil {
			t.Fatal("the slow subscriber is still there")
		}
	}
}

// TestBigPipelineDoesNotDeadlock sends all of a pipeline, whose replies fill any socket buffer, before it reads.
func TestBigPipelineDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	rdb := s.Client()
	value := strings.Repeat("v", 10<<10)
	must(t, rdb.Set(t.Context(), "k", value, 0))
	cmds, err := rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for range 3000 {
			p.Get(t.Context(), "k")
			p.Set(t.Context(), "l", value, 0)
		}
		return nil
	})
	if err != nil || len(cmds) != 6000 {
		t.Fatalf("%d replies, %v", len(cmds), err)
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	rdb := open(t, storeDir(t)).Client()
	must(t, rdb.Set(t.Context(), "n", "1", 0))
	bump := func(meanwhile string) error {
		return rdb.Watch(t.Context(), func(tx *redis.Tx) error {
			if meanwhile != "" {
				must(t, rdb.Set(t.Context(), "n", meanwhile, 0))
			}
			_, err := tx.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
				p.Incr(t.Context(), "n")
				p.LPush(t.Context(), "l", "x")
				return nil
			})
			return err
		}, "n")
	}
	if err := bump(""); err != nil {
		t.Errorf("a transaction whose key nobody touched: %v", err)
	}
	if err := bump("7"); !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("a transaction whose key changed: %v", err)
	}
	_, err := rdb.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Incr(t.Context(), "n")
		p.Do(t.Context(), "NOSUCH")
		return nil
	})
	if err == nil {
		t.Errorf("a transaction with an unknown command: %v", err)
	}
	want := map[string]any{"n": "7", "l": []string{"x"}}
	if diff := cmp.Diff(want, dump(t, rdb)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBlockingCommands serves each from a change made after it waits, in the order they came.
func TestBlockingCommands(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wait, change []any
		want         string
	}{
		"BLPOP":      {[]any{"BLPOP", "a", "b", "0"}, []any{"RPUSH", "b", "1", "2"}, "[b 1]"},
		"BRPOP":      {[]any{"BRPOP", "a", "b", "0"}, []any{"RPUSH", "b", "1", "2"}, "[b 2]"},
		"BLMOVE":     {[]any{"BLMOVE", "a", "b", "LEFT", "RIGHT", "0"}, []any{"RPUSH", "a", "1"}, "1"},
		"BRPOPLPUSH": {[]any{"BRPOPLPUSH", "a", "b", "0"}, []any{"RPUSH", "a", "1"}, "1"},
		"BLMPOP":     {[]any{"BLMPOP", "0", "2", "a", "b", "LEFT"}, []any{"RPUSH", "b", "1"}, "[b [1]]"},
		"BZPOPMIN":   {[]any{"BZPOPMIN", "a", "0"}, []any{"ZADD", "a", "2", "y", "1", "x"}, "[a x 1]"},
		"BZPOPMAX":   {[]any{"BZPOPMAX", "a", "0"}, []any{"ZADD", "a", "2", "y", "1", "x"}, "[a y 2]"},
		"XREAD":      {[]any{"XREAD", "BLOCK", "0", "STREAMS", "a", "$"}, []any{"XADD", "a", "5-0", "f", "v"}, "[[a [[5-0 [f v]]]]]"},
		"renamed":    {[]any{"BLPOP", "a", "0"}, []any{"RENAME", "other", "a"}, "[a o]"},
		"script":     {[]any{"BLPOP", "a", "0"}, []any{"EVAL", "return redis.call('RPUSH', KEYS[1], '1')", "1", "a"}, "[a 1]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := storeDir(t)
			s := open(t, dir)
			rdb := s.Client()
			must(t, rdb.RPush(t.Context(), "other", "o"))
			got := make(chan string)
			go func() {
				v, err := rdb.Do(t.Context(), test.wait...).Result()
				got <- fmt.Sprint(v)
				if err != nil {
					t.Error(err)
				}
			}()
			waiters(t, s, 1)
			must(t, rdb.Do(t.Context(), test.change...))
			if v := <-got; v != test.want {
				t.Errorf("the one who waited got %s, want %s", v, test.want)
			}
			before := dump(t, rdb)
			closeStore(t, s)
			if diff := cmp.Diff(before, dump(t, open(t, dir).Client())); diff != "" {
				t.Errorf("after a restart (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitersAreServedInOrder(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	rdb := s.Client()
	const n = 20
	var got [n]chan string
	for i := range n {
		got[i] = make(chan string, 1)
		go func() { got[i] <- fmt.Sprint(rdb.BLPop(t.Context(), 0, "k").Result()) }()
		waiters(t, s, i+1)
	}
	values := make([]any, n)
	for i := range n {
		values[i] = i
	}
	must(t, rdb.RPush(t.Context(), "k", values...))
	for i := range n {
		if v, want := <-got[i], fmt.Sprintf("[k %d] <nil>", i); v != want {
			t.Errorf("waiter %d got %s, want %s", i, v, want)
		}
	}
}

func TestBlockingEnds(t *testing.T) {
	t.Parallel()
	s := open(t, storeDir(t))
	rdb := s.Client()
	if err := rdb.Do(t.Context(), "BLPOP", "k", "0.01").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("BLPOP ended with %v, want no value", err)
	}
	if err := rdb.XRead(t.Context(), &redis.XReadArgs{Streams: []string{"k", "0"}, Block: 10 * time.Millisecond}).Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("XREAD ended with %v, want no value", err)
	}
	for _, args := range [][]any{
		{"BLPOP", "k", "-1"}, {"BLPOP", "k", "x"}, {"BLPOP", "k", "1e300"}, {"BLMPOP", "0", "9", "k", "LEFT"},
		{"XREAD", "BLOCK", "-1", "STREAMS", "k", "0"}, {"XREAD", "BLOCK", "1", "STREAMS", "k"}, {"XREAD", "BLOCK", "1", "STREAMS", "k", "x"},
	} {
		if err := rdb.Do(t.Context(), args...).Err(); err == nil || errors.Is(err, redis.Nil) {
			t.Errorf("%v ended with %v", args, err)
		}
	}
	// One who hangs up takes nothing with it.
	conn := dialRaw(t, s)
	if _, err := io.WriteString(conn, "*3\r\n$5\r\nBLPOP\r\n$1\r\nk\r\n$1\r\n0\r\n"); err != nil {
		t.Fatal(err)
	}
	waiters(t, s, 1)
	_ = conn.Close()
	waiters(t, s, 0)
	must(t, rdb.RPush(t.Context(), "k", "1"))
	if n := rdb.LLen(t.Context(), "k").Val(); n != 1 {
		t.Errorf("the list has %d elements, want 1", n)
	}
}
