package conveyor

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestLibraries loads every script as a library into a server of its own, twice.
func TestLibraries(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client(t)
	for _, s := range scriptList {
		if s.alone {
			continue
		}
		for range 2 {
			if err := s.asLibrary().load(t.Context(), rdb, ""); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

// TestFunctions adds jobs where functions are missing, gone or not allowed: each time the call does what it should.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		breaks  []any
		scripts bool // calls go by sums of scripts from then on
	}{
		{name: "new server"},
		{name: "flushed", breaks: []any{"FUNCTION", "FLUSH"}},
		{name: "no right to call", breaks: []any{"ACL", "SETUSER", "default", "-fcall"}, scripts: true},
		{name: "no right to load", breaks: []any{"ACL", "SETUSER", "default", "-function|load"}, scripts: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rdb := redistest.Start(t).Client(t)
			c, err := NewClient(rdb, Options{})
			if err != nil {
				t.Fatal(err)
			}
			add := func(uuid string) {
				t.Helper()
				if err := c.Add(t.Context(), &wire.Job{Uuid: uuid, Type: "t", Queue: "q"}); err != nil {
					t.Error(err)
				}
			}
			if tt.breaks != nil && !tt.scripts {
				add("before")
			}
			if tt.breaks != nil {
				if err := rdb.Do(t.Context(), tt.breaks...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			add("a")
			add("b")
			if got := c.noFunctions.Load(); got != tt.scripts {
				t.Errorf("goes by scripts: %v", got)
			}
			states, err := c.Statuses(t.Context(), []string{"a", "b"})
			if err != nil || states[0].State != StateQueued || states[1].State != StateQueued {
				t.Errorf("%v, %v", states, err)
			}
		})
	}
}

// TestFunctionsBeginAnew: what a call has in its tables, and what ended in the middle of one, is nothing to the next.
func TestFunctionsBeginAnew(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client(t)
	c, err := NewClient(rdb, Options{})
	if err != nil {
		t.Fatal(err)
	}
	job := func(uuid, queue string) *wire.Job { return &wire.Job{Uuid: uuid, Type: "t", Queue: queue} }
	if err := rdb.Set(t.Context(), c.Prefix()+"queue:bad", "no list", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := c.Add(t.Context(), job("a", "bad")); !errors.Is(err, ErrCorrupt) {
			t.Errorf("add to a queue that is no list: %v", err)
		}
		if err := rdb.FCall(t.Context(), applyScript.asLibrary().name, []string{c.Prefix() + "status", "x"}, "no", "arguments").Err(); err == nil {
			t.Error("nonsense is taken")
		}
	}
	if err := rdb.Del(t.Context(), c.Prefix()+"queue:bad").Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.AddMany(t.Context(), []*wire.Job{job("a", "bad"), job("b", "good")}); err != nil {
		t.Error(err)
	}
	found, err := c.Verify(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestHoister takes a piece apart.
func TestHoister(t *testing.T) {
	t.Parallel()
	const piece = `local ENDED = {C = true} -- letters
local KEY = PRE .. 'x'
local a, b =
  1, 2
local upper = string.upper
local made = {n = 0}
local later
local strict    -- said by the script
function made.up(x) return x end
do
local parts = {}
function later(r)
  parts[1] = r
end
made.later = later
end
do
  local t = 1
  a = t
end
if a then b = 3 end
if b then
  a = 2
end
`
	const want = `local ENDED = {C = true} -- letters
local KEY
local a, b
local upper
local made
made = {}
local later
local strict
function made.up(x) return x end
begin[#begin + 1] = function()
KEY = PRE .. 'x'
a, b =
  1, 2
if not upper then
upper = string.upper
end
do
local new_made = {n = 0}
renew(made, new_made)
end
strict = nil
end
do
local parts
function later(r)
  parts[1] = r
end
begin[#begin + 1] = function()
parts = {}
made.later = later
end
end
begin[#begin + 1] = function()
do
  local t = 1
  a = t
end
if a then b = 3 end
if b then
  a = 2
end
end
`
	h := hoister{functions: map[string]bool{}, tables: map[string]bool{}}
	h.note(piece)
	h.piece(piece)
	if got := h.text.String(); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// BenchmarkLibrary makes the largest one, as the first call of a process does.
func BenchmarkLibrary(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newLibrary(exchangeScript.luaText)
	}
}

// BenchmarkCall measures a call that has nothing to do, as a function and as a script, by the server's own count.
func BenchmarkCall(b *testing.B) {
	for _, tt := range []struct {
		name    string
		scripts bool
	}{{"function", false}, {"script", true}} {
		b.Run(tt.name, func(b *testing.B) {
			rdb := redistest.Start(b).Client(b)
			c, err := NewClient(rdb, Options{})
			if err != nil {
				b.Fatal(err)
			}
			c.noFunctions.Store(tt.scripts)
			tick := func() {
				if _, err := c.Tick(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			tick()
			b.ReportAllocs()
			for b.Loop() {
				tick()
			}
			reportCall(b, rdb)
		})
	}
}

// reportCall reports what the server needed for each call of a script.
func reportCall(b *testing.B, rdb *redis.Client) {
	b.Helper()
	text, err := rdb.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "cmdstat_fcall:") || strings.HasPrefix(line, "cmdstat_evalsha:") {
			b.Log(strings.TrimSpace(line))
		}
	}
}
