package conveyor

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// OrphanAge is how long a job may wait for an upstream never seen before it is worth a look: while a graph is submitted, its
// last jobs come first.
const OrphanAge = time.Hour

// Orphan is a job that is held by an upstream that was never seen, or by an edge that was cut because its upstream was
// withdrawn. It goes on when the upstream comes, when it is updated, or ends when it is cancelled.
type Orphan struct {
	Status
	Unseen []string // upstreams that were never seen
	Cut    []string // upstreams that were withdrawn
	Since  time.Time
}

// Orphans lists the jobs that have been orphans for longer than olderThan, the oldest first; 0 lists all.
func (c *Client) Orphans(ctx context.Context, olderThan time.Duration) ([]Orphan, error) {
	all, err := c.census(ctx)
	if err != nil {
		return nil, err
	}
	now, err := c.Now(ctx)
	if err != nil {
		return nil, err
	}
	return all.orphans(now.Add(-olderThan)), nil
}

// orphans are those since before a time. A job that was added before times were kept counts as old.
func (a *census) orphans(before time.Time) []Orphan {
	var out []Orphan
	for uuid, v := range a.views {
		s, err := decodeStatus(uuid, v.entry)
		if v.entry == "" || err != nil || s.State != StateHeld || s.HeldSince.After(before) {
			continue
		}
		o := Orphan{Status: s, Since: s.HeldSince}
		for _, e := range storedEdges(v.entry, v.hash) {
			switch {
			case e.mark == '~':
				o.Cut = append(o.Cut, e.upstream)
			case e.mark == '?' && a.entries[e.upstream] == "":
				o.Unseen = append(o.Unseen, e.upstream)
			}
		}
		if len(o.Unseen)+len(o.Cut) > 0 {
			slices.Sort(o.Unseen)
			slices.Sort(o.Cut)
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(x, y Orphan) int { return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.UUID, y.UUID)) })
	return out
}
