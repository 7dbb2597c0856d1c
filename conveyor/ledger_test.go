package conveyor_test

import (
	"strings"

	"github.com/google/go-cmp/cmp"
)

// ledger compares the raw keys that follow from the status entries with what the entries say: the holders of unique keys.
func (e *engine) ledger() {
	e.Helper()
	ctx := e.Context()
	entries, err := e.rdb.HGetAll(ctx, e.key("status")).Result()
	e.ok(err)
	holders := map[string]string{}
	for uuid, entry := range entries {
		tags := tagsOf(entry)
		if key, ok := tags["y"]; ok && !over(entry) {
			if other := holders[key]; other != "" {
				e.Errorf("I7: %s and %s both have %s", other, uuid, key)
			}
			holders[key] = uuid
		}
	}
	got, err := e.rdb.HGetAll(ctx, e.key("unique")).Result()
	e.ok(err)
	if diff := cmp.Diff(holders, got); diff != "" {
		e.Errorf("I7: holders (-status +unique):\n%s", diff)
	}
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
