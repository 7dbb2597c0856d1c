package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// replacedBy declares replace_triggered_by.
func replacedBy(w *config.Workflow, name string, by ...string) *config.Workflow {
	return edited(w, name, func(j *config.Job) {
		cycle := config.Lifecycle{ReplacedByRange: hcl.Range{Filename: "main.hcl", Start: hcl.Pos{Line: 3, Byte: len(name)}}}
		for _, b := range by {
			cycle.ReplacedBy = append(cycle.ReplacedBy, addr("job."+b))
		}
		j.Lifecycle = &cycle
	})
}

func TestTriggered(t *testing.T) {
	t.Parallel()
	// z sorts behind what it replaces, and c hangs below a job that is replaced.
	w := replacedBy(workflowOf("a", "b", "c b", "z"), "b", "z")
	s := stateOf(t, w)
	expect(t, mustMake(t, w, s, planner.Options{}))
	p := mustMake(t, edited(w, "z", newWork), s, planner.Options{})
	expect(t, p, "-/+ z work_changed", "-/+ b replace_triggered_by", "-/+ c upstream_runs_again")
	r := row(t, p, "b")
	if d := cmp.Diff("job.z runs again, as replace_triggered_by asks for", r.Because()); d != "" {
		t.Error(d)
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	if len(r.Next.Edges) != 0 || len(r.Next.Triggers) != 1 || r.Next.Triggers[0].UUID != row(t, p, "z").Next.UUID.String() {
		t.Errorf("the record has the edges %v and the triggers %v", r.Next.Edges, r.Next.Triggers)
	}
	back, err := planner.DecodeRecord("job.b", string(r.Next.AppendTo(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Next, back); d != "" {
		t.Errorf("record (-written +read):\n%s", d)
	}
}

// TestTriggeredLater: what a plan with targets leaves out, the next one notices from the record.
func TestTriggeredLater(t *testing.T) {
	t.Parallel()
	w := replacedBy(workflowOf("a", "b"), "b", "a")
	s := stateOf(t, w)
	w = edited(w, "a", newWork)
	p := mustMake(t, w, s, planner.Options{Targets: []config.Addr{addr("job.a")}})
	expect(t, p, "-/+ a work_changed")
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	s.Records["job.a"] = row(t, p, "a").Next
	expect(t, mustMake(t, w, s, planner.Options{}), "-/+ b replace_triggered_by")
	// A target brings what replaces it along.
	expect(t, mustMake(t, edited(w, "a", newWork), s, planner.Options{Targets: []config.Addr{addr("job.b")}}),
		"-/+ a work_changed", "-/+ b replace_triggered_by")
}

func TestTriggersAreHandling(t *testing.T) {
	t.Parallel()
	plain := workflowOf("a", "b")
	s := stateOf(t, plain)
	w := replacedBy(plain, "b", "a")
	p := mustMake(t, w, s, planner.Options{})
	expect(t, p, "~ b handling_changed")
	var text strings.Builder
	if err := p.Render(&text, planner.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `+ replace_triggered_by = [`) {
		t.Error(text.String())
	}
	expect(t, mustMake(t, edited(w, "a", newWork), s, planner.Options{}), "-/+ a work_changed", "-/+ b replace_triggered_by")
	s.Live["job.b"] = planner.Live{Status: planner.Queued}
	expect(t, mustMake(t, edited(w, "a", newWork), s, planner.Options{}), "-/+ a work_changed", "~ b replace_triggered_by")
}

func TestTriggersMove(t *testing.T) {
	t.Parallel()
	w := replacedBy(workflowOf("a", "b"), "b", "a")
	s := stateOf(t, w)
	next := renamed(w, "a", "x")
	next.Jobs[1].Lifecycle = &config.Lifecycle{ReplacedBy: []config.Addr{addr("job.x")}}
	p := mustMake(t, next, s, planner.Options{})
	expect(t, p, "~ x moved", "~ b moved")
}

func TestReplacedInCircle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		w    *config.Workflow
		want []string
	}{
		{
			name: "two", w: replacedBy(replacedBy(workflowOf("a", "b"), "a", "b"), "b", "a"),
			want: []string{"job.a is replaced whenever job.b is", "job.b is replaced whenever job.a is"},
		},
		{
			name: "over an edge", w: replacedBy(workflowOf("a", "b a"), "a", "b"),
			want: []string{"job.a is replaced whenever job.b is", "job.b runs again whenever job.a does"},
		},
		{
			name: "over the children of a parent", w: replacedBy(workflowOf("p", "c ^p", "d", "h p"), "c", "h"),
			want: []string{"job.c is replaced whenever job.h is", "job.h runs again whenever job.p does", "job.p runs again whenever job.c does"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, diags := planner.NewGraph(test.w)
			if len(diags) != 1 || diags[0].Summary != "Jobs replace each other" || diags[0].Subject.Filename != "main.hcl" {
				t.Fatalf("diagnostics: %v", diags)
			}
			for _, line := range test.want {
				if !strings.Contains(diags[0].Detail, line) {
					t.Errorf("%q is not in:\n%s", line, diags[0].Detail)
				}
			}
		})
	}
}
