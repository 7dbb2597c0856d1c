package planner

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
)

// TestFormerName shows a plan of a workflow that has another name now, in each of its forms.
func TestFormerName(t *testing.T) {
	t.Parallel()
	p, diags := Make(&config.Workflow{Name: "new"}, &State{Workflow: "new", Former: "old"}, Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Empty() {
		t.Error("there is nothing to apply")
	}
	const text = `  # workflow "old" has moved to workflow "new"
  # (all that is recorded is carried over: the jobs are the same ones, none runs again for it, and the name "old" is free)

Plan: 0 to add, 0 to change, 0 to destroy.
`
	var file bytes.Buffer
	if err := WritePlan(&file, p, nil); err != nil {
		t.Fatal(err)
	}
	read, err := ReadPlan(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Plan{"made": p, "read from a file": read} {
		var b strings.Builder
		if err := p.Render(&b, RenderOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for m := range p.Messages() {
			const want = `{"change":{"resource":{"addr":"workflow.new","module":"","resource":"workflow.new","resource_type":"workflow",` +
				`"resource_name":"new","resource_key":null,"implied_provider":""},"previous_resource":{"addr":"workflow.old","module":"",` +
				`"resource":"workflow.old","resource_type":"workflow","resource_name":"old","resource_key":null,"implied_provider":""},` +
				`"action":"move","reason":"moved"}}`
			if diff := cmp.Diff(want, string(m.Body)); m.Type != "planned_change" || diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, m.Type, diff)
			}
			break
		}
	}
}
