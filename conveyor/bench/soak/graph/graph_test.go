package graph

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestDraw wants that each drawn workflow can be applied, that all its jobs have an outcome, and that the same seed draws the same.
func TestDraw(t *testing.T) {
	t.Parallel()
	seen, gates := map[Outcome]int{}, 0
	for n := range 300 {
		g := Draw(1, 2, n)
		w, err := g.Workflow(time.Unix(1795338921, 0), false)
		if err != nil {
			t.Fatal(err)
		}
		if _, diags := planner.Make(w, &planner.State{Workflow: g.Name}, planner.Options{}); diags.HasErrors() {
			t.Fatalf("%s: %v", g.Name, diags)
		}
		outcomes := g.Outcomes()
		for _, j := range g.Jobs {
			if outcomes[j.Name] == Open {
				t.Errorf("%s/%s has no outcome", g.Name, j.Name)
			}
			seen[outcomes[j.Name]]++
			gates += len(j.Gate)
		}
		if diff := cmp.Diff(g, Draw(1, 2, n)); diff != "" {
			t.Fatalf("drawn again it is another\n%s", diff)
		}
	}
	for _, o := range []Outcome{Completed, Failed, FailedByChild, SkippedFail, SkippedOK, Fires, NeverFires} {
		if seen[o] < 3 {
			t.Errorf("of 300 workflows %d have a job that is %s", seen[o], o)
		}
	}
}

// TestOutcomes are the rules for edges, one by one.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	job := func(name string, ends Ends, change ...func(*Job)) *Job {
		j := &Job{Name: name, Script: Script{Ends: ends}}
		for _, f := range change {
			f(j)
		}
		return j
	}
	under := func(up string, ignore bool) func(*Job) {
		return func(j *Job) { j.Parents = append(j.Parents, Parent{up, ignore}) }
	}
	after := func(runIf config.RunIf, ups ...string) func(*Job) {
		return func(j *Job) { j.Blocks = append(j.Blocks, Block{ups, runIf}) }
	}
	tests := []struct {
		name string
		jobs []*Job
		want map[string]Outcome
	}{
		{"a child of what fails", []*Job{job("a", Doomed), job("b", Well, under("a", false))}, map[string]Outcome{"a": Failed, "b": SkippedFail}},
		{"a child that fails", []*Job{job("a", Well), job("b", Permanent, under("a", false))}, map[string]Outcome{"a": FailedByChild, "b": Failed}},
		{"a child that fails leniently", []*Job{job("a", Well), job("b", Doomed, under("a", true))}, map[string]Outcome{"a": Completed, "b": Failed}},
		{"an heir of what its child failed", []*Job{job("a", Well), job("b", Doomed, under("a", false)), job("c", Well, after(config.RunIfSuccess, "a")), job("d", Well, after(config.RunIfFailure, "a"))},
			map[string]Outcome{"a": FailedByChild, "b": Failed, "c": SkippedFail, "d": Completed}},
		{"one of several fails", []*Job{job("a", Well), job("b", Doomed), job("c", Well, after(config.RunIfFailure, "a", "b")), job("d", Well, after(config.RunIfAlways, "a", "b"))},
			map[string]Outcome{"a": Completed, "b": Failed, "c": Completed, "d": Completed}},
		{"skipped passes on", []*Job{job("a", Flaky), job("b", Well, after(config.RunIfFailure, "a")), job("c", Well, after(config.RunIfSuccess, "b"))},
			map[string]Outcome{"a": Completed, "b": SkippedOK, "c": Completed}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := &Graph{Name: "g", Jobs: test.jobs}
			if diff := cmp.Diff(test.want, g.Outcomes()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
