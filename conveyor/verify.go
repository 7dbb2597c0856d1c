package conveyor

import (
	"context"
	"slices"
	"strings"
)

// Verify checks a live namespace and returns what is wrong with it, nothing when all is well. It reads everything once
// without stopping anybody, and then each job it suspects once more in one transaction: only what is wrong
// there too, with the status unchanged, is reported. Counters are compared with the statuses as the event log
// has changed them meanwhile, or not at all when that is gone.
//
// It checks I1 (a live job is in exactly one place and its status says which), I2 (no reference without a job), I3
// (running iff owned and fenced), I7 (a unique key is held iff its owner is live), I9 (a gate waits for the labels that it is
// declared with, and triggers find it), I10 (an occurrence is one of its cycle as long as it lives), I11 (every live job can still end), I12 (no
// number that scripts count on is behind, so that one fails halfway), I13 (nothing is left of what is gone) and I14 (a worker
// that is gone owns nothing). Jobs that wait for an upstream never seen are orphans, not violations: see Orphans.
func (c *Client) Verify(ctx context.Context) ([]Violation, error) {
	_, out, err := c.verify(ctx)
	return out, err
}

func (c *Client) verify(ctx context.Context) (*census, []Violation, error) {
	all, err := c.census(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := append(all.keyViolations(), all.entryViolations()...)
	for uuid, v := range all.views {
		if found := v.judge(); len(found) > 0 {
			again, err := c.look(ctx, uuid, v)
			if err != nil {
				return nil, nil, err
			}
			if again != nil {
				out = append(out, again.judge()...)
			}
		}
	}
	for _, check := range []func(context.Context, *census) ([]Violation, error){c.counterViolations, c.workerViolations, c.callerViolations, c.sweepViolations, c.cycleViolations} {
		found, err := check(ctx, all)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	return all, slices.Compact(out), nil
}
