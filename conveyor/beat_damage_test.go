package conveyor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestBeatsBesideDamage sends beats of workers whose keys, or the log that announces them, are damaged.
func TestBeatsBesideDamage(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, name := range []string{"status", "workers", "worker:w", "worker:w:jobs", "events", "events:seq"} {
			e.Behaviour("the first beat, "+name+" of the wrong type", func(e *engine) {
				e.wrong(name)
				before := dump(e)
				_, err := e.Beat(e.Context(), conveyor.WorkerInfo{ID: "w"})
				e.refused(err, conveyor.ErrCorrupt)
				if err == nil || !strings.Contains(err.Error(), e.key(name)) {
					e.Errorf("got %v, want it to name %s", err, e.key(name))
				}
				if diff := cmp.Diff(before, dump(e)); diff != "" {
					e.Errorf("changed (-before +after):\n%s", diff)
				}
				e.ok(e.rdb.Del(e.Context(), e.key(name)).Err())
				e.beat("w")
			})
		}
		e.Behaviour("a worker that is known needs no log", func(e *engine) {
			e.beat("w")
			e.broken("events", func() {
				e.pass(time.Second)
				e.beat("w")
			})
			last, now, err := e.Beats(e.Context())
			e.ok(err)
			if !last["w"].Equal(now) {
				e.Errorf("the beat of %v was the last one at %v", last["w"], now)
			}
		})
		e.Behaviour("an attempt is outdated when another worker has it under that fence", func(e *engine) {
			e.beat("w")
			e.add(job("a"))
			r := e.take("a")
			if diff := cmp.Diff([]string{"a"}, e.beat("v", conveyor.Holding{UUID: "a", Fence: r.Fence}).Outdated); diff != "" {
				e.Errorf("outdated (-want +got):\n%s", diff)
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Behaviour("an attempt is outdated when its job does not run, whatever else its status says", func(e *engine) {
			e.beat("w")
			e.add(job("a"))
			r := e.take("a")
			entry := e.entry("a")
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "a", "s"+strings.TrimPrefix(entry, "r")).Err())
			if diff := cmp.Diff([]string{"a"}, e.beat("w", conveyor.Holding{UUID: "a", Fence: r.Fence}).Outdated); diff != "" {
				e.Errorf("outdated (-want +got):\n%s", diff)
			}
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "a", entry).Err())
			e.end(r, conveyor.VerdictDone)
		})
	})
}

// TestEventFields looks at events as they stand in the log: each has only the fields that say something.
func TestEventFields(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.beat("w")
		e.pass(time.Second)
		e.add(job("a"))
		e.beat("w")
		log, err := e.rdb.XRange(e.Context(), e.key("events"), "-", "+").Result()
		e.ok(err)
		var got []map[string]any
		for _, event := range log {
			got = append(got, event.Values)
		}
		if diff := cmp.Diff([]map[string]any{
			{"k": "beat", "t": "1800000000000", "w": "joined w"},
			{"k": "add", "t": "1800000001000", "j": "a " + e.entry("a")},
		}, got); diff != "" {
			e.Errorf("events (-want +got):\n%s", diff)
		}
		if life := e.rdb.Get(e.Context(), e.key("events:life")).Val(); life != "1800000000000" {
			e.Errorf("the life of the log began at %s", life)
		}
	})
}
