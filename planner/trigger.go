package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// Trigger is one job of replace_triggered_by, as a record has it: the submission that was the last when the recorded one was made.
// The engine knows nothing of it: nobody waits for anybody.
type Trigger struct {
	Addr config.Addr
	UUID string
}

// triggers are the jobs whose new submissions make others run again. Both ways are nil in a graph without any.
type triggers struct {
	up, down spans[int32]
}

func (t *triggers) some() bool { return t.up.at != nil }

func (t *triggers) above(job int32) []int32 {
	if t.up.at == nil {
		return nil
	}
	return t.up.of(job)
}

func (t *triggers) below(job int32) []int32 {
	if t.down.at == nil {
		return nil
	}
	return t.down.of(job)
}

// linkTriggers fills triggers.
func (g *Graph) linkTriggers() (diags hcl.Diagnostics) {
	declares := func(j *config.Job) bool { return j.Lifecycle != nil && len(j.Lifecycle.ReplacedBy) > 0 }
	if !slices.ContainsFunc(g.jobs, declares) {
		return nil
	}
	n := len(g.jobs)
	up := spans[int32]{at: make([]int32, n+1)}
	at := make([]int32, n+2)
	for i, j := range g.jobs {
		if declares(j) {
			for _, addr := range j.Lifecycle.ReplacedBy {
				to, ok := g.index[addr]
				if !ok {
					diags = append(diags, &hcl.Diagnostic{
						Severity: hcl.DiagError, Summary: "Reference to undeclared job", Subject: j.Lifecycle.ReplacedByRange.Ptr(),
						Detail: fmt.Sprintf("%s is replaced by %s, which is not declared. Declare it, or remove the reference.", j.Addr, addr),
					})
					continue
				}
				up.items = append(up.items, to)
				at[to+2]++
			}
			slices.Sort(up.items[up.at[i]:])
		}
		up.at[i+1] = int32(len(up.items))
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	items := make([]int32, at[n+1])
	for j := range int32(n) {
		for _, to := range up.of(j) {
			items[at[to+1]] = j
			at[to+1]++
		}
	}
	g.triggers = triggers{up: up, down: spans[int32]{at: at[:n+1], items: items}}
	return diags
}

// arrange sorts the jobs by their edges, and reports what can never start; then, if there are any, by what replaces them as well,
// since a job is decided after what decides about it.
func (g *Graph) arrange() (diags hcl.Diagnostics) {
	declared := g.triggers
	g.triggers = triggers{}
	g.sort()
	if diags = g.stuck(); diags.HasErrors() || !declared.some() {
		return diags
	}
	g.triggers = declared
	g.sort()
	if len(g.order) == len(g.jobs) {
		return nil
	}
	return hcl.Diagnostics{g.replacedInCircle()}
}

// replacedInCircle names one circle of jobs that make each other run again.
func (g *Graph) replacedInCircle() *hcl.Diagnostic {
	happened := make([]bool, 2*len(g.jobs))
	for _, e := range g.events {
		happened[eventIndex(e)] = true
	}
	// Whatever has not happened waits for something that has not, so following that leads into a circle.
	s := stuckSearch{g: g}
	seen := map[int32]int{}
	var path []int32
	at := eventAt(int32(slices.Index(happened, false)))
	for {
		first, been := seen[at]
		if been {
			path = path[first:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		waits := s.waits(at, nil)
		if at >= 0 {
			waits = append(waits, g.triggers.above(at)...)
		}
		at = waits[slices.IndexFunc(waits, func(e int32) bool { return !happened[eventIndex(e)] })]
	}
	return g.explainCircle(path)
}

// explainCircle words a circle of events, each of which waits for the next.
func (g *Graph) explainCircle(path []int32) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Jobs replace each other"}
	// It begins with the lowest job that is replaced.
	start := -1
	for i, e := range path {
		next := path[(i+1)%len(path)]
		if e >= 0 && next >= 0 && slices.Contains(g.triggers.above(e), next) && (start < 0 || e < path[start]) {
			start = i
		}
	}
	path = slices.Concat(path[start:], path[:start])
	var lines []string
	for i, e := range path {
		next := path[(i+1)%len(path)]
		from, to := g.names[jobOf(e)], g.names[jobOf(next)]
		switch {
		case e >= 0 && next >= 0 && slices.Contains(g.triggers.above(e), next):
			lines = append(lines, fmt.Sprintf("  %s is replaced whenever %s is (replace_triggered_by)", from, to))
		case from != to:
			lines = append(lines, fmt.Sprintf("  %s runs again whenever %s does", from, to))
		}
		if len(lines) == maxSteps && i < len(path)-1 {
			lines = append(lines, "  ...")
			break
		}
	}
	d.Subject = g.jobs[path[0]].Lifecycle.ReplacedByRange.Ptr()
	d.Detail = fmt.Sprintf("A new submission of any of these jobs would ask for the next, without end:\n\n%s\n\nRemove one of these references.", strings.Join(lines, "\n"))
	return d
}

// triggered finds the jobs of replace_triggered_by that have, or will have, another submission than the recorded one.
func (m *maker) triggered(job int32) (causes []Cause) {
	prior := m.rows[job].Prior
	for _, to := range m.g.triggers.above(job) {
		u := &m.rows[to]
		fresh := u.Action == Create || u.Action == Replace
		again := fresh
		if i := slices.IndexFunc(prior.Triggers, func(t Trigger) bool { return t.Addr == u.Addr }); i >= 0 {
			switch recorded := prior.Triggers[i].UUID; {
			case fresh:
				again = !sameUUID(m.nextUUID(to), recorded)
			case u.Prior != nil:
				again = !sameUUID(u.Prior.UUID, recorded)
			}
		}
		if again {
			causes = append(causes, Cause{u.Addr, u.Reason})
		}
	}
	return causes
}

// triggers are the records' triggers of a row: the submissions that stand once the plan is applied. What was never submitted and
// is not in the plan is left out.
func (t *settler) triggers(r *Row) (list []Trigger) {
	if r.Job == nil || r.Job.Lifecycle == nil {
		return nil
	}
	for _, addr := range r.Job.Lifecycle.ReplacedBy {
		if up := t.rows[addr]; up != nil && up.standing(t.s) != nil {
			list = append(list, Trigger{Addr: addr, UUID: up.standing(t.s).UUID.String()})
		}
	}
	slices.SortFunc(list, func(a, b Trigger) int { return compareAddr(a.Addr, b.Addr) })
	return list
}
