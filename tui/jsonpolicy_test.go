package tui

import (
	"bytes"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/schematest"
)

// TestRulingSchema holds what is written of a rule of a policy against the schema of lines.
func TestRulingSchema(t *testing.T) {
	t.Parallel()
	schema, err := schematest.Compile(Schema)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	NewJSON(JSONOptions{Out: &out}).Diagnostics(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "Denied by policy", Detail: "No.", Extra: config.Ruling{Rule: "few", Addresses: []string{"job.a", "job.b"}, More: 3}},
		{Severity: hcl.DiagWarning, Summary: "Warning of a policy", Detail: "No.", Extra: config.Ruling{Rule: "once"}},
	}, nil)
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	for _, line := range lines {
		if err := schematest.Check(schema, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if len(lines) != 2 || !bytes.Contains(lines[0], []byte(`"policy":{"rule":"few","addresses":["job.a","job.b"],"more":3}`)) || !bytes.Contains(lines[1], []byte(`"policy":{"rule":"once"}`)) {
		t.Errorf("got %s", out.Bytes())
	}
}
