package check

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
)

// checkAsked wants that whoever ran was to be run, and that nothing is told of what nobody submitted.
func (c *checker) checkAsked(f *fate) {
	known := map[string]string{} // job by uuid
	for _, records := range [][]history.Record{f.applied, f.lost} {
		for _, r := range records {
			for job, uuid := range r.Jobs {
				known[uuid] = job
			}
		}
	}
	for _, name := range sortedKeys(f.attempts) {
		job, a := f.graph.Job(name), f.attempts[name][0]
		_, child := c.children[a.UUID]
		switch {
		case job == nil && !child:
			c.violate("asked", a.Record, "the workflow declares no such job, and no attempt has added it")
		case job == nil:
		case f.graph.Template(job) != (a.Tick > 0):
			c.violate("asked", a.Record, "a template ran itself, or a job as an occurrence")
		case f.outcomes[name] == graph.SkippedFail, f.outcomes[name] == graph.SkippedOK, f.outcomes[name] == graph.NeverFires:
			c.violate("asked", a.Record, "it ran, and has to be %s", f.outcomes[name])
		case a.Tick == 0 && known[a.UUID] != name && len(f.applied) > 0 && !f.touched:
			c.violate("asked", a.Record, "no apply knows this uuid")
		}
		if a.At < f.planned {
			c.violate("asked", a.Record, "it ran before it was submitted")
		}
	}
}

// checkAttempts wants a reason for every attempt but the first: a failed one before it, a worker that was told to stop, or a lease that
// ended since its worker or the store was away. A worker that was paused may begin what it had reserved before, late: then the attempt
// with the lower fence is the later one.
func (c *checker) checkAttempts(list []*attempt) {
	f := c.fates[list[0].Graph]
	c.report.Attempts += len(list)
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *attempt) int { return int(a.Fence - b.Fence) })
	for i, a := range list[1:] {
		before := list[i]
		if a.Fence == before.Fence && !touched(f) {
			c.violate("fence", a.Record, "two attempts have this fence")
			continue
		}
		late, overlaps := before.At > a.At, before.ended == 0 || before.ended > a.At
		if before.result == history.Error && !overlaps {
			c.report.Retries++
			continue
		}
		why := c.reason(before, a, f)
		switch {
		case why == "":
			c.violate("twice", a.Record, "it began again, and %s; nothing happened in between that ends a lease", before.tell(c))
		case before.result == history.Well, late && a.result == history.Well && a.ended < before.At:
			c.report.Duplicates[why]++
			if why != "worker told to stop" && !late { // who hands back on leaving loses no lease
				c.redone[a.UUID]++
			}
		default:
			c.report.Restarts[why]++
		}
		if late {
			c.report.Late++
		}
		if before.ended > a.At {
			c.report.Overlaps++
			if why == "worker told to stop" {
				c.violate("twice", a.Record, "it began while fence %d ran, whose worker was only told to stop", before.Fence)
			}
		}
	}
}

func touched(f *fate) bool { return f != nil && f.touched }

func (a *attempt) tell(c *checker) string {
	text := fmt.Sprintf("fence %d of %s had begun at %.3fs", a.Fence, a.Who, float64(a.At-c.run.Began.UnixNano())/1e9)
	if a.ended > 0 {
		text += fmt.Sprintf(" and ended %s at %.3fs", a.result, float64(a.ended-c.run.Began.UnixNano())/1e9)
	}
	return text
}

// reasons are the faults that end leases, or have a job handed back, in the order in which they are named.
var reasons = []struct{ fault, name string }{
	{"kill worker", "worker killed"}, {"pause worker", "worker paused"}, {"stop worker", "worker told to stop"},
	{"partition worker", "worker cut off"}, {"kill everybody", "worker killed"},
	{"kill store", "store killed"}, {"pause store", "store paused"}, {"pause host", "store paused"}, {"kill host", "store killed"},
	{"power failure", "store without power"}, {"failover", "failover"},
	{"step the clock", "clock stepped"}, {"mend the clock", "clock stepped"}, {"store silent", "store silent"}, {"process stalled", "machine busy"},
	{"end of faults", "worker told to stop"},
}

// lease is how long after a fault a lease that it kept from being renewed can end, and somebody notice.
const lease = int64(conveyor.DeadAfter + conveyor.BeatEvery)

// reason says why the second of two attempts may have begun; "" for no reason at all. A fault counts until the leases have ended that it
// kept from being renewed.
func (c *checker) reason(before, a *attempt, f *fate) string {
	for _, reason := range reasons {
		if slices.ContainsFunc(c.faults, func(r history.Record) bool {
			return r.Name == reason.fault && (r.Whom == "" || r.Whom == before.Who) && r.At <= max(a.At, before.At) && r.Until >= min(a.At, before.At)-lease
		}) {
			return reason.name
		}
	}
	if touched(f) {
		return "store lost it"
	}
	return ""
}
