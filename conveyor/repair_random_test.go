package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestRepairRandomDamage damages a namespace with a job in every place at random: keys go, change their type, lose or gain
// entries, values become others. Repairs have to bring it to a state in which Verify is silent, and calls work.
func TestRepairRandomDamage(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			rdb := store.open(t)
			rapid.Check(t, func(rt *rapid.T) {
				e := newEngine(inherit{rt, t}, rdb)
				everyPlace(e)
				for range rapid.IntRange(1, 4).Draw(rt, "blows") {
					rt.Log(e.blow(rt))
				}
				for round := 0; ; round++ {
					found, err := e.Verify(e.Context())
					e.ok(err)
					if len(found) == 0 {
						break
					}
					if round == 10 {
						e.Fatalf("not repaired: %v", found)
					}
					done, err := e.Repair(e.Context(), found)
					e.ok(err)
					if !slices.ContainsFunc(done, func(r conveyor.Repaired) bool { return r.Done }) {
						e.Fatalf("nothing could be repaired of %v", found)
					}
				}
				e.add(job("later"), job("new", after(2, "later")))
				for range 30 {
					e.pass(20e9)
					for e.tick().More {
					}
					reply := e.exchange(50)
					acks := reply.Broken
					for _, r := range reply.Reserved {
						acks = append(acks, ack(r, conveyor.VerdictDone))
					}
					e.exchange(0, acks...)
				}
				e.states("later completed, new completed")
				found, err := e.Verify(e.Context())
				e.ok(err)
				if len(found) > 0 {
					e.Errorf("after the work: %v", found)
				}
			})
		})
	}
}

// blow damages one key.
func (e *engine) blow(rt *rapid.T) string {
	e.Helper()
	ctx := e.Context()
	keys := []string{}
	for _, name := range e.scan() {
		if name != "clock" && name != "status" && !strings.HasPrefix(name, "damaged:") {
			keys = append(keys, e.key(name))
		}
	}
	slices.Sort(keys)
	key := rapid.SampledFrom(keys).Draw(rt, "key")
	kind := e.rdb.Type(ctx, key).Val()
	one := func(list []string) string {
		slices.Sort(list)
		return rapid.SampledFrom(list).Draw(rt, "entry")
	}
	how := rapid.SampledFrom([]string{"delete", "retype", "less", "more", "less"}).Draw(rt, "how")
	said := fmt.Sprint(how, " ", strings.TrimPrefix(key, e.Prefix()))
	switch {
	case how == "delete":
		e.ok(e.rdb.Del(ctx, key).Err())
	case how == "retype":
		e.ok(e.rdb.Del(ctx, key).Err())
		if kind == "string" {
			e.ok(e.rdb.RPush(ctx, key, "x").Err())
		} else {
			e.ok(e.rdb.Set(ctx, key, "x", 0).Err())
		}
	case kind == "list" && how == "less":
		e.ok(e.rdb.LRem(ctx, key, 1, one(e.rdb.LRange(ctx, key, 0, -1).Val())).Err())
	case kind == "list":
		e.ok(e.rdb.LPush(ctx, key, one(append(e.rdb.LRange(ctx, key, 0, -1).Val(), "junk"))).Err())
	case kind == "set" && how == "less":
		e.ok(e.rdb.SRem(ctx, key, one(e.rdb.SMembers(ctx, key).Val())).Err())
	case kind == "set":
		e.ok(e.rdb.SAdd(ctx, key, rapid.SampledFrom([]string{"never", "queued", "child", "done"}).Draw(rt, "member")).Err())
	case kind == "zset" && how == "less":
		e.ok(e.rdb.ZRem(ctx, key, one(e.rdb.ZRange(ctx, key, 0, -1).Val())).Err())
	case kind == "zset":
		e.ok(e.rdb.ZAdd(ctx, key, redisZ(float64(rapid.IntRange(0, 9).Draw(rt, "score")), rapid.SampledFrom([]string{"never", "queued", "w"}).Draw(rt, "member"))).Err())
	case kind == "hash" && how == "less":
		e.ok(e.rdb.HDel(ctx, key, one(e.rdb.HKeys(ctx, key).Val())).Err())
	case kind == "hash":
		e.ok(e.rdb.HSet(ctx, key, rapid.SampledFrom([]string{"never", "queued", "q:1", "{x}"}).Draw(rt, "field"), "junk").Err())
	case kind == "string":
		e.ok(e.rdb.Set(ctx, key, "junk", 0).Err())
	}
	return said
}
