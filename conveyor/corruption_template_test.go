package conveyor_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// everyTemplate puts a template into every place that templates and their cycles have, and returns the root's live occurrence.
func everyTemplate(e *engine) (root string, tick time.Time) {
	e.Helper()
	ctx := e.Context()
	e.add(job("heir", downstream, after(0, "kid")), job("kid", downstream, under("r")), job("r", every("1 hour"), labelled("a=b")),
		job("s", every("1 hour"), overlap(wire.Schedule_SKIP)), job("paused", every("1 hour")), job("done", every("1 hour")),
		job("pair", downstream, under("r"), after(0, "kid")), job("g", gated("x", "y"), carrying("at", "1")),
		job("flips", triggers("x", "y"), carrying("at", "2"), queue("other")))
	e.ends("first", conveyor.VerdictDone, "x")
	e.tick()
	e.ok(e.PauseTemplate(ctx, "paused"))
	tick, err := e.RunTemplate(ctx, "r")
	e.ok(err)
	_, err = e.Backfill(ctx, "s", time.UnixMilli(start).Add(-3*time.Hour), time.UnixMilli(start), false)
	e.ok(err)
	e.ok(e.Cancel(ctx, "done"))
	e.sound()
	return conveyor.OccurrenceUUID("r", "r", tick), tick
}

// TestRepairTemplates injects corruptions into what follows from templates and occurrences: each is named and mended, and where
// nothing was lost all is as it was.
func TestRepairTemplates(t *testing.T) {
	for _, row := range []struct {
		name, invariant, uuid string
		lossy                 bool
		corrupt               func(e *engine, root, tick string) error
	}{
		{"the settings are gone", "I1", "paused", true, func(e *engine, _, _ string) error { return e.rdb.Del(e.Context(), e.key("template:paused")).Err() }},
		{"a setting differs", "I1", "r", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("template:r"), "overlap", "r").Err()
		}},
		{"a number is none", "I1", "r", true, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("template:r"), "since", "x").Err()
		}},
		{"a schedule is not in ticks", "I11", "r", false, func(e *engine, _, _ string) error { return e.rdb.ZRem(e.Context(), e.key("ticks"), "r").Err() }},
		{"ticks has another time", "I11", "r", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("ticks"), redisZ(7, "r")).Err()
		}},
		{"ticks names a paused one", "I2", "paused", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("ticks"), redisZ(7, "paused")).Err()
		}},
		{"ticks names nobody", "I2", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("ticks"), redisZ(7, "never")).Err()
		}},
		{"a template is not emitted to", "I11", "kid", false, func(e *engine, _, _ string) error { return e.rdb.Del(e.Context(), e.key("emits:r:children")).Err() }},
		{"one is emitted to that does not wait", "I2", "s", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("emits:r:heirs"), redisZ(7, "s")).Err()
		}},
		{"a cycle lost its occurrence", "I10", "ROOT", false, func(e *engine, root, tick string) error {
			return e.rdb.SRem(e.Context(), e.key("cycle:r:"+tick), root).Err()
		}},
		{"a cycle names nobody", "I2", "never", false, func(e *engine, _, tick string) error {
			return e.rdb.SAdd(e.Context(), e.key("cycle:r:"+tick), "never").Err()
		}},
		{"a cycle is not noted", "I10", "r", true, func(e *engine, _, tick string) error { return e.rdb.HDel(e.Context(), e.key("cycles:r"), tick).Err() }},
		{"a cycle cannot be read", "I10", "r", true, func(e *engine, _, tick string) error {
			return e.rdb.HSet(e.Context(), e.key("cycles:r"), tick, "junk").Err()
		}},
		{"a cycle has no occurrence", "I10", "r", true, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("cycles:r"), "77", "1:1:0:").Err()
		}},
		{"an occurrence is not its template's", "I2", "ROOT", false, func(e *engine, _, _ string) error { return e.rdb.Del(e.Context(), e.key("template:r:live")).Err() }},
		{"a line of the history cannot be read", "I2", "r", false, func(e *engine, _, _ string) error {
			return e.rdb.LPush(e.Context(), e.key("history:r"), "junk").Err()
		}},
		{"history of a job that is no template", "I13", "done", false, func(e *engine, _, _ string) error {
			return e.rdb.LPush(e.Context(), e.key("history:done"), "1:C:1:1:1:0").Err()
		}},
		{"settings of nobody", "I13", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("template:never"), "kind", "s").Err()
		}},
		{"ticks wait of a root that has no cycle", "I11", "paused", true, func(e *engine, root, tick string) error {
			return e.rdb.ZAdd(e.Context(), e.key("backlog:paused"), redisZ(3_600_000, "3600000")).Err()
		}},
		{"replaced cycles are half cancelled", "I11", "r", true, func(e *engine, _, tick string) error {
			return e.rdb.HSet(e.Context(), e.key("cycles:r"), tick, "1:1:0:rwa17").Err()
		}},
		{"what an occurrence waits for was not made", "I11", "PAIR", true, func(e *engine, root, tick string) error {
			ms, _ := strconv.ParseInt(tick, 10, 64)
			e.run(root, conveyor.VerdictDone)
			return e.rdb.HDel(e.Context(), e.key("status"), occ("kid", "r", ms)).Err()
		}},
		{"what an occurrence waits for is not to do", "I11", "PAIR", true, func(e *engine, root, tick string) error {
			ms, _ := strconv.ParseInt(tick, 10, 64)
			e.run(root, conveyor.VerdictDone)
			pair := occ("pair", "r", ms)
			return e.rdb.HSet(e.Context(), e.key("status"), pair, e.entry(pair)+"|Duheir").Err()
		}},
		{"a gate shows nothing of a label", "I9", "g", false, func(e *engine, _, _ string) error {
			return e.rdb.HDel(e.Context(), e.key("template:g:gate"), "y").Err()
		}},
		{"a gate shows what nobody can read", "I9", "g", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("template:g:gate"), "y", "-a:b").Err()
		}},
		{"what a gate shows is gone", "I9", "g", true, func(e *engine, _, _ string) error { return e.rdb.Del(e.Context(), e.key("template:g:gate")).Err() }},
		{"a gate shows a label that it does not wait for", "I9", "g", false, func(e *engine, _, _ string) error {
			e.ok(e.rdb.ZAdd(e.Context(), e.key("gate:z"), redisZ(1, "g")).Err())
			return e.rdb.HSet(e.Context(), e.key("template:g:gate"), "z", "1").Err()
		}},
		{"no trigger finds a gate", "I9", "g", false, func(e *engine, _, _ string) error { return e.rdb.Del(e.Context(), e.key("gate:y")).Err() }},
		{"a gate is out of order", "I9", "g", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("gate:x"), redisZ(1e6, "g")).Err()
		}},
		{"a trigger finds a gate that does not wait", "I9", "g", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("gate:z"), redisZ(1, "g")).Err()
		}},
		{"a trigger finds a template that is no gate", "I9", "r", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("gate:x"), redisZ(1, "r")).Err()
		}},
		{"a schedule shows labels", "I9", "r", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("template:r:gate"), "x", "1").Err()
		}},
		{"a trigger finds nobody", "I2", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.ZAdd(e.Context(), e.key("gate:x"), redisZ(1, "never")).Err()
		}},
		{"labels of a gate of nobody", "I13", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("template:never:gate"), "x", "1").Err()
		}},
		{"what triggers a gate is gone", "I2", "flips", false, func(e *engine, _, _ string) error { return e.rdb.HDel(e.Context(), e.key("triggers"), "flips").Err() }},
		{"a job does not know what it triggers", "I2", "flips", true, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "flips", strings.Replace(e.entry("flips"), "g", "", 1)).Err()
		}},
		{"a job does not know what its next execution gets", "I2", "flips", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "flips", strings.Replace(e.entry("flips"), "gs|", "g|", 1)).Err()
		}},
		{"triggers of nobody", "I13", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("triggers"), "never", "x").Err()
		}},
		{"what the next execution gets is gone", "I2", "flips", false, func(e *engine, _, _ string) error { return e.rdb.HDel(e.Context(), e.key("sync"), "flips").Err() }},
		{"what the next occurrence gets is gone", "I2", "g", false, func(e *engine, _, _ string) error { return e.rdb.HDel(e.Context(), e.key("sync"), "g").Err() }},
		{"what the next execution of nobody gets", "I13", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.HSet(e.Context(), e.key("sync"), "never", "a=b").Err()
		}},
		{"inboxes for a job of nobody", "I13", "never", false, func(e *engine, _, _ string) error {
			return e.rdb.RPush(e.Context(), e.key("jobs:never:inboxes"), "q2|q|", "w").Err()
		}},
	} {
		t.Run(row.invariant+" "+row.name, func(t *testing.T) {
			t.Parallel()
			for _, store := range stores {
				t.Run(store.name, func(t *testing.T) {
					t.Parallel()
					e := newEngine(t, store.open(t))
					root, tick := everyTemplate(e)
					uuid := strings.NewReplacer("ROOT", root, "PAIR", conveyor.OccurrenceUUID("pair", "r", tick)).Replace(row.uuid)
					before := settled(e)
					e.ok(row.corrupt(e, root, stringOf(tick)))
					found, err := e.Verify(e.Context())
					e.ok(err)
					if !slices.ContainsFunc(found, func(v conveyor.Violation) bool { return v.Invariant == row.invariant && v.UUID == uuid }) {
						t.Fatalf("%s %s is not named: %v", row.invariant, uuid, found)
					}
					e.repaired()
					if diff := cmp.Diff(before, settled(e)); diff != "" && !row.lossy {
						t.Errorf("(-before +after):\n%s", diff)
					}
				})
			}
		})
	}
}

func stringOf(tick time.Time) string { return strconv.FormatInt(tick.UnixMilli(), 10) }

// settled is the store but for the log, for what was set aside, and for keys that are bookkeeping.
func settled(e *engine) []string {
	return slices.DeleteFunc(bytesOf(e), func(line string) bool {
		return strings.HasPrefix(line, "events") || strings.HasPrefix(line, "setaside")
	})
}
