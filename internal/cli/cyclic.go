package cli

import (
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// cyclic is a template as commands speak of it.
type cyclic struct {
	conveyor.Template
	name string            // its address, else its name or uuid
	root conveyor.Template // whose cycles are its own; itself for a root
	over string            // the name of the root
	zone *time.Location    // of the root's schedule
	now  time.Time         // by the store's clock
}

// findCyclic is the template that an address or a uuid means.
func (r roll) findCyclic(ctx context.Context, s *store, job string) (*cyclic, error) {
	uuid, err := r.find(ctx, s, job)
	if err != nil {
		return nil, err
	}
	return r.cyclic(ctx, s, uuid)
}

// cyclic reads a template. A job that is none is a failure.
func (r roll) cyclic(ctx context.Context, s *store, uuid string) (*cyclic, error) {
	found, err := s.client.Templates(ctx, []string{uuid})
	if err != nil {
		return nil, err
	}
	t := found[0]
	switch {
	case t.Kind == 0 && t.Status.Template != "":
		r.meet(t.Status)
		return nil, fail("Not a template", "%s is an occurrence, one of many that its template makes: name the template, %s.", r.name(uuid), r.name(t.Status.Template))
	case t.Kind == 0:
		return nil, fail("Not a template", "%s runs once: only jobs with a schedule (run_at with every or cron) or a gate have cycles, and the jobs downstream of them.", r.name(uuid))
	}
	c := &cyclic{Template: t, name: r.templateName(t), root: t, now: s.now()}
	if t.Root != t.UUID {
		if found, err = s.client.Templates(ctx, []string{t.Root}); err != nil {
			return nil, err
		}
		c.root = found[0]
	}
	c.over, c.zone = r.templateName(c.root), board.Zone(c.root.When)
	return c, nil
}

// templateName is a template as people know it.
func (r roll) templateName(t conveyor.Template) string {
	switch {
	case r.addresses[t.UUID] != "":
		return r.addresses[t.UUID]
	case t.Name != "":
		return t.Name
	}
	return t.UUID
}

// findRoot is a template with a schedule or a gate, which is what verb works on.
func (r roll) findRoot(ctx context.Context, s *store, verb, job string) (*cyclic, error) {
	c, err := r.findCyclic(ctx, s, job)
	if err != nil {
		return nil, err
	}
	if c.Root != c.UUID {
		return nil, fail("Not a schedule", "%s has no schedule of its own: it runs once in each cycle of %s. To %s that:\n\n  waybill job %s %s", c.name, c.over, verb, verb, shellWord(c.over))
	}
	return c, nil
}

// cycles are a template's cycles, the latest first: at most limit of those that are live or kept, 0 for all. The store keeps those
// that are over as they ended, which after a backfill is another order, so all are read.
func (c *cyclic) cycles(ctx context.Context, s *store, limit int) ([]conveyor.Cycle, error) {
	past, err := s.client.History(ctx, c.Root, 0)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(c.root.Live), past...)
	slices.SortStableFunc(all, func(a, b conveyor.Cycle) int { return b.Tick.Compare(a.Tick) })
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all, nil
}

// occurrences are the jobs that a template has made, as far as something is left of them, the latest first.
func (c *cyclic) occurrences(ctx context.Context, s *store, r roll) ([]conveyor.Status, error) {
	cycles, err := c.cycles(ctx, s, 0)
	if err != nil {
		return nil, err
	}
	var uuids []string
	for _, x := range cycles {
		if uuid := conveyor.OccurrenceUUID(c.UUID, c.Root, x.Tick); !slices.Contains(uuids, uuid) {
			uuids = append(uuids, uuid)
		}
	}
	statuses, err := s.client.Statuses(ctx, uuids)
	if err != nil {
		return nil, err
	}
	statuses = slices.DeleteFunc(statuses, func(s conveyor.Status) bool { return s.State == conveyor.StateUnknown })
	r.meet(statuses...)
	return statuses, nil
}
