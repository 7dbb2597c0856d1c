package embedded

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// handClock is a clock that a test moves.
type handClock struct{ ms atomic.Int64 }

func newHandClock() *handClock {
	c := &handClock{}
	c.ms.Store(1_800_000_000_000)
	return c
}

func (c *handClock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *handClock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// TestKeysExpireOnTheMillisecond gives a key ten seconds in every way there is.
func TestKeysExpireOnTheMillisecond(t *testing.T) {
	t.Parallel()
	const at = 1_800_000_010
	for name, commands := range map[string][][]any{
		"EXPIRE":    {{"SET", "k", "v"}, {"EXPIRE", "k", 10}},
		"PEXPIRE":   {{"RPUSH", "k", "v"}, {"PEXPIRE", "k", 10000}},
		"EXPIREAT":  {{"SADD", "k", "v"}, {"EXPIREAT", "k", at}},
		"PEXPIREAT": {{"HSET", "k", "f", "v"}, {"PEXPIREAT", "k", at * 1000}},
		"SET EX":    {{"SET", "k", "v", "EX", 10}},
		"SET px":    {{"SET", "k", "v", "px", 10000}},
		"SET EXAT":  {{"SET", "k", "v", "EXAT", at}},
		"SET PXAT":  {{"SET", "k", "v", "PXAT", at * 1000}},
		"KEEPTTL":   {{"SET", "k", "v", "EX", 10}, {"SET", "k", "w", "KEEPTTL"}},
		"SETEX":     {{"SETEX", "k", 10, "v"}},
		"PSETEX":    {{"PSETEX", "k", 10000, "v"}},
		"GETEX":     {{"SET", "k", "v"}, {"GETEX", "k", "EX", 10}},
		"RENAME":    {{"SET", "l", "v", "EX", 10}, {"RENAME", "l", "k"}},
		"RENAMENX":  {{"SET", "l", "v", "EX", 10}, {"RENAMENX", "l", "k"}},
		"later":     {{"SET", "k", "v", "EX", 5}, {"EXPIRE", "k", 10}},
		"sooner":    {{"SET", "k", "v", "EX", 50}, {"EXPIRE", "k", 10}},
		"GT":        {{"SET", "k", "v", "EX", 10}, {"EXPIRE", "k", 5, "GT"}},
		"script":    {{"EVAL", "redis.call('SET', KEYS[1], 'v') return redis.call('PEXPIRE', KEYS[1], 10000)", 1, "k"}},
		"MULTI":     {{"MULTI"}, {"SET", "k", "v", "EX", 10}, {"EXEC"}},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s restarts %t", name, restarts), func(t *testing.T) {
				t.Parallel()
				clock := newHandClock()
				o := testOptions(t)
				o.now = clock.now
				dir := storeDir(t)
				s := openWith(t, dir, o)
				conn := s.rdb.Conn()
				for _, c := range commands {
					must(t, conn.Do(t.Context(), c...))
				}
				_ = conn.Close()
				clock.advance(9999 * time.Millisecond)
				if restarts {
					closeStore(t, s)
					s = openWith(t, dir, o)
				}
				rdb := s.Client()
				if ttl := rdb.PTTL(t.Context(), "k").Val(); ttl != time.Millisecond {
					t.Errorf("the key has %s left, want 1 ms", ttl)
				}
				if got := rdb.PExpireTime(t.Context(), "k").Val(); got.Milliseconds() != at*1000 {
					t.Errorf("the key expires at %d, want %d", got.Milliseconds(), at*1000)
				}
				clock.advance(time.Millisecond)
				if restarts {
					closeStore(t, s)
					s = openWith(t, dir, o)
				}
				if n := s.Client().Exists(t.Context(), "k").Val(); n != 0 {
					t.Error("the key is still there")
				}
			})
		}
	}
}

func TestKeysThatDoNotExpire(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	o := testOptions(t)
	o.now = clock.now
	dir := storeDir(t)
	s := openWith(t, dir, o)
	for _, c := range [][]any{
		{"SET", "persist", "v", "EX", 10}, {"PERSIST", "persist"},
		{"SET", "overwritten", "v", "EX", 10}, {"SET", "overwritten", "v"},
		{"SET", "getset", "v", "EX", 10}, {"GETSET", "getset", "v"},
		{"SET", "getex", "v", "EX", 10}, {"GETEX", "getex", "PERSIST"},
		{"SET", "deleted", "v", "EX", 10}, {"DEL", "deleted"}, {"SET", "deleted", "v"},
		{"SET", "none", "v"},
	} {
		must(t, s.Client().Do(t.Context(), c...))
	}
	clock.advance(time.Hour)
	want := map[string]any{"persist": "v", "overwritten": "v", "getset": "v", "getex": "v", "deleted": "v", "none": "v"}
	if diff := cmp.Diff(want, dump(t, s.Client())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	closeStore(t, s)
	if diff := cmp.Diff(want, dump(t, openWith(t, dir, o).Client())); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

// TestExpiryIsPartOfTheHistory uses a key again after it expired: replay must not find the old one, whatever the
// clock says by then.
func TestExpiryIsPartOfTheHistory(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	o := testOptions(t)
	o.now = clock.now
	dir := storeDir(t)
	s := openWith(t, dir, o)
	must(t, s.Client().Set(t.Context(), "n", "text", time.Second))
	clock.advance(2 * time.Second)
	must(t, s.Client().Incr(t.Context(), "n")) // an error if the text were still there
	clock.advance(-time.Hour)
	closeStore(t, s)
	s = openWith(t, dir, o)
	if got := s.Client().Get(t.Context(), "n").Val(); got != "1" {
		t.Errorf("n is %q, want 1", got)
	}
}

func TestExpiryRefusesNonsense(t *testing.T) {
	t.Parallel()
	rdb := open(t, storeDir(t)).Client()
	must(t, rdb.RPush(t.Context(), "list", "v"))
	must(t, rdb.Set(t.Context(), "k", "v", 0))
	before := dump(t, rdb)
	for _, c := range [][]any{
		{"SET", "k", "w", "EX", 0}, {"SET", "k", "w", "EX", "x"}, {"SET", "k", "w", "EX"}, {"SET", "k", "w", "PX", -5},
		{"SET", "k", "w", "EX", "9223372036854775807"}, {"SET", "k", "w", "EX", 5, "PX", 5},
		{"SETEX", "k", 0, "w"}, {"PSETEX", "k", "x", "w"}, {"EXPIRE", "k", "x"}, {"EXPIRE", "k", "9223372036854775807"},
		{"EXPIRE", "k", 5, "NX", "XX"}, {"GETEX", "k", "EX", 0}, {"GETEX", "list", "EX", 5}, {"GETEX", "k", "EX"},
		{"TTL"}, {"TTL", "a", "b"}, {"EXPIRE", "k"},
	} {
		if err := rdb.Do(t.Context(), c...).Err(); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
	if diff := cmp.Diff(before, dump(t, rdb)); diff != "" {
		t.Errorf("refused commands had effects (-want +got):\n%s", diff)
	}
	must(t, rdb.Do(t.Context(), "EXPIRE", "k", -1))
	if n := rdb.Exists(t.Context(), "k").Val(); n != 0 {
		t.Error("a deadline in the past left the key there")
	}
}
