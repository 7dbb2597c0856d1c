package applier

import (
	"context"
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// ReadSchedules reads how templates stand and how the last cycle of each went, in the order of uuids: with Template and Last only.
// What is no template any more has no Root.
func ReadSchedules(ctx context.Context, c *conveyor.Client, uuids []string) ([]ScheduleSeen, error) {
	if len(uuids) == 0 {
		return nil, nil
	}
	templates, err := c.Templates(ctx, uuids)
	if err != nil {
		return nil, err
	}
	histories, err := c.Histories(ctx, uuids, 1)
	if err != nil {
		return nil, err
	}
	seen := make([]ScheduleSeen, len(uuids))
	for i := range seen {
		seen[i].Template = templates[i]
		if len(histories[i]) > 0 {
			seen[i].Last = histories[i][0]
		}
	}
	return seen, nil
}

// rootsOf are the recorded templates that begin cycles, by address.
func (w *watchedJobs) rootsOf() []*watchedJob {
	var roots []*watchedJob
	for _, j := range w.order {
		below := slices.ContainsFunc(j.above, func(place int32) bool { return w.order[place].status.State == conveyor.StateTemplate })
		if j.status.State == conveyor.StateTemplate && !below {
			roots = append(roots, j)
		}
	}
	slices.SortFunc(roots, func(a, b *watchedJob) int { return compareAddr(a.addr, b.addr) })
	return roots
}

// schedules reads the schedules and gates that are declared. They are for people: where they cannot be read, there are none.
func (f *follower) schedules(ctx context.Context) []ScheduleSeen {
	roots := f.jobs.rootsOf()
	roots = roots[:min(len(roots), maxSchedules)]
	var uuids []string
	var addrs []config.Addr
	for _, j := range roots {
		if !j.record.Deposed {
			uuids, addrs = append(uuids, j.status.UUID), append(addrs, j.addr)
		}
	}
	seen, err := ReadSchedules(ctx, f.client, uuids)
	if err != nil {
		return nil
	}
	for i := range seen {
		seen[i].Workflow, seen[i].Addr = f.workflow, addrs[i]
	}
	return slices.DeleteFunc(seen, func(s ScheduleSeen) bool { return s.Template.Root != s.Template.UUID })
}
