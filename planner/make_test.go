package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestWhatRuns tells what an edit, a failure or a request makes run, beyond single cells of the table.
func TestWhatRuns(t *testing.T) {
	t.Parallel()
	family := workflowOf("a", "b ^a", "c ^b", "d ^a", "e a", "f e", "g b", "h")
	tests := []struct {
		name  string
		w     *config.Workflow
		after func(w *config.Workflow) *config.Workflow
		live  map[string]planner.Live
		o     planner.Options
		want  []string
	}{
		{name: "nothing", w: family},
		{
			name: "an edit of a grandchild", w: family,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "c", newWork) },
			want: []string{"~ a child_runs_again", "~ b child_runs_again", "-/+ c work_changed", "-/+ g upstream_runs_again",
				"-/+ e upstream_runs_again", "-/+ f upstream_runs_again"},
		},
		{
			name: "an edit of a timeout", w: family,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "a", newHandling) },
			want:  []string{"~ a handling_changed"},
		},
		{
			name: "a new child", w: family,
			after: func(w *config.Workflow) *config.Workflow { return with(w, "x ^d") },
			want: []string{"~ a child_runs_again", "~ d child_runs_again", "+ x new", "-/+ e upstream_runs_again",
				"-/+ f upstream_runs_again"},
		},
		{
			name: "a new heir", w: family,
			after: func(w *config.Workflow) *config.Workflow { return with(w, "x f") },
			want:  []string{"+ x new"},
		},
		{
			name: "a failed grandchild, counted up to the top", w: family,
			live: map[string]planner.Live{
				"a": {Status: planner.Failed, ChildFailed: true, FailedChildren: 1},
				"b": {Status: planner.Failed, ChildFailed: true, FailedChildren: 1},
				"c": {Status: planner.Failed},
				"e": {Status: planner.Skipped}, "f": {Status: planner.Skipped}, "g": {Status: planner.Skipped},
			},
			want: []string{"~ a child_runs_again", "~ b child_runs_again", "-/+ c failed", "-/+ g upstream_runs_again",
				"-/+ e upstream_runs_again", "-/+ f upstream_runs_again"},
		},
		{
			name: "a child that failed is not declared any more", w: family,
			after: func(w *config.Workflow) *config.Workflow { return without(w, "d") },
			live: map[string]planner.Live{
				"a": {Status: planner.Failed, ChildFailed: true, FailedChildren: 1},
				"d": {Status: planner.Failed},
				"e": {Status: planner.Skipped}, "f": {Status: planner.Skipped},
			},
			want: []string{"-/+ a failed", "-/+ b upstream_runs_again", "-/+ c upstream_runs_again", "-/+ g upstream_runs_again",
				"-/+ e upstream_runs_again", "-/+ f upstream_runs_again", "- d not_declared"},
		},
		{
			name: "one of two failed children is not declared any more", w: family,
			after: func(w *config.Workflow) *config.Workflow { return without(w, "d") },
			live: map[string]planner.Live{
				"a": {Status: planner.Failed, ChildFailed: true, FailedChildren: 2},
				"b": {Status: planner.Failed}, "c": {Status: planner.Skipped},
				"d": {Status: planner.Failed},
				"e": {Status: planner.Skipped}, "f": {Status: planner.Skipped}, "g": {Status: planner.Skipped},
			},
			want: []string{"-/+ a failed", "-/+ b failed", "-/+ c upstream_runs_again", "-/+ g upstream_runs_again",
				"-/+ e upstream_runs_again", "-/+ f upstream_runs_again", "- d not_declared"},
		},
		{
			name: "a child may fail", w: workflowOf("a", "b ?a", "c a"),
			live: map[string]planner.Live{"b": {Status: planner.Failed}},
			want: []string{"~ a child_runs_again", "-/+ b failed", "-/+ c upstream_runs_again"},
		},
		{
			name: "a child failed and its parent still runs others", w: family,
			live: map[string]planner.Live{
				"a": {Status: planner.Closing, FailedChildren: 1}, "d": {Status: planner.Failed},
				"b": {Status: planner.Running}, "c": {Status: planner.Held}, "e": {Status: planner.Held}, "f": {Status: planner.Held},
				"g": {Status: planner.Held},
			},
			want: []string{"-/+ d failed"},
		},
		{
			name: "a child is edited while its parent is open", w: family,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "d", newWork) },
			live: map[string]planner.Live{
				"a": {Status: planner.Closing}, "b": {Status: planner.Running}, "c": {Status: planner.Held}, "e": {Status: planner.Held},
				"f": {Status: planner.Held}, "g": {Status: planner.Held},
			},
			want: []string{"-/+ d work_changed"},
		},
		{
			name: "a waiting job becomes a child of a complete one", w: workflowOf("a", "b", "c a"),
			after: func(w *config.Workflow) *config.Workflow { return workflowOf("a", "b ^a", "c a") },
			live:  map[string]planner.Live{"b": {Status: planner.Queued}},
			want:  []string{"~ a child_runs_again", "~ b handling_changed", "-/+ c upstream_runs_again"},
		},
		{
			name: "a finished job becomes a child", w: workflowOf("a", "b", "c a"),
			after: func(w *config.Workflow) *config.Workflow { return workflowOf("a", "b ^a", "c a") },
			want:  []string{"~ b handling_changed"},
		},
		{
			name: "an upstream was retried by hand", w: workflowOf("a", "b a", "c ^a"),
			live: map[string]planner.Live{"a": {Status: planner.Completed, Opening: 2}},
			want: []string{"-/+ b upstream_ran_again"},
		},
		{
			name: "a condition is changed so that a skipped job may run", w: workflowOf("a", "b !a"),
			after: func(w *config.Workflow) *config.Workflow { return workflowOf("a", "b *a") },
			live:  map[string]planner.Live{"b": {Status: planner.Skipped, Success: true}},
			want:  []string{"-/+ b no_longer_excluded"},
		},
		{
			name: "a job outside the files may still exclude", w: workflowOf("a", "b a @outside"),
			live: map[string]planner.Live{"b": {Status: planner.Skipped}},
		},
		{
			name: "replace one", w: family, o: planner.Options{Replace: []config.Addr{addr("job.b")}},
			want: []string{"~ a child_runs_again", "-/+ b requested", "-/+ c upstream_runs_again", "-/+ g upstream_runs_again",
				"-/+ e upstream_runs_again", "-/+ f upstream_runs_again"},
		},
		{
			name: "rerun while it runs", w: workflowOf("a", "b a"), o: planner.Options{Rerun: true},
			live: map[string]planner.Live{"a": {Status: planner.Running}, "b": {Status: planner.Held}},
			want: []string{"-/+ a requested", "-/+ b requested"},
		},
		{
			name: "a target, with what it needs", w: family, o: planner.Options{Targets: []config.Addr{addr("job.e")}},
			after: func(w *config.Workflow) *config.Workflow { return edited(edited(w, "a", newWork), "h", newWork) },
			want:  []string{"-/+ a work_changed", "-/+ e upstream_runs_again"},
		},
		{
			name: "a target, with what waits for what it replaces", w: workflowOf("a", "b a", "c b", "d c", "x"),
			o:    planner.Options{Targets: []config.Addr{addr("job.a")}},
			live: map[string]planner.Live{"b": {Status: planner.Held}, "c": {Status: planner.Held}, "d": {Status: planner.Held}},
			after: func(w *config.Workflow) *config.Workflow {
				return edited(edited(w, "a", newWork), "x", newWork)
			},
			want: []string{"-/+ a work_changed", "~ b upstream_runs_again"},
		},
		{
			name: "a target that is not declared any more", w: family, o: planner.Options{Targets: []config.Addr{addr("job.h")}},
			after: func(w *config.Workflow) *config.Workflow { return without(without(w, "h"), "f") },
			want:  []string{"- h not_declared"},
		},
		{
			name: "an exclusion, with what waits for it", w: family, o: planner.Options{Rerun: true, Exclude: []config.Addr{addr("job.c")}},
			want: []string{"-/+ a requested", "-/+ b requested", "-/+ d requested", "-/+ h requested"},
		},
		{
			name: "an exclusion that would wait for ever", w: workflowOf("a", "b a", "c b", "d c", "x"),
			o:    planner.Options{Exclude: []config.Addr{addr("job.b")}},
			live: map[string]planner.Live{"b": {Status: planner.Held}, "c": {Status: planner.Held}, "d": {Status: planner.Held}},
			after: func(w *config.Workflow) *config.Workflow {
				return edited(edited(w, "a", newWork), "x", newWork)
			},
			want: []string{"-/+ a work_changed", "~ b upstream_runs_again", "-/+ x work_changed"},
		},
		{
			name: "destroy but for one, and what that waits for", w: workflowOf("a", "b a", "c b", "d c", "x"),
			o:    planner.Options{Destroy: true, Exclude: []config.Addr{addr("job.c")}},
			live: map[string]planner.Live{"b": {Status: planner.Held}, "c": {Status: planner.Held}, "d": {Status: planner.Held}},
			want: []string{"- d destroy", "- x destroy"},
		},
		{
			name: "only what is gone", w: workflowOf("a", "b a", "c"), o: planner.Options{RefreshOnly: true},
			live:  map[string]planner.Live{"a": {}, "b": {Status: planner.Cancelled}},
			after: func(w *config.Workflow) *config.Workflow { return with(edited(w, "c", newWork), "n") },
			want:  []string{". a lost"},
		},
		{
			name: "destroy", w: workflowOf("a", "b ^a", "c b"), o: planner.Options{Destroy: true},
			live: map[string]planner.Live{"b": {Status: planner.Running}, "c": {}},
			want: []string{"- a destroy", "- b destroy", ". c lost"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, test.w)
			for name, live := range test.live {
				live.Opening = max(1, live.Opening)
				s.Live["job."+name] = live
			}
			after := test.w
			if test.after != nil {
				after = test.after(test.w)
			}
			expect(t, settled(t, after, s, test.o), test.want...)
		})
	}
}

func with(w *config.Workflow, lines ...string) *config.Workflow {
	return &config.Workflow{Name: w.Name, Jobs: append(append([]*config.Job(nil), w.Jobs...), workflowOf(lines...).Jobs...)}
}

func without(w *config.Workflow, name string) *config.Workflow {
	next := &config.Workflow{Name: w.Name}
	for _, j := range w.Jobs {
		if j.Addr.String() != "job."+name {
			next.Jobs = append(next.Jobs, j)
		}
	}
	return next
}

// TestAfterTarget checks that a plan sees what an earlier one with targets left out.
func TestAfterTarget(t *testing.T) {
	t.Parallel()
	e, w := newEngine(), workflowOf("a", "b a", "c b")
	submit(t, e, w, planner.Options{}, -1)
	finishAll(t, e)
	w = edited(w, "a", newWork)
	submit(t, e, w, planner.Options{Targets: []config.Addr{addr("job.a")}}, -1)
	finishAll(t, e)
	p := submit(t, e, w, planner.Options{}, -1)
	expect(t, p, "-/+ b upstream_ran_again", "-/+ c upstream_runs_again")
	if got := row(t, p, "b").Because(); got != "job.a ran again" {
		t.Errorf("b runs because %s", got)
	}
}

// TestIgnoredChild edits a child that runs: it waits for nothing it did not wait for, and nothing that it is no longer
// declared under waits for it. Else c, which the child waits for, would wait for a, which waited for the child.
func TestIgnoredChild(t *testing.T) {
	t.Parallel()
	ignore := func(w *config.Workflow) *config.Workflow {
		return edited(w, "b", func(j *config.Job) { j.OnChange = config.OnChangeIgnore })
	}
	before := ignore(workflowOf("a", "b ^a", "c ^b", "d"))
	after := edited(ignore(workflowOf("a", "b ^d", "c ^b a", "d")), "b", newWork)
	for _, status := range []planner.Status{planner.Running, planner.Closing} {
		t.Run(status.String(), func(t *testing.T) {
			t.Parallel()
			e := newEngine()
			submit(t, e, before, planner.Options{}, -1)
			for _, name := range []string{"a", "b"} {
				for job := e.jobs[e.state.Records["job."+name].UUID.String()]; job.live.Status != planner.Closing; {
					if name == "b" && job.live.Status == status {
						break
					}
					if err := e.run1(job); err != nil {
						t.Fatal(err)
					}
				}
			}
			p := submit(t, e, after, planner.Options{}, -1)
			b := row(t, p, "b")
			if got := fmt.Sprint(b.Action, " ", b.Reason, " ", b.Leave); got != "update on_change_ignore true" {
				t.Errorf("b: %s", got)
			}
			if got := len(b.Next.Edges); got != 0 || b.Next.Work != b.Prior.Work || b.Next.Handling != b.Prior.Handling {
				t.Errorf("b is recorded with %d edges, or as what it is not yet", got)
			}
			expect(t, mustMake(t, after, e.now(), planner.Options{}))
			finishAll(t, e)
			settledDown(t, e, after)
		})
	}
}

func TestRefusedPlans(t *testing.T) {
	t.Parallel()
	w := workflowOf("extract", "load extract")
	secret := edited(w, "load", func(j *config.Job) { j.Sensitive = true })
	output := &config.Workflow{Name: "test", Jobs: w.Jobs, Outputs: []*config.Output{{Name: "o", Value: cty.StringVal("x"), Sensitive: true}}}
	foreign := stateOf(t, w)
	foreign.Records["job.load"].KeyID = "12345678"
	broken := stateOf(t, w)
	broken.Records["what is this"] = &planner.Record{Version: 1}
	tests := []struct {
		name string
		w    *config.Workflow
		s    *planner.State
		o    planner.Options
		want []string // summary, and parts of the detail
	}{
		{"no key", secret, noState(), planner.Options{}, []string{"No key for sensitive values", "job.load", "WAYBILL_KEY"}},
		{"no key for an output", output, noState(), planner.Options{}, []string{"No key for sensitive values", "Output o"}},
		{"another key", secret, foreign, planner.Options{Digest: keyed, KeyID: "0badcafe"}, []string{"State was written under another key",
			"job.load", "12345678", "0badcafe", "waybill destroy"}},
		{"its key is missing", w, foreign, planner.Options{}, []string{"State was written under another key", "12345678", "there is no key here"}},
		{"a record nobody can name", w, broken, planner.Options{}, []string{"Unreadable state", "what is this"}},
		{"unknown exclusion", w, noState(), planner.Options{Exclude: []config.Addr{addr("job.laod")}}, []string{"Exclusion does not exist",
			"-exclude=job.laod", "Did you mean job.load?"}},
		{"target and exclusion", w, noState(), planner.Options{Targets: []config.Addr{addr("job.load")}, Exclude: []config.Addr{addr("job.load")}},
			[]string{"Targets and exclusions together"}},
		{"an excluded job is replaced", w, noState(), planner.Options{Replace: []config.Addr{addr("job.load")}, Exclude: []config.Addr{addr("job.load")}},
			[]string{"Job is excluded and replaced", "-exclude leaves it out"}},
		{"unknown target", w, noState(), planner.Options{Targets: []config.Addr{addr("job.laod")}}, []string{"Target does not exist",
			"-target=job.laod", "Did you mean job.load?"}},
		{"unknown replace", w, noState(), planner.Options{Replace: []config.Addr{addr("job.other")}}, []string{"Replace names an undeclared job",
			"-replace=job.other"}},
		{"cycle", workflowOf("a b", "b a"), noState(), planner.Options{}, []string{"Cycle between jobs"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, diags := planner.Make(test.w, test.s, test.o)
			if p != nil {
				t.Error("a plan beside errors")
			}
			var errs hcl.Diagnostics
			for _, d := range diags {
				if d.Severity == hcl.DiagError {
					errs = append(errs, d)
				}
			}
			if len(errs) != 1 {
				t.Fatalf("%d errors: %s", len(errs), errs)
			}
			for _, want := range test.want {
				if text := errs[0].Summary + ": " + errs[0].Detail; !strings.Contains(text, want) {
					t.Errorf("%q is not in %q", want, text)
				}
			}
		})
	}
	if _, diags := planner.Make(w, foreign, planner.Options{Destroy: true}); diags.HasErrors() {
		t.Errorf("destroy needs the key: %s", diags)
	}
}

// TestInstances checks that an address without key means all instances.
func TestInstances(t *testing.T) {
	t.Parallel()
	w := workflowOf(`x["a"]`, `x["b"]`, `xy`, `y[2] x["a"]`, `y[10]`)
	s := stateOf(t, w)
	expect(t, mustMake(t, w, s, planner.Options{Replace: []config.Addr{addr("job.x")}}),
		`-/+ x["a"] requested`, `-/+ y[2] upstream_runs_again`, `-/+ x["b"] requested`)
	expect(t, mustMake(t, w, s, planner.Options{Replace: []config.Addr{addr("job.y[10]")}}), `-/+ y[10] requested`)
}

// TestStartOrderOfRoots checks the order that a queue starts in: components by their first root, roots by address.
func TestStartOrderOfRoots(t *testing.T) {
	t.Parallel()
	p := mustMake(t, workflowOf("z", "a[10]", "a[9]", "m", "k a[9] z", "b ^z"), noState(), planner.Options{})
	var got []string
	for _, r := range p.Rows {
		got = append(got, strings.TrimPrefix(r.Addr.String(), "job."))
	}
	if diff := cmp.Diff([]string{"a[9]", "z", "b", "k", "a[10]", "m"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b a")
	s := stateOf(t, w)
	id := s.Records["job.a"].UUID.String()
	w.Outputs = []*config.Output{
		{Name: "gone", Value: cty.StringVal(config.Placeholder("job.nobody"))},
		{Name: "list", Value: cty.ListVal([]cty.Value{cty.StringVal("x " + config.Placeholder("job.b")), cty.StringVal(config.Placeholder("job.a"))})},
		{Name: "same", Value: cty.StringVal(config.Placeholder("job.a"))},
	}
	s.Outputs = map[string]string{"same": `"` + id + `"`, "old": "1"}
	p := mustMake(t, edited(w, "b", newWork), s, planner.Options{})
	want := []planner.OutputChange{
		{Name: "gone", Next: `"` + config.Placeholder("job.nobody") + `"`},
		{Name: "list", Next: `["x ` + config.Placeholder("job.b") + `","` + id + `"]`},
		{Name: "old", Prior: "1"},
	}
	if diff := cmp.Diff(want, p.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}
