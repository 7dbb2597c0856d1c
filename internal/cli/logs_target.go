package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

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

// logTargets are the jobs whose logs are shown.
type logTargets struct {
	jobs      []logTarget
	templates map[string]string // names of those that were asked for, by uuid: what they have made is among the jobs
}

// uuidShape is a uuid, or how one begins.
var uuidShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f-]{0,27})?$`) })

// occurrencesIn takes what has no record out of arguments: the addresses of occurrences, and uuids, unless files are named so.
func occurrencesIn(args []string) (occurrences, rest []string) {
	for _, arg := range args {
		_, _, ok := splitTick(arg)
		if uuidShape().MatchString(arg) {
			if _, err := os.Stat(arg); err != nil {
				occurrences = append(occurrences, arg)
				continue
			}
		}
		if ok && (strings.HasPrefix(arg, "job.") || strings.HasPrefix(arg, "module.")) {
			occurrences = append(occurrences, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	return occurrences, rest
}

// deliveries are the jobs that workers got of a job for all, none of any other.
func deliveries(ctx context.Context, s *store, uuid, address string) ([]logTarget, error) {
	in, err := s.client.Inspect(ctx, uuid)
	if errors.Is(err, conveyor.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []logTarget
	for _, d := range in.Delivered {
		out = append(out, logTarget{uuid: d.UUID, name: deliveryName(address, d), fence: d.Fence, over: d.State.Ended(), made: true})
	}
	return out, nil
}

// delivers tells whether a job is declared with a delivery, so that workers may have jobs of their own of it.
func delivers(r *planner.Record) bool { return bytes.Contains(r.Definition, []byte(`"delivery":`)) }

// deliveryName is what one worker got of a job for all, as people see it.
func deliveryName(of string, d conveyor.Status) string { return of + " to " + d.Inbox() }

// targets are the jobs that are asked for, recorded ones in the order of the state list and in the place of a template what it has
// made, the latest last.
func (q *logsRequest) targets(ctx context.Context, s *store, r roll) (logTargets, error) {
	targets := logTargets{templates: map[string]string{}}
	if len(q.addrs) > 0 || len(q.ticks) == 0 {
		chosen, err := q.choose(r.state)
		if err != nil {
			return targets, err
		}
		for _, address := range chosen {
			record, live := r.state.Records[address], r.state.Live[address]
			if live.Fence == 0 && live.Status.Ended() && (len(q.addrs) > 0 || delivers(record)) {
				delivered, err := deliveries(ctx, s, record.UUID.String(), address)
				if err != nil {
					return targets, err
				}
				if targets.jobs = append(targets.jobs, delivered...); len(delivered) > 0 {
					continue
				}
			}
			if live.Status != planner.Template {
				targets.jobs = append(targets.jobs, logTarget{uuid: record.UUID.String(), name: address, fence: live.Fence, over: live.Status.Ended()})
				continue
			}
			targets.templates[record.UUID.String()] = address
			c, err := r.cyclic(ctx, s, record.UUID.String())
			if err != nil {
				return targets, err
			}
			made, err := c.occurrences(ctx, s, r)
			if err != nil {
				return targets, err
			}
			for _, o := range slices.Backward(made) {
				targets.jobs = append(targets.jobs, logTarget{uuid: o.UUID, name: r.name(o.UUID), fence: o.Fence, over: o.State.Ended(), made: true})
			}
		}
	}
	for _, name := range q.ticks {
		uuid, err := r.find(ctx, s, name)
		if err != nil {
			return targets, err
		}
		found, err := s.client.Statuses(ctx, []string{uuid})
		if err != nil {
			return targets, err
		}
		if t := (logTarget{uuid: uuid, name: r.name(uuid), fence: found[0].Fence, over: found[0].State.Ended(), made: true}); found[0].State != conveyor.StateUnknown {
			targets.jobs = append(targets.jobs, t)
		}
	}
	return targets, nil
}
