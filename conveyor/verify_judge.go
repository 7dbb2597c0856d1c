package conveyor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// judge names what is wrong with one job.
func (v *view) judge() []Violation {
	if v.entry == "" {
		return v.judgeUnknown()
	}
	s, err := decodeStatus(v.uuid, v.entry)
	if err == nil && !validName(v.uuid) {
		err = ErrUUID
	}
	if err != nil {
		f := newFix("entry", v.full)
		f.seen = v.entry
		return []Violation{{"I1", v.uuid, v.keys.status(), "undecodable status entry " + strconv.Quote(v.entry),
			"set the status entry aside and forget the job", f}}
	}
	j := judgement{view: v, status: s, edges: storedEdges(v.entry, v.hash)}
	j.place()
	j.owner()
	j.references()
	j.unique()
	j.limits()
	j.labels()
	j.carried()
	j.templates()
	j.occurrence()
	return j.found
}

// judgement collects the violations of one job.
type judgement struct {
	*view
	status Status
	edges  []storedEdge
	found  []Violation
}

func (j *judgement) say(invariant, key, detail, repair string, f fix) {
	if f.kind != "aside" { // which rests on no entry
		f.seen = j.entry
	}
	j.found = append(j.found, Violation{invariant, j.uuid, key, detail, repair, f})
}

// name is a key without the namespace, as fixes take it.
func (v *view) name(key string) string { return strings.TrimPrefix(key, string(v.keys)) }

// unref says that a sorted set or set names the job and should not.
func (j *judgement) unref(invariant, key, kind, detail string) {
	j.say(invariant, key, detail, fmt.Sprintf("take %s out of %s", j.uuid, j.name(key)), newFix("unref", j.name(key), kind))
}

func (v *view) judgeUnknown() []Violation {
	j := judgement{view: v}
	if v.bytes {
		key := v.keys.job(v.uuid)
		j.say("I13", key, "bytes of a job without status", fmt.Sprintf("set the bytes of %s aside", v.uuid), newFix("bytes"))
	}
	for _, w := range v.owners {
		j.unref("I2", v.keys.worker(w)+":jobs", "zset", "names a job without status")
	}
	for p := range v.members {
		j.unref("I2", v.keys.active(p), "set", "names a job without status")
	}
	for _, at := range []struct {
		in  bool
		key string
	}{{v.leased, v.keys.leases()}, {v.todo, v.keys.todo()}, {v.removal, v.keys.removals()}, {v.expires != 0, v.keys.expiry()}} {
		if at.in {
			j.unref("I2", at.key, "zset", "names a job without status")
		}
	}
	j.untemplated("gone")
	for name := range v.listed {
		if occurrencesKey(name) {
			j.unref("I2", v.keys.key(name), "zset", "names a job without status")
		}
	}
	for name := range v.sets {
		j.unref("I2", v.keys.key(name), "set", "names a job without status")
	}
	if v.packed != "" {
		j.say("I13", v.keys.labels(), "has labels of a job that is gone", "remove what labels holds of "+v.uuid, newFix("field", "labels"))
	}
	for y := range v.holds {
		j.free(y, "held by a job without status")
	}
	for name := range v.fields {
		j.say("I13", v.keys.key(name), "has a field of a job that is gone", fmt.Sprintf("remove what %s holds of %s", name, v.uuid), newFix("field", name))
	}
	for key, what := range v.left {
		detail := "left of a job that is gone"
		switch what {
		case "log", "edges", "inboxes":
		case "children", "onComplete":
			if slices.ContainsFunc(v.waiters[key], func(u string) bool { return v.upstream[u] != "" }) {
				continue
			}
			detail = "nobody waits here for a job never seen"
		default:
			continue
		}
		j.say("I13", key, detail, "remove "+v.name(key), newFix("drop", v.name(key)))
	}
	return j.found
}

func (s State) live() bool { return s != StateUnknown && !s.Ended() }

// bytesGone says that a live job can never run again.
func (j *judgement) bytesGone(key, detail string) {
	end := "fail"
	if s := j.status.State; s == StateHeld || s == StateScheduled {
		end = "cancel"
	}
	j.say("I1", key, detail, fmt.Sprintf("%s %s: its bytes are gone from the store", end, j.uuid), newFix("lost"))
}

// place checks I1 and I11: the one place that the state names.
func (j *judgement) place() {
	s := j.status
	queueKey := j.keys.queue(s.Queue, s.Priority)
	apart := strings.Contains(flagsOf(j.entry), "b")
	switch s.State {
	case StateQueued:
		j.queued(queueKey, apart)
	case StateScheduled:
		if slices.Contains(j.due, s.DueAt.UnixMilli()) {
			break
		}
		detail := fmt.Sprintf("scheduled for %d, with tickets for %v", s.DueAt.UnixMilli(), j.due)
		if !j.hasBytes() {
			j.bytesGone(j.keys.scheduled(), detail)
			break
		}
		j.say("I1", j.keys.scheduled(), detail, fmt.Sprintf("put a ticket of %s back into scheduled", j.uuid), newFix("due", j.full))
	case StateHeld:
		j.held()
	case StateClosing:
		j.closing()
	case StateRunning, StateOnHold:
		if !j.bytes {
			j.bytesGone(j.keys.job(j.uuid), s.State.String()+" without bytes")
		}
	}
	if s.State.Ended() {
		j.ends()
	}
	if apart && !j.bytes && (s.State == StateScheduled || s.State == StateQueued || s.State == StateHeld) && !j.saidBytesGone() {
		j.bytesGone(j.keys.job(j.uuid), s.State.String()+", its bytes are gone")
	}
	if apart && !j.bytes && s.State == StateClosing {
		j.say("I1", j.keys.job(j.uuid), "closing, its bytes are gone", fmt.Sprintf("note that the bytes of %s are gone", j.uuid), newFix("unbytes"))
	}
	if j.todo && s.State != StateClosing && s.State != StateTemplate && (s.State != StateHeld || s.Template == "") {
		j.unref("I2", j.keys.todo(), "zset", "names a job that is "+s.State.String())
	}
}

func (j *judgement) saidBytesGone() bool {
	return slices.ContainsFunc(j.found, func(v Violation) bool { return v.fix.kind == "lost" })
}

// queued: exactly one ticket, one with the bytes unless they are in jobs:<uuid>.
func (j *judgement) queued(key string, apart bool) {
	n := j.slims + j.fulls
	if n == 1 && (apart || j.fulls == 1) {
		return
	}
	detail := fmt.Sprintf("queued, with %d tickets at its place", n)
	if n == 1 {
		detail = "queued, with a ticket that has no bytes"
	}
	if !j.hasBytes() {
		j.bytesGone(key, detail)
		return
	}
	repair := fmt.Sprintf("put a ticket of %s back at its place in %s", j.uuid, j.name(key))
	if n > 1 {
		repair = fmt.Sprintf("leave one ticket of %s at its place in %s", j.uuid, j.name(key))
	}
	f := newFix("queued", j.all.pivot(key, j.view, j.status.Place), j.full)
	f.order = j.status.Place
	j.say("I1", key, detail, repair, f)
}

// ends: of a job that is over nothing is kept but what retention removes.
func (j *judgement) ends() {
	s := j.status
	if j.bytes {
		j.say("I13", j.keys.job(j.uuid), "bytes of a job that is "+s.State.String(), fmt.Sprintf("remove the bytes of %s", j.uuid), newFix("bytes"))
	}
	if len(j.hash) > 0 {
		key := j.keys.edges(j.uuid)
		j.say("I13", key, "edges of a job that is "+s.State.String(), "remove "+j.name(key), newFix("unedged"))
	}
	if !j.ended && !j.removal && !s.Recorded {
		j.say("I13", j.keys.ended(s.Queue), s.State.String()+" and unrecorded, but not in retention", fmt.Sprintf("list %s for retention", j.uuid), newFix("retain"))
	}
}

// held: a ticket stands in the list of each upstream that is not decided, and one is decided when its upstream is over.
func (j *judgement) held() {
	inline, pending, undecided := storedEdges(j.entry, nil), 0, 0
	for i, e := range j.edges {
		if e.mark == '~' || e.mark == '?' {
			pending++
			if i >= len(inline) {
				undecided++
			}
		}
		if e.mark == '?' {
			j.awaits(e)
		}
	}
	texts := []string{j.declared, j.full}
	switch p := int(integer(tagOf(j.entry, 'p'))); {
	case pending == 0:
		j.heldFor("held with nothing to wait for", texts)
	case p != undecided:
		j.heldFor(fmt.Sprintf("held for %d predecessors, with %d edges that are not decided", p, undecided), texts)
	}
}

func (j *judgement) heldFor(detail string, texts []string) {
	if !j.hasBytes() {
		j.bytesGone(j.keys.status(), detail)
		return
	}
	j.say("I11", j.keys.status(), detail, fmt.Sprintf("decide %s by its edges", j.uuid), newFix("recount", texts...))
}

// awaits checks one edge that is not decided.
func (j *judgement) awaits(e storedEdge) {
	up := j.upstream[e.upstream]
	key := j.keys.waiting(e.upstream, e.class(), e.opening)
	opening := strconv.FormatInt(e.opening, 10)
	s, err := decodeStatus(e.upstream, up)
	known := up != "" && err == nil
	over := known && (s.State.Ended() && s.Opening >= e.opening || s.Opening > e.opening)
	switch {
	case over && !j.hasBytes(), !j.waiting[key] && !j.hasBytes():
		j.bytesGone(key, "held without a ticket here")
	case over:
		j.say("I11", key, fmt.Sprintf("waits for %s, which is %s", e.upstream, s.State),
			fmt.Sprintf("decide what %s waits for by the end of %s", j.uuid, e.upstream), newFix("decide", e.upstream, e.class(), opening, j.full))
	case !j.waiting[key]:
		j.say("I1", key, "held without a ticket here",
			fmt.Sprintf("put a ticket of %s back into %s", j.uuid, j.name(key)), newFix("wait", e.upstream, e.class(), opening, j.full))
	case known && s.Opening == e.opening && !strings.ContainsAny(flagsOf(up), e.flag()):
		j.say("I11", key, "waits here, and the entry of "+e.upstream+" does not say so",
			fmt.Sprintf("note in the entry of %s that %s waits for it", e.upstream, j.uuid), newFix("flag", e.upstream, e.flag()))
	}
}

// flag is the flag by which an upstream's entry says that a list of this class is to be worked off.
func (e storedEdge) flag() string {
	if e.parent() {
		return "k"
	}
	return "h"
}

// closing: it is listed as to do, or an unfinished child is in the active set.
func (j *judgement) closing() {
	if j.todo {
		return
	}
	repair := fmt.Sprintf("take %s to its end", j.uuid)
	if tagOf(j.entry, 'x') != "" {
		j.say("I11", j.keys.todo(), "ending, but not listed as to do", repair, newFix("settle"))
		return
	}
	for uuid, entry := range j.active {
		if s, err := decodeStatus(uuid, entry); entry != "" && err == nil && s.State.live() {
			return
		}
	}
	j.say("I11", j.keys.active(j.uuid), "closing without an unfinished child", repair, newFix("settle"))
}

// owner checks I3.
func (j *judgement) owner() {
	s := j.status
	if s.State != StateRunning {
		for _, w := range j.owners {
			j.unref("I3", j.keys.worker(w)+":jobs", "zset", "names a job that is "+s.State.String())
		}
		if j.leased {
			j.unref("I3", j.keys.leases(), "zset", "names a job that is "+s.State.String())
		}
		if s.Owner != "" {
			j.say("I3", j.keys.status(), s.State.String()+" with an owner", fmt.Sprintf("take the owner out of the entry of %s", j.uuid), newFix("unowned"))
		}
		return
	}
	if s.Fence < 1 {
		j.say("I3", j.keys.status(), "running without a fence", fmt.Sprintf("queue %s again at its place", j.uuid), newFix("unfenced"))
		return
	}
	for _, w := range j.owners {
		if w != s.Owner {
			j.unref("I3", j.keys.worker(w)+":jobs", "zset", fmt.Sprintf("names a job that %q owns", s.Owner))
		}
	}
	switch {
	case s.Owner == "" && !j.leased:
		j.say("I3", j.keys.leases(), "running without owner and lease", fmt.Sprintf("give %s a lease that ends in a minute", j.uuid), newFix("owner"))
	case s.Owner != "" && !slices.Contains(j.owners, s.Owner):
		key := j.keys.worker(s.Owner) + ":jobs"
		j.say("I3", key, fmt.Sprintf("owned by %q, listed under %q", s.Owner, j.owners), fmt.Sprintf("list %s in %s", j.uuid, j.name(key)), newFix("owner"))
	case s.Owner != "" && j.leased:
		j.unref("I3", j.keys.leases(), "zset", fmt.Sprintf("names a job that %q owns", s.Owner))
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
			j.unref("I2", j.keys.active(p), "set", fmt.Sprintf("names a job that is %s and no child of it", j.status.State))
		}
	}
	for p, e := range parents {
		s, err := decodeStatus(p, j.upstream[p])
		if j.upstream[p] == "" || err != nil || s.State != StateClosing || s.Opening != e.opening || tagOf(j.upstream[p], 'x') != "" {
			continue
		}
		if e.mark == '+' && j.status.State.live() && !j.status.Withdrawn && !j.members[p] {
			j.say("I2", j.keys.active(p), "a released child is missing", fmt.Sprintf("put %s back among the unfinished children of %s", j.uuid, p), newFix("member", p))
		}
	}
}
