package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
)

func childName(job string, i int) string { return fmt.Sprintf("%s.child%d", job, i) }

// checkGates wants that a gate fired once if all its triggers completed and else never, and that a schedule made one occurrence of each
// job for each minute.
func (c *checker) checkGates(f *fate) {
	for _, j := range f.graph.Jobs {
		if !f.graph.Template(j) {
			continue
		}
		made := map[int64]map[string]bool{} // uuids by tick
		for _, a := range f.attempts[j.Name] {
			if made[a.Tick] == nil {
				made[a.Tick] = map[string]bool{}
			}
			made[a.Tick][a.UUID] = true
		}
		c.report.Cycles += len(made)
		r := history.Record{Graph: f.graph.Name, Job: j.Name, At: f.planned}
		for _, tick := range sortedKeys(made) {
			if len(made[tick]) > 1 && !f.touched {
				c.violate("once", r, "cycle %d has %d occurrences", tick, len(made[tick]))
			}
			if !slices.ContainsFunc(occurrences(f.attempts[j.Name], tick), func(a *attempt) bool { return a.result == history.Well }) {
				c.violate("lost", r, "cycle %d never came to its end", tick)
			}
		}
		if f.touched {
			continue // a gate whose triggers were over before it came back cannot fire
		}
		if f.graph.Recurs {
			c.checkMinutes(f, j, sortedKeys(made))
			continue
		}
		want := 0
		if f.outcomes[j.Name] == graph.Fires {
			want = 1
		}
		if len(made) != want || f.settled != nil && f.settled.States[j.Name].Cycles != want {
			c.violate("once", r, "it fired %d times and counts %d, and has to fire %d times", len(made), f.settled.States[j.Name].Cycles, want)
		}
	}
}

// checkMinutes wants that no minute was passed over.
func (c *checker) checkMinutes(f *fate, j *graph.Job, ticks []int64) {
	for i := 1; i < len(ticks); i++ {
		if ticks[i]-ticks[i-1] != time.Minute.Milliseconds() {
			c.violate("once", history.Record{Graph: f.graph.Name, Job: j.Name, At: ticks[i] * 1e6}, "the cycle before is of %s earlier, and each minute has one",
				time.Duration(ticks[i]-ticks[i-1])*time.Millisecond)
		}
	}
}

// checkChildren wants that the children that the attempt added whose end counted have run, and no others.
func (c *checker) checkChildren(f *fate) {
	if f.settled == nil {
		return
	}
	for _, j := range f.graph.Jobs {
		s := f.settled.States[j.Name]
		for i := range j.Script.Children {
			name, counted := childName(j.Name, i), 0
			for _, a := range f.attempts[name] {
				made := c.children[a.UUID]
				if a.result == history.Well && made.Parent == s.UUID && made.Fence == s.Fence {
					counted++
				}
				if made.Fence != s.Fence && !f.touched {
					c.violate("asked", a.Record, "it was added by fence %d of its parent, and fence %d did the work", made.Fence, s.Fence)
				}
			}
			ran := f.outcomes[j.Name] == graph.Completed || f.outcomes[j.Name] == graph.FailedByChild
			if counted > 0 {
				c.report.Children++
			} else if ran && !f.touched {
				c.violate("lost", history.Record{Graph: f.graph.Name, Job: name, At: f.settled.At}, "it was added from inside and never came to its end")
			}
		}
	}
}
