package graph

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/config"
)

// Addr is the address of a job.
func Addr(name string) config.Addr { return config.Addr{Name: name} }

// Workflow is the graph as its files would declare it. Start is when the soak began, from which run_at counts; a schedule that is off
// emits nothing.
func (g *Graph) Workflow(start time.Time, off bool) (*config.Workflow, error) {
	w := &config.Workflow{Name: g.Name, Named: true}
	for _, j := range g.Jobs {
		d, err := j.declared(start, off)
		if err != nil {
			return nil, fmt.Errorf("job %s of %s: %w", j.Name, g.Name, err)
		}
		w.Jobs = append(w.Jobs, d)
	}
	slices.SortFunc(w.Jobs, func(a, b *config.Job) int { return strings.Compare(a.Addr.String(), b.Addr.String()) })
	return w, nil
}

func (j *Job) declared(start time.Time, off bool) (*config.Job, error) {
	payload, err := j.Script.Payload()
	if err != nil {
		return nil, err
	}
	d := &config.Job{
		Addr: Addr(j.Name), Type: JobType, Queue: j.Queue, Priority: j.Priority, Payload: payload, Shown: payload, TriggersGate: j.Triggers,
		// Leases may be lost any number of times here, which must not decide how a job ends.
		Retry: config.Retry{MaxAttempts: j.MaxAttempts, Min: 100 * time.Millisecond, Max: time.Second, Jitter: 0.2},
	}
	for _, p := range j.Parents {
		d.Parents = append(d.Parents, config.Parent{Job: Addr(p.Job), IgnoreFailure: p.IgnoreFailure})
	}
	for _, b := range j.Blocks {
		p := config.Predecessor{RunIf: b.RunIf}
		for _, name := range b.Jobs {
			p.Jobs = append(p.Jobs, Addr(name))
		}
		d.Predecessors = append(d.Predecessors, p)
	}
	if j.RunAt > 0 {
		d.RunAt = config.RunAt{Time: start.Add(j.RunAt).Truncate(time.Millisecond), Set: true}
	}
	if j.After > 0 {
		d.RunAt = config.RunAt{After: j.After, Set: true}
	}
	if len(j.Gate) > 0 {
		d.Gate = &config.Gate{Waiting: j.Gate}
	}
	if j.EveryMinute {
		d.Schedule = &config.Schedule{Every: "minute", Text: "every 1 minute", Catchup: config.CatchupAll, Overlap: config.OverlapAllow, Disabled: off}
	}
	return d, nil
}
