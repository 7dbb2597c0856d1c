package conveyor_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestRepairTogether sends fixes of which one rests on another in one call.
func TestRepairTogether(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("a parent whose child comes back does not end", func(e *engine) {
			everyPlace(e)
			e.ok(e.rdb.SRem(e.Context(), e.key("jobs:closing:active"), "child").Err())
			got, err := e.mend(fixing("member", "child", "closing"), fixing("settle", "closing"))
			e.ok(err)
			e.same("reply", []int64{1, 0}, got)
			e.states("closing closing")
		})
		e.Behaviour("a call changes only so many jobs", func(e *engine) {
			var pieces []piece
			for i := range 195 {
				uuid := fmt.Sprintf("j%03d", i)
				pieces = append(pieces, fixing("unowned", uuid))
				e.add(job(uuid, runAt(e.now+1000)))
				e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, e.entry(uuid)+"|ww").Err())
			}
			got, err := e.mend(pieces...)
			e.ok(err)
			e.same("reply", append(slices.Repeat([]int64{1}, 190), 0, 0, 0, 0, 0), got)
			e.mends(pieces[190:]...)
		})
		e.Behaviour("a place that another fix gives comes after the last", func(e *engine) {
			e.add(job("gone"), job("next", after(wire.Edge_ALWAYS, "gone")))
			e.take("gone")
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:gone")).Err())
			e.mends(fixing("number", "", "seq", "1000"), fixing("lost", "gone"))
			e.states("gone failed, next queued")
			e.same("place", int64(1001), e.status("next").Place)
			e.same("last", "1001", e.rdb.Get(e.Context(), e.key("seq")).Val())
		})
	})
}

// TestRepairOfCounters moves a counter by what it was off, also when jobs moved since and somebody spoke of a repair, but not when a repair was made since.
func TestRepairOfCounters(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"), job("gone", lane(2)))
		e.ok(e.rdb.HIncrBy(e.Context(), e.key("depth"), "q:1", 3).Err())
		last, err := e.LastEvent(e.Context())
		e.ok(err)
		fix := fixing("counter", "", "depth", "q:1", "-3", strconv.FormatInt(last, 10))
		e.add(job("b"))
		_, err = conveyor.RunScript(e.Context(), e.Client, "emit", "a", "0", "1", "e", "hello", "repair", "c")
		e.ok(err)
		e.mends(fix)
		e.same("depth", "2", e.rdb.HGet(e.Context(), e.key("depth"), "q:1").Val())
		e.idle(fix)
		e.ok(e.rdb.HSet(e.Context(), e.key("depth"), "q:0", "3").Err())
		last, err = e.LastEvent(e.Context())
		e.ok(err)
		e.mends(fixing("counter", "", "depth", "q:0", "-3", strconv.FormatInt(last, 10)))
		e.same("a counter at zero", false, e.rdb.HExists(e.Context(), e.key("depth"), "q:0").Val())
	})
}

// TestRepairRefuses meets keys of a wrong type that a repair may need: it names them and changes nothing. Those are moved out of
// the way first.
func TestRepairRefuses(t *testing.T) {
	onBoth(t, func(e *engine) {
		everyPlace(e)
		for _, key := range []string{"status", "depth", "setaside", "workers", "callers", "removals", "sweeps", "expiry", "events"} {
			e.Run(key, func(e *engine) {
				e.broken(key, func() {
					before := dump(e)
					_, err := conveyor.RunScript(e.Context(), e.Client, "repair", "aside", "", "", "mended", 3, "queue:q", "list", "junk")
					e.refused(err, conveyor.ErrCorrupt)
					if err == nil || !strings.Contains(err.Error(), e.key(key)+" is a string") {
						e.Errorf("got %v, want it to name %s", err, e.key(key))
					}
					e.same("store", before, dump(e))
				})
			})
		}
		e.Run("a list in which an edge has to wait", func(e *engine) {
			kept := e.rdb.HGetAll(e.Context(), e.key("jobs:both:edges")).Val()
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:both:edges")).Err())
			e.broken("jobs:later:onComplete", func() {
				before := dump(e)
				_, err := e.mend(fixing("recount", "both", "?p:queued,?s:queued2,?s:later", ""))
				e.refused(err, conveyor.ErrCorrupt)
				if err == nil || !strings.Contains(err.Error(), e.key("jobs:later:onComplete")+" is a string") {
					e.Errorf("got %v, want it to name the list", err)
				}
				e.same("store", before, dump(e))
			})
			e.ok(e.rdb.HSet(e.Context(), e.key("jobs:both:edges"), kept).Err())
		})
	})
}
