package conveyor_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// ledger compares the raw keys that follow from the status entries with what the entries say: the holders of unique keys,
// the waiting limits, what retention will meet, the sets of labels, and those of cycles and gates.
func (e *engine) ledger() {
	e.Helper()
	ctx := e.Context()
	entries, err := e.rdb.HGetAll(ctx, e.key("status")).Result()
	e.ok(err)
	holders, limits, removals, lists := map[string]string{}, map[string]string{}, e.scores("removals"), map[string]bool{}
	sweeps := e.scores("sweeps")
	for _, key := range e.scan() {
		queue, ok := strings.CutPrefix(key, "ended:")
		if !ok {
			continue
		}
		for _, entry := range e.rdb.LRange(ctx, e.key(key), 0, -1).Val() {
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
			waits, inbox := strings.Contains("hsq", entry[:1]), strings.Contains(entry, "|@")
			if waits {
				limits[uuid] = at
			}
			if _, started := tags["f"]; !inbox && (started || !waits) || over(entry) {
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
	e.labelSets(entries)
	e.cycleSets(entries)
	if diff := cmp.Diff(limits, e.scores("expiry")); diff != "" {
		e.Errorf("limits (-status +expiry):\n%s", diff)
	}
	got, err := e.rdb.HGetAll(ctx, e.key("unique")).Result()
	e.ok(err)
	if diff := cmp.Diff(holders, got); diff != "" {
		e.Errorf("I7: holders (-status +unique):\n%s", diff)
	}
}

// labelSets compares the sets of labels with the labels, and these with the status entries.
func (e *engine) labelSets(entries map[string]string) {
	e.Helper()
	packed, err := e.rdb.HGetAll(e.Context(), e.key("labels")).Result()
	e.ok(err)
	want, got := map[string][]string{}, map[string][]string{}
	for uuid, entry := range entries {
		head, _, _ := strings.Cut(entry, "|")
		if strings.Contains(head[1:], "l") != (packed[uuid] != "") {
			e.Errorf("%s has labels %q: %s", uuid, packed[uuid], entry)
		}
		class := "label:"
		if over(entry) {
			class = "past:"
		} else if strings.Contains(head[1:], "t") {
			class = "kind:"
		}
		for part := range strings.SplitSeq(packed[uuid], ",") {
			if name, value, ok := strings.Cut(part, "="); ok {
				for _, key := range []string{part, name + "=", "=" + value, "="} {
					want[class+key] = append(want[class+key], uuid)
				}
			}
		}
	}
	for uuid := range packed {
		if entries[uuid] == "" {
			e.Errorf("I2: labels of %s", uuid)
		}
	}
	names := e.scan()
	for _, class := range []string{"label:", "past:", "kind:"} {
		for _, name := range names {
			if strings.HasPrefix(name, class) {
				got[name] = e.rdb.SMembers(e.Context(), e.key(name)).Val()
			}
		}
	}
	for _, sets := range []map[string][]string{want, got} {
		for key, uuids := range sets {
			slices.Sort(uuids)
			sets[key] = slices.Compact(uuids)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("I2: sets of labels (-labels +sets):\n%s", diff)
	}
}

// cycleSets compares what lists the live occurrences of cycles and of templates, and the gates of labels, with the status entries
// and with what the gates show.
func (e *engine) cycleSets(entries map[string]string) {
	e.Helper()
	want, got := map[string][]string{}, map[string][]string{}
	for uuid, entry := range entries {
		tick, rest, ok := strings.Cut(tagsOf(entry)["C"], ":")
		if !ok || over(entry) {
			continue
		}
		template, root, other := strings.Cut(rest, ":")
		if !other {
			root = template
		}
		want["cycle:"+root+":"+tick] = append(want["cycle:"+root+":"+tick], uuid)
		want["cycles:"+root] = append(want["cycles:"+root], tick)
		if strings.HasPrefix(entries[template], "t") {
			want["template:"+template+":live"] = append(want["template:"+template+":live"], uuid)
		}
	}
	for _, name := range e.scan() {
		switch key := e.key(name); {
		case strings.HasPrefix(name, "cycle:"):
			got[name] = e.rdb.SMembers(e.Context(), key).Val()
		case strings.HasPrefix(name, "cycles:"):
			got[name] = e.rdb.HKeys(e.Context(), key).Val()
		case strings.HasPrefix(name, "template:") && strings.HasSuffix(name, ":live"), strings.HasPrefix(name, "gate:"):
			got[name] = e.rdb.ZRange(e.Context(), key, 0, -1).Val()
		case strings.HasPrefix(name, "template:") && strings.HasSuffix(name, ":gate"):
			gate := strings.TrimSuffix(strings.TrimPrefix(name, "template:"), ":gate")
			if !strings.HasPrefix(entries[gate], "t") {
				e.Errorf("I9: %s shows labels: %q", gate, entries[gate])
			}
			for _, label := range e.rdb.HKeys(e.Context(), key).Val() {
				want["gate:"+label] = append(want["gate:"+label], gate)
			}
		}
	}
	for _, sets := range []map[string][]string{want, got} {
		for key, names := range sets {
			slices.Sort(names)
			sets[key] = slices.Compact(names)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("I9, I10: cycles and gates (-entries +sets):\n%s", diff)
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
