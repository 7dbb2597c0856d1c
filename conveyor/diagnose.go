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
)

// Diagnosis is all that may need a hand in a namespace.
type Diagnosis struct {
	Violations []Violation     // Repair mends them
	Orphans    []Orphan        // see Orphans
	SetAside   []SetAsideEntry // see SetAside
	Damaged    []string        // keys that Repair moved out of the way, without the prefix; see DropDamaged
	Strange    []string        // keys with a name that looks like the engine's and is none: nothing ever reads them
	Silent     []WorkerInfo    // workers that did not check in; the next tick takes their jobs back
	Refused    []RefusedJob    // on hold because a worker would not run them
	Unserved   []QueueInfo     // queues with jobs that are ready, not paused, and served by no live worker
}

// RefusedJob is a job on hold that a worker would not run: its signature does not fit, it has none, or its payload does not open. Who can
// write to the store has changed it or put it there, or it was added without a key.
type RefusedJob struct {
	UUID   string
	Queue  string
	Reason string
}

// Diagnose looks at everything. olderThan is as in Orphans. It only reads; what moves meanwhile is judged as Verify does.
func (c *Client) Diagnose(ctx context.Context, olderThan time.Duration) (*Diagnosis, error) {
	all, found, err := c.verify(ctx)
	if err != nil {
		return nil, err
	}
	now, err := c.Now(ctx)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Violations: found, Orphans: all.orphans(now.Add(-olderThan))}
	for key := range all.types {
		switch name := strings.TrimPrefix(key, string(c.keys)); {
		case strings.HasPrefix(name, damagedPrefix):
			d.Damaged = append(d.Damaged, name)
		case strange(name):
			d.Strange = append(d.Strange, name)
		}
	}
	slices.Sort(d.Damaged)
	slices.Sort(d.Strange)
	// What cannot be read because it is damaged is named by the violations.
	if d.SetAside, err = c.SetAside(ctx); err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	if d.Refused, err = c.refused(ctx, all); err != nil {
		return nil, err
	}
	workers, err := c.Workers(ctx)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	queues, err := c.Queues(ctx)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	served := map[string]bool{}
	for _, w := range workers {
		if !w.Alive {
			d.Silent = append(d.Silent, w)
			continue
		}
		for _, q := range w.Queues {
			served[q] = true
		}
	}
	for _, q := range queues {
		if !served[q.Name] && !q.Paused() && q.Depth[0]+q.Depth[1]+q.Depth[2] > 0 {
			d.Unserved = append(d.Unserved, q)
		}
	}
	return d, nil
}

// refused finds the jobs on hold whose last failure says that a worker would not run them.
func (c *Client) refused(ctx context.Context, all *census) ([]RefusedJob, error) {
	var held []Status
	var uuids []string
	for _, uuid := range slices.Sorted(maps.Keys(all.views)) {
		s, err := decodeStatus(uuid, all.views[uuid].entry)
		if all.views[uuid].entry == "" || err != nil || s.State != StateOnHold {
			continue
		}
		held, uuids = append(held, s), append(uuids, uuid)
	}
	reasons, err := c.Failures(ctx, uuids)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	var list []RefusedJob
	for i, reason := range reasons {
		if strings.HasPrefix(reason, refusedBy) {
			list = append(list, RefusedJob{uuids[i], held[i].Queue, reason})
		}
	}
	return list, nil
}

// strange tells whether a key's name begins as the engine's do and goes on as none of them does.
func strange(name string) bool {
	kind, rest, ok := strings.Cut(name, ":")
	if !ok || !enginePrefixes[kind] || kind == "damaged" {
		return false
	}
	switch kind {
	case "label", "past", "kind", "gate":
		return false // whatever people write
	case "queue":
		queue, lane, lanes := strings.Cut(rest, ":")
		return !validName(strings.TrimPrefix(queue, "@")) || lanes && lane != "0" && lane != "2"
	case "ended":
		return !validPlace(rest)
	case "jobs":
		uuid, what, more := strings.Cut(rest, ":")
		return !validName(uuid) || more && wantedKind("jobs:"+uuid+":"+what) == ""
	case "worker":
		return !validName(strings.TrimSuffix(rest, ":jobs"))
	case "template":
		return !validName(strings.TrimSuffix(strings.TrimSuffix(rest, ":gate"), ":live"))
	case "emits":
		upstream, class, _ := strings.Cut(rest, ":")
		return !validName(upstream) || class != "children" && class != "heirs"
	case "cycle":
		root, tick, _ := strings.Cut(rest, ":")
		_, err := strconv.ParseInt(tick, 10, 64)
		return !validName(root) || err != nil
	}
	return !validName(rest)
}

// ErrNotDamaged refuses to drop a key that Repair has not put where it is.
var ErrNotDamaged = errors.New("is no key that a repair moved out of the way")

// DropDamaged removes a key that Repair moved out of the way, by its name as Diagnosis has it. ErrNotFound: it is not there.
func (c *Client) DropDamaged(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, damagedPrefix) {
		return fmt.Errorf("drop %q: %w", name, ErrNotDamaged)
	}
	n, err := c.rdb.Del(ctx, c.keys.key(name)).Result()
	if err == nil && n == 0 {
		return fmt.Errorf("drop %q: %w", name, ErrNotFound)
	}
	return read(ctx, "drop "+name, err)
}
