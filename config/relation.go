package config

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
)

// checkRelations reports what can only be seen of several jobs together: edges to a broadcast, and gates that nothing opens.
// That a job is in no cycle of edges and below one template only is the graph's to say, which the planner builds.
func (l *loader) checkRelations(jobs []*Job) {
	broadcasts := map[Addr]*Job{}
	triggers := map[string][]*Job{}
	gates := false
	for _, j := range jobs {
		if j.Delivery != nil && j.Delivery.All {
			broadcasts[j.Addr] = j
		}
		for _, label := range j.TriggersGate {
			triggers[label] = append(triggers[label], j)
		}
		gates = gates || j.Gate != nil
	}
	if len(broadcasts) > 0 {
		l.refuseEdgesToBroadcasts(jobs, broadcasts)
	}
	if gates && !l.r.failed() {
		l.refuseGateLoops(jobs)
		l.warnOfClosedGates(jobs, triggers)
	}
}

// refuseEdgesToBroadcasts: a job that goes to all workers is done as soon as it is handed to them, so waiting for it would not
// wait for its work.
func (l *loader) refuseEdgesToBroadcasts(jobs []*Job, broadcasts map[Addr]*Job) {
	told := map[hcl.Range]bool{}
	refuse := func(j *Job, to Addr, at hcl.Range) {
		upstream := broadcasts[to]
		if upstream == nil || told[at] {
			return
		}
		told[at] = true
		l.r.error(sumBadEdge, at, "%s waits for %s, which is delivered to all workers, see %s, and is done as soon as it is handed to them, whatever they make of it. "+
			"Remove this edge, or deliver %[2]s to any worker.", upperFirst(j.Addr.String()), to, place(upstream.Delivery.Range))
	}
	for _, j := range jobs {
		for i := range j.Parents {
			refuse(j, j.Parents[i].Job, j.Parents[i].Range)
		}
		for i := range j.Predecessors {
			for _, to := range j.Predecessors[i].Jobs {
				refuse(j, to, j.Predecessors[i].Range)
			}
		}
	}
}

// warnOfClosedGates tells of labels that no job of these files triggers, or only jobs that the gate itself starts. It is no
// mistake by itself: a job of another workflow, or one added from Go, may trigger them, and a cycle can be started by hand.
func (l *loader) warnOfClosedGates(jobs []*Job, triggers map[string][]*Job) {
	var heirs map[Addr][]*Job
	told := map[hcl.Range]bool{}
	for _, gate := range jobs {
		if gate.Gate == nil {
			continue
		}
		var below map[Addr]bool
		for i, label := range gate.Gate.Waiting {
			at := gate.Gate.Ranges[i]
			if told[at] || len(told) > maxDiagnostics {
				continue
			}
			by := triggers[label]
			if len(by) == 0 {
				told[at] = true
				l.r.warn(sumClosedGate, at, "No job of these files has %q in its triggers_gate.%s Unless a job of another workflow or one added from Go triggers it, this gate never opens.",
					clip(label), didYouMean(label, maps.Keys(triggers)))
				continue
			}
			if heirs == nil {
				heirs = downstream(jobs)
			}
			if below == nil {
				below = reach(gate.Addr, heirs)
			}
			outside := false
			for _, j := range by {
				outside = outside || !below[j.Addr]
			}
			if !outside {
				told[at] = true
				l.r.warn(sumClosedGate, at, "Only %s triggers %q, and it starts after this gate has opened. Unless something else triggers it for the first time, this gate never opens.", by[0].Addr, clip(label))
			}
		}
	}
}

// downstream lists the jobs that wait for each.
func downstream(jobs []*Job) map[Addr][]*Job {
	heirs := map[Addr][]*Job{}
	for _, j := range jobs {
		for i := range j.Parents {
			heirs[j.Parents[i].Job] = append(heirs[j.Parents[i].Job], j)
		}
		for i := range j.Predecessors {
			for _, to := range j.Predecessors[i].Jobs {
				heirs[to] = append(heirs[to], j)
			}
		}
	}
	return heirs
}

// reach finds what a template starts: everything downstream of it, up to other templates.
func reach(from Addr, heirs map[Addr][]*Job) map[Addr]bool {
	found := map[Addr]bool{}
	for open := []Addr{from}; len(open) > 0; {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, j := range heirs[at] {
			if !found[j.Addr] {
				found[j.Addr] = true
				if j.Gate == nil && j.Schedule == nil {
					open = append(open, j.Addr)
				}
			}
		}
	}
	return found
}
