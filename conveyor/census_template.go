package conveyor

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// templateKey is the template or root that a key belongs to, by its name without the namespace; "" for other keys.
func templateKey(name string) string {
	switch kind, rest, _ := strings.Cut(name, ":"); kind {
	case "template":
		return strings.TrimSuffix(rest, ":gate")
	case "cycles", "history", "backlog":
		return rest
	case "cycle":
		root, _, _ := strings.Cut(rest, ":")
		return root
	}
	return ""
}

// readTemplate reads what a key says of a template or of cycles.
func (a *census) readTemplate(ctx context.Context, rdb redis.UniversalClient, key, name string) (err error) {
	uuid := templateKey(name)
	switch kind, rest, _ := strings.Cut(name, ":"); kind {
	case "template":
		if rest != uuid {
			a.view(uuid).template().gate, err = rdb.HGetAll(ctx, key).Result()
		} else {
			a.view(uuid).template().fields, err = rdb.HGetAll(ctx, key).Result()
		}
	case "cycles":
		var all map[string]string
		all, err = rdb.HGetAll(ctx, key).Result()
		for tick, text := range all {
			ms, _ := strconv.ParseInt(tick, 10, 64)
			seen := a.cycle(cycleID{uuid, ms})
			seen.text, seen.stored = text, true
			if c, err := decodeCycle(key, tick, text); err == nil && cancelling(text) && c.Replaced {
				a.view(uuid).template().pending = append(a.view(uuid).template().pending, tick)
			}
			a.cycling[uuid] = true
		}
	case "cycle":
		_, tick, _ := strings.Cut(rest, ":")
		ms, _ := strconv.ParseInt(tick, 10, 64)
		err = scan(ctx, rdb.SScan(ctx, key, 0, "", censusSlice), 1, func(v []string) {
			a.view(v[0]).sets[name] = true
			a.cycle(cycleID{uuid, ms}).members++
		})
		a.cycling[uuid] = true
	case "history":
		t := a.view(uuid).template()
		t.keys[name] = true
		var lines []string
		lines, err = rdb.LRange(ctx, key, 0, -1).Result()
		for _, line := range lines {
			if _, err := decodeHistory(key, line); err != nil {
				t.junk = append(t.junk, line)
			}
		}
	case "backlog":
		t := a.view(uuid).template()
		t.keys[name] = true
		t.waiting, err = rdb.ZCard(ctx, key).Result()
	}
	return err
}

func (a *census) cycle(id cycleID) *cycleSeen {
	if a.cycles[id] == nil {
		a.cycles[id] = &cycleSeen{}
	}
	return a.cycles[id]
}

// readDeclarations reads the bytes of templates, which say what their settings are.
func (a *census) readDeclarations(ctx context.Context, rdb redis.UniversalClient) error {
	var uuids []string
	for uuid, v := range a.views {
		if strings.HasPrefix(v.entry, "t") && v.bytes {
			uuids = append(uuids, uuid)
		}
	}
	for part := range slices.Chunk(uuids, censusSlice) {
		pipe := rdb.Pipeline()
		cmds := make([]*redis.StringCmd, len(part))
		for i, uuid := range part {
			cmds[i] = pipe.Get(ctx, a.keys.job(uuid))
		}
		if _, err := pipe.Exec(ctx); passOver(err) != nil {
			return err
		}
		for i, uuid := range part {
			a.views[uuid].template().bytes = cmds[i].Val()
		}
	}
	return nil
}
