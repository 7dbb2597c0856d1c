package tui

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/internal/schematest"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// TestPlanSchema holds a plan as one object against its schema, which lets no other members through.
func TestPlanSchema(t *testing.T) {
	t.Parallel()
	schema, err := schematest.Compile(PlanSchema())
	if err != nil {
		t.Fatal(err)
	}
	plan := &planner.Plan{Workflow: "sales", Assumed: true, Rows: []*planner.Row{
		{Addr: script.Addr(t, `module.m["x"].job.load`), Action: planner.Create, Reason: planner.ReasonNew},
		{Addr: script.Addr(t, "job.same"), Action: planner.NoOp, Reason: planner.ReasonUnchanged},
	}}
	var out strings.Builder
	if err := plan.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if err := schematest.Check(schema, []byte(out.String())); err != nil {
		t.Error(err)
	}
	for _, part := range []string{`"refreshed":false`, `"module":"module.m[\"x\"]"`, `"action":"noop","reason":"unchanged"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%s is nowhere in %s", part, out.String())
		}
	}
	if more := strings.Replace(out.String(), `"mode":"normal"`, `"mode":"normal","more":1`, 1); schematest.Check(schema, []byte(more)) == nil {
		t.Error("it lets a member more through")
	}
}
