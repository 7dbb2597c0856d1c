package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestStoreBehavesAsRedis runs random commands on the store and on a real Redis: replies and data are the same, and
// the data is the same again when the store has been closed, killed or compacted in between.
func TestStoreBehavesAsRedis(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			g := generator{rand.New(rand.NewPCG(seed, 1))}
			server := redistest.Start(t).Options()
			server.Protocol = 2
			theirs := redis.NewClient(server)
			defer func() { _ = theirs.Close() }()
			dir := storeDir(t)
			o := testOptions(t)
			o.CompactAt = leastCompactAt
			s := openWith(t, dir, o)
			for step := range 600 {
				c := g.command()
				got, want := reply(t, s.Client(), c), reply(t, theirs, c)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("step %d, %v (-redis +embedded):\n%s", step, c, diff)
				}
				switch g.IntN(100) {
				case 0:
					closeStore(t, s)
					s = openWith(t, dir, o)
				case 1:
					s.Suspend() // leaves the journal as a crash would, uncompacted
					s.Resume()
				case 2:
					s.mu.Lock()
					h := s.host
					s.mu.Unlock()
					if h != nil {
						h.upkeep()
					}
				default:
					continue
				}
				if diff := cmp.Diff(dump(t, theirs), dump(t, s.Client())); diff != "" {
					t.Fatalf("step %d, after %v and a restart (-redis +embedded):\n%s", step, c, diff)
				}
			}
			closeStore(t, s)
			if diff := cmp.Diff(dump(t, theirs), dump(t, openReadOnly(t, dir).Client())); diff != "" {
				t.Fatalf("at the end, read only (-redis +embedded):\n%s", diff)
			}
		})
	}
}

func reply(tb testing.TB, rdb redis.UniversalClient, c []any) string {
	tb.Helper()
	v, err := rdb.Do(context.Background(), c...).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "nil"
	case err != nil:
		return "error " + code(err)
	}
	return fmt.Sprintf("%T %v", v, v)
}

// generator makes commands on few keys, so that they meet, and with types that mostly fit.
type generator struct{ *rand.Rand }

func (g generator) pick(all ...string) string { return all[g.IntN(len(all))] }

func (g generator) key(kind string) string {
	if g.IntN(40) == 0 {
		kind = g.pick("s", "n", "h", "l", "t", "z", "x")
	}
	return kind + g.pick("1", "2")
}

func (g generator) member() string {
	return g.pick("a", "b", "c", "d", "e", "", "ü\r\n\x00", "long "+fmt.Sprint(g.IntN(30)))
}

func (g generator) number() string { return fmt.Sprint(g.IntN(40) - 10) }

// deadline is a time so far off that it does not pass within the test.
func (g generator) deadline() int64 {
	return time.Date(2100, 1, 1, 0, 0, g.IntN(1000), 0, time.UTC).Unix()
}

func (g generator) members(most int) []any {
	var all []any
	for range 1 + g.IntN(most) {
		all = append(all, g.member())
	}
	return all
}

func (g generator) command() []any {
	k, m, n := g.key, g.member, g.number
	with := func(head ...any) func(...any) []any { return func(rest ...any) []any { return append(head, rest...) } }
	all := []func() []any{
		func() []any { return []any{"SET", k("s"), m()} },
		func() []any { return []any{"SET", k("s"), m(), g.pick("NX", "XX", "GET", "KEEPTTL")} },
		func() []any { return []any{"SET", k("s"), m(), "EXAT", g.deadline(), g.pick("NX", "XX", "GET")} },
		func() []any { return []any{"GETSET", k("s"), m()} },
		func() []any { return []any{"GETDEL", k("s")} },
		func() []any { return []any{"GETEX", k("s"), "EXAT", g.deadline()} },
		func() []any { return []any{"GETEX", k("s"), "PERSIST"} },
		func() []any { return []any{"APPEND", k("s"), m()} },
		func() []any { return []any{"SETRANGE", k("s"), g.IntN(5), m()} },
		func() []any { return []any{"SETNX", k("s"), m()} },
		func() []any { return []any{"MSET", "s1", m(), "s2", m()} },
		func() []any { return []any{"MSETNX", k("s"), m(), k("s"), m()} },
		func() []any { return []any{"INCRBY", k("n"), n()} },
		func() []any { return []any{"DECR", k("n")} },
		func() []any { return []any{"DEL", k(g.pick("s", "n", "h", "l", "t", "z", "x"))} },
		func() []any { return []any{"UNLINK", k("s"), k("l")} },
		func() []any { return []any{"RENAME", k("s"), k("s")} },
		func() []any { return []any{"RENAMENX", k("h"), k("h")} },
		func() []any { return []any{"EXPIREAT", k("s"), g.deadline(), g.pick("NX", "XX", "GT", "LT")} },
		func() []any { return []any{"PEXPIREAT", k("h"), g.deadline() * 1000} },
		func() []any { return []any{"EXPIRE", k("t"), -g.IntN(2)} }, // at once
		func() []any { return []any{"PERSIST", k(g.pick("s", "h", "t"))} },
		func() []any { return []any{"HSET", k("h"), m(), m(), m(), m()} },
		func() []any { return []any{"HSETNX", k("h"), m(), m()} },
		func() []any { return with("HDEL", k("h"))(g.members(3)...) },
		func() []any { return []any{"HINCRBY", k("h"), "count", n()} },
		func() []any { return []any{"HMGET", k("h"), m(), "count"} },
		func() []any { return with(g.pick("LPUSH", "RPUSH", "LPUSHX", "RPUSHX"), k("l"))(g.members(4)...) },
		func() []any { return []any{g.pick("LPOP", "RPOP"), k("l")} },
		func() []any { return []any{"LPOP", k("l"), g.IntN(3)} },
		func() []any { return []any{"LREM", k("l"), g.IntN(5) - 2, m()} },
		func() []any { return []any{"LSET", k("l"), g.IntN(4), m()} },
		func() []any { return []any{"LTRIM", k("l"), g.IntN(3), -1 - g.IntN(2)} },
		func() []any { return []any{"LTRIM", k("l"), -5 - g.IntN(9), 5 + g.IntN(9)} },
		func() []any { return []any{"LMOVE", k("l"), k("l"), g.pick("LEFT", "RIGHT"), g.pick("LEFT", "RIGHT")} },
		func() []any { return []any{"RPOPLPUSH", k("l"), k("l")} },
		func() []any { return []any{"BLPOP", k("l"), k("l"), "0.001"} },
		func() []any { return []any{"LRANGE", k("l"), n(), n()} },
		func() []any { return []any{"LINDEX", k("l"), n()} },
		func() []any { return []any{"LMPOP", 2, "l1", "l2", g.pick("LEFT", "RIGHT"), "COUNT", 1 + g.IntN(3)} },
		func() []any { return with("SADD", k("t"))(g.members(4)...) },
		func() []any { return with("SREM", k("t"))(g.members(3)...) },
		func() []any { return []any{"SMOVE", k("t"), k("t"), m()} },
		func() []any { return []any{g.pick("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"), k("t"), "t1", "t2"} },
		func() []any { return []any{"SCARD", k("t")} },
		func() []any { return []any{"ZADD", k("z"), n(), m(), n(), m()} },
		func() []any { return []any{"ZADD", k("z"), g.pick("NX", "XX", "GT", "LT", "CH"), n(), m()} },
		func() []any { return []any{"ZADD", k("z"), g.pick("1e20", "-inf", "+inf", "0.125", "-2.5"), m()} },
		func() []any { return []any{"ZINCRBY", k("z"), g.pick("1", "-2", "0.5"), "counter"} },
		func() []any { return with("ZREM", k("z"))(g.members(3)...) },
		func() []any { return []any{g.pick("ZPOPMIN", "ZPOPMAX"), k("z"), g.IntN(3)} },
		func() []any { return []any{"ZREMRANGEBYSCORE", k("z"), n(), n()} },
		func() []any { return []any{"ZREMRANGEBYRANK", k("z"), 0, g.IntN(2)} },
		func() []any { return []any{"ZRANGEBYSCORE", k("z"), "-inf", n(), "WITHSCORES", "LIMIT", 0, 3} },
		func() []any {
			return []any{"XADD", k("x"), "MAXLEN", g.pick("=", "~"), 1000, fmt.Sprint(g.IntN(60), "-", g.IntN(3)), m(), m()}
		},
		func() []any { return []any{"XADD", k("x"), "NOMKSTREAM", fmt.Sprint(g.IntN(60), "-1"), m(), m()} },
		func() []any { return []any{"XDEL", k("x"), fmt.Sprint(g.IntN(60), "-1")} },
		func() []any {
			return []any{g.pick("XRANGE", "XREVRANGE"), k("x"), g.pick("-", "+", "(5-1", "7", "30-1"), g.pick("-", "+", "(40", "9"), "COUNT", 1 + g.IntN(9)}
		},
		func() []any { return []any{"XREAD", "COUNT", 2, "STREAMS", "x1", "x2", "5", "20-1"} },
		func() []any { return []any{"EVAL", "return redis.call('RPUSH', KEYS[1], ARGV[1])", 1, k("l"), m()} },
		func() []any {
			return []any{"EVAL", "redis.call('SET', KEYS[1], ARGV[1]) redis.call('LPUSH', KEYS[2], ARGV[1]) return redis.call('INCR', KEYS[3])",
				3, k("s"), k("l"), k("n"), m()}
		},
	}
	return all[g.IntN(len(all))]()
}
