package planner_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// drawWorkflow draws a workflow that can start: edges lead to earlier jobs only, and those that make a job wait for itself
// in other ways are dropped again.
func drawWorkflow(t *rapid.T, most int) *config.Workflow {
	n := rapid.IntRange(1, most).Draw(t, "jobs")
	var lines []string
	names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "k"}).Draw(t, "names")[:n]
	for i, name := range names {
		lines = append(lines, name+drawEdges(t, names[:i]))
		if _, diags := planner.NewGraph(workflowOf(lines...)); diags.HasErrors() {
			lines[i] = name
		}
	}
	return workflowOf(lines...)
}

func drawEdges(t *rapid.T, names []string) (line string) {
	if len(names) == 0 {
		return ""
	}
	some := func(label string) []string {
		drawn := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, min(2, len(names)), rapid.ID).Draw(t, label)
		slices.Sort(drawn)
		return drawn
	}
	for _, p := range some("parents") {
		line += " " + rapid.SampledFrom([]string{"^", "^", "^", "?"}).Draw(t, "kind") + p
	}
	if heirs := some("predecessors"); len(heirs) > 0 {
		line += " " + rapid.SampledFrom([]string{"", "", "", "!", "*"}).Draw(t, "run_if")
		for i, p := range heirs {
			if i > 0 {
				line += ","
			}
			line += p
		}
	}
	return line
}

// drawEdit changes a workflow: work, handling, on_change, edges, jobs that come and go.
func drawEdit(t *rapid.T, w *config.Workflow) *config.Workflow {
	next := &config.Workflow{Name: w.Name, Jobs: slices.Clone(w.Jobs)}
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		i := rapid.IntRange(0, len(next.Jobs)-1).Draw(t, "job")
		j := *next.Jobs[i]
		switch rapid.IntRange(0, 5).Draw(t, "edit") {
		case 0, 1:
			newWork(&j)
			j.Payload = fmt.Appendf(nil, `{"command":["./run.sh","%d"]}`, rapid.IntRange(0, 1<<30).Draw(t, "payload"))
			j.Shown = j.Payload
		case 2:
			newHandling(&j)
		case 3:
			j.OnChange = config.OnChange(rapid.IntRange(0, 2).Draw(t, "on_change"))
		case 4:
			var others []string
			for _, o := range next.Jobs {
				if o != next.Jobs[i] {
					others = append(others, o.Addr.Name)
				}
			}
			edges := jobOf(j.Addr.Name + drawEdges(t, others))
			j.Parents, j.Predecessors = edges.Parents, edges.Predecessors
		case 5:
			name := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "new")
			if slices.ContainsFunc(next.Jobs, func(o *config.Job) bool { return o.Addr.Name == name }) {
				continue
			}
			added := &config.Workflow{Name: w.Name, Jobs: append(slices.Clone(next.Jobs), jobOf(name+drawEdges(t, []string{j.Addr.Name})))}
			if _, diags := planner.NewGraph(added); !diags.HasErrors() {
				next = added
			}
			continue
		}
		changed := &config.Workflow{Name: w.Name, Jobs: slices.Clone(next.Jobs)}
		changed.Jobs[i] = &j
		if _, diags := planner.NewGraph(changed); !diags.HasErrors() {
			next = changed
		}
	}
	if len(next.Jobs) > 1 && rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
		gone := rapid.IntRange(0, len(next.Jobs)-1).Draw(t, "dropped")
		dropped := &config.Workflow{Name: w.Name, Jobs: slices.Delete(slices.Clone(next.Jobs), gone, gone+1)}
		if _, diags := planner.NewGraph(dropped); !diags.HasErrors() {
			next = dropped
		}
	}
	return next
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// submit plans and applies, all of it or the first rows only, and returns the plan.
func submit(t fataler, e *engine, w *config.Workflow, o planner.Options, limit int) *planner.Plan {
	s := e.now()
	p, diags := planner.Make(w, s, o)
	if diags.HasErrors() {
		t.Fatalf("plan: %s", diags)
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatalf("settle: %s", err)
	}
	if err := e.apply(inOrder(p), limit); err != nil {
		t.Fatalf("apply: %s", err)
	}
	return p
}

func allWell(string) bool { return true }

func finishAll(t fataler, e *engine) {
	if err := e.run(allWell); err != nil {
		t.Fatalf("run: %s", err)
	}
	if stuck := e.stuck(); stuck != nil {
		t.Fatalf("never end: %q\n%s", stuck, e)
	}
}

// settledDown applies until a plan is empty: what ran into failures runs again, what was deposed is forgotten. The last plan has
// to be empty after few rounds.
func settledDown(t fataler, e *engine, w *config.Workflow) {
	var last []string
	for range 4 {
		p := submit(t, e, w, planner.Options{}, -1)
		if p.Empty() {
			return
		}
		last = actions(p)
		finishAll(t, e)
	}
	t.Fatalf("plans do not come to an end; the last was %q", last)
}
