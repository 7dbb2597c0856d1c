package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestProtected has one row for each way to end a job, and for what ends none.
func TestProtected(t *testing.T) {
	t.Parallel()
	at := hcl.Range{Filename: "main.hcl", Start: hcl.Pos{Line: 7, Column: 1, Byte: 90}}
	tests := []struct {
		name string
		live planner.Live
		edit func(w *config.Workflow) *config.Workflow
		o    planner.Options
		want string
	}{
		{name: "nothing changed", live: planner.Live{Status: planner.Running}},
		{name: "settled work runs again", live: planner.Live{Status: planner.Completed}, edit: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) }},
		{name: "failed work runs again", live: planner.Live{Status: planner.Failed}},
		{name: "waiting work changes in place", live: planner.Live{Status: planner.Queued}, edit: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) }},
		{name: "running work is waited for", live: planner.Live{Status: planner.Running}, edit: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) }},
		{name: "lost", live: planner.Live{}, o: planner.Options{Destroy: true}},
		{
			name: "running work is cancelled", live: planner.Live{Status: planner.Running},
			edit: func(w *config.Workflow) *config.Workflow {
				return edited(edited(w, "b", newWork), "b", func(j *config.Job) { j.OnChange = config.OnChangeCancel })
			},
			want: "cancel its job, which is running, because its work changed",
		},
		{
			name: "work on hold is replaced", live: planner.Live{Status: planner.OnHold}, edit: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) },
			want: "cancel its job, which is on hold, because its work changed",
		},
		{
			name: "destroy", live: planner.Live{Status: planner.Completed}, o: planner.Options{Destroy: true},
			want: "forget it because everything is destroyed",
		},
		{
			name: "destroy of what waits", live: planner.Live{Status: planner.Queued}, o: planner.Options{Destroy: true},
			want: "cancel and forget its job, which is queued, because everything is destroyed",
		},
		{
			name: "an instance that is gone", live: planner.Live{Status: planner.Completed},
			edit: func(w *config.Workflow) *config.Workflow { next := *w; next.Jobs = w.Jobs[:1]; return &next },
			want: "forget it because job.b is not in the configuration",
		},
		{
			name: "not targeted", live: planner.Live{Status: planner.Completed}, o: planner.Options{Targets: []config.Addr{addr("job.a")}},
			edit: func(w *config.Workflow) *config.Workflow { next := *w; next.Jobs = w.Jobs[:1]; return &next },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := workflowOf("a", "b a")
			w.Protected = []config.Protected{{Block: addr("job.b"), Range: at}}
			s := stateOf(t, w)
			s.Live["job.b"] = test.live
			if test.edit != nil {
				w = test.edit(w)
			}
			p, diags := planner.Make(w, s, test.o)
			if test.want == "" {
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				if d := cmp.Diff(w.Protected, p.Protected); d != "" {
					t.Error(d)
				}
				return
			}
			if !diags.HasErrors() {
				t.Fatalf("the plan is %v, want an error", actions(p))
			}
			got := diags.Errs()[0].(*hcl.Diagnostic)
			want := "job.b is protected by prevent_destroy, and this plan would " + test.want + ". Set prevent_destroy = false if that is meant; " +
				"otherwise undo what calls for it, or leave the job out with -exclude."
			if got.Summary != "Instance cannot be destroyed" || *got.Subject != at {
				t.Errorf("%s at %v", got.Summary, got.Subject)
			}
			if d := cmp.Diff(want, got.Detail); d != "" {
				t.Error(d)
			}
		})
	}
}
