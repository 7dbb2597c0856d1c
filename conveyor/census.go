package conveyor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// census is one reading of a whole namespace.
type census struct {
	keys    keyspace
	views   map[string]*view
	types   map[string]string // every key of the engine and its type
	lists   map[string][]ticket
	junk    map[string][]string   // lists and `scheduled`: entries that are no tickets
	ready   map[string][]standing // queue lists: the jobs that belong there, by place
	workers map[string]bool
	callers map[string]bool
	ended   map[string]bool   // uuids that retention will meet
	wrong   map[string]bool   // keys of a wrong type
	queues  map[string]string // settings
	unique  map[string]string // holders of unique keys
	entries map[string]string
	cycles  map[cycleID]*cycleSeen
	cycling map[string]bool // roots with a live cycle
	before  int64           // number of the last event before anything was read

	seq       int64  // the last place given; read after the statuses
	events    int64  // the number of the last event, and
	lastEvent string // the id of the newest entry of the event log, at one moment
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
	all := &census{keys: c.keys, views: map[string]*view{}, types: map[string]string{}, lists: map[string][]ticket{},
		junk: map[string][]string{}, workers: map[string]bool{}, callers: map[string]bool{}, ended: map[string]bool{}, wrong: map[string]bool{}, entries: map[string]string{},
		cycles: map[cycleID]*cycleSeen{}, cycling: map[string]bool{}}
	var err error
	if all.before, err = c.LastEvent(ctx); err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	if err := all.readKeys(ctx, c.rdb); err != nil {
		return nil, read(ctx, "verify", err)
	}
	entries := all.entries
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
	if err := all.readDeclarations(ctx, c.rdb); err != nil {
		return nil, read(ctx, "verify", err)
	}
	for uuid, v := range all.views {
		v.ended = all.ended[uuid]
		if y := tagOf(v.entry, 'y'); y != "" {
			v.holder = all.unique[y]
			v.upstream[v.holder] = entries[v.holder]
		}
		for _, e := range storedEdges(v.entry, v.hash) {
			v.upstream[e.upstream] = entries[e.upstream]
		}
		if _, template, ok := cycleOf(v.entry); ok {
			v.upstream[template] = entries[template]
		}
		for child := range v.active {
			v.active[child] = entries[child]
		}
	}
	return all, nil
}

func (a *census) view(uuid string) *view {
	if a.views[uuid] == nil {
		a.views[uuid] = newView(a, uuid, "")
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
		if strange(name) {
			continue
		}
		if want := wantedKind(name); kind != want {
			a.wrong[key] = want != ""
			continue
		}
		var err error
		switch rest, sub := jobKey(name); {
		case name == "scheduled":
			err = a.readScheduled(ctx, rdb, key)
		case strings.HasPrefix(name, "ended:"):
			err = a.readEnded(ctx, rdb, key)
		case name == "todo", name == "leases", name == "removals", name == "expiry":
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) {
				switch u := a.view(v[0]); name {
				case "todo":
					u.todo = true
				case "leases":
					u.leased = true
				case "removals":
					u.removal = true
				case "expiry":
					u.expires = wholeScore(v[1])
				}
			})
		case name == "labels":
			err = scan(ctx, rdb.HScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.view(v[0]).packed = v[1] })
		case strings.HasPrefix(name, "label:"), strings.HasPrefix(name, "past:"), strings.HasPrefix(name, "kind:"):
			err = scan(ctx, rdb.SScan(ctx, key, 0, "", censusSlice), 1, func(v []string) { a.view(v[0]).sets[name] = true })
		case name == "queues":
			a.queues, err = rdb.HGetAll(ctx, key).Result()
		case name == "unique":
			a.unique, err = rdb.HGetAll(ctx, key).Result()
			for y, uuid := range a.unique {
				a.view(uuid).holds[y] = true
			}
		case name == "callers":
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.callers[v[0]] = true })
		case name == "workers":
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.workers[v[0]] = true })
		case name == "results", name == "failures", name == "failed", name == "progress", carriedFlags[name] != "":
			err = a.readFields(ctx, rdb, key, name)
		case name == "ticks", strings.HasPrefix(name, "emits:"), strings.HasPrefix(name, "gate:"), occurrencesKey(name):
			err = scan(ctx, rdb.ZScan(ctx, key, 0, "", censusSlice), 2, func(v []string) { a.view(v[0]).listed[name] = wholeScore(v[1]) })
		case templateKey(name) != "":
			err = a.readTemplate(ctx, rdb, key, name)
		case name == "events:seq":
			_, err = a.readNumber(ctx, rdb, key)
		case name == "events":
			err = a.readLastEvent(ctx, rdb, key)
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
			a.view(rest).left[key] = sub
		case sub == "log", sub == "inboxes":
			a.view(rest).left[key] = sub
		case sub == "bytes":
			a.view(rest).bytes = true
		}
		if passOver(err) != nil {
			return err
		}
	}
	if last := a.keys.key("seq"); !a.wrong[last] { // read although it may not have been there when the keys were listed
		var err error
		if a.seq, err = a.readNumber(ctx, rdb, last); passOver(err) != nil {
			return err
		}
	}
	return nil
}

// readNumber reads a counter, which is 0 while it is not there, and notes one that is no number.
func (a *census) readNumber(ctx context.Context, rdb redis.UniversalClient, key string) (int64, error) {
	n, err := rdb.Get(ctx, key).Int64()
	if unreadableNumber(err) {
		a.wrong[key], err = true, nil
	}
	return n, err
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
	case "status", "queues", "slots", "depth", "results", "failures", "failed", "progress", "unique", "labels", "sync", "triggers", "roots":
		return "hash"
	case "scheduled", "todo", "workers", "leases", "callers", "sweeps", "removals", "expiry", "ticks":
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
	case "children", "onComplete", "inboxes":
		return "list"
	case "active":
		return "set"
	case "edges":
		return "hash"
	case "log":
		return "stream"
	}
	switch kind, rest, _ := strings.Cut(name, ":"); {
	case kind == "queue", kind == "wake", kind == "ended", kind == "history":
		return "list"
	case kind == "idle", kind == "worker" && strings.HasSuffix(rest, ":jobs"), kind == "emits", kind == "backlog", kind == "gate",
		kind == "template" && strings.HasSuffix(rest, ":live"):
		return "zset"
	case kind == "worker", kind == "template", kind == "cycles":
		return "hash"
	case kind == "call":
		return "string"
	case kind == "label", kind == "past", kind == "kind", kind == "cycle":
		return "set"
	}
	return ""
}

// occurrencesKey tells whether a key lists the occurrences of a template. A queue or a label may be named live too.
func occurrencesKey(name string) bool {
	rest, ok := strings.CutPrefix(name, "template:")
	return ok && strings.HasSuffix(rest, ":live")
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
		t, ok := parseTicket(v[0])
		if !ok {
			a.junk[key] = append(a.junk[key], v[0])
			return
		}
		a.view(t.uuid).saw(t)
		a.view(t.uuid).due = append(a.view(t.uuid).due, milli(v[1]))
	})
}

// wholeScore is a score that is a number of milliseconds.
func wholeScore(score string) int64 {
	f, err := strconv.ParseFloat(score, 64)
	if err != nil {
		return -1
	}
	return int64(f)
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
			a.junk[key] = append(a.junk[key], entry)
			continue
		}
		a.lists[key] = append(a.lists[key], t)
		a.view(t.uuid).saw(t)
		if strings.HasPrefix(name, "queue:") {
			a.view(t.uuid).standsAt(key, t)
		} else {
			a.view(t.uuid).waiting[key] = true
		}
	}
	if upstream, what := jobKey(name); upstream != "" {
		v := a.view(upstream)
		v.left[key] = what
		for _, t := range a.lists[key] {
			v.waiters[key] = append(v.waiters[key], t.uuid)
			v.upstream[t.uuid] = a.entries[t.uuid]
		}
	}
	return nil
}

// readFields notes whose fields a hash by uuid has.
func (a *census) readFields(ctx context.Context, rdb redis.UniversalClient, key, name string) error {
	uuids, err := rdb.HKeys(ctx, key).Result()
	for _, uuid := range uuids {
		a.view(uuid).fields[name] = true
	}
	return err
}

func (a *census) readLastEvent(ctx context.Context, rdb redis.UniversalClient, key string) error {
	pipe := rdb.TxPipeline()
	newest, number := pipe.XRevRangeN(ctx, key, "+", "-", 1), pipe.Get(ctx, a.keys.lastEvent())
	err := transact(ctx, pipe)
	if len(newest.Val()) > 0 {
		a.lastEvent, a.events = newest.Val()[0].ID, integer(number.Val())
	}
	return passOver(err)
}

// unreadableNumber tells whether a number is none; one that is missing is 0.
func unreadableNumber(err error) bool {
	return errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange)
}

// standing is a job that belongs into a queue's list.
type standing struct {
	place int64
	text  string // its ticket there
}

// pivot is the ticket that stands before a job of this place in a queue's list, to its right; "" when it is the first.
func (a *census) pivot(key string, of *view, place int64) string {
	if a.ready == nil {
		a.ready = map[string][]standing{}
		for uuid, v := range a.views {
			s, err := decodeStatus(uuid, v.entry)
			if v.entry == "" || err != nil || s.State != StateQueued || !v.hasBytes() {
				continue
			}
			at := standing{s.Place, v.full}
			if strings.Contains(flagsOf(v.entry), "b") && v.fulls == 0 {
				at.text = slimTicket(uuid, s.Place)
			}
			queue := a.keys.queue(s.Queue, s.Priority)
			a.ready[queue] = append(a.ready[queue], at)
		}
		for _, list := range a.ready {
			slices.SortFunc(list, func(x, y standing) int { return cmp.Compare(x.place, y.place) })
		}
	}
	list := a.ready[key]
	n, _ := slices.BinarySearchFunc(list, place, func(s standing, p int64) int { return cmp.Compare(s.place, p) })
	if n == 0 {
		return ""
	}
	return list[n-1].text
}
