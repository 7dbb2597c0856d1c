package conveyor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// keyViolations names keys of the engine that have a wrong type.
func (a *census) keyViolations() []Violation {
	var out []Violation
	for key, wrong := range a.wrong {
		if !wrong {
			continue
		}
		name := strings.TrimPrefix(key, string(a.keys))
		uuid, _ := jobKey(name)
		want, repair := wantedKind(name), "keep it as "+damagedPrefix+name
		from := a.rebuild(name)
		switch {
		case name == "status":
			repair += "; the statuses of all jobs are lost with it"
		case from != "" || name == "events:seq":
			repair += " and rebuild it"
		}
		detail := "is a " + a.types[key] + ", not a " + want
		if a.types[key] == want {
			detail = "is no number"
		}
		out = append(out, Violation{"I1", uuid, key, detail, repair, newFix("rename", name, want, from)})
	}
	return out
}

// damagedPrefix begins the names of keys that Repair has moved out of the way.
const damagedPrefix = "damaged:"

// rebuild is what a key that is lost has to hold by the statuses, where it must be back in the same moment: whose end would
// otherwise not wait for a child or heir, and the last place given.
func (a *census) rebuild(name string) string {
	upstream, what := jobKey(name)
	var uuids []string
	switch {
	case name == "seq":
		return strconv.FormatInt(a.lastPlace(), 10)
	case what == "active":
		for uuid, v := range a.views {
			if slices.ContainsFunc(storedEdges(v.entry, nil), func(e storedEdge) bool { return e.upstream == upstream && e.mark == '+' && e.parent() }) {
				uuids = append(uuids, uuid)
			}
		}
	case what == "children", what == "onComplete":
		for uuid, v := range a.views {
			if slices.ContainsFunc(storedEdges(v.entry, v.hash), func(e storedEdge) bool {
				return e.mark == '?' && string(a.keys)+name == a.keys.waiting(e.upstream, e.class(), e.opening)
			}) {
				uuids = append(uuids, uuid)
			}
		}
	}
	slices.Sort(uuids)
	return strings.Join(uuids, ",")
}

// lastPlace is the highest place that any job has.
func (a *census) lastPlace() int64 {
	var last int64
	for uuid, entry := range a.entries {
		if s, err := decodeStatus(uuid, entry); err == nil {
			last = max(last, s.Place)
		}
	}
	return last
}

// entryViolations names entries of lists that are no tickets, and numbers that fell behind what they count.
func (a *census) entryViolations() []Violation {
	var out []Violation
	for key, texts := range a.junk {
		name := strings.TrimPrefix(key, string(a.keys))
		for _, text := range texts {
			out = append(out, Violation{"I2", "", key, fmt.Sprintf("an entry of %d bytes is no job: %s", len(text), excerpt(text)),
				"set it aside", newFix("aside", name, a.types[key], text)})
		}
	}
	for queue, text := range a.queues {
		if _, err := parseQueueSettings(text); err != nil || !validName(queue) {
			out = append(out, Violation{"I1", "", a.keys.queues(), fmt.Sprintf("unreadable settings of queue %q: %q", queue, text),
				"set them aside, so that the defaults hold", newFix("settings", queue, text)})
		}
	}
	if last := a.lastPlace(); a.seq < last && !a.wrong[a.keys.key("seq")] {
		out = append(out, Violation{"I12", "", a.keys.key("seq"), fmt.Sprintf("is %d, and place %d was given", a.seq, last),
			"go on from the highest place given", newFix("number", "seq", strconv.FormatInt(last, 10))})
	}
	newest, _, _ := strings.Cut(a.lastEvent, "-")
	if at := integer(newest); at > a.events && !a.wrong[a.keys.lastEvent()] {
		out = append(out, Violation{"I12", "", a.keys.lastEvent(), fmt.Sprintf("is behind event %d: the next call would fail halfway", at),
			"go on from the newest event", newFix("number", "events:seq", newest)})
	}
	return out
}

// excerpt shows bytes that nobody can read.
func excerpt(text string) string {
	const shown = 40
	if len(text) > shown {
		return strconv.Quote(text[:shown]) + "..."
	}
	return strconv.Quote(text)
}

// sweepViolations checks that retention will look at each list of ended jobs.
func (c *Client) sweepViolations(ctx context.Context, a *census) ([]Violation, error) {
	var out []Violation
	for key := range a.types {
		q, ok := strings.CutPrefix(strings.TrimPrefix(key, string(a.keys)), "ended:")
		if !ok || a.wrong[key] || a.wrong[a.keys.sweeps()] {
			continue
		}
		pipe := c.moment(ctx)
		there, due := pipe.Exists(ctx, key), pipe.ZScore(ctx, a.keys.sweeps(), q)
		if err := transact(ctx, pipe); passOver(err) != nil {
			return nil, read(ctx, "verify "+key, err)
		}
		if there.Val() > 0 && due.Err() != nil {
			out = append(out, Violation{"I13", "", key, "retention does not know of it", "have retention look at queue " + q, newFix("sweep", q)})
		}
	}
	return out, nil
}

// callerViolations checks that the last call of a caller that is no worker will be forgotten.
func (c *Client) callerViolations(ctx context.Context, a *census) ([]Violation, error) {
	var out []Violation
	for key := range a.types {
		id, ok := strings.CutPrefix(strings.TrimPrefix(key, string(a.keys)), "call:")
		if a.types[a.keys.worker(id)] != "" || a.types[a.keys.worker(id)+":jobs"] != "" {
			continue // goes with what is left of the worker
		}
		if !ok || a.workers[id] || a.callers[id] || a.wrong[key] || a.wrong[a.keys.workers()] || a.wrong[a.keys.callers()] {
			continue
		}
		pipe := c.moment(ctx)
		there, known, worker := pipe.Exists(ctx, key), pipe.ZScore(ctx, a.keys.callers(), id), pipe.ZScore(ctx, a.keys.workers(), id)
		if err := transact(ctx, pipe); passOver(err) != nil {
			return nil, read(ctx, "verify "+key, err)
		}
		if there.Val() > 0 && known.Err() != nil && worker.Err() != nil {
			out = append(out, Violation{"I13", "", key, "nothing will ever remove it", fmt.Sprintf("have caller %s forgotten in an hour", id), newFix("caller", id)})
		}
	}
	return out, nil
}

// workerViolations checks I14: nothing is kept for a worker that is registered nowhere.
func (c *Client) workerViolations(ctx context.Context, a *census) ([]Violation, error) {
	var out []Violation
	for key := range a.types {
		name := strings.TrimPrefix(key, string(a.keys))
		id, ok := strings.CutPrefix(name, "worker:")
		if id = strings.TrimSuffix(id, ":jobs"); !ok || a.workers[id] || a.wrong[key] || a.wrong[a.keys.workers()] {
			continue
		}
		pipe := c.moment(ctx)
		there, known := pipe.Exists(ctx, key), pipe.ZScore(ctx, a.keys.workers(), id)
		if err := transact(ctx, pipe); passOver(err) != nil {
			return nil, read(ctx, "verify "+key, err)
		}
		if there.Val() > 0 && known.Err() != nil {
			out = append(out, Violation{"I14", "", key, "left of a worker that is gone",
				fmt.Sprintf("register worker %s, to be declared lost if it does not check in", id), newFix("worker", id)})
		}
	}
	return out, nil
}
