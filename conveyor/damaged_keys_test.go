package conveyor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// wrongKey is one key that damaged.lua is told of: its name, the type it is to have, what it is rebuilt from, what to tell.
type wrongKey struct{ name, want, from, line string }

// moved calls damaged.lua for some keys and wants these replies.
func (e *engine) moved(want []any, keys ...wrongKey) {
	e.Helper()
	var args []any
	for _, k := range keys {
		args = append(args, k.name, k.want, k.from, k.line)
	}
	reply, err := conveyor.RunScript(e.Context(), e.Client, "damaged", args...)
	e.ok(err)
	if diff := cmp.Diff(any(want), reply); diff != "" {
		e.Errorf("reply (-want +got):\n%s", diff)
	}
}

// wrong makes a key one of a type that no key of the engine but a number has, or a list of a number.
func (e *engine) wrong(name string) {
	e.Helper()
	e.ok(e.rdb.Del(e.Context(), e.key(name)).Err())
	if name == "seq" || name == "events:seq" {
		e.ok(e.rdb.RPush(e.Context(), e.key(name), "damage").Err())
		return
	}
	e.ok(e.rdb.Set(e.Context(), e.key(name), "damage", 0).Err())
}

// stored is a key as dump shows it.
func (e *engine) stored(name string) string {
	e.Helper()
	for line := range strings.SplitSeq(dump(e), "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return rest
		}
	}
	return ""
}

// TestRebuiltSets rebuilds an active set from a child that is there and a job with this status: only who keeps the parent from
// its end is in it.
func TestRebuiltSets(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, entry string
			in          bool
		}{
			{"a child", "q1|q|5|i+p:p", true},
			{"a child whose failure does not count", "r1|q|5|f1|i?p:x,+i:p", true},
			{"one that is over since", "C1|q|5|f1|i+p:p", false},
			{"one that is withdrawn since", "r1w|q|5|f1|i+p:p", false},
			{"one that still waits for the parent", "h1b|q||i?p:p", false},
			{"a child of another", "q1|q|5|i+p:x", false},
			{"an heir", "q1|q|5|i+s:p", false},
			{"one that cannot be read", "???", false},
			{"one that is gone", "", false},
		} {
			e.Run(row.name, func(e *engine) {
				alone := newEngine(e.tb, e.rdb)
				ctx := alone.Context()
				want := []string{"kid"}
				alone.ok(alone.rdb.HSet(ctx, alone.key("status"), "kid", "q1|q|4|i+p:p").Err())
				if row.entry != "" {
					alone.ok(alone.rdb.HSet(ctx, alone.key("status"), "j", row.entry).Err())
				}
				if row.in {
					want = []string{"j", "kid"}
				}
				alone.wrong("jobs:p:active")
				alone.moved([]any{int64(1)}, wrongKey{"jobs:p:active", "set", "j,kid", "rebuilt"})
				got, err := alone.rdb.SMembers(ctx, alone.key("jobs:p:active")).Result()
				alone.ok(err)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					alone.Errorf("members (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestRebuiltLists rebuilds a list of dependents from an heir that is there and a job with this status: only who still waits, and
// has its bytes elsewhere, has a ticket in it.
func TestRebuiltLists(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, entry string
			in          bool
		}{
			{"one that waits", "h1b|q||i?s:p", true},
			{"one that waits and is a child too", "h1b|q||i+p:p,?s:p", true},
			{"one whose bytes are lost with the list", "h1|q||i?s:p", false},
			{"one that waits no more", "q1b|q|5|i+s:p", false},
			{"one that cannot be read", "???", false},
			{"one that is gone", "", false},
		} {
			e.Run(row.name, func(e *engine) {
				alone := newEngine(e.tb, e.rdb)
				ctx := alone.Context()
				want := []string{"heir"}
				alone.ok(alone.rdb.HSet(ctx, alone.key("status"), "heir", "h1b|q||i?s:p").Err())
				if row.entry != "" {
					alone.ok(alone.rdb.HSet(ctx, alone.key("status"), "j", row.entry).Err())
				}
				if row.in {
					want = []string{"heir", "j"}
				}
				alone.wrong("jobs:p:onComplete")
				alone.moved([]any{int64(1)}, wrongKey{"jobs:p:onComplete", "list", "heir,j", "rebuilt"})
				got := []string{}
				for _, j := range alone.list("jobs:p:onComplete") {
					got = append(got, j.Uuid)
					if !proto.Equal(j, job(j.Uuid, func(slim *wire.Job) { slim.Type, slim.Queue = "", "" })) {
						alone.Errorf("a ticket that says more than who waits: %v", j)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					alone.Errorf("tickets, the first one next (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestDamagedKeys moves keys of a wrong type out of the way.
func TestDamagedKeys(t *testing.T) {
	onBoth(t, func(e *engine) {
		repairs := func(e *engine, after int64) []string {
			e.Helper()
			batch, err := e.Events(e.Context(), after, 0)
			e.ok(err)
			var out []string
			for _, event := range batch.Events {
				out = append(out, event.Repairs...)
			}
			return out
		}
		same := func(e *engine, what string, want, got any) {
			e.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		e.Behaviour("one repair brings back what keeps a parent from its end, and both numbers", func(e *engine) {
			e.add(job("p"), job("c", under("p")), job("h", after(0, "x", "y")))
			e.run("p", conveyor.VerdictDone)
			last, err := e.LastEvent(e.Context())
			e.ok(err)
			place := e.stored("seq")
			damaged := []string{"jobs:p:active", "jobs:x:onComplete", "seq", "events:seq"}
			for _, name := range damaged {
				e.wrong(name)
			}
			found, err := e.Verify(e.Context())
			e.ok(err)
			found = slices.DeleteFunc(found, func(v conveyor.Violation) bool {
				return !slices.Contains(damaged, strings.TrimPrefix(v.Key, e.Prefix()))
			})
			done, err := e.Repair(e.Context(), slices.DeleteFunc(found, func(v conveyor.Violation) bool { return !strings.HasPrefix(v.Repair, "keep it as") }))
			e.ok(err)
			var lines []string
			for _, r := range done {
				if !r.Done {
					e.Errorf("left: %s", r.Violation)
				}
				lines = append(lines, r.Repair)
			}
			same(e, "told", lines, repairs(e, last))
			same(e, "the last place", place, e.stored("seq"))
			if !e.active("p", "c") || len(e.list("jobs:x:onComplete")) != 1 {
				e.Errorf("not rebuilt:\n%s", dump(e))
			}
			e.pass(time.Minute)
			e.tick()
			e.states("p closing, c queued, h held")
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
			e.add(job("x"), job("y"))
			for _, r := range e.reserves("x", "y") {
				e.end(r, conveyor.VerdictDone)
			}
			e.run("h", conveyor.VerdictDone)
		})
		e.Behaviour("what is damaged again is kept beside what was", func(e *engine) {
			for range 3 {
				e.wrong("todo")
				e.moved([]any{int64(1)}, wrongKey{"todo", "zset", "", "moved"})
			}
			same(e, "kept", int64(3), e.rdb.Exists(e.Context(), e.key("damaged:todo"), e.key("damaged:todo:2"), e.key("damaged:todo:3")).Val())
		})
		e.Behaviour("what would have expired is kept", func(e *engine) {
			e.wrong("todo")
			e.ok(e.rdb.Expire(e.Context(), e.key("todo"), time.Hour).Err())
			e.moved([]any{int64(1)}, wrongKey{"todo", "zset", "", "moved"})
			if left := e.rdb.TTL(e.Context(), e.key("damaged:todo")).Val(); left >= 0 {
				e.Errorf("it is gone in %v", left)
			}
		})
		e.Behaviour("a log that is moved tells so in the new one", func(e *engine) {
			e.add(job("a"))
			last, err := e.LastEvent(e.Context())
			e.ok(err)
			e.wrong("events")
			e.moved([]any{int64(1), int64(0)}, wrongKey{"events", "stream", "", "moved"}, wrongKey{"seq", "string", "1", "well"})
			same(e, "told", []string{"moved"}, repairs(e, last))
		})
		e.Behaviour("beside a log that is damaged nothing is told", func(e *engine) {
			e.add(job("a"))
			e.wrong("events")
			e.wrong("events:seq")
			e.wrong("seq")
			e.moved([]any{int64(1), int64(1)}, wrongKey{"events:seq", "string", "", "numbered"}, wrongKey{"seq", "string", "7", "placed"})
			same(e, "numbers", []string{"0", "7"}, []string{e.rdb.Get(e.Context(), e.key("events:seq")).Val(), e.rdb.Get(e.Context(), e.key("seq")).Val()})
			same(e, "the log", "damage", e.rdb.Get(e.Context(), e.key("events")).Val())
			e.ok(e.rdb.Del(e.Context(), e.key("events")).Err())
		})
		e.Behaviour("beside a log whose number is behind nothing is told", func(e *engine) {
			e.add(job("a"))
			e.add(job("b"))
			number := e.rdb.Get(e.Context(), e.key("events:seq")).Val()
			e.ok(e.rdb.Set(e.Context(), e.key("events:seq"), 1, 0).Err())
			e.wrong("todo")
			e.moved([]any{int64(1)}, wrongKey{"todo", "zset", "", "moved"})
			same(e, "events", int64(2), e.rdb.XLen(e.Context(), e.key("events")).Val())
			e.ok(e.rdb.Set(e.Context(), e.key("events:seq"), number, 0).Err())
		})
		e.Behaviour("beside statuses that are damaged nothing is rebuilt from them", func(e *engine) {
			e.wrong("status")
			e.wrong("jobs:p:active")
			e.moved([]any{int64(1), int64(1)}, wrongKey{"jobs:p:active", "set", "c", "set"}, wrongKey{"status", "hash", "", "statuses"})
			same(e, "kept", int64(2), e.rdb.Exists(e.Context(), e.key("damaged:jobs:p:active"), e.key("damaged:status")).Val())
		})
	})
}
