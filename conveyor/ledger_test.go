package conveyor_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// ledger compares the raw keys that follow from the status entries with what the entries say: the holders of unique keys,
// the waiting limits, and what retention will meet.
func (e *engine) ledger() {
	e.Helper()
	ctx := e.Context()
	entries, err := e.rdb.HGetAll(ctx, e.key("status")).Result()
	e.ok(err)
	holders, limits, removals, lists := map[string]string{}, map[string]string{}, e.scores("removals"), map[string]bool{}
	sweeps := e.scores("sweeps")
	for _, key := range e.rdb.Keys(ctx, e.key("ended:*")).Val() {
		queue := strings.TrimPrefix(key, e.key("ended:"))
		for _, entry := range e.rdb.LRange(ctx, key, 0, -1).Val() {
			_, uuid, _ := strings.Cut(entry, " ")
			lists[queue+" "+uuid] = true
		}
		if sweeps[queue] == "" {
			e.Errorf("nobody sweeps %s", key)
		}
	}
	for uuid, entry := range entries {
		tags := tagsOf(entry)
		if key, ok := tags["y"]; ok && !over(entry) {
			if other := holders[key]; other != "" {
				e.Errorf("I7: %s and %s both have %s", other, uuid, key)
			}
			holders[key] = uuid
		}
		if v, ok := tags["v"]; ok {
			at, _, _ := strings.Cut(v, ":")
			limits[uuid] = at
			if _, started := tags["f"]; started || !strings.Contains("hsq", entry[:1]) {
				e.Errorf("%s has a waiting limit: %s", uuid, entry)
			}
		}
		head, queue, _ := strings.Cut(entry, "|")
		queue, _, _ = strings.Cut(queue, "|")
		_, removal := removals[uuid]
		switch listed := lists[queue+" "+uuid]; {
		case !over(entry) && removal:
			e.Errorf("%s is to be removed: %s", uuid, entry)
		case over(entry) && !strings.Contains(head, "r") && (tags["r"] != "" && !removal || tags["r"] == "" && !listed):
			e.Errorf("I13: retention will not meet %s: %s", uuid, entry)
		}
	}
	for uuid := range removals {
		if entries[uuid] == "" {
			e.Errorf("I2: removals names %s", uuid)
		}
	}
	if diff := cmp.Diff(limits, e.scores("expiry")); diff != "" {
		e.Errorf("limits (-status +expiry):\n%s", diff)
	}
	got, err := e.rdb.HGetAll(ctx, e.key("unique")).Result()
	e.ok(err)
	if diff := cmp.Diff(holders, got); diff != "" {
		e.Errorf("I7: holders (-status +unique):\n%s", diff)
	}
}

// scores reads a sorted set.
func (e *engine) scores(name string) map[string]string {
	e.Helper()
	out := map[string]string{}
	all, err := e.rdb.ZRangeWithScores(e.Context(), e.key(name), 0, -1).Result()
	e.ok(err)
	for _, z := range all {
		out[fmt.Sprint(z.Member)] = strconv.FormatInt(int64(z.Score), 10)
	}
	return out
}

func over(entry string) bool { return strings.Contains("CFfXKkOE", entry[:1]) }

// tagsOf are the tagged fields of a status entry.
func tagsOf(entry string) map[string]string {
	tags := map[string]string{}
	for i, field := range strings.Split(entry, "|") {
		if i > 2 && field != "" {
			tags[field[:1]] = field[1:]
		}
	}
	return tags
}
