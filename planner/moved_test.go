package planner_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// renamed gives jobs other names, "a" to "b", and says so in moved blocks.
func renamed(w *config.Workflow, names ...string) *config.Workflow {
	next := *w
	was := map[config.Addr]config.Addr{}
	for i := 0; i < len(names); i += 2 {
		from, to := addr("job."+names[i]), addr("job."+names[i+1])
		was[from] = to
		next.Moved = append(slices.Clone(next.Moved), config.Moved{From: from, To: to})
	}
	is := func(a config.Addr) config.Addr {
		if to, ok := was[a]; ok {
			return to
		}
		return a
	}
	next.Jobs = nil
	for _, old := range w.Jobs {
		j := *old
		j.Addr = is(j.Addr)
		j.Parents, j.Predecessors = slices.Clone(j.Parents), slices.Clone(j.Predecessors)
		for i := range j.Parents {
			j.Parents[i].Job = is(j.Parents[i].Job)
		}
		for i := range j.Predecessors {
			j.Predecessors[i].Jobs = slices.Clone(j.Predecessors[i].Jobs)
			for k, a := range j.Predecessors[i].Jobs {
				j.Predecessors[i].Jobs[k] = is(a)
			}
		}
		next.Jobs = append(next.Jobs, &j)
	}
	return &next
}

// written is the state once a plan's rows are written as the applier does it.
func written(t testing.TB, w *config.Workflow, s *planner.State, p *planner.Plan) *planner.State {
	t.Helper()
	s, diags := planner.Moved(s, w)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	next := *s
	next.MovedFrom = nil
	for _, r := range p.Rows {
		switch {
		case r.Action == planner.NoOp:
		case r.Next == nil:
			delete(next.Records, r.Addr.String())
		default:
			next.Records[r.Addr.String()] = r.Next
		}
	}
	return &next
}

func TestMoved(t *testing.T) {
	t.Parallel()
	graph := workflowOf("a", "b ^a", "c a", "d b,c", "e")
	tests := []struct {
		name   string
		before *config.Workflow
		after  *config.Workflow
		live   map[string]planner.Live
		o      planner.Options
		want   []string
	}{
		{name: "nothing to move", before: graph, after: renamed(graph, "x", "y")},
		{
			name: "what nobody waits for", before: graph, after: renamed(graph, "e", "x"),
			want: []string{"~ x moved"},
		},
		{
			name: "what others wait for", before: graph, after: renamed(graph, "a", "x"),
			want: []string{"~ x moved", "~ b moved", "~ c moved"},
		},
		{
			name: "several", before: graph, after: renamed(graph, "a", "x", "d", "y"),
			want: []string{"~ x moved", "~ b moved", "~ c moved", "~ y moved"},
		},
		{
			name: "in several steps", before: graph,
			after: func() *config.Workflow {
				w := renamed(graph, "e", "x")
				w.Moved = []config.Moved{{From: addr("job.y"), To: addr("job.x")}, {From: addr("job.e"), To: addr("job.y")}}
				return w
			}(),
			want: []string{"~ x moved"},
		},
		{
			name: "to a job that is not declared", before: graph,
			after: func() *config.Workflow {
				w := without(graph, "e")
				w.Moved = []config.Moved{{From: addr("job.e"), To: addr("job.x")}}
				return w
			}(),
			want: []string{"- e not_declared"},
		},
		{
			name: "one that runs", before: graph, after: renamed(graph, "e", "x"), live: map[string]planner.Live{"e": {Status: planner.Running}},
			want: []string{"~ x moved"},
		},
		{
			name: "one that failed", before: graph, after: renamed(graph, "e", "x"), live: map[string]planner.Live{"e": {Status: planner.Failed}},
			want: []string{"-/+ x failed"},
		},
		{
			name: "one that is lost", before: graph, after: renamed(graph, "e", "x"), live: map[string]planner.Live{"e": {}},
			want: []string{"+ x lost"},
		},
		{
			name: "one that was skipped", before: graph, after: renamed(graph, "d", "x"),
			live: map[string]planner.Live{"d": {Status: planner.Skipped}, "c": {Status: planner.Failed}},
			want: []string{"-/+ c failed", "-/+ x upstream_runs_again"},
		},
		{
			name: "and its work changes", before: graph, after: edited(renamed(graph, "a", "x"), "x", newWork),
			want: []string{"-/+ x work_changed", "-/+ b upstream_runs_again", "-/+ c upstream_runs_again", "-/+ d upstream_runs_again"},
		},
		{
			name: "and its handling changes", before: graph, after: edited(renamed(graph, "e", "x"), "x", newHandling),
			want: []string{"~ x handling_changed"},
		},
		{
			name: "and the handling of what waits for it", before: graph, after: edited(renamed(graph, "a", "x"), "c", newHandling),
			want: []string{"~ x moved", "~ b moved", "~ c handling_changed"},
		},
		{
			name: "one that runs on although its work changed", before: edited(graph, "e", ignoring),
			after: edited(edited(renamed(graph, "e", "x"), "x", ignoring), "x", newWork),
			live:  map[string]planner.Live{"e": {Status: planner.Running}},
		},
		{
			name: "a template", before: edited(workflowOf("r", "s r"), "r", scheduled), after: renamed(edited(workflowOf("r", "s r"), "r", scheduled), "r", "x"),
			live: map[string]planner.Live{"r": {Status: planner.Template}, "s": {Status: planner.Template}},
			want: []string{"~ x moved", "~ s moved"},
		},
		{
			name: "not among the targets", before: graph, after: renamed(graph, "e", "x"), o: planner.Options{Targets: []config.Addr{addr("job.a")}},
		},
		{
			name: "everything is destroyed", before: graph, after: renamed(graph, "e", "x"), o: planner.Options{Destroy: true},
			want: []string{"- a destroy", "- b destroy", "- c destroy", "- d destroy", "- e destroy"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, test.before)
			for name, live := range test.live {
				s.Live["job."+name] = live
			}
			names := len(s.Records)
			p := mustMake(t, test.after, s, test.o)
			expect(t, p, test.want...)
			if len(s.Records) != names || s.MovedFrom != nil {
				t.Error("the state was changed")
			}
			checkPlanFile(t, p)
			if test.o.Destroy {
				return
			}
			next := written(t, test.after, s, p)
			for _, r := range p.Rows {
				checkNext(t, r)
				if r.MovedFrom != (config.Addr{}) && r.Action == planner.Update && r.Next.UUID != s.Records[r.MovedFrom.String()].UUID {
					t.Errorf("%s has another uuid", r.Addr)
				}
			}
			if again, diags := planner.Moved(next, test.after); again != next || diags != nil {
				t.Errorf("there is still something to move: %v", diags)
			}
		})
	}
}

func ignoring(j *config.Job) { j.OnChange = config.OnChangeIgnore }

// TestMovedPlan checks what else a plan with a move says: to whoever makes it again from a file, and of what is left behind.
func TestMovedPlan(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", `b["x"] a`)
	s := stateOf(t, w)
	p := mustMake(t, renamed(w, "a", "c", `b["x"]`, `b["y"]`), s, planner.Options{})
	want := []config.Moved{{From: addr("job.a"), To: addr("job.c")}, {From: addr(`job.b["x"]`), To: addr(`job.b["y"]`)}}
	if diff := cmp.Diff(want, p.Moves()); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	var file bytes.Buffer
	if err := planner.WritePlan(&file, p, nil); err != nil {
		t.Fatal(err)
	}
	read, err := planner.ReadPlan(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read.Moves()); diff != "" {
		t.Errorf("moves of the file (-want +got):\n%s", diff)
	}
	if got, want := row(t, p, "c").Because(), "job.a has moved to job.c"; got != want {
		t.Errorf("because %s, want %s", got, want)
	}
	if got, want := row(t, p, `b["y"]`).Because(), `job.b["x"] has moved to job.b["y"]`; got != want {
		t.Errorf("because %s, want %s", got, want)
	}
}

func TestMovedWhereSomethingIs(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b", "c")
	s := stateOf(t, w)
	after := without(without(w, "a"), "b")
	after.Moved = []config.Moved{{From: addr("job.a"), To: addr("job.c")}, {From: addr("job.b"), To: addr("job.a")}}
	_, diags := planner.Make(after, s, planner.Options{})
	var got []string
	for _, d := range diags {
		got = append(got, d.Summary+": "+d.Detail)
	}
	want := []string{
		"Two records for one job: job.a has moved to job.c, and job.c has a record too, so which of the two that job is cannot be told. " +
			"Remove the moved block: then job.a is destroyed, and job.c stays as it is.",
		"Two records for one job: job.b has moved to job.c, and job.c has a record too, so which of the two that job is cannot be told. " +
			"Remove the moved block: then job.b is destroyed, and job.c stays as it is.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	delete(s.Records, "job.c")
	_, diags = planner.Make(after, s, planner.Options{})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "job.b has moved to job.c, and job.a has a record too") {
		t.Errorf("two that move to one place: %v", diags)
	}
}

// TestMovedDrawn renames jobs of drawn workflows, which runs nothing, and leaves nothing to do, with the moved blocks and
// without them.
func TestMovedDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorkflow(rt, 8)
		s := stateOf(t, w)
		var names []string
		for i, j := range w.Jobs {
			if rapid.Bool().Draw(rt, "rename") {
				names = append(names, j.Addr.Name, rapid.SampledFrom([]string{"a0", "z"}).Draw(rt, "name")+fmt.Sprint(i))
			}
		}
		after := renamed(w, names...)
		slices.SortFunc(after.Jobs, func(a, b *config.Job) int { return strings.Compare(a.Addr.Name, b.Addr.Name) })
		p := mustMake(t, after, s, planner.Options{})
		moved := 0
		for _, r := range p.Rows {
			if r.Action != planner.NoOp && (r.Reason != planner.ReasonMoved || r.Action != planner.Rerecord) {
				rt.Fatalf("%s: %s because %s", r.Addr, r.Action, r.Because())
			}
			if r.MovedFrom != (config.Addr{}) {
				moved++
			}
		}
		if moved != len(names)/2 {
			rt.Fatalf("%d jobs have moved, want %d", moved, len(names)/2)
		}
		next := written(t, after, s, p)
		for _, blocks := range [][]config.Moved{after.Moved, nil} {
			later := *after
			later.Moved = blocks
			for _, r := range mustMake(t, &later, next, planner.Options{}).Rows {
				if r.Action != planner.NoOp {
					rt.Fatalf("after it, %s: %s because %s", r.Addr, r.Action, r.Because())
				}
			}
		}
	})
}

// TestFormerNote: a workflow that gets another name runs no job again, but for those whose work the name is part of.
func TestFormerNote(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b")
	s := stateOf(t, w)
	s.Former = "old"
	for want, w := range map[string]*config.Workflow{"none runs again for it,": w, "none runs again but those that this plan replaces,": edited(w, "a", newWork)} {
		if note := mustMake(t, w, s, planner.Options{}).FormerNote(); !strings.Contains(note, want) {
			t.Errorf("the note is %q, want it to say %q", note, want)
		}
	}
}
