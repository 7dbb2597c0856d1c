package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Violation is one invariant that does not hold.
type Violation struct {
	Invariant string // "I1" .. "I14", numbered as in the package documentation
	UUID      string // "" when no job is concerned
	Key       string // where it was seen
	Detail    string
}

func (v Violation) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s: %s", v.Invariant, v.UUID, v.Key, v.Detail))
}

// Verify checks a live namespace and returns what is wrong with it, nothing when all is well. It reads everything once
// without stopping anybody, and then each job it suspects once more in one transaction: only what is wrong
// there too, with the status unchanged, is reported. Counters are compared only as far as nothing moved meanwhile.
//
// It checks I1 (a live job is in exactly one place and its status says which), I2 (no reference without a job), I3
// (running iff owned and fenced), I11 (every live job can still end), I13 (nothing is left of what is gone) and I14 (a
// worker that is gone owns nothing). Jobs that wait for an upstream never seen are orphans, not violations.
func (c *Client) Verify(ctx context.Context) ([]Violation, error) {
	before, err := c.LastEvent(ctx)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	all, err := c.census(ctx)
	if err != nil {
		return nil, err
	}
	out := all.keyViolations()
	for uuid, v := range all.views {
		if found := v.judge(); len(found) > 0 {
			again, err := c.look(ctx, uuid, v)
			if err != nil {
				return nil, err
			}
			if again != nil {
				out = append(out, again.judge()...)
			}
		}
	}
	after, err := c.LastEvent(ctx)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	if before == after {
		out = append(out, all.counterViolations()...)
		out = append(out, all.leftoverViolations()...)
	}
	slices.SortFunc(out, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out), nil
}

// view is all that the store says about one job.
type view struct {
	keys  keyspace
	uuid  string
	entry string            // "" when there is none
	hash  map[string]string // jobs:<uuid>:edges

	bytes, todo, ended, leased bool
	places                     map[string]int    // queue lists and the number of tickets there that are its place
	waiting                    map[string]bool   // lists of upstreams with a ticket of it
	due                        []int64           // ms, its tickets in `scheduled`
	members                    map[string]bool   // parents whose active set names it
	owners                     []string          // workers whose list names it
	upstream                   map[string]string // entries of its upstreams
	active                     map[string]string // entries of the members of its own active set
}

func newView(keys keyspace, uuid, entry string) *view {
	return &view{keys: keys, uuid: uuid, entry: entry, places: map[string]int{}, waiting: map[string]bool{}, members: map[string]bool{},
		upstream: map[string]string{}, active: map[string]string{}}
}

// standsAt notes a ticket found in a queue list, unless it is a stale one.
func (v *view) standsAt(key string, t ticket) {
	s, err := decodeStatus(v.uuid, v.entry)
	if err != nil || s.State != StateQueued || v.keys.queue(s.Queue, s.Priority) != key {
		return
	}
	if t.full && !strings.Contains(flagsOf(v.entry), "d") || !t.full && t.place == s.Place {
		v.places[key]++
	}
}

// judge names what is wrong with one job.
func (v *view) judge() []Violation {
	if v.entry == "" {
		return v.judgeUnknown()
	}
	s, err := decodeStatus(v.uuid, v.entry)
	if err != nil {
		return []Violation{{"I1", v.uuid, v.keys.status(), "undecodable status entry " + v.entry}}
	}
	j := judgement{view: v, status: s, edges: storedEdges(v.entry, v.hash)}
	j.place()
	j.owner()
	j.references()
	return j.found
}

func (v *view) judgeUnknown() []Violation {
	var out []Violation
	if v.bytes {
		out = append(out, Violation{"I13", v.uuid, v.keys.job(v.uuid), "bytes of a job without status"})
	}
	for _, w := range v.owners {
		out = append(out, Violation{"I2", v.uuid, v.keys.worker(w) + ":jobs", "names a job without status"})
	}
	for p := range v.members {
		out = append(out, Violation{"I2", v.uuid, v.keys.active(p), "names a job without status"})
	}
	for _, at := range []struct {
		in  bool
		key string
	}{{v.leased, v.keys.leases()}, {v.todo, v.keys.todo()}} {
		if at.in {
			out = append(out, Violation{"I2", v.uuid, at.key, "names a job without status"})
		}
	}
	return out
}

// judgement collects the violations of one known job.
type judgement struct {
	*view
	status Status
	edges  []storedEdge
	found  []Violation
}

func (j *judgement) say(invariant, key, format string, args ...any) {
	j.found = append(j.found, Violation{invariant, j.uuid, key, fmt.Sprintf(format, args...)})
}

// place checks I1 and I11: the one place that the state names.
func (j *judgement) place() {
	s := j.status
	queueKey := j.keys.queue(s.Queue, s.Priority)
	switch s.State {
	case StateQueued:
		if n := j.places[queueKey]; n != 1 {
			j.say("I1", queueKey, "queued, with %d tickets at its place", n)
		}
	case StateScheduled:
		if !slices.Contains(j.due, s.DueAt.UnixMilli()) {
			j.say("I1", j.keys.scheduled(), "scheduled for %d, with tickets for %v", s.DueAt.UnixMilli(), j.due)
		}
	case StateHeld:
		j.held()
	case StateClosing:
		j.closing()
	case StateRunning, StateOnHold:
		if !j.bytes {
			j.say("I1", j.keys.job(j.uuid), "%s without bytes", s.State)
		}
	}
	if s.State.Ended() {
		if j.bytes {
			j.say("I13", j.keys.job(j.uuid), "bytes of a job that is %s", s.State)
		}
		if len(j.hash) > 0 {
			j.say("I13", j.keys.edges(j.uuid), "edges of a job that is %s", s.State)
		}
		if !j.ended && !s.Recorded {
			j.say("I13", j.keys.ended(s.Queue), "%s and unrecorded, but not in retention", s.State)
		}
	}
	if s.State != StateRunning && s.State.live() && strings.Contains(flagsOf(j.entry), "b") && !j.bytes {
		j.say("I1", j.keys.job(j.uuid), "%s, its bytes are gone", s.State)
	}
	if j.todo && s.State != StateClosing {
		j.say("I2", j.keys.todo(), "names a job that is %s", s.State)
	}
}

func (s State) live() bool { return s != StateUnknown && !s.Ended() }

// held: a ticket stands in the list of each upstream that is not decided, and one is decided when its upstream is over.
func (j *judgement) held() {
	pending := 0
	for _, e := range j.edges {
		if e.mark == '~' {
			pending++ // an orphan
		}
		if e.mark != '?' {
			continue
		}
		pending++
		up := j.upstream[e.upstream]
		key := j.keys.waiting(e.upstream, e.class(), e.opening)
		if !j.waiting[key] {
			j.say("I1", key, "held without a ticket here")
			continue
		}
		if s, err := decodeStatus(e.upstream, up); up != "" && err == nil && s.State.Ended() && s.Opening >= e.opening {
			j.say("I11", key, "waits for %s, which is %s", e.upstream, s.State)
		}
	}
	if pending == 0 {
		j.say("I11", j.keys.status(), "held with nothing to wait for")
	}
}

// closing: it is listed as to do, or an unfinished child is in the active set.
func (j *judgement) closing() {
	if j.todo {
		return
	}
	if tagOf(j.entry, 'x') != "" {
		j.say("I11", j.keys.todo(), "ending, but not listed as to do")
		return
	}
	for uuid, entry := range j.active {
		if s, err := decodeStatus(uuid, entry); entry != "" && err == nil && s.State.live() {
			return
		}
	}
	j.say("I11", j.keys.active(j.uuid), "closing without an unfinished child")
}

// owner checks I3.
func (j *judgement) owner() {
	s := j.status
	if s.State == StateRunning {
		if s.Fence < 1 {
			j.say("I3", j.keys.status(), "running without a fence")
		}
		want := []string{s.Owner}
		if s.Owner == "" {
			want = nil
			if !j.leased {
				j.say("I3", j.keys.leases(), "running without owner and lease")
			}
		}
		if !slices.Equal(j.owners, want) {
			j.say("I3", j.keys.worker(s.Owner)+":jobs", "owned by %q, listed under %q", s.Owner, j.owners)
		}
		return
	}
	for _, w := range j.owners {
		j.say("I3", j.keys.worker(w)+":jobs", "names a job that is %s", s.State)
	}
	if j.leased {
		j.say("I3", j.keys.leases(), "names a job that is %s", s.State)
	}
	if s.Owner != "" {
		j.say("I3", j.keys.status(), "%s with an owner", s.State)
	}
}

// references checks I2 between a job and its parents' active sets.
func (j *judgement) references() {
	parents := map[string]storedEdge{}
	for _, e := range j.edges {
		if e.parent() {
			parents[e.upstream] = e
		}
	}
	for p := range j.members {
		if _, ok := parents[p]; !ok || !j.status.State.live() {
			j.say("I2", j.keys.active(p), "names a job that is %s and no child of it", j.status.State)
		}
	}
	for p, e := range parents {
		s, err := decodeStatus(p, j.upstream[p])
		if j.upstream[p] == "" || err != nil || s.State != StateClosing || s.Opening != e.opening || tagOf(j.upstream[p], 'x') != "" {
			continue
		}
		if e.mark == '+' && j.status.State.live() && !j.status.Withdrawn && !j.members[p] {
			j.say("I2", j.keys.active(p), "a released child is missing")
		}
	}
}
