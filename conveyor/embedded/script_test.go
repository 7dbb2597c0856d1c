package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestScriptsBehaveAsInRedis runs scripts on the store and on a real Redis, and compares replies and data.
func TestScriptsBehaveAsInRedis(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"nothing":            "",
		"nil":                "return nil",
		"true":               "return true",
		"false":              "return false",
		"integer":            "return 42",
		"fraction":           "return 3.99",
		"negative fraction":  "return -3.99",
		"string":             "return 'a\\0b\\r\\nc'",
		"array":              "return {1, 'two', {3, {}}, false}",
		"array with hole":    "return {1, nil, 3}",
		"hash part":          "return {1, x = 2}",
		"status":             "return redis.status_reply('FINE')",
		"status table":       "return {ok = 'FINE'}",
		"error":              "return redis.error_reply('LATE too late')",
		"error without code": "return redis.error_reply('late')",
		"error table":        "return {err = 'LATE too late'}",
		"keys and args":      "return {#KEYS, #ARGV, KEYS[1], ARGV[1], ARGV[2]}",
		"set and get":        "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])",
		"status of a call":   "return redis.call('SET', KEYS[1], 'x')",
		"status field":       "return redis.call('SET', KEYS[1], 'x').ok",
		"null of a call":     "return redis.call('GET', KEYS[1]) == false",
		"number argument":    "redis.call('SET', KEYS[1], 12345678901) return redis.call('GET', KEYS[1])",
		"fraction argument":  "redis.call('SET', KEYS[1], 0.5) return redis.call('GET', KEYS[1])",
		"large numbers":      "return string.format('%.0f', 1234567890123456)",
		"arithmetic":         "return tostring(7 / 2) .. ' ' .. 7 % 3 .. ' ' .. math.floor(-1.5)",
		"tonumber":           "return {tonumber('12'), tonumber('x') == nil, tonumber('0x10')}",
		"pcall":              "redis.call('SET', KEYS[1], 'x') return redis.pcall('LPUSH', KEYS[1], 'y').err",
		"pcall of call":      "redis.call('SET', KEYS[1], 'x') local ok, e = pcall(redis.call, 'LPUSH', KEYS[1], 'y') return {tostring(ok), e.err}",
		"error keeps code":   "redis.call('SET', KEYS[1], 'x') return redis.call('LPUSH', KEYS[1], 'y')",
		"effects stay":       "redis.call('SET', KEYS[1], 'x') error('stop')",
		"error text":         "error('stop')",
		"error table raised": "error({err = 'LATE too late'})",
		"global made":        "x = 1",
		"global read":        "return x",
		"function made":      "function f() end",
		"local function":     "local function f(n) if n == 0 then return 0 end return n + f(n - 1) end return f(100)",
		"no require":         "return require('os')",
		"no os":              "return os.time()",
		"no io":              "return io.open('/etc/passwd')",
		"no print":           "print('x')",
		"no loadfile":        "return loadfile('/etc/passwd')",
		"syntax":             "return return",
		"unknown command":    "return redis.call('NOSUCH')",
		"no command":         "return redis.call()",
		"bad argument":       "return redis.call('SET', KEYS[1], {})",
		"wrong arity":        "return redis.call('GET')",
		"nested eval":        "return redis.call('EVAL', 'return 1', 0)",
		"nested multi":       "return redis.call('MULTI')",
		"sha1hex":            "return redis.sha1hex('abc')",
		"sort":               "local t = {3, 1, 2} table.sort(t) return t",
		"concat":             "return table.concat({'a', 'b'}, ',')",
		"patterns":           "return {string.match('a-12', '(%a)%-(%d+)')}",
		"bytes":              "return {string.byte('\\255\\0a', 1, 3)}",
		"unpack":             "local t = {} for i = 1, 900 do t[i] = 'm' .. i end redis.call('SADD', KEYS[1], unpack(t)) return redis.call('SCARD', KEYS[1])",
		"hash":               "redis.call('HSET', KEYS[1], 'b', 2, 'a', 1) return {redis.call('HMGET', KEYS[1], 'a', 'x'), redis.call('HLEN', KEYS[1])}",
		"list":               "redis.call('RPUSH', KEYS[1], 'a', 'b', 'c') redis.call('LTRIM', KEYS[1], 1, -1) return redis.call('LRANGE', KEYS[1], 0, -1)",
		"sorted set":         "redis.call('ZADD', KEYS[1], 2.5, 'b', '1', 'a') return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', 2.5, 'WITHSCORES', 'LIMIT', 0, 5)",
		"stream":             "redis.call('XADD', KEYS[1], 'MAXLEN', '~', 5, '7-0', 'f', 'v') return redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)",
		"stream id refused":  "redis.call('XADD', KEYS[1], '7-0', 'f', 'v') return redis.pcall('XADD', KEYS[1], '7-0', 'f', 'v').err",
		"set options":        "return {redis.call('SET', KEYS[1], 'a', 'NX'), redis.call('SET', KEYS[1], 'b', 'NX'), redis.call('SET', KEYS[1], 'c', 'XX', 'GET')}",
		"deep recursion":     "local function f() return 1 + f() end return f()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := open(t, storeDir(t)).Client(), redistest.Shared(t).Client(t)
			key := redistest.Namespace()
			run := func(replyTo func(script string, keys []string, args ...any) (any, error)) string {
				v, err := replyTo(script, []string{key}, "one", "two")
				if err != nil {
					return "error " + code(err)
				}
				return fmt.Sprintf("%T %v", v, v)
			}
			got := run(func(s string, k []string, a ...any) (any, error) { return ours.Eval(t.Context(), s, k, a...).Result() })
			want := run(func(s string, k []string, a ...any) (any, error) {
				return theirs.Eval(t.Context(), s, k, a...).Result()
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-redis +embedded):\n%s", diff)
			}
			if theirs.Exists(t.Context(), key).Val() == 0 {
				if n := ours.DBSize(t.Context()).Val(); n != 0 {
					t.Errorf("the store has %d keys, Redis none", n)
				}
				return
			}
			if diff := cmp.Diff(dumpKey(t, t.Context(), theirs, key), dumpKey(t, t.Context(), ours, key)); diff != "" {
				t.Errorf("data (-redis +embedded):\n%s", diff)
			}
		})
	}
}

// code is the part of an error that programs look at: its first word.
func code(err error) string {
	first, _, _ := strings.Cut(err.Error(), " ")
	return first
}

func TestScriptCacheOutlivesTheHost(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	s := open(t, dir)
	loaded, err := s.Client().ScriptLoad(t.Context(), "return 'loaded'").Result()
	if err != nil {
		t.Fatal(err)
	}
	must(t, s.Client().Eval(t.Context(), "return 'run'", nil))
	closeStore(t, s)
	s = open(t, dir)
	if got, err := s.Client().EvalSha(t.Context(), loaded, nil).Result(); err != nil || got != "loaded" {
		t.Errorf("EVALSHA gave %v, %v", got, err)
	}
	must(t, s.Client().Eval(t.Context(), "return 'run'", nil))
	must(t, s.Client().ScriptFlush(t.Context()))
	closeStore(t, s)
	err = open(t, dir).Client().EvalSha(t.Context(), loaded, nil).Err()
	if err == nil || code(err) != "NOSCRIPT" {
		t.Errorf("after SCRIPT FLUSH EVALSHA gave %v", err)
	}
}

// TestScriptsLeaveNothingBehind runs scripts that try to change what the next one sees.
func TestScriptsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	rdb := open(t, storeDir(t)).Client()
	for _, script := range []string{
		"rawset(_G, 'leak', 1)", "setmetatable(_G, {})", "KEYS = {'x'}", "redis = nil", "_G.leak = 1",
		"getmetatable(_G).__index = nil", "setfenv(1, {})", "return getfenv(1).leak",
	} {
		if err := rdb.Eval(t.Context(), script, []string{"a"}, "b").Err(); err == nil {
			t.Errorf("%q was accepted", script)
		}
	}
	got, err := rdb.Eval(t.Context(), "return {#KEYS, #ARGV, type(redis.call), rawget(_G, 'leak') == nil}", nil).Result()
	if diff := cmp.Diff([]any{int64(0), int64(0), "function", int64(1)}, got); err != nil || diff != "" {
		t.Errorf("the next script sees %v, %v", diff, err)
	}
}

// TestTimeStandsInScripts: a script is one moment.
func TestTimeStandsInScripts(t *testing.T) {
	t.Parallel()
	rdb := open(t, storeDir(t)).Client()
	got, err := rdb.Eval(t.Context(), `
		local a = redis.call('TIME')
		for i = 1, 10000 do redis.call('SET', KEYS[1], i) end
		local b = redis.call('TIME')
		return {a[1] == b[1], a[2] == b[2]}`, []string{"k"}).Result()
	if diff := cmp.Diff([]any{int64(1), int64(1)}, got); err != nil || diff != "" {
		t.Errorf("(-want +got): %v, %v", diff, err)
	}
}
