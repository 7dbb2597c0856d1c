package planner_test

import (
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestStateTable has one row for each line of the table in DESIGN.md section 4, and for each answer inside its cells.
// The columns are what a plan does with job.b, an heir of job.a, which is completed.
func TestStateTable(t *testing.T) {
	t.Parallel()
	const noop = ""
	tests := []struct {
		name                                       string
		live                                       planner.Live
		deposed                                    bool
		onChange                                   config.OnChange
		runIf                                      config.RunIf
		declared                                   func(*config.Job) // as a template; nil for a job that runs once
		same, work, upstream, handling, undeclared string
	}{
		{
			name: "lost", live: planner.Live{},
			same: "+ lost", work: "+ lost", upstream: "+ lost", handling: "+ lost", undeclared: ". lost",
		},
		{
			name: "held", live: planner.Live{Status: planner.Held},
			same: noop, work: "~ work_changed", upstream: "~ upstream_runs_again", handling: "~ handling_changed", undeclared: "- not_declared",
		},
		{
			name: "scheduled", live: planner.Live{Status: planner.Scheduled},
			same: noop, work: "~ work_changed", upstream: "~ upstream_runs_again", handling: "~ handling_changed", undeclared: "- not_declared",
		},
		{
			name: "queued", live: planner.Live{Status: planner.Queued},
			same: noop, work: "~ work_changed", upstream: "~ upstream_runs_again", handling: "~ handling_changed", undeclared: "- not_declared",
		},
		{
			name: "running, finish", live: planner.Live{Status: planner.Running},
			same: noop, work: "-/+ work_changed as heir", upstream: "-/+ upstream_runs_again as heir", handling: "~ handling_changed",
			undeclared: "- not_declared, deposed",
		},
		{
			name: "running, cancel", live: planner.Live{Status: planner.Running}, onChange: config.OnChangeCancel,
			same: noop, work: "-/+ work_changed as heir, cancel", upstream: "-/+ upstream_runs_again as heir, cancel",
			handling: "~ handling_changed", undeclared: "- not_declared, deposed",
		},
		{
			name: "running, ignore", live: planner.Live{Status: planner.Running}, onChange: config.OnChangeIgnore,
			same: noop, work: noop, upstream: noop, handling: "~ handling_changed", undeclared: "- not_declared, deposed",
		},
		{
			name: "closing, finish", live: planner.Live{Status: planner.Closing},
			same: noop, work: "-/+ work_changed", upstream: "-/+ upstream_runs_again", handling: "~ handling_changed",
			undeclared: "- not_declared, deposed",
		},
		{
			name: "closing, cancel", live: planner.Live{Status: planner.Closing}, onChange: config.OnChangeCancel,
			same: noop, work: "-/+ work_changed", upstream: "-/+ upstream_runs_again",
			handling: "~ handling_changed", undeclared: "- not_declared, deposed",
		},
		{
			name: "closing, ignore", live: planner.Live{Status: planner.Closing}, onChange: config.OnChangeIgnore,
			same: noop, work: noop, upstream: noop, handling: "~ handling_changed", undeclared: "- not_declared, deposed",
		},
		{
			name: "running, deposed", live: planner.Live{Status: planner.Running, CancelAsked: true}, deposed: true,
			same: "-/+ declared_again as heir", work: "-/+ declared_again as heir", upstream: "-/+ declared_again as heir",
			handling: "-/+ declared_again as heir", undeclared: noop,
		},
		{
			name: "running, deposed, ignore", live: planner.Live{Status: planner.Running}, deposed: true, onChange: config.OnChangeIgnore,
			same: "-/+ declared_again as heir", work: "-/+ declared_again as heir", upstream: "-/+ declared_again as heir",
			handling: "-/+ declared_again as heir", undeclared: noop,
		},
		{
			name: "closing, deposed", live: planner.Live{Status: planner.Closing}, deposed: true,
			same: "-/+ declared_again", work: "-/+ declared_again", upstream: "-/+ declared_again",
			handling: "-/+ declared_again", undeclared: noop,
		},
		{
			name: "ended, deposed", live: planner.Live{Status: planner.Cancelled}, deposed: true,
			same: "-/+ declared_again", work: "-/+ declared_again", upstream: "-/+ declared_again", handling: "-/+ declared_again",
			undeclared: ". stopped",
		},
		{
			name: "waiting, deposed", live: planner.Live{Status: planner.Queued}, deposed: true,
			same: "-/+ declared_again cancel", work: "-/+ declared_again cancel", upstream: "-/+ declared_again cancel",
			handling: "-/+ declared_again cancel", undeclared: "- not_declared",
		},
		{
			name: "lost, deposed", live: planner.Live{}, deposed: true,
			same: "+ lost", work: "+ lost", upstream: "+ lost", handling: "+ lost", undeclared: ". lost",
		},
		{
			name: "completed", live: planner.Live{Status: planner.Completed},
			same: noop, work: "-/+ work_changed", upstream: "-/+ upstream_runs_again", handling: "~ handling_changed, record",
			undeclared: "- not_declared",
		},
		{
			name: "obsolete", live: planner.Live{Status: planner.Obsolete},
			same: noop, work: "-/+ work_changed", upstream: "-/+ upstream_runs_again", handling: "~ handling_changed, record",
			undeclared: "- not_declared",
		},
		{
			name: "failed", live: planner.Live{Status: planner.Failed},
			same: "-/+ failed", work: "-/+ failed", upstream: "-/+ failed", handling: "-/+ failed", undeclared: "- not_declared",
		},
		{
			name: "failed through children nobody declares", live: planner.Live{Status: planner.Failed, ChildFailed: true, FailedChildren: 1},
			same: "-/+ failed", work: "-/+ failed", upstream: "-/+ failed", handling: "-/+ failed", undeclared: "- not_declared",
		},
		{
			name: "cancelled", live: planner.Live{Status: planner.Cancelled},
			same: "-/+ cancelled", work: "-/+ cancelled", upstream: "-/+ cancelled", handling: "-/+ cancelled", undeclared: "- not_declared",
		},
		{
			name: "expired", live: planner.Live{Status: planner.Expired},
			same: "-/+ expired", work: "-/+ expired", upstream: "-/+ expired", handling: "-/+ expired", undeclared: "- not_declared",
		},
		{
			name: "skipped, excluded today", live: planner.Live{Status: planner.Skipped, Success: true}, runIf: config.RunIfFailure,
			same: noop, work: "-/+ work_changed", upstream: "-/+ upstream_runs_again", handling: "~ handling_changed, record",
			undeclared: "- not_declared",
		},
		{
			name: "skipped, not excluded today", live: planner.Live{Status: planner.Skipped},
			same: "-/+ no_longer_excluded", work: "-/+ work_changed", upstream: "-/+ upstream_runs_again",
			handling: "-/+ no_longer_excluded", undeclared: "- not_declared",
		},
		{
			name: "on hold", live: planner.Live{Status: planner.OnHold},
			same: noop, work: "-/+ work_changed cancel", upstream: "-/+ upstream_runs_again cancel", handling: "~ handling_changed",
			undeclared: "- not_declared",
		},
		{
			name: "template", live: planner.Live{Status: planner.Template}, declared: scheduled,
			same: noop, work: "~ work_changed", upstream: "~ upstream_runs_again", handling: "~ handling_changed", undeclared: "- not_declared",
		},
		{
			name: "template, gate", live: planner.Live{Status: planner.Template}, declared: gated,
			same: noop, work: "~ work_changed", upstream: "~ upstream_runs_again", handling: "~ handling_changed", undeclared: "- not_declared",
		},
	}
	for _, test := range tests {
		base := edited(workflowOf("a", "b a"), "b", func(j *config.Job) {
			j.OnChange = test.onChange
			j.Predecessors[0].RunIf = test.runIf
			if test.declared != nil {
				test.declared(j)
			}
		})
		undeclared := &config.Workflow{Name: "test", Jobs: base.Jobs[:1]}
		cells := []struct {
			column string
			w      *config.Workflow
			want   string
		}{
			{"same", base, test.same},
			{"work changed", edited(base, "b", newWork), test.work},
			{"upstream runs again", edited(base, "a", newWork), test.upstream},
			{"work and handling changed", edited(edited(base, "b", newWork), "b", newHandling), test.work},
			{"handling changed", edited(base, "b", newHandling), test.handling},
			{"not declared", undeclared, test.undeclared},
		}
		for _, cell := range cells {
			t.Run(test.name+"/"+cell.column, func(t *testing.T) {
				t.Parallel()
				s := stateOf(t, base)
				s.Live["job.b"] = test.live
				s.Records["job.b"].Deposed = test.deposed
				p := mustMake(t, cell.w, s, planner.Options{})
				r := row(t, p, "b")
				if got := outcome(r); got != cell.want {
					t.Errorf("got %q, want %q", got, cell.want)
				}
				if r.Reason == "" || r.Because() == "" {
					t.Error("a row without reason")
				}
				if err := planner.Settle(p, s); err != nil {
					t.Fatal(err)
				}
				checkNext(t, r)
			})
		}
	}
}

func outcome(r *planner.Row) string {
	if r.Action == planner.NoOp {
		return ""
	}
	s := r.Action.Symbol() + " " + string(r.Reason)
	if r.Successor {
		s += " as heir"
	}
	if r.CancelFirst {
		if r.Successor {
			s += ","
		}
		s += " cancel"
	}
	switch {
	case r.Action == planner.Rerecord:
		s += ", record"
	case r.Action == planner.Delete && r.Live.Status.Active():
		s += ", deposed"
	}
	return s
}

// checkNext checks what a settled row writes against what its action promises.
func checkNext(t *testing.T, r *planner.Row) {
	t.Helper()
	fresh := r.Action == planner.Create || r.Action == planner.Replace
	keeps := r.Action == planner.Update || r.Action == planner.Rerecord || r.Action == planner.Reopen
	switch {
	case fresh || keeps:
		want := planner.UUIDOf(lineage, r.Addr.String(), r.Next.Generation)
		if keeps && r.MovedFrom != (config.Addr{}) {
			want = r.Prior.UUID
		}
		if r.Next.UUID != want || r.Next.Deposed {
			t.Errorf("%s: next is %s (deposed: %t), want %s", r.Addr, r.Next.UUID, r.Next.Deposed, want)
		}
		if r.Prior != nil && (r.Next.Version != r.Prior.Version+1 || fresh != (r.Next.Generation == r.Prior.Generation+1)) {
			t.Errorf("%s: version %d -> %d, generation %d -> %d", r.Addr, r.Prior.Version, r.Next.Version, r.Prior.Generation, r.Next.Generation)
		}
		successors := 0
		for _, e := range r.Next.Edges {
			if e.Kind == planner.EdgeSuccessor {
				successors++
				if r.Successor && e.UUID != r.Prior.UUID.String() {
					t.Errorf("%s: successor of %s, want %s", r.Addr, e.UUID, r.Prior.UUID)
				}
			}
		}
		if (successors == 1) != (r.Successor || r.Earlier != "") {
			t.Errorf("%s: %d successor edges", r.Addr, successors)
		}
	case r.Action == planner.Delete && r.Live.Status.Active():
		if r.Next == nil || !r.Next.Deposed || r.Next.UUID != r.Prior.UUID {
			t.Errorf("%s: next is %s, want the prior record, deposed", r.Addr, fmt.Sprint(r.Next))
		}
	default:
		if r.Next != nil && r.Earlier == "" {
			t.Errorf("%s: next is %s, want none", r.Addr, fmt.Sprint(r.Next))
		}
	}
}
