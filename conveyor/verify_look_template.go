package conveyor

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// askTemplate queues the commands about a template, or what is left of one, and about an occurrence's place in its cycle.
func (l *looking) askTemplate(ctx context.Context, was *view) {
	l.listed = map[string]*redis.FloatCmd{}
	for name := range was.listed {
		l.score(ctx, name)
	}
	if id, template, ok := cycleOf(was.entry); ok {
		l.status(ctx, template)
		l.score(ctx, "template:"+template+":live")
		if set := "cycle:" + id.root + ":" + strconv.FormatInt(id.tick, 10); l.sets[set] == nil {
			l.sets[set] = l.pipe.SIsMember(ctx, l.keys.key(set), l.uuid)
		}
		l.view.upstream[template] = ""
	}
	if was.t == nil && !strings.HasPrefix(was.entry, "t") {
		return
	}
	l.score(ctx, "ticks")
	for name := range emitsWanted(l.template.edges) {
		l.score(ctx, name)
	}
	declared, _ := declaredGate(l.template.declared)
	for _, label := range declared {
		l.score(ctx, "gate:"+label)
	}
	t := &l.template
	t.hash, t.gate = l.pipe.HGetAll(ctx, l.keys.template(l.uuid)), l.pipe.HGetAll(ctx, l.keys.gateOf(l.uuid))
	t.cycles, t.bytes = l.pipe.HGetAll(ctx, l.keys.cycles(l.uuid)), l.pipe.Get(ctx, l.keys.job(l.uuid))
	t.history, t.backlog = l.pipe.LRange(ctx, l.keys.history(l.uuid), 0, -1), l.pipe.ZCard(ctx, l.keys.key("backlog:"+l.uuid))
}

func (l *looking) score(ctx context.Context, name string) {
	if l.listed[name] == nil {
		l.listed[name] = l.pipe.ZScore(ctx, l.keys.key(name), l.uuid)
	}
}

// templateMoved tells whether a template's bytes or edges have changed since it was decided what to ask for.
func (l *looking) templateMoved() bool {
	t := &l.template
	return t.hash != nil && (t.bytes.Val() != t.declared || t.hash.Val()["edges"] != t.edges)
}

// answerTemplate fills the view with what askTemplate has asked for.
func (l *looking) answerTemplate() {
	v := l.view
	for name, cmd := range l.listed {
		if cmd.Err() == nil {
			v.listed[name] = int64(cmd.Val())
		}
	}
	r := l.template
	if r.hash == nil {
		return
	}
	t := v.template()
	t.bytes = r.bytes.Val()
	if len(r.hash.Val()) > 0 {
		t.fields = r.hash.Val()
	}
	if len(r.gate.Val()) > 0 {
		t.gate = r.gate.Val()
	}
	for tick, text := range r.cycles.Val() {
		if cancelling(text) {
			t.pending = append(t.pending, tick)
		}
	}
	if len(r.history.Val()) > 0 {
		t.keys["history:"+v.uuid] = true
	}
	for _, line := range r.history.Val() {
		if _, err := decodeHistory("", line); err != nil {
			t.junk = append(t.junk, line)
		}
	}
	if t.waiting = r.backlog.Val(); t.waiting > 0 {
		t.keys["backlog:"+v.uuid] = true
	}
	v.all.cycling[v.uuid] = len(r.cycles.Val()) > 0
}
