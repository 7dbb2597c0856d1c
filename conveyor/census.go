package conveyor

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/redis/go-redis/v9"
)

// census is one reading of a whole namespace.
type census struct {
	keys    keyspace
	views   map[string]*view
	types   map[string]string // every key of the engine and its type
	lists   map[string][]ticket
	workers map[string]bool
	ended   map[string]bool // uuids that retention will meet
	depth   map[string]string
	slots   map[string]string
}

const censusSlice = 500

// scan walks an iterator of the SCAN family whose values come in groups of width.
func scan(ctx context.Context, cmd *redis.ScanCmd, width int, visit func(v []string)) error {
	iter := cmd.Iterator()
	var group []string
	for iter.Next(ctx) {
		if group = append(group, iter.Val()); len(group) == width {
			visit(group)
			group = group[:0]
		}
	}
	return iter.Err()
}

// census reads the namespace: first what refers to jobs, then the jobs.
func (c *Client) census(ctx context.Context) (*census, error) {
	all := &census{keys: c.keys, views: map[string]*view{}, types: map[string]string{}, lists: map[string][]ticket{}, workers: map[string]bool{},
		ended: map[string]bool{}}
	if err := all.readKeys(ctx, c.rdb); err != nil {
		return nil, read(ctx, "verify", err)
	}
	entries := map[string]string{}
	if all.is(c.keys.status(), "hash") {
		if err := scan(ctx, c.rdb.HScan(ctx, c.keys.status(), 0, "", censusSlice), 2, func(v []string) { entries[v[0]] = v[1] }); err != nil {
			return nil, read(ctx, "verify", err)
		}
	}
	for uuid, entry := range entries {
		all.view(uuid).entry = entry
	}
	if err := all.readReferences(ctx, c.rdb); err != nil {
		return nil, read(ctx, "verify", err)
	}
	for uuid, v := range all.views {
		v.ended = all.ended[uuid]
		for _, e := range storedEdges(v.entry, v.hash) {
			v.upstream[e.upstream] = entries[e.upstream]
		}
		for child := range v.active {
			v.active[child] = entries[child]
		}
	}
	return all, nil
}

func (a *census) view(uuid string) *view {
	if a.views[uuid] == nil {
		a.views[uuid] = newView(a.keys, uuid, "")
	}
	return a.views[uuid]
}

func (a *census) is(key, kind string) bool { return a.types[key] == kind }

// readKeys lists the keys and their types.
func (a *census) readKeys(ctx context.Context, rdb redis.UniversalClient) error {
	var names []string
	collect := func(ctx context.Context, rdb redis.Cmdable) error {
		return scan(ctx, rdb.Scan(ctx, 0, globEscape(string(a.keys))+"*", censusSlice), 1, func(v []string) { names = append(names, v[0]) })
	}
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, a.keys.status())
		if err != nil {
			return err
		}
		if err := collect(ctx, master); err != nil {
			return err
		}
	} else if err := collect(ctx, rdb); err != nil {
		return err
	}
	for from := 0; from < len(names); from += censusSlice {
		part := names[from:min(from+censusSlice, len(names))]
		pipe := rdb.Pipeline()
		cmds := make([]*redis.StatusCmd, len(part))
		for i, name := range part {
			cmds[i] = pipe.Type(ctx, name)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
		for i, name := range part {
			if cmds[i].Val() != "none" {
				a.types[name] = cmds[i].Val()
			}
		}
	}
	return nil
}

// globEscape keeps the braces of a prefix from meaning anything to SCAN.
func globEscape(s string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`, "*", `\*`, "?", `\?`).Replace(s)
}

// readReferences reads all lists, sets and indexes. Keys of a wrong type are passed over; keyViolations names them.
func (a *census) readReferences(ctx context.Context, rdb redis.UniversalClient) error {
	for key, kind := range a.types {
		name := strings.TrimPrefix(key, string(a.keys))
		if kind != wantedKind(name) {
			continue
		}
		var err error
		switch rest, sub := jobKey(name); {
		case name == "scheduled":
			err = a.readScheduled(ctx, rdb, key)
		case strings.HasPrefix(name, "ended:"):
			err = a.readEnded(ctx, rdb, key)
		case name == "removals":
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.ended[v[0]] = true })
		case name == "todo", name == "leases":
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) {
				switch u := a.view(v[0]); name {
				case "todo":
					u.todo = true
				case "leases":
					u.leased = true
				}
			})
		case name == "workers":
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.workers[v[0]] = true })
		case name == "depth":
			a.depth, err = rdb.HGetAll(ctx, key).Result()
		case name == "slots":
			a.slots, err = rdb.HGetAll(ctx, key).Result()
		case strings.HasPrefix(name, "worker:") && strings.HasSuffix(name, ":jobs"):
			id := strings.TrimSuffix(strings.TrimPrefix(name, "worker:"), ":jobs")
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.view(v[0]).owners = append(a.view(v[0]).owners, id) })
		case strings.HasPrefix(name, "queue:"), sub == "children", sub == "onComplete":
			err = a.readList(ctx, rdb, key, name)
		case sub == "active":
			err = scan(ctx, rdb.SScan(ctx, key, 0, "", censusSlice), 1, func(v []string) {
				a.view(v[0]).members[rest] = true
				a.view(rest).active[v[0]] = ""
			})
		case sub == "edges":
			a.view(rest).hash, err = rdb.HGetAll(ctx, key).Result()
		case sub == "bytes":
			a.view(rest).bytes = true
		}
		if err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") {
			return err
		}
	}
	return nil
}

// jobKey splits "jobs:<uuid>[:<what>[:<opening>]]".
func jobKey(name string) (uuid, what string) {
	f := strings.Split(name, ":")
	if f[0] != "jobs" || len(f) < 2 {
		return "", ""
	}
	if len(f) == 2 {
		return f[1], "bytes"
	}
	return f[1], f[2]
}

// wantedKind is the type a key must have; "" for keys that are not the engine's.
func wantedKind(name string) string {
	switch name {
	case "status", "queues", "slots", "depth", "results", "failures", "failed", "progress", "unique":
		return "hash"
	case "scheduled", "todo", "workers", "leases", "callers", "sweeps", "removals", "expiry":
		return "zset"
	case "seq", "events:seq", "events:life", "clock":
		return "string"
	case "events":
		return "stream"
	case "setaside":
		return "list"
	}
	switch _, what := jobKey(name); what {
	case "bytes":
		return "string"
	case "children", "onComplete":
		return "list"
	case "active":
		return "set"
	case "edges":
		return "hash"
	case "log":
		return "stream"
	}
	switch kind, rest, _ := strings.Cut(name, ":"); {
	case kind == "queue", kind == "wake", kind == "ended":
		return "list"
	case kind == "idle", kind == "worker" && strings.HasSuffix(rest, ":jobs"):
		return "zset"
	case kind == "worker":
		return "hash"
	case kind == "call":
		return "string"
	}
	return ""
}

// readEnded reads a list of ended jobs, "<ms> <uuid>" each. Jobs that live again may be named still.
func (a *census) readEnded(ctx context.Context, rdb redis.UniversalClient, key string) error {
	entries, err := rdb.LRange(ctx, key, 0, -1).Result()
	for _, entry := range entries {
		if _, uuid, ok := strings.Cut(entry, " "); ok {
			a.ended[uuid] = true
		}
	}
	return err
}

func (a *census) readScheduled(ctx context.Context, rdb redis.UniversalClient, key string) error {
	return scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) {
		if t, ok := parseTicket(v[0]); ok {
			a.view(t.uuid).due = append(a.view(t.uuid).due, milli(v[1]))
		}
	})
}

// milli is a score of `scheduled` in milliseconds.
func milli(score string) int64 {
	var f float64
	if _, err := fmt.Sscan(score, &f); err != nil {
		return -1
	}
	return int64(math.Round(f * 1000))
}

func (a *census) readList(ctx context.Context, rdb redis.UniversalClient, key, name string) error {
	entries, err := rdb.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		return err
	}
	a.lists[key] = []ticket{}
	for _, entry := range entries {
		t, ok := parseTicket(entry)
		if !ok {
			continue // set aside when it is met
		}
		a.lists[key] = append(a.lists[key], t)
		if strings.HasPrefix(name, "queue:") {
			a.view(t.uuid).standsAt(key, t)
		} else {
			a.view(t.uuid).waiting[key] = true
		}
	}
	return nil
}
