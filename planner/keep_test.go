package planner_test

import (
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestKeepEnded plans again and again what ended badly.
func TestKeepEnded(t *testing.T) {
	t.Parallel()
	failed := planner.Live{Status: planner.Failed, Opening: 1, Cause: "exit status 3"}
	byChild := planner.Live{Status: planner.Failed, Opening: 1, ChildFailed: true, FailedChildren: 1}
	byTwo := planner.Live{Status: planner.Failed, Opening: 1, ChildFailed: true, FailedChildren: 2}
	skipped := planner.Live{Status: planner.Skipped, Opening: 1}
	type lives map[string]planner.Live
	for _, test := range []struct {
		name  string
		lines []string
		edit  func(*config.Workflow) *config.Workflow
		live  lives
		retry []string
		want  []string
	}{
		{name: "failed", lines: []string{"a", "b a"}, live: lives{"a": failed, "b": skipped}},
		{name: "cancelled", lines: []string{"a"}, live: lives{"a": {Status: planner.Cancelled}}},
		{name: "expired", lines: []string{"a"}, live: lives{"a": {Status: planner.Expired}}},
		{name: "on hold", lines: []string{"a"}, live: lives{"a": {Status: planner.OnHold}}},
		{
			name: "on hold, retried", lines: []string{"a"}, live: lives{"a": {Status: planner.OnHold}}, retry: []string{"a"},
			want: []string{"-/+ a on_hold"},
		},
		{name: "lost is missing, not ended", lines: []string{"a"}, live: lives{"a": {}}, want: []string{"+ a lost"}},
		{
			name: "retried, and what it excluded", lines: []string{"a", "b a"}, live: lives{"a": failed, "b": skipped}, retry: []string{"a"},
			want: []string{"-/+ a failed", "-/+ b upstream_runs_again"},
		},
		{
			name: "new work", lines: []string{"a"}, live: lives{"a": failed}, want: []string{"-/+ a failed"},
			edit: func(w *config.Workflow) *config.Workflow { return edited(w, "a", newWork) },
		},
		{
			name: "new handling", lines: []string{"a"}, live: lives{"a": failed}, want: []string{"-/+ a failed"},
			edit: func(w *config.Workflow) *config.Workflow { return edited(w, "a", newHandling) },
		},
		{
			name: "upstream has new work", lines: []string{"a", "b a"}, live: lives{"b": failed}, want: []string{"-/+ a work_changed", "-/+ b failed"},
			edit: func(w *config.Workflow) *config.Workflow { return edited(w, "a", newWork) },
		},
		{
			name: "other change beside it", lines: []string{"a", "b"}, live: lives{"a": failed}, want: []string{"-/+ b work_changed"},
			edit: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) },
		},
		{
			name: "new heir is submitted, to be skipped", lines: []string{"a"}, live: lives{"a": failed}, want: []string{"+ c new"},
			edit: func(w *config.Workflow) *config.Workflow {
				return &config.Workflow{Name: w.Name, Jobs: append(w.Jobs[:1:1], jobOf("c a"))}
			},
		},
		{
			name: "new child does not open what failed", lines: []string{"a"}, live: lives{"a": failed}, want: []string{"+ c new"},
			edit: func(w *config.Workflow) *config.Workflow {
				return &config.Workflow{Name: w.Name, Jobs: append(w.Jobs[:1:1], jobOf("c ^a"))}
			},
		},
		{name: "failed through a child", lines: []string{"a", "b ^a"}, live: lives{"a": byChild, "b": failed}},
		{
			name: "new child beside one that failed", lines: []string{"a", "b ^a"}, live: lives{"a": byChild, "b": failed}, want: []string{"+ c new"},
			edit: func(w *config.Workflow) *config.Workflow {
				return &config.Workflow{Name: w.Name, Jobs: append(w.Jobs[:2:2], jobOf("c ^a"))}
			},
		},
		{
			name: "the child is retried", lines: []string{"a", "b ^a"}, live: lives{"a": byChild, "b": failed}, retry: []string{"a", "b"},
			want: []string{"~ a child_runs_again", "-/+ b failed"},
		},
		{
			name: "one of two children is retried", lines: []string{"a", "b ^a", "c ^a"}, live: lives{"a": byTwo, "b": failed, "c": failed},
			retry: []string{"a", "b"}, want: []string{"-/+ b failed"},
		},
		{
			name: "the child has new work", lines: []string{"a", "b ^a"}, live: lives{"a": byChild, "b": failed},
			edit: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) },
			want: []string{"~ a child_runs_again", "-/+ b failed"},
		},
		{
			name: "failed through a child nobody declares", lines: []string{"a"}, live: lives{"a": byChild}, retry: []string{"a"},
			want: []string{"-/+ a failed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base := workflowOf(test.lines...)
			s := stateOf(t, base)
			for name, live := range test.live {
				s.Live["job."+name] = live
			}
			w := base
			if test.edit != nil {
				w = test.edit(base)
			}
			o := planner.Options{KeepEnded: true}
			for _, name := range test.retry {
				o.Retry = append(o.Retry, addr("job."+name))
			}
			p := settled(t, w, s, o)
			expect(t, p, test.want...)
		})
	}
	t.Run("the reason", func(t *testing.T) {
		t.Parallel()
		w := workflowOf("a")
		s := stateOf(t, w)
		s.Live["job.a"] = failed
		r := row(t, mustMake(t, w, s, planner.Options{KeepEnded: true}), "a")
		const want = "it failed: exit status 3, and waits for a new revision or -retry-failed"
		if got := r.Because(); r.Reason != planner.ReasonKept || got != want {
			t.Errorf("reason %q: %q, want %q", r.Reason, got, want)
		}
	})
}
