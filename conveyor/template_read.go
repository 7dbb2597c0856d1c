package conveyor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/schedule"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// templateSlice is how many templates one round trip reads, with their bytes.
const templateSlice = 50

// Templates returns what is known of each template, in the order of uuids. Of a uuid that is no template, or is unknown, only
// UUID and Status are set, and Kind is 0. It only reads; Next is computed where no tick has seen the template yet.
func (c *Client) Templates(ctx context.Context, uuids []string) ([]Template, error) {
	out := make([]Template, 0, len(uuids))
	for from := 0; from < len(uuids); from += templateSlice {
		part, err := c.templates(ctx, uuids[from:min(from+templateSlice, len(uuids))])
		if err != nil {
			return nil, fmt.Errorf("templates: %w", err)
		}
		out = append(out, part...)
	}
	return out, c.findRoots(ctx, out)
}

// findRoots sets the root of templates that are downstream of one. It follows their edges upwards, all of them a step at a time.
func (c *Client) findRoots(ctx context.Context, found []Template) error {
	above := map[string][]string{} // a template that was looked at -> its upstreams; nil for a root
	var next []string
	look := func(us []string) {
		for _, u := range us {
			if _, seen := above[u]; !seen {
				above[u] = nil
				next = append(next, u)
			}
		}
	}
	for _, t := range found {
		if t.Kind == TemplateDownstream {
			look([]string{t.UUID})
		}
	}
	roots := map[string]string{} // a root is its own
	for len(next) > 0 {
		level := next[:min(len(next), readSlice)]
		next = next[len(level):]
		pipe := c.rdb.Pipeline()
		cmds := make([]*redis.SliceCmd, len(level))
		for i, u := range level {
			cmds[i] = pipe.HMGet(ctx, c.keys.template(u), "kind", "edges")
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return read(ctx, "templates", err)
		}
		for i, u := range level {
			kind, _ := cmds[i].Val()[0].(string)
			edges, _ := cmds[i].Val()[1].(string)
			switch kind {
			case "d":
				for _, e := range storedEdges("|||i"+edges, nil) {
					above[u] = append(above[u], e.upstream)
				}
				look(above[u])
			case "s", "g":
				roots[u] = u
			}
		}
	}
	for i := range found {
		if found[i].Kind == TemplateDownstream {
			found[i].Root = rootAbove(found[i].UUID, above, roots)
		}
	}
	return nil
}

// rootAbove is the first root that a walk upwards meets; "" if there is none any more.
func rootAbove(uuid string, above map[string][]string, roots map[string]string) string {
	if root, seen := roots[uuid]; seen {
		return root
	}
	roots[uuid] = ""
	for _, up := range above[uuid] {
		if root := rootAbove(up, above, roots); root != "" {
			roots[uuid] = root
			break
		}
	}
	return roots[uuid]
}

// templateReads are the replies that one template is put together from.
type templateReads struct {
	hash, gate, cycles *redis.MapStringStringCmd
	sync, bytes        *redis.StringCmd
	backlog            *redis.IntCmd
}

func (c *Client) templates(ctx context.Context, uuids []string) ([]Template, error) {
	pipe := c.moment(ctx) // one moment
	statuses := c.statusesIn(ctx, pipe, uuids)
	now, clock := pipe.Time(ctx), pipe.Get(ctx, c.keys.clock())
	reads := make([]templateReads, len(uuids))
	for i, u := range uuids {
		reads[i] = templateReads{pipe.HGetAll(ctx, c.keys.template(u)), pipe.HGetAll(ctx, c.keys.gateOf(u)),
			pipe.HGetAll(ctx, c.keys.cycles(u)), pipe.HGet(ctx, c.keys.sync(), u), pipe.Get(ctx, c.keys.job(u)), pipe.ZCard(ctx, c.keys.backlog(u))}
	}
	if err := transact(ctx, pipe); err != nil && !errors.Is(err, redis.Nil) {
		return nil, read(ctx, "read", err)
	}
	found, err := statuses()
	if err != nil {
		return nil, err
	}
	out := make([]Template, len(uuids))
	for i, s := range found {
		out[i] = Template{UUID: s.UUID, Status: s}
		if s.State != StateTemplate {
			continue
		}
		for _, cmd := range []redis.Cmder{reads[i].hash, reads[i].gate, reads[i].cycles, reads[i].sync, reads[i].bytes, reads[i].backlog} {
			if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
				return nil, read(ctx, "read "+s.UUID, err)
			}
		}
		if err := out[i].fill(c.keys, reads[i], testClock(now.Val(), clock.Val())); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill reads the template's own hash and what stands beside it.
func (t *Template) fill(k keyspace, r templateReads, now time.Time) error {
	h := templateHash{r.hash.Val(), k.template(t.UUID), nil}
	t.When, t.Disabled, t.Paused = h.fields["when"], h.fields["off"] != "", h.fields["hand"] != ""
	t.Since, t.Next = milliTime(h.number("since")), milliTime(h.number("next"))
	t.MaxCycles, t.Cycles = int(h.number("max")), int(h.number("used"))
	t.OnHold = t.MaxCycles > 0 && t.Cycles >= t.MaxCycles
	t.Catchup = map[byte]wire.Schedule_Catchup{'n': wire.Schedule_NONE, 'a': wire.Schedule_ALL}[h.letter("catchup")]
	t.Overlap = map[byte]wire.Schedule_Overlap{'s': wire.Schedule_SKIP, 'r': wire.Schedule_REPLACE}[h.letter("overlap")]
	t.Kind = map[byte]TemplateKind{'s': TemplateScheduled, 'g': TemplateGated, 'd': TemplateDownstream}[h.letter("kind")]
	if t.Kind != TemplateDownstream {
		t.Root = t.UUID
	}
	t.Sync, t.Gate, t.Backlog = unpackLabels(r.sync.Val()), gateLabels(r.gate.Val()), int(r.backlog.Val())
	if t.Kind == 0 && h.err == nil {
		h.err = fmt.Errorf("%w: %s: kind is %q", ErrCorrupt, h.key, h.fields["kind"])
	}
	if h.err != nil {
		return h.err
	}
	if err := t.next(h.key, now); err != nil {
		return err
	}
	job := &wire.Job{}
	if err := proto.Unmarshal([]byte(r.bytes.Val()), job); err != nil {
		return fmt.Errorf("%w: %s: bytes of the template: %w", ErrCorrupt, k.job(t.UUID), err)
	}
	t.Name = job.Name
	var err error
	t.Live, err = liveCycles(k.cycles(t.UUID), r.cycles.Val())
	return err
}

// next computes the next tick where the store has none yet, and leaves it out where none will be used.
func (t *Template) next(key string, now time.Time) error {
	if t.Kind != TemplateScheduled || !t.emits() {
		t.Next = time.Time{}
		return nil
	}
	if !t.Next.IsZero() {
		return nil
	}
	s, err := schedule.ParseText(t.When)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, key, err)
	}
	since := t.Since
	if since.IsZero() {
		since = now
	}
	t.Next = s.Next(since)
	return nil
}

// templateHash reads the fields of a template's hash.
type templateHash struct {
	fields map[string]string
	key    string
	err    error // the first that is no number
}

func (h *templateHash) number(name string) int64 {
	text := h.fields[name]
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && h.err == nil {
		h.err = fmt.Errorf("%w: %s: %s is %q", ErrCorrupt, h.key, name, text)
	}
	return n
}

func (h *templateHash) letter(name string) byte {
	if h.fields[name] == "" {
		return 0
	}
	return h.fields[name][0]
}

func gateLabels(hash map[string]string) []GateLabel {
	var out []GateLabel
	for _, name := range slices.Sorted(maps.Keys(hash)) {
		failed, _ := strings.CutPrefix(hash[name], "-")
		g := GateLabel{Label: name, Flipped: hash[name] == "1"}
		if failed != hash[name] {
			g.Failed = failed
		}
		out = append(out, g)
	}
	return out
}

func liveCycles(key string, hash map[string]string) ([]Cycle, error) {
	var out []Cycle
	for tick, text := range hash {
		c, err := decodeCycle(key, tick, text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Cycle) int { return a.Tick.Compare(b.Tick) })
	return out, nil
}

// ListTemplates returns the roots of the namespace, those that are scheduled or gated, in the order of their uuids. It walks
// over all status entries, as a List without labels does.
func (c *Client) ListTemplates(ctx context.Context) ([]Template, error) {
	var uuids []string
	err := scan(ctx, c.rdb.HScan(ctx, c.keys.status(), 0, "", censusSlice), 2, func(v []string) {
		if strings.HasPrefix(v[1], "t") {
			uuids = append(uuids, v[0])
		}
	})
	if err != nil {
		return nil, read(ctx, "list templates", err)
	}
	slices.Sort(uuids)
	all, err := c.Templates(ctx, slices.Compact(uuids))
	return slices.DeleteFunc(all, func(t Template) bool { return t.Kind != TemplateScheduled && t.Kind != TemplateGated }), err
}

// History returns the latest cycles of a root that are over, and the ticks that made none, newest first: at most limit, and
// HistoryLimit are kept. A limit of 0 is all of them. It is empty of what is no root; that ones that are live has Templates.
func (c *Client) History(ctx context.Context, root string, limit int) ([]Cycle, error) {
	all, err := c.Histories(ctx, []string{root}, limit)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Histories returns the latest cycles of several roots, as History does of each, in the order of roots.
func (c *Client) Histories(ctx context.Context, roots []string, limit int) ([][]Cycle, error) {
	if limit < 0 {
		return nil, fmt.Errorf("history: limit %d is negative", limit)
	}
	pipe := c.rdb.Pipeline()
	reads := make([]*redis.StringSliceCmd, len(roots))
	for i, root := range roots {
		if !validName(root) {
			return nil, fmt.Errorf("history: %w: %q", ErrUUID, root)
		}
		reads[i] = pipe.LRange(ctx, c.keys.history(root), 0, int64(limit)-1)
	}
	if len(roots) > 0 {
		_, _ = pipe.Exec(ctx) // each command is asked for its own error
	}
	out := make([][]Cycle, len(roots))
	for i, root := range roots {
		lines, err := reads[i].Result()
		if err != nil {
			return nil, read(ctx, "history "+root, err)
		}
		for _, line := range lines {
			cycle, err := decodeHistory(c.keys.history(root), line)
			if err != nil {
				return nil, fmt.Errorf("history %s: %w", root, err)
			}
			out[i] = append(out[i], cycle)
		}
	}
	return out, nil
}

// Members returns the occurrences of a cycle that are live, in the order of their uuids. Those that ended are found by the
// uuids that they have, see OccurrenceUUID.
func (c *Client) Members(ctx context.Context, root string, tick time.Time) ([]Status, error) {
	if !validName(root) {
		return nil, fmt.Errorf("members: %w: %q", ErrUUID, root)
	}
	uuids, err := c.rdb.SMembers(ctx, c.keys.cycle(root, tick.UnixMilli())).Result()
	if err != nil {
		return nil, read(ctx, "members of "+root, err)
	}
	slices.Sort(uuids)
	found, err := c.Statuses(ctx, uuids)
	return slices.DeleteFunc(found, func(s Status) bool { return s.State == StateUnknown }), err
}
