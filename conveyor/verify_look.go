package conveyor

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// look reads everything about one suspected job again, in one transaction; nil when its status has changed since, so that
// what was seen before may have been a move half seen.
func (c *Client) look(ctx context.Context, uuid string, was *view) (*view, error) {
	pre := c.rdb.Pipeline()
	entry, hash := pre.HGet(ctx, c.keys.status(), uuid), pre.HGetAll(ctx, c.keys.edges(uuid))
	active := pre.SMembers(ctx, c.keys.active(uuid))
	bytes, edges := pre.Get(ctx, c.keys.job(uuid)), pre.HGet(ctx, c.keys.template(uuid), "edges")
	if _, err := pre.Exec(ctx); passOver(err) != nil {
		return nil, read(ctx, "verify "+uuid, err)
	}
	if entry.Val() != was.entry {
		return nil, nil
	}
	v := newView(was.all, uuid, was.entry)
	v.hash, v.full = hash.Val(), was.full
	if err := c.lookAtWaiters(ctx, v, was); err != nil {
		return nil, err
	}
	l := &looking{view: v, was: was, pipe: c.moment(ctx)}
	l.template.declared, l.template.edges = bytes.Val(), edges.Val()
	l.ask(ctx, was, active.Val())
	if err := transact(ctx, l.pipe); passOver(err) != nil {
		return nil, read(ctx, "verify "+uuid, err)
	}
	if l.entry.Val() != v.entry || !maps.Equal(l.hash.Val(), v.hash) {
		return nil, nil
	}
	if l.templateMoved() {
		return nil, nil // what it waits for and emits was asked for by what it was a moment ago
	}
	l.answer()
	if v.packed != was.packed {
		return nil, nil // its labels were changed, and perhaps their index is not read as one
	}
	return v, nil
}

// passOver leaves keys that are missing or of a wrong type to those who name them.
func passOver(err error) error {
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil
	}
	return err
}

// looking is the transaction of one look: what was asked, by the key or uuid it was asked for.
type looking struct {
	*view
	was          *view
	pipe         redis.Pipeliner
	entry        *redis.StringCmd
	hash         *redis.MapStringStringCmd
	kind         *redis.StatusCmd
	bytes        *redis.StringCmd
	fields       map[string]*redis.BoolCmd
	left         map[string]*redis.IntCmd
	todo, leased *redis.FloatCmd
	ended        *redis.StringSliceCmd
	removal      *redis.FloatCmd
	expires      *redis.FloatCmd
	holder       *redis.StringCmd
	holds        map[string]*redis.StringCmd
	packed       *redis.StringCmd
	sets         map[string]*redis.BoolCmd
	scheduled    *redis.ZSliceCmd
	lists        map[string]*redis.StringSliceCmd
	statuses     map[string]*redis.StringCmd
	members      map[string]*redis.BoolCmd
	owners       map[string]*redis.FloatCmd
	listed       map[string]*redis.FloatCmd
	template     struct {
		hash, gate, cycles *redis.MapStringStringCmd
		bytes              *redis.StringCmd
		history            *redis.StringSliceCmd
		backlog            *redis.IntCmd
		declared, edges    string // its bytes and its edges right before the transaction, which say what to ask for
	}
	children []string
}

// ask queues the commands: all that the entry and the edges point to, and whatever pointed here before.
func (l *looking) ask(ctx context.Context, was *view, children []string) {
	l.children = children
	l.lists, l.statuses = map[string]*redis.StringSliceCmd{}, map[string]*redis.StringCmd{}
	l.members, l.owners = map[string]*redis.BoolCmd{}, map[string]*redis.FloatCmd{}
	keys := l.keys
	l.entry, l.hash = l.pipe.HGet(ctx, keys.status(), l.uuid), l.pipe.HGetAll(ctx, keys.edges(l.uuid))
	l.kind = l.pipe.Type(ctx, keys.job(l.uuid))
	l.todo, l.leased = l.pipe.ZScore(ctx, keys.todo(), l.uuid), l.pipe.ZScore(ctx, keys.leases(), l.uuid)
	l.removal, l.expires = l.pipe.ZScore(ctx, keys.removals(), l.uuid), l.pipe.ZScore(ctx, keys.expiry(), l.uuid)
	l.packed, l.sets = l.pipe.HGet(ctx, keys.labels(), l.uuid), map[string]*redis.BoolCmd{}
	for _, name := range append(slices.Collect(maps.Keys(was.sets)), labelSets(was.entry, was.packed)...) {
		if l.sets[name] == nil {
			l.sets[name] = l.pipe.SIsMember(ctx, keys.key(name), l.uuid)
		}
	}
	l.holds = map[string]*redis.StringCmd{}
	for y := range was.holds {
		l.holds[y] = l.pipe.HGet(ctx, keys.unique(), y)
	}
	if y := tagOf(l.view.entry, 'y'); y != "" {
		l.holder = l.pipe.HGet(ctx, keys.unique(), y)
		if was.holder != "" {
			l.status(ctx, was.holder)
		}
	}
	if strings.Contains(flagsOf(l.view.entry), "m") && len(l.view.hash) == 0 {
		l.bytes = l.pipe.Get(ctx, keys.job(l.uuid))
	}
	l.fields, l.left = map[string]*redis.BoolCmd{}, map[string]*redis.IntCmd{}
	for name := range was.fields {
		l.fields[name] = l.pipe.HExists(ctx, keys.key(name), l.uuid)
	}
	for name, flag := range carriedFlags {
		if strings.Contains(flagsOf(l.view.entry), flag) && l.fields[name] == nil {
			l.fields[name] = l.pipe.HExists(ctx, keys.key(name), l.uuid)
		}
	}
	for key := range was.left {
		l.left[key] = l.pipe.Exists(ctx, key)
	}
	for u := range l.view.upstream {
		l.status(ctx, u)
	}
	owners := slices.Clone(was.owners)
	if s, err := decodeStatus(l.uuid, l.view.entry); err == nil {
		if s.State.Ended() {
			l.ended = l.pipe.LRange(ctx, keys.ended(s.Queue), 0, -1)
		}
		switch s.State {
		case StateQueued:
			l.list(ctx, keys.queue(s.Queue, s.Priority))
		case StateScheduled:
			l.scheduled = l.pipe.ZRangeWithScores(ctx, keys.scheduled(), 0, -1)
		case StateRunning:
			owners = append(owners, s.Owner)
		}
	}
	for _, e := range storedEdges(l.view.entry, l.view.hash) {
		l.status(ctx, e.upstream)
		l.list(ctx, keys.waiting(e.upstream, e.class(), e.opening))
		l.member(ctx, e.upstream)
	}
	for p := range was.members {
		l.member(ctx, p)
	}
	for _, w := range owners {
		if w != "" && l.owners[w] == nil {
			l.owners[w] = l.pipe.ZScore(ctx, keys.worker(w)+":jobs", l.uuid)
		}
	}
	for _, child := range children {
		l.status(ctx, child)
	}
	l.askTemplate(ctx, was)
}

func (l *looking) list(ctx context.Context, key string) {
	if l.lists[key] == nil {
		l.lists[key] = l.pipe.LRange(ctx, key, 0, -1)
	}
}

func (l *looking) status(ctx context.Context, uuid string) {
	if l.statuses[uuid] == nil {
		l.statuses[uuid] = l.pipe.HGet(ctx, l.keys.status(), uuid)
	}
}

func (l *looking) member(ctx context.Context, parent string) {
	if l.members[parent] == nil {
		l.members[parent] = l.pipe.SIsMember(ctx, l.keys.active(parent), l.uuid)
	}
}

// answer fills the view.
func (l *looking) answer() {
	v := l.view
	v.bytes = l.kind.Val() == "string"
	v.todo, v.leased = l.todo.Err() == nil, l.leased.Err() == nil
	v.removal, v.packed = l.removal.Err() == nil, l.packed.Val()
	for name, cmd := range l.sets {
		if cmd.Val() {
			v.sets[name] = true
		}
	}
	if l.expires.Err() == nil {
		v.expires = int64(l.expires.Val())
	}
	for y, cmd := range l.holds {
		if cmd.Val() == v.uuid {
			v.holds[y] = true
		}
	}
	if l.holder != nil {
		if v.holder = l.holder.Val(); v.holder == l.was.holder && v.holder != "" {
			v.upstream[v.holder] = l.statuses[v.holder].Val()
		}
	}
	if l.ended != nil {
		v.ended = slices.ContainsFunc(l.ended.Val(), func(s string) bool { return strings.HasSuffix(s, " "+v.uuid) })
	}
	if l.scheduled != nil {
		for _, z := range l.scheduled.Val() {
			member, _ := z.Member.(string)
			if t, ok := parseTicket(member); ok && t.uuid == v.uuid {
				v.saw(t)
				v.due = append(v.due, int64(math.Round(z.Score*1000)))
			}
		}
	}
	for key, list := range l.lists {
		for _, text := range list.Val() {
			if t, ok := parseTicket(text); ok && t.uuid == v.uuid {
				v.saw(t)
				v.standsAt(key, t)
				v.waiting[key] = true
			}
		}
	}
	if l.bytes != nil {
		v.declared = declaredEdges(l.bytes.Val())
	}
	for name, cmd := range l.fields {
		v.fields[name] = cmd.Val()
		if !cmd.Val() {
			delete(v.fields, name)
		}
	}
	for key, cmd := range l.left {
		if cmd.Val() > 0 {
			v.left[key] = l.was.left[key]
		}
	}
	for u := range v.upstream {
		v.upstream[u] = l.statuses[u].Val()
	}
	for p, cmd := range l.members {
		if cmd.Val() {
			v.members[p] = true
		}
	}
	for w, cmd := range l.owners {
		if cmd.Err() == nil {
			v.owners = append(v.owners, w)
		}
	}
	for _, e := range storedEdges(v.entry, v.hash) {
		v.upstream[e.upstream] = l.statuses[e.upstream].Val()
	}
	l.answerTemplate()
	for _, child := range l.children {
		v.active[child] = l.statuses[child].Val()
	}
}

// lookAtWaiters reads whose tickets stand in the lists of an unknown job; their statuses come with the transaction.
func (c *Client) lookAtWaiters(ctx context.Context, v, was *view) error {
	if v.entry != "" {
		return nil
	}
	for key := range was.waiters {
		texts, err := c.rdb.LRange(ctx, key, 0, -1).Result()
		if passOver(err) != nil {
			return read(ctx, "verify "+v.uuid, err)
		}
		for _, text := range texts {
			if t, ok := parseTicket(text); ok {
				v.waiters[key] = append(v.waiters[key], t.uuid)
				v.upstream[t.uuid] = ""
			}
		}
	}
	return nil
}

// declaredEdges are the edges that a job's bytes declare, as scripts read them; "" when they cannot be read.
func declaredEdges(bytes string) string {
	job := &wire.Job{}
	if bytes == "" || proto.Unmarshal([]byte(bytes), job) != nil {
		return ""
	}
	texts, err := edgesOf(job, addOptions{})
	if err != nil {
		return ""
	}
	return strings.Join(texts, ",")
}
