package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// logTarget is a job whose log is shown.
type logTarget struct {
	uuid, name string
	fence      int64 // starts so far
	over       bool  // it has ended
	made       bool  // an occurrence, which has no record
}

// occurrencesIn takes the addresses of occurrences out of arguments.
func occurrencesIn(args []string) (occurrences, rest []string) {
	for _, arg := range args {
		_, _, ok := splitTick(arg)
		if ok && (strings.HasPrefix(arg, "job.") || strings.HasPrefix(arg, "module.")) {
			occurrences = append(occurrences, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	return occurrences, rest
}

// targets are the jobs that are asked for, recorded ones in the order of the state list and in the place of a template what it has
// made, the latest last.
func (q *logsRequest) targets(ctx context.Context, s *store, r roll) ([]logTarget, error) {
	var targets []logTarget
	if len(q.addrs) > 0 || len(q.ticks) == 0 {
		chosen, err := q.choose(r.state)
		if err != nil {
			return nil, err
		}
		for _, address := range chosen {
			record, live := r.state.Records[address], r.state.Live[address]
			if live.Status != planner.Template {
				targets = append(targets, logTarget{uuid: record.UUID.String(), name: address, fence: live.Fence, over: live.Status.Ended()})
				continue
			}
			c, err := r.cyclic(ctx, s, record.UUID.String())
			if err != nil {
				return nil, err
			}
			made, err := c.occurrences(ctx, s, r)
			if err != nil {
				return nil, err
			}
			for _, o := range slices.Backward(made) {
				targets = append(targets, logTarget{uuid: o.UUID, name: r.name(o.UUID), fence: o.Fence, over: o.State.Ended(), made: true})
			}
		}
	}
	for _, name := range q.ticks {
		uuid, err := r.find(ctx, s, name)
		if err != nil {
			return nil, err
		}
		found, err := s.client.Statuses(ctx, []string{uuid})
		if err != nil {
			return nil, err
		}
		if t := (logTarget{uuid: uuid, name: r.name(uuid), fence: found[0].Fence, over: found[0].State.Ended(), made: true}); found[0].State != conveyor.StateUnknown {
			targets = append(targets, t)
		}
	}
	return targets, nil
}
