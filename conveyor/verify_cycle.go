package conveyor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cycleID is a cycle as its keys name it.
type cycleID struct {
	root string
	tick int64
}

// cycleOf reads tag C of an entry.
func cycleOf(entry string) (id cycleID, template string, ok bool) {
	text, rest, ok := strings.Cut(tagOf(entry, 'C'), ":")
	if !ok {
		return cycleID{}, "", false
	}
	template, root, other := strings.Cut(rest, ":")
	if !other {
		root = template
	}
	tick, err := strconv.ParseInt(text, 10, 64)
	return cycleID{root, tick}, template, err == nil
}

// occurrence checks I10 as far as the store shows it: an occurrence is one of its cycle as long as it lives.
func (j *judgement) occurrence() {
	id, template, ok := cycleOf(j.entry)
	if !ok {
		return
	}
	set := "cycle:" + id.root + ":" + strconv.FormatInt(id.tick, 10)
	for name := range j.sets {
		if strings.HasPrefix(name, "cycle:") && (name != set || !j.status.State.live()) {
			j.unref("I2", j.keys.key(name), "set", "names a job that is no live occurrence of it")
		}
	}
	live := "template:" + template + ":live"
	for name := range j.listed {
		if occurrencesKey(name) && (name != live || !j.status.State.live()) {
			j.unref("I2", j.keys.key(name), "zset", "names a job that is no live occurrence of it")
		}
	}
	if !j.status.State.live() {
		return
	}
	if !j.sets[set] {
		j.say("I10", j.keys.key(set), "a live occurrence is missing: the cycle would be over without it", fmt.Sprintf("put %s back into its cycle", j.uuid), newFix("occurrence"))
	}
	t, err := decodeStatus(template, j.upstream[template])
	if at, in := j.listed[live]; j.upstream[template] != "" && err == nil && t.State == StateTemplate && (!in || at != id.tick) {
		j.say("I2", j.keys.key(live), "a live occurrence is missing", fmt.Sprintf("list %s among the occurrences of %s", j.uuid, template), newFix("occurrence"))
	}
	if j.status.State == StateHeld && !j.todo {
		j.lacking(id, template)
	}
}

// lacking checks that what a held occurrence waits for in its cycle is there, or will be made: of the templates that its entry says
// are to be worked off still, and of those that its template waits for.
func (j *judgement) lacking(id cycleID, template string) {
	ups := map[string]bool{}
	if listed, ok := strings.CutPrefix(tagOf(j.entry, 'D'), "u"); ok {
		for up := range strings.SplitSeq(listed, ",") {
			ups[up] = true
		}
	}
	for name := range emitsWanted(j.all.edgesOf(template)) {
		up, _, _ := strings.Cut(strings.TrimPrefix(name, "emits:"), ":")
		uuid := OccurrenceUUID(up, id.root, time.UnixMilli(id.tick))
		if entry, waits := j.upstream[uuid]; waits && entry == "" && j.undecided(uuid) {
			ups[up] = true
		}
	}
	if len(ups) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(ups))
	j.say("I11", j.keys.status(), "waits for occurrences that were not made: of "+strings.Join(names, ", "),
		fmt.Sprintf("make what %s waits for in its cycle", j.uuid), newFix("goon", strings.Join(names, ",")))
}

func (j *judgement) undecided(upstream string) bool {
	for _, e := range j.edges {
		if e.upstream == upstream && e.mark == '?' {
			return true
		}
	}
	return false
}

// edgesOf is what a template's hash says that it waits for.
func (a *census) edgesOf(template string) string {
	if v := a.views[template]; v != nil && v.t != nil {
		return v.t.fields["edges"]
	}
	return ""
}

// cycleSeen is what is kept of a live cycle.
type cycleSeen struct {
	text    string
	stored  bool // its root's hash has it
	members int64
}

// cycleViolations checks that each live cycle has members, and each set of members a cycle.
func (c *Client) cycleViolations(ctx context.Context, a *census) ([]Violation, error) {
	var out []Violation
	for id, seen := range a.cycles {
		if seen.ok(id, a) {
			continue
		}
		tick := strconv.FormatInt(id.tick, 10)
		pipe := c.moment(ctx)
		text, members := pipe.HGet(ctx, a.keys.cycles(id.root), tick), pipe.SCard(ctx, a.keys.cycle(id.root, id.tick))
		if err := transact(ctx, pipe); passOver(err) != nil {
			return nil, read(ctx, "verify "+a.keys.cycles(id.root), err)
		}
		again := &cycleSeen{text: text.Val(), stored: text.Err() == nil, members: members.Val()}
		if again.ok(id, a) {
			continue
		}
		v := Violation{Invariant: "I10", UUID: id.root, Key: a.keys.cycles(id.root), fix: newFix("cycle", id.root, tick)}
		switch {
		case again.members == 0:
			v.Detail, v.Repair = "cycle "+tick+" has no occurrence that could end it", fmt.Sprintf("end cycle %s of %s", tick, id.root)
		case !again.stored:
			v.Detail, v.Repair = "does not have cycle "+tick+", which has occurrences", fmt.Sprintf("note cycle %s of %s", tick, id.root)
		default:
			v.Detail, v.Repair = fmt.Sprintf("cycle %s cannot be read: %s", tick, excerpt(again.text)), fmt.Sprintf("note cycle %s of %s anew", tick, id.root)
		}
		out = append(out, v)
	}
	return out, nil
}

func (s *cycleSeen) ok(id cycleID, a *census) bool {
	if a.wrong[a.keys.cycles(id.root)] || a.wrong[a.keys.cycle(id.root, id.tick)] || !s.stored && s.members == 0 {
		return true
	}
	_, err := decodeCycle("", strconv.FormatInt(id.tick, 10), s.text)
	return s.stored && s.members > 0 && err == nil
}
