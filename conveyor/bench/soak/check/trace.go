package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// Run is what a soak was, and what its processes have left.
type Run struct {
	Seed       uint64
	Durability rig.Durability
	Began      time.Time
	Records    []history.Record
}

// attempt is one start of a job, and its end if it has one.
type attempt struct {
	history.Record
	ended  int64 // 0 while it has not
	result history.Result
}

// fate is all that happened to one graph.
type fate struct {
	graph    *graph.Graph
	outcomes map[string]graph.Outcome
	planned  int64
	applied  []history.Record
	lost     []history.Record
	settled  *history.Record
	touched  bool                  // a loss that its store may have can be of it
	attempts map[string][]*attempt // by job, children from inside included, in the order of their starts
}

// checker holds what the rules look at.
type checker struct {
	run      Run
	fates    map[string]*fate
	names    []string              // of fates, in order
	byUUID   map[string][]*attempt // by uuid, in the order of their starts
	children map[string]history.Record
	redone   map[string]int   // attempts after one that did its work and lost its lease, by uuid
	faults   []history.Record // and silences and stalls: what explains the end of a lease
	clocks   []history.Record // when the store's clock was off
	report   *Report
}

// Check judges a run.
func Check(run Run) *Report {
	c := &checker{run: run, fates: map[string]*fate{}, byUUID: map[string][]*attempt{}, children: map[string]history.Record{},
		redone: map[string]int{}, report: newReport()}
	c.index()
	for _, uuid := range sortedKeys(c.byUUID) {
		c.checkAttempts(c.byUUID[uuid])
	}
	for _, name := range c.names {
		f := c.fates[name]
		c.checkAsked(f)
		c.checkLosses(f)
		c.checkOutcomes(f)
		c.checkOrder(f)
		c.checkTimes(f)
		c.checkGates(f)
		c.checkChildren(f)
	}
	slices.Sort(c.report.Violations)
	return c.report
}

// index sorts the records by what they are about.
func (c *checker) index() {
	running := map[string][]*attempt{} // of one fence there are two after the store lost the first: they end in the order of their starts
	id := func(r history.Record) string { return fmt.Sprint(r.Who, " ", r.UUID, " ", r.Fence) }
	for _, r := range c.run.Records {
		switch r.Kind {
		case history.Planned:
			c.plan(r)
		case history.Applied, history.Lost, history.Settled:
			if f := c.fate(r); f != nil {
				switch r.Kind {
				case history.Applied:
					f.applied = append(f.applied, r)
				case history.Lost:
					f.lost = append(f.lost, r)
				default:
					f.settled = &r
				}
			}
		case history.Start:
			a := &attempt{Record: r}
			running[id(r)] = append(running[id(r)], a)
			c.byUUID[r.UUID] = append(c.byUUID[r.UUID], a)
			if f := c.fate(r); f != nil {
				f.attempts[r.Job] = append(f.attempts[r.Job], a)
			}
		case history.End:
			if those := running[id(r)]; len(those) > 0 {
				those[0].ended, those[0].result = r.At, r.Result
				running[id(r)] = those[1:]
			} else {
				c.violate("history", r, "an attempt ended that never began")
			}
		case history.Child:
			c.children[r.UUID] = r
		case history.Fault:
			c.fault(r)
		case history.Silent:
			r.Name = "store silent"
			c.faults = append(c.faults, r)
		case history.Stalled:
			r.Name, r.Whom = "process stalled", r.Who
			c.faults = append(c.faults, r)
		case history.Turns:
			c.report.InTurn += r.Count
		case history.Trouble:
			c.report.Troubles++
		case history.Verify:
			c.report.Verified++
			for _, v := range r.Violations {
				c.report.violate("verify: " + v)
			}
		}
	}
	for _, f := range c.fates {
		f.touched = c.mayLose(f)
	}
}

func (c *checker) plan(r history.Record) {
	var applier, n int
	g := &graph.Graph{}
	if _, err := fmt.Sscanf(r.Graph, "a%d-g%d", &applier, &n); err == nil {
		g = graph.Draw(c.run.Seed, applier, n)
	} else if _, err := fmt.Sscanf(r.Graph, "a%d-clock", &applier); err == nil {
		g = graph.Clock(applier)
	}
	f := &fate{graph: g, planned: r.At, attempts: map[string][]*attempt{}, outcomes: map[string]graph.Outcome{}}
	if !g.Recurs {
		f.outcomes = g.Outcomes()
	}
	c.fates[r.Graph] = f
	c.names = append(c.names, r.Graph)
	c.report.Graphs++
	c.report.Jobs += len(g.Jobs)
}

// fate finds the graph that a record is about, and complains if nobody has planned it.
func (c *checker) fate(r history.Record) *fate {
	f := c.fates[r.Graph]
	if f == nil {
		c.violate("asked", r, "nobody has planned this workflow")
	}
	return f
}

func (c *checker) fault(r history.Record) {
	if r.Name == "clock off" {
		c.clocks = append(c.clocks, r)
	} else if r.Name != "end of faults" && r.Name != "mend the clock" { // the conductor's own, when what was drawn is over
		c.report.Faults[r.Name]++
	}
	c.faults = append(c.faults, r)
}

// mayLose tells whether a fault can have taken something of a graph that the store had acknowledged.
func (c *checker) mayLose(f *fate) bool {
	return slices.ContainsFunc(c.faults, func(r history.Record) bool {
		return r.Loses > 0 && r.Until >= f.planned && (f.settled == nil || r.Loses <= f.settled.At)
	})
}

func (c *checker) violate(rule string, r history.Record, format string, args ...any) {
	what := r.Graph
	if r.Job != "" {
		what += "/" + r.Job
	}
	if r.UUID != "" {
		what += " " + r.UUID
	}
	if r.Fence > 0 {
		what += fmt.Sprintf(" fence %d of %s", r.Fence, r.Who)
	}
	at := time.Duration(r.At - c.run.Began.UnixNano()).Round(time.Millisecond)
	c.report.violate(fmt.Sprintf("%s: %s at %s: %s", rule, what, at, fmt.Sprintf(format, args...)))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
