package enginemodel

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
)

// cycle is one run of a root and of all that stands downstream of it.
type cycle struct {
	tick     int64 // ms
	began    int64
	replaced bool // by a later one: what it still makes is cancelled at once
	made     int
	failed   int
}

// HistoryLine is a cycle that is over, or never was.
type HistoryLine struct {
	Tick    int64 // ms
	Outcome string
	Began   int64
	Ended   int64
	Made    int
	Failed  int
	Missed  int // ticks that passed unused
}

// historyKept is how many lines of a root's history are kept.
const historyKept = 100

func (t *template) note(l HistoryLine) {
	t.history = slices.Insert(t.history, 0, l)
	t.history = t.history[:min(len(t.history), historyKept)]
}

// OccurrenceUUID is the uuid of what a template makes for one cycle: made of the cycle, so that it is made once.
func OccurrenceUUID(template, root string, tick int64) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s@%s@%d", template, root, tick))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// emit begins a cycle.
func (e *Engine) emit(root *job, tick int64) {
	t := root.template
	t.used++
	t.last = max(t.last, tick)
	t.live = append(t.live, &cycle{tick: tick, began: e.now})
	e.occurrence(root, root, tick)
}

// cycleOf is a cycle that is not over.
func (e *Engine) cycleOf(root string, tick int64) *cycle {
	if r := e.jobs[root]; r != nil && r.template != nil {
		for _, c := range r.template.live {
			if c.tick == tick {
				return c
			}
		}
	}
	return nil
}

// occurrence makes what a template gives a cycle, and first what that waits for in it. Edges to templates lead to the
// occurrences of the same cycle.
func (e *Engine) occurrence(t, root *job, tick int64) {
	uuid := OccurrenceUUID(t.uuid, root.uuid, tick)
	if e.jobs[uuid] != nil {
		return
	}
	w := proto.CloneOf(t.wire)
	w.Uuid, w.TemplateUuid, w.Tick = uuid, t.uuid, strconv.FormatInt(tick, 10)
	j := &job{uuid: uuid, of: t.uuid, root: root.uuid, tick: tick, sync: maps.Clone(t.template.sync)}
	e.jobs[uuid] = j // before its upstreams, which may stand in a circle
	edges := edgesOf(w)
	for i := range edges {
		if up := e.jobs[edges[i].up]; up != nil && up.template != nil {
			e.occurrence(up, root, tick)
			edges[i].up = OccurrenceUUID(up.uuid, root.uuid, tick)
		}
	}
	if c := e.cycleOf(root.uuid, tick); c != nil {
		c.made++
	}
	_ = e.begin(j, w, edges, beginning{}) // it is never refused
	if c := e.cycleOf(root.uuid, tick); c != nil && c.replaced && j.live() {
		e.cancel(j)
	}
}

// downstream makes the occurrences of the templates that wait for this one's as children or as heirs.
func (e *Engine) downstream(j *job, parent bool) {
	t, root := e.jobs[j.of], e.jobs[j.root]
	if j.of == "" || t == nil || t.template == nil || root == nil || root.template == nil {
		return
	}
	for _, d := range e.below(t, parent) {
		e.occurrence(d, root, j.tick)
	}
}

// leaveCycle: the last occurrence that ends closes its cycle.
func (e *Engine) leaveCycle(j *job) {
	c := e.cycleOf(j.root, j.tick)
	if j.of == "" || c == nil {
		return
	}
	if j.end.toHeirs() == failure {
		c.failed++
	}
	for _, o := range e.jobs {
		if o.root == j.root && o.tick == j.tick && o.live() {
			return
		}
	}
	t := e.jobs[j.root].template
	t.live = slices.DeleteFunc(t.live, func(o *cycle) bool { return o == c })
	outcome := "completed"
	switch {
	case c.replaced:
		outcome = "replaced"
	case c.failed > 0:
		outcome = "failed"
	}
	t.note(HistoryLine{Tick: c.tick, Outcome: outcome, Began: c.began, Ended: e.now, Made: c.made, Failed: c.failed})
	e.workOffBacklog(e.jobs[j.root])
}

// replaceCycles cancels what is left of the live cycles of a root, and what they would still make.
func (e *Engine) replaceCycles(root *job) {
	for _, c := range root.template.live {
		c.replaced = true
		for _, j := range e.sorted(func(j *job) bool { return j.root == root.uuid && j.tick == c.tick && j.live() }, byPlace) {
			e.cancel(j)
		}
	}
}
