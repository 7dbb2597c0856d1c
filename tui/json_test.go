package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/schematest"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// writes keeps what each Write got.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

// places are the seq, part and type of each line of a text.
func places(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var e struct {
			Seq, Part int
			Type      string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		fmt.Fprintf(&b, "%d.%d %s\n", e.Seq, e.Part, e.Type)
	}
	return b.String()
}

// TestJSONChanges tells every change in a line with its place, those of one event in one write, and nothing else with one.
func TestJSONChanges(t *testing.T) {
	t.Parallel()
	a, b := script.Addr(t, "job.a"), script.Addr(t, "job.b")
	change := func(e applier.JobChanged, seq int64, part int, last bool) applier.JobChanged {
		e.Seq, e.Part, e.Last = seq, part, last
		return e
	}
	failing := script.Changed(a, script.At(3), conveyor.Status{State: conveyor.StateScheduled, Fence: 1, Attempts: 1, DueAt: script.At(9)})
	failing.Failure, failing.LogTail = "exit status 3", []string{"so it goes"}
	held := script.Changed(b, script.At(1), conveyor.Status{State: conveyor.StateHeld, Pending: 2})
	met := script.Changed(b, script.At(3), conveyor.Status{State: conveyor.StateHeld, Pending: 1})
	done := script.Changed(a, script.At(5), script.Ended(conveyor.StateCompleted, script.At(4), script.At(5)))
	forgotten := done
	forgotten.Status.Recorded = true
	var out writes
	j := NewJSON(JSONOptions{Out: &out, Watch: true})
	for _, e := range []applier.Event{
		applier.Following{At: applier.Position{Seq: 6}, Jobs: []applier.Followed{{Addr: a}, {Addr: b}}},
		change(script.Changed(a, script.At(1), conveyor.Status{State: conveyor.StateQueued}), 7, 1, false), change(held, 7, 3, true),
		change(script.Changed(a, script.At(2), script.Running(1, script.At(2))), 8, 2, true),
		applier.JobProgress{Addr: a, Progress: conveyor.Progress{Done: 2, Total: 4, Text: "rows"}},
		applier.StillRunning{Addr: a},
		change(failing, 9, 1, false),                       // the last one of it never comes, since it was folded
		change(met, 10, 1, true), change(met, 11, 1, true), // nothing that anybody sees
		change(done, 12, 1, true), change(forgotten, 13, 1, true),
		change(done, 0, 0, false), // read, not told
		applier.Done{},
	} {
		j.Observe(e)
	}
	var got []string
	for _, w := range out {
		got = append(got, places(t, w))
	}
	want := []string{"0.0 position\n", "7.1 apply_progress\n7.3 apply_progress\n", "8.2 apply_progress\n", "0.0 apply_progress\n", "0.0 apply_progress\n",
		"9.1 apply_progress\n", "10.1 apply_progress\n", "11.1 apply_progress\n", "12.1 apply_complete\n", "13.1 apply_progress\n",
		"0.0 apply_progress\n", "0.0 change_summary\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	checkLines(t, strings.Join(out, ""))
	for _, part := range []string{`"progress":{"done":2,"total":4,"text":"rows"}`, `"cause":{"status":"scheduled","attempts":1,"failure":"exit status 3","log":["so it goes"]}`,
		`"due":"2026-11-20T12:00:09Z"`, `"at":"2026-11-20T12:00:01.000000Z"`, `"operation":"watch","jobs":{"completed":1,"held":1}`} {
		if !strings.Contains(strings.Join(out, ""), part) {
			t.Errorf("%s is nowhere in\n%s", part, strings.Join(out, ""))
		}
	}
}

// TestSchemaRefuses proves that the schema lets nothing through that it does not describe.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema, err := schematest.Compile(Schema)
	if err != nil {
		t.Fatal(err)
	}
	envelope := `{"@level":"info","@message":"m","@module":"waybill.ui","@timestamp":"2026-11-20T12:00:00.000000Z","type":`
	if err := schematest.Check(schema, []byte(envelope+`"log"}`)); err != nil {
		t.Fatal(err)
	}
	resource := `{"addr":"job.a","module":"","resource":"job.a","resource_type":"job","resource_name":"a","resource_key":null}`
	hook := `"hook":{"resource":` + resource + `,"action":"noop"}`
	for name, line := range map[string]string{
		"no type":          envelope[:len(envelope)-len(`,"type":`)] + "}",
		"another type":     envelope + `"news"}`,
		"a member too few": envelope + `"version","waybill":"0.1"}`,
		"a member more":    envelope + `"log","seq":1}`,
		"one inside":       envelope + `"apply_start",` + strings.Replace(hook, `"noop"`, `"noop","colour":"red"`, 1) + `}`,
		"seq without part": envelope + `"apply_progress",` + hook + `,"seq":1}`,
		"no cause":         envelope + `"apply_errored",` + hook + `}`,
		"no time":          strings.Replace(envelope, "2026-11-20T", "today ", 1) + `"log"}`,
		"another state":    envelope + `"apply_progress",` + strings.Replace(hook, `"noop"`, `"noop","status":"asleep"`, 1) + `}`,
	} {
		if schematest.Check(schema, []byte(line)) == nil {
			t.Errorf("%s: it lets through %s", name, line)
		}
	}
	for s := conveyor.StateUnknown; s <= conveyor.StateExpired; s++ {
		line := envelope + `"apply_progress",` + strings.Replace(hook, `"noop"`, `"noop","status":"`+s.String()+`"`, 1) + `}`
		if err := schematest.Check(schema, []byte(line)); err != nil {
			t.Error(err)
		}
	}
}

// TestLogSchema compiles.
func TestLogSchema(t *testing.T) {
	t.Parallel()
	schema, err := schematest.Compile(LogSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.Check(schema, []byte(`{"job":"job.a","at":"2026-11-20T12:00:00.5Z","attempt":1,"text":"x"}`)); err != nil {
		t.Error(err)
	}
	if schematest.Check(schema, []byte(`{"job":"job.a","at":"2026-11-20T12:00:00.5Z","attempt":1,"text":"x","line":1}`)) == nil {
		t.Error("it lets a member through that it does not describe")
	}
}
