package planner_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/config/protofile"
	"github.com/waybill-dev/waybill/planner"
)

// TestImportedMessage compares the bytes of messages by their fields, and shows other ones as fields.
func TestImportedMessage(t *testing.T) {
	t.Parallel()
	set, problems := protofile.Compile([]string{"a.proto"}, nil, func(string) ([]byte, error) {
		return []byte("syntax = \"proto3\"; package p; message A { string day = 1; int32 n = 2; }"), nil
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	id := uuid.MustParse("0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11")
	addr := config.Addr{Name: "a"}
	for name, row := range map[string]struct {
		stored string
		want   []string
		not    string
	}{
		"other order":   {"\x10\x05\x0a\x01x", []string{"work_same"}, ""},
		"written twice": {"\x0a\x01y\x0a\x01x\x10\x05", []string{"work_same"}, ""}, // the last one holds
		"other day":     {"\x0a\x01y\x10\x05", []string{`"before":{"payload":{"day":"y","n":5},"protobuf":{"day":"string = 1","n":"int32 = 2"}`}, "base64"},
		"newer fields":  {"\x0a\x01x\x10\x05\x18\x07", []string{"payload_base64"}, ""},
		"no message":    {"\xff\xff", []string{"payload_base64"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			declared := []byte("\x0a\x01x\x10\x05")
			shown, message, err := config.ShowMessage(set, "p.A", declared)
			if err != nil {
				t.Fatal(err)
			}
			j := &config.Job{Addr: addr, Type: "p.A", Queue: "p.A", Priority: 1, Payload: declared, Shown: shown, Message: message}
			w := &config.Workflow{Name: "w", Jobs: []*config.Job{j}, Messages: set, Imports: []config.Import{{To: addr, ID: id.String()}}}
			s := &planner.State{Workflow: "w", Lineage: uuid.New(), Imports: map[string]*planner.Import{"job.a": {UUID: id, Queue: "p.A",
				Live: planner.Live{Status: planner.Queued, Opening: 1}, Work: &planner.ImportedWork{Type: "p.A", Payload: []byte(row.stored)}}}}
			p, diags := planner.Make(w, s, planner.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			var b strings.Builder
			for m := range p.Messages() {
				b.WriteString(m.Text + string(m.Body) + "\n")
			}
			if p.Rows[0].Prior.Work == p.Rows[0].Work {
				b.WriteString("work_same")
			}
			for _, want := range row.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("the plan does not say %q:\n%s", want, b.String())
				}
			}
			if row.not != "" && strings.Contains(b.String(), row.not) {
				t.Errorf("the plan says %q:\n%s", row.not, b.String())
			}
		})
	}
}
