package planner_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestImported decides about jobs of the store by what is known of them.
func TestImported(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11")
	same := &planner.ImportedWork{Type: "t", Payload: []byte(`{"b":2, "a":1}`)}
	other := &planner.ImportedWork{Type: "t", Payload: []byte(`{"a":2}`)}
	for name, row := range map[string]struct {
		status planner.Status
		work   *planner.ImportedWork
		leave  bool // on_change = "ignore"
		action planner.Action
		reason planner.Reason
		want   string
	}{
		"completed":                {planner.Completed, nil, false, planner.Rerecord, planner.ReasonImported, "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy."},
		"waits":                    {planner.Queued, nil, false, planner.Update, planner.ReasonImported, "Plan: 1 to import, 0 to add, 1 to change, 0 to destroy."},
		"waits, other work":        {planner.Held, other, false, planner.Update, planner.ReasonImported, "Plan: 1 to import, 0 to add, 1 to change, 0 to destroy."},
		"runs, same work":          {planner.Running, same, false, planner.Update, planner.ReasonImported, "Plan: 1 to import, 0 to add, 1 to change, 0 to destroy."},
		"runs, other work":         {planner.Running, other, false, planner.Replace, planner.ReasonWork, "Plan: 1 to import, 1 to add, 0 to change, 1 to destroy."},
		"runs, other work, stands": {planner.Running, other, true, planner.Rerecord, planner.ReasonImported, "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy."},
		"failed":                   {planner.Failed, same, false, planner.Replace, planner.ReasonFailed, "Plan: 1 to import, 1 to add, 0 to change, 1 to destroy."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := config.Addr{Name: "a"}
			j := &config.Job{Addr: addr, Type: "t", Queue: "t", Priority: 1, Payload: []byte(`{"a":1,"b":2}`), Shown: []byte(`{"a":1,"b":2}`)}
			if row.leave {
				j.OnChange = config.OnChangeIgnore
			}
			w := &config.Workflow{Name: "w", Jobs: []*config.Job{j}, Imports: []config.Import{{To: addr, ID: id.String()}}}
			s := &planner.State{Workflow: "w", Lineage: uuid.New(), Floor: 7, Imports: map[string]*planner.Import{
				"job.a": {UUID: id, Live: planner.Live{Status: row.status, Opening: 1}, Queue: "t", Work: row.work},
			}}
			p, diags := planner.Make(w, s, planner.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			r := p.Rows[0]
			if r.Action != row.action || r.Reason != row.reason || p.Sentence() != row.want || !r.Importing() {
				t.Errorf("%s because %s, %q; want %s because %s, %q", r.Action, r.Reason, p.Sentence(), row.action, row.reason, row.want)
			}
			if s.Records != nil {
				t.Errorf("the state has changed: %v", s.Records)
			}
			under, diags := planner.Imported(s, w)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if err := planner.Settle(p, under); err != nil {
				t.Fatal(err)
			}
			if same := r.Next.UUID == id; r.Next.Version != 1 || same == (row.action == planner.Replace) || !same && r.Next.Generation != 8 {
				t.Errorf("the record is %+v", r.Next)
			}
			// Once it is written the block says nothing more.
			under.Records["job.a"] = r.Next
			if again, diags := planner.Make(w, under, planner.Options{}); diags.HasErrors() || again.Imports() != 0 {
				t.Errorf("imported again: %s %v", again.Sentence(), diags)
			}
		})
	}
}
