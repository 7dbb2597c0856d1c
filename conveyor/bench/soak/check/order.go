package check

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
)

// checkOrder wants that no job began before what it waits for: a child before its parent's own work succeeded, an heir before its
// predecessors and all below them were over.
func (c *checker) checkOrder(f *fate) {
	for _, j := range f.graph.Jobs {
		for _, a := range f.attempts[j.Name] {
			if f.graph.Recurs {
				c.orderIn(f, j, a, func(up string) []*attempt { return occurrences(f.attempts[up], a.Tick) })
			} else {
				c.orderIn(f, j, a, func(up string) []*attempt { return f.attempts[up] })
			}
		}
	}
}

func (c *checker) orderIn(f *fate, j *graph.Job, a *attempt, of func(string) []*attempt) {
	for _, p := range j.Parents {
		if !endedBy(of(p.Job), history.Well, 1, a.At) {
			c.violate("order", a.Record, "it began before its parent %s had succeeded", p.Job)
		}
	}
	for _, b := range j.Blocks {
		for _, up := range b.Jobs {
			if late := c.unfinished(f, up, of, a.At); late != "" {
				c.violate("order", a.Record, "it began before %s was over, which its predecessor %s waits for", late, up)
			}
		}
	}
}

func occurrences(list []*attempt, tick int64) []*attempt {
	return slices.DeleteFunc(slices.Clone(list), func(a *attempt) bool { return a.Tick != tick })
}

// endedBy tells whether at least n attempts had ended so by then.
func endedBy(list []*attempt, result history.Result, n int, at int64) bool {
	for _, a := range list {
		if a.result == result && a.ended < at {
			n--
		}
	}
	return n <= 0
}

// unfinished names a job that was not over by then and that the completion of job name waits for, itself included; "" for none.
func (c *checker) unfinished(f *fate, name string, of func(string) []*attempt, at int64) string {
	j := f.graph.Job(name)
	switch f.outcomes[name] {
	case graph.SkippedFail, graph.SkippedOK:
		return ""
	case graph.Failed:
		n := 1
		if j.Script.Ends == graph.Doomed {
			n = j.MaxAttempts
		}
		if !endedBy(of(name), history.Error, n, at) {
			return name
		}
		return ""
	}
	if !endedBy(of(name), history.Well, 1, at) {
		return name
	}
	for _, child := range f.graph.Jobs {
		if !slices.ContainsFunc(child.Parents, func(p graph.Parent) bool { return p.Job == name }) {
			continue
		}
		if late := c.unfinished(f, child.Name, of, at); late != "" {
			return late
		}
	}
	for i := range j.Script.Children {
		if child := childName(name, i); !endedBy(of(child), history.Well, 1, at) && !c.lostChild(f, child, at) {
			return child
		}
	}
	return ""
}

// lostChild tells whether the store had lost by then what attempts had added under a name from inside: nobody waits for that any more, and
// apply knows nothing of it.
func (c *checker) lostChild(f *fate, name string, at int64) bool {
	lost := false
	for uuid, r := range c.children {
		if r.Graph != f.graph.Name || r.Job != name || r.At >= at {
			continue
		}
		if len(c.byUUID[uuid]) > 0 || !c.mayLoseChild(r, at) {
			return false
		}
		lost = true
	}
	return lost
}

// mayLoseChild tells whether a fault until then can have taken a child that the store had acknowledged, which it had when the attempt that
// asked for it ended.
func (c *checker) mayLoseChild(child history.Record, until int64) bool {
	acknowledged := until
	for _, a := range c.byUUID[child.Parent] {
		if a.Who == child.Who && a.Fence == child.Fence && a.At <= child.At && a.ended > child.At {
			acknowledged = a.ended
		}
	}
	return slices.ContainsFunc(c.faults, func(r history.Record) bool {
		return r.Loses > 0 && r.Loses <= acknowledged && r.Until >= child.At && r.At <= until
	})
}

// checkTimes wants that no job began before its run_at, or sooner after its edges than it declares. Where the store's clock was off
// meanwhile, the first may be wrong by that, and the second is not judged.
func (c *checker) checkTimes(f *fate) {
	for _, j := range f.graph.Jobs {
		for _, a := range f.attempts[j.Name] {
			if j.RunAt > 0 {
				if early := c.run.Began.Add(j.RunAt).Truncate(time.Millisecond).UnixNano() - a.At; early > int64(c.ahead(a.At-early, a.At)) {
					c.violate("run_at", a.Record, "it began %s before its time", time.Duration(early))
				}
			}
			if j.After > 0 {
				c.checkAfter(f, j, a)
			}
		}
	}
}

// ahead is by how much the store's clock was ahead of the true time at most, when it could have released a job between two times.
func (c *checker) ahead(_, until int64) time.Duration {
	most := time.Duration(0)
	for _, r := range c.clocks {
		if d, err := time.ParseDuration(r.Text); err == nil && r.At <= until && d > most {
			most = d
		}
	}
	return most
}

func (c *checker) checkAfter(f *fate, j *graph.Job, a *attempt) {
	satisfied := f.planned
	for _, p := range j.Parents {
		satisfied = max(satisfied, firstEnd(f.attempts[p.Job], history.Well))
	}
	for _, b := range j.Blocks {
		for _, up := range b.Jobs {
			satisfied = max(satisfied, firstEnd(f.attempts[up], history.Well))
		}
	}
	for _, r := range c.faults {
		if stepsClock(r) && r.Until >= satisfied && r.At <= a.At {
			return
		}
	}
	if early := j.After - time.Duration(a.At-satisfied); early > 0 && !f.touched {
		c.violate("after", a.Record, "it began %s too early after what it waits for", early)
	}
}

// stepsClock tells whether a fault changed by how much the store's clock is off: a drawn step, or the last one, which sets it right.
func stepsClock(r history.Record) bool {
	return r.Name == "step the clock" || r.Name == "mend the clock"
}

// firstEnd is when an attempt first ended so; 0 if none did.
func firstEnd(list []*attempt, result history.Result) int64 {
	first := int64(0)
	for _, a := range list {
		if a.result == result && (first == 0 || a.ended < first) {
			first = a.ended
		}
	}
	return first
}
