package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/schematest"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, s := range script.Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			var out, warnings bytes.Buffer
			p := NewPlain(PlainOptions{Out: &out, Err: &warnings, Now: func() time.Time { return script.At(0) }, Destroy: s.Destroy})
			for _, e := range s.Events {
				p.Observe(e)
			}
			script.CheckGolden(t, "plain/"+s.Name, out.String()+"-- stderr --\n"+warnings.String())
			script.CheckHarmless(t, out.String())
		})
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, s := range script.Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			j := NewJSON(JSONOptions{Out: &out, Now: func() time.Time { return script.Noon }, Destroy: s.Destroy})
			j.Version("0.1.0", "redis://127.0.0.1:6379", "sales")
			for _, e := range s.Events {
				j.Observe(e)
			}
			script.CheckGolden(t, "json/"+s.Name, out.String())
			checkLines(t, out.String())
		})
	}
}

func TestJSONPlan(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	j := NewJSON(JSONOptions{Out: &out, Now: func() time.Time { return script.Noon }})
	load := script.Addr(t, `module.m.job.load["eu"]`)
	j.Plan(&planner.Plan{Rows: []*planner.Row{
		{Addr: script.Addr(t, "job.extract[2]"), Action: planner.Create, Reason: planner.ReasonLost, Live: planner.Live{Status: planner.Lost},
			Prior: &planner.Record{Version: 1, Type: "noop", Queue: "q", Definition: []byte(`{}`)}, Job: &config.Job{Type: "noop", Queue: "q"},
			Definition: []byte(`{}`)},
		{Addr: load, Action: planner.Create, Reason: planner.ReasonNew, Job: &config.Job{Type: "exec", Queue: "q"}, Definition: []byte(`{}`),
			Causes: []planner.Cause{{Addr: script.Addr(t, "job.extract[2]"), Reason: planner.ReasonLost}}},
		{Addr: script.Addr(t, "job.same"), Action: planner.NoOp, Reason: planner.ReasonUnchanged},
	}})
	src := []byte("job \"load\" {\n  queu = 1\n}\n")
	j.Diagnostics(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unsupported argument", Detail: "Did you mean \"queue\"?",
		Subject: &hcl.Range{Filename: "main.hcl", Start: hcl.Pos{Line: 2, Column: 3, Byte: 15}, End: hcl.Pos{Line: 2, Column: 7, Byte: 19}}}},
		map[string]*hcl.File{"main.hcl": {Bytes: src}})
	script.CheckGolden(t, "json/plan", out.String())
	checkLines(t, out.String())
}

// checkLines holds every line against the schema.
func checkLines(t testing.TB, text string) {
	t.Helper()
	schema, err := schematest.Compile(Schema)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if err := schematest.Check(schema, []byte(line)); err != nil {
			t.Error(err)
		}
	}
}

func TestFormatValue(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{`"a\"b"`, `"a\"b"`}, {`"${x}"`, `"$${x}"`}, {`12345678901234567890`, "12345678901234567890"}, {`null`, "null"}, {`true`, "true"},
		{`[]`, "[]"}, {`{}`, "{}"}, {`{"b":[1],"a":{"x":null}}`, "{\n  \"a\" = {\n    \"x\" = null\n  }\n  \"b\" = [\n    1,\n  ]\n}"},
		{"no json", `"no json"`}, {`"\u001b[31m"`, `"\x1b[31m"`},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			t.Parallel()
			if got := FormatValue(tt.value); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
