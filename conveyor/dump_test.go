package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
)

// dump is the whole namespace in one canonical text: equal texts mean equal stores. Two stores given the same calls
// under the same clock have equal dumps, whatever server they are.
func dump(e *engine) string {
	e.Helper()
	ctx, lines := e.Context(), []string{}
	for _, name := range e.scan() {
		key := e.key(name)
		var value any
		kind, err := e.rdb.Type(ctx, key).Result()
		e.ok(err)
		switch kind {
		case "string":
			value, err = e.rdb.Get(ctx, key).Result()
		case "list":
			value, err = e.rdb.LRange(ctx, key, 0, -1).Result()
		case "set":
			members, e2 := e.rdb.SMembers(ctx, key).Result()
			slices.Sort(members)
			value, err = members, e2
		case "hash":
			value, err = e.rdb.HGetAll(ctx, key).Result() // maps print sorted
		case "zset":
			value, err = e.rdb.ZRangeWithScores(ctx, key, 0, -1).Result()
		case "stream":
			value, err = e.rdb.XRange(ctx, key, "-", "+").Result()
		case "none":
			continue
		}
		e.ok(err)
		lines = append(lines, fmt.Sprintf("%s %s %q", name, kind, fmt.Sprint(value)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
