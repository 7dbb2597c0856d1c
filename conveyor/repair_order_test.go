package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestRepairKeepsOrder loses and doubles tickets of a queue at random, and wants the jobs in the order of their places.
func TestRepairKeepsOrder(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			rdb := store.open(t)
			rapid.Check(t, func(rt *rapid.T) {
				e := newEngine(inherit{rt, t}, rdb)
				var want []string
				n := rapid.IntRange(1, 12).Draw(rt, "jobs")
				for i := range n {
					want = append(want, fmt.Sprintf("j%02d", i))
					e.add(job(want[i]))
				}
				// Jobs that were handed back have their bytes apart: they can be put back.
				for _, r := range e.reserve(rapid.IntRange(0, n).Draw(rt, "back")) {
					e.end(r, conveyor.VerdictBack)
				}
				lost := map[string]bool{}
				for range rapid.IntRange(1, 6).Draw(rt, "blows") {
					texts, err := e.rdb.LRange(e.Context(), e.key("queue:q"), 0, -1).Result()
					e.ok(err)
					if len(texts) == 0 {
						break
					}
					text := rapid.SampledFrom(texts).Draw(rt, "ticket")
					if rapid.Bool().Draw(rt, "double") {
						e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), text).Err())
						continue
					}
					e.ok(e.rdb.LRem(e.Context(), e.key("queue:q"), 0, text).Err())
					uuid := text[2 : 2+int(text[1])]
					if e.rdb.Exists(e.Context(), e.key("jobs:"+uuid)).Val() == 0 {
						lost[uuid] = true
					}
				}
				e.repaired()
				want = slices.DeleteFunc(want, func(u string) bool { return lost[u] })
				if diff := cmp.Diff(want, names(e.reserve(100)), cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
					rt.Errorf("order (-want +got):\n%s", diff)
				}
				e.sound()
			})
		})
	}
}

// TestRepairInterrupted loses the reply of each call of a repair in turn, or never makes the call, and wants the next repair
// to find its way.
func TestRepairInterrupted(t *testing.T) {
	for _, lose := range []string{"request", "reply"} {
		t.Run("lost "+lose, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				for call := 1; ; call++ {
					n := newEngine(e.tb, e.rdb)
					everyPlace(n)
					for _, row := range corruptions {
						switch row.name {
						case "a queued job's slim ticket is gone", "a set lost a child", "a depth is wrong", "junk in a queue", "a running job has no owner",
							"a unique key is not held", "the edges of a job are gone", "an ended job is not in retention", "bytes of nobody":
							n.ok(row.corrupt(n))
						}
					}
					n.ok(n.rdb.Del(n.Context(), n.key("todo")).Err())
					n.ok(n.rdb.Set(n.Context(), n.key("todo"), "damage", 0).Err())
					hook := &breaking{at: call, reply: lose == "reply"}
					rdb := n.another()
					rdb.AddHook(hook)
					c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: n.Namespace()})
					n.ok(err)
					found, err := c.Verify(n.Context())
					n.ok(err)
					_, err = c.Repair(n.Context(), found)
					n.ok(rdb.Close())
					if hook.calls < call {
						n.ok(err)
						if call < 4 {
							n.Errorf("only %d calls", hook.calls)
						}
						return
					}
					if err == nil {
						n.Fatalf("call %d of %d was not lost", call, hook.calls)
					}
					n.repaired()
					n.runAll()
				}
			})
		})
	}
}

// inherit is a drawn test with the context and the cleanup of the test around it.
type inherit struct {
	*rapid.T
	t *testing.T
}

func (i inherit) Cleanup(f func())         { i.t.Cleanup(f) }
func (i inherit) Context() context.Context { return i.t.Context() }

// breaking fails one script call, before or after it was made.
type breaking struct {
	at, calls int
	reply     bool
}

var errBroken = errors.New("broken on purpose")

func (b *breaking) DialHook(next redis.DialHook) redis.DialHook { return next }
func (b *breaking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b *breaking) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !redistest.IsScript(cmd) {
			return next(ctx, cmd)
		}
		b.calls++
		if b.calls != b.at {
			return next(ctx, cmd)
		}
		if b.reply {
			if err := next(ctx, cmd); err != nil && (redis.HasErrorPrefix(err, "NOSCRIPT") || strings.Contains(err.Error(), "Function not found")) {
				b.at++ // the text comes next
				return err
			}
		}
		cmd.SetErr(fmt.Errorf("%w", errBroken))
		return errBroken
	}
}
