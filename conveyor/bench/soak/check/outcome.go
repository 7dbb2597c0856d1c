package check

import (
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// checkLosses wants that each workflow came to its end, that the store lost nothing that it promised to keep, and that apply brought back
// precisely what it lost.
func (c *checker) checkLosses(f *fate) {
	whole := history.Record{Graph: f.graph.Name, At: f.planned}
	if f.touched {
		c.report.Touched++
	}
	if f.settled == nil {
		c.violate("lost", whole, "it never came to its end")
	}
	for _, r := range f.lost {
		var last, next *history.Record
		for i := range f.applied {
			if f.applied[i].At < r.At {
				last = &f.applied[i]
			} else if next == nil {
				next = &f.applied[i]
			}
		}
		c.report.Lost += len(r.Jobs)
		if last == nil || !c.excused(last.At, r.At) {
			c.violate("lost", r, "the store lost what it had acknowledged: %v", sortedKeys(r.Jobs))
		}
		if r.Text != "" {
			c.violate("lost", r, "besides what was lost, apply would change: %s", r.Text)
		}
		if next == nil {
			c.violate("lost", r, "apply did not bring it back")
			continue
		}
		for job, uuid := range jobsOf(last) {
			if _, gone := r.Jobs[job]; !gone && next.Jobs[job] != uuid {
				c.violate("lost", r, "apply submitted %s anew, which was not lost", job)
			}
		}
		c.report.Recreated += len(r.Jobs)
	}
}

// excused tells whether the store may have lost by then what it acknowledged at that time. What a replica has confirmed is not lost.
func (c *checker) excused(acknowledged, seen int64) bool {
	if c.run.Durability == rig.Replica {
		return false
	}
	for _, r := range c.faults {
		if r.Loses > 0 && r.Loses <= acknowledged && r.At <= seen {
			return true
		}
	}
	return false
}

// checkOutcomes wants that each job ended as it had to, by an attempt that ended so.
func (c *checker) checkOutcomes(f *fate) {
	if f.settled == nil || f.graph.Recurs {
		return
	}
	for _, j := range f.graph.Jobs {
		s, ok := f.settled.States[j.Name]
		r := history.Record{Graph: f.graph.Name, Job: j.Name, UUID: s.UUID, At: f.settled.At}
		want := f.outcomes[j.Name]
		if !ok {
			c.violate("outcome", r, "it is missing in the end, and has to be %s", want)
			continue
		}
		if len(j.Gate) > 0 {
			continue
		}
		if got := outcomeOf(s); got != want {
			c.violate("outcome", r, "it is %s, and has to be %s", got, want)
			continue
		}
		if least, most := failures(j, want); s.Attempts < least || s.Attempts > most {
			c.violate("outcome", r, "%d attempts count as failed, and %d to %d have to", s.Attempts, least, most)
		}
		if n := c.redone[s.UUID]; s.Lost < n && !f.touched {
			c.violate("twice", r, "%d attempts repeated work that was done, and the store counts %d leases that ended", n, s.Lost)
		}
		c.checkLast(f, j, s, r)
	}
}

// checkLast wants that the attempt whose end counted has ended so.
func (c *checker) checkLast(f *fate, j *graph.Job, s history.State, r history.Record) {
	var want history.Result
	switch f.outcomes[j.Name] {
	case graph.Completed, graph.FailedByChild:
		want = history.Well
	case graph.Failed:
		want = history.Error
	default:
		return
	}
	for _, a := range f.attempts[j.Name] {
		if a.UUID == s.UUID && a.result == want && (a.Fence == s.Fence || f.touched) {
			return
		}
	}
	c.violate("outcome", r, "no attempt with fence %d has ended %s", s.Fence, want)
}

// failures are how many failed attempts an outcome takes.
func failures(j *graph.Job, o graph.Outcome) (least, most int) {
	switch {
	case o == graph.SkippedFail || o == graph.SkippedOK:
		return 0, 0
	case j.Script.Ends == graph.Flaky:
		return 0, j.Script.Fails // a lost attempt is one start less that fails
	case j.Script.Ends == graph.Doomed:
		return j.MaxAttempts, j.MaxAttempts
	case j.Script.Ends == graph.Permanent:
		return 1, 1
	}
	return 0, 0
}

func outcomeOf(s history.State) graph.Outcome {
	switch {
	case s.State == conveyor.StateCompleted:
		return graph.Completed
	case s.State == conveyor.StateFailed && s.ChildFailed:
		return graph.FailedByChild
	case s.State == conveyor.StateFailed:
		return graph.Failed
	case s.State == conveyor.StateSkipped && s.Success:
		return graph.SkippedOK
	case s.State == conveyor.StateSkipped:
		return graph.SkippedFail
	}
	return graph.Outcome(s.State.String())
}

// jobsOf are the uuids that an apply told of, none of no apply.
func jobsOf(r *history.Record) map[string]string {
	if r == nil {
		return nil
	}
	return r.Jobs
}
