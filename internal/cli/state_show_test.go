package cli

import (
	"encoding/json"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/schematest"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui"
)

// TestPulledState holds what state pull writes against its schema.
func TestPulledState(t *testing.T) {
	t.Parallel()
	schema, err := schematest.Compile(tui.StateSchema)
	if err != nil {
		t.Fatal(err)
	}
	a, b := config.Addr{Name: "a"}, config.Addr{Module: "module.m", Name: "b", Key: config.InstanceKey{Kind: config.KeyString, Str: "x"}}
	record := func(edges ...planner.Edge) *planner.Record {
		return &planner.Record{Version: 1, Generation: 1, Opening: 1, Type: "exec", Queue: "q", Definition: []byte(`{"payload":1}`), Edges: edges}
	}
	all := record(planner.Edge{Kind: planner.EdgeParent, Addr: a, UUID: "u", Opening: 1}, planner.Edge{Kind: planner.EdgeAlways, Group: 1, UUID: "outside", Opening: 2})
	all.Triggers = []planner.Trigger{{Addr: a, UUID: "u"}}
	all.Deposed, all.KeyID = true, "k"
	for name, state := range map[string]*planner.State{
		"empty": {Workflow: "w"},
		"full": {Workflow: "w@staging", Lineage: [16]byte{1}, Floor: 3, Outputs: map[string]string{"o": `"x"`},
			Records: map[string]*planner.Record{a.String(): record(), b.String(): all}},
	} {
		text, err := json.Marshal(pulled(state))
		if err != nil {
			t.Fatal(err)
		}
		if err := schematest.Check(schema, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
