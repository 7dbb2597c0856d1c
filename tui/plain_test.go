package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// stories are the runs that the line writers are shown.
func stories(t testing.TB) []struct {
	name    string
	destroy bool
	events  []applier.Event
} {
	load, old, gone := addr(t, "job.load"), addr(t, "job.old"), addr(t, "job.gone")
	row := func(a config.Addr, action planner.Action) applier.Event {
		return applier.RowApplied{Row: &planner.Row{Addr: a, Action: action}, At: noon}
	}
	holder := applier.Holder{Token: "t1", Who: "ada@build-7", Operation: "destroy", Since: at(-61)}
	crashed := conveyor.Status{State: conveyor.StateQueued, Fence: 1, Lost: 1, Started: at(2)}
	hostile := changed(load, at(4), conveyor.Status{State: conveyor.StateOnHold, Fence: 1, Attempts: 1})
	hostile.Failure = "\x1b]0;title\x07\x1b[2Jcleared\r\nsecond \u202eline"
	hostile.LogTail = []string{"\tindented", "\x9b31mred", strings.Repeat("long ", 3)}
	return []struct {
		name    string
		destroy bool
		events  []applier.Event
	}{
		{name: "finished", events: finishedWell(t)},
		{name: "failed", events: endedBadly(t)},
		{name: "limits", events: expired(t)},
		{name: "nothing-to-do", events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{followed(load, 0, ended(conveyor.StateCompleted, at(0), at(1)))}}, applier.Done{}}},
		{name: "continued", events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{
				followed(load, 0, running(1, at(-5))), followed(old, 1, ended(conveyor.StateCompleted, at(-9), at(-6)))}},
			changed(load, at(2), ended(conveyor.StateCompleted, at(-5), at(2))), applier.Done{}}},
		{name: "changes", events: []applier.Event{
			applier.LockWaiting{Holder: holder, Left: 20 * time.Second}, applier.LockWaiting{Holder: holder, Left: 19 * time.Second},
			applier.LockWaiting{Holder: holder, Left: 9 * time.Second},
			row(load, planner.Replace), row(addr(t, "job.tuned"), planner.Rerecord), row(addr(t, "job.moved"), planner.Update),
			applier.Replanned{Plan: &planner.Plan{}, Moved: []config.Addr{load, old}},
			applier.RowDiverted{Row: &planner.Row{Addr: addr(t, "job.moved"), Action: planner.Replace}, Prev: planner.Update},
			row(addr(t, "job.parent"), planner.Reopen), row(old, planner.Delete), row(gone, planner.Forget),
			applier.Warning{Summary: "No worker serves queue \"etl\"", Detail: "Start one:\n  waybill worker ."},
			applier.Done{Result: applier.Result{Added: 1, Changed: 3, Destroyed: 2, Detached: true}}}},
		{name: "troubles", events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{followed(load, 0, running(1, noon)), followed(old, 0, conveyor.Status{State: conveyor.StateHeld})}},
			changed(load, at(2), crashed), changed(load, at(3), running(2, at(3))), hostile,
			changed(old, at(5), conveyor.Status{State: conveyor.StateCancelled}),
			applier.Done{Result: applier.Result{Interrupted: true}}}},
		{name: "given-back", events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{followed(load, 0, conveyor.Status{State: conveyor.StateQueued})}},
			changed(load, at(0), running(1, at(0))), changed(load, at(0), givenBack(1, at(2))), changed(load, at(2), running(2, at(2))),
			changed(load, at(2), givenBack(2, at(4))), changed(load, at(4), running(3, at(4))),
			changed(load, at(5), ended(conveyor.StateCompleted, at(4), at(5))), applier.Done{}}},
		{name: "outages", events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{followed(load, 0, running(1, noon))}},
			away(2), away(7), applier.StoreBack{After: 9 * time.Second}, away(2),
			changed(load, at(20), ended(conveyor.StateCompleted, noon, at(20))), away(3), applier.Done{Err: errors.New("connection refused")}}},
		{name: "error", events: []applier.Event{applier.Done{Err: errors.New("connection refused")}}},
		{name: "destroyed", destroy: true, events: []applier.Event{row(load, planner.Delete), applier.Done{Result: applier.Result{Destroyed: 1}}}},
	}
}

// away is a store that has not answered for so many seconds.
func away(seconds int) applier.StoreAway {
	d := time.Duration(seconds) * time.Second
	return applier.StoreAway{For: d, Left: 15*time.Second - d, Reason: "dial tcp 127.0.0.1:6379: connection refused\x1b[2J", Then: "Otherwise this ends here."}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, s := range stories(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var out, warnings bytes.Buffer
			p := NewPlain(PlainOptions{Out: &out, Err: &warnings, Now: func() time.Time { return at(0) }, Destroy: s.destroy})
			for _, e := range s.events {
				p.Observe(e)
			}
			checkGolden(t, "plain/"+s.name, out.String()+"-- stderr --\n"+warnings.String())
			checkHarmless(t, out.String())
		})
	}
}

// checkHarmless fails on control characters that no renderer of ours writes without colours.
func checkHarmless(t testing.TB, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			t.Errorf("control character %U at %d", r, i)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, s := range stories(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			j := NewJSON(JSONOptions{Out: &out, Now: func() time.Time { return noon }, Destroy: s.destroy})
			j.Version("0.1.0", "redis://127.0.0.1:6379", "sales")
			for _, e := range s.events {
				j.Observe(e)
			}
			checkGolden(t, "json/"+s.name, out.String())
			checkLines(t, out.String())
		})
	}
}

func TestJSONPlan(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	j := NewJSON(JSONOptions{Out: &out, Now: func() time.Time { return noon }})
	load := addr(t, `module.m.job.load["eu"]`)
	j.Plan(&planner.Plan{Rows: []*planner.Row{
		{Addr: addr(t, "job.extract[2]"), Action: planner.Create, Reason: planner.ReasonLost, Live: planner.Live{Status: planner.Lost},
			Prior: &planner.Record{Type: "noop", Queue: "q", Definition: []byte(`{}`)}, Job: &config.Job{Type: "noop", Queue: "q"},
			Definition: []byte(`{}`)},
		{Addr: load, Action: planner.Create, Reason: planner.ReasonNew, Job: &config.Job{Type: "exec", Queue: "q"}, Definition: []byte(`{}`),
			Causes: []planner.Cause{{Addr: addr(t, "job.extract[2]"), Reason: planner.ReasonLost}}},
		{Addr: addr(t, "job.same"), Action: planner.NoOp, Reason: planner.ReasonUnchanged},
	}})
	src := []byte("job \"load\" {\n  queu = 1\n}\n")
	j.Diagnostics(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unsupported argument", Detail: "Did you mean \"queue\"?",
		Subject: &hcl.Range{Filename: "main.hcl", Start: hcl.Pos{Line: 2, Column: 3, Byte: 15}, End: hcl.Pos{Line: 2, Column: 7, Byte: 19}}}},
		map[string]*hcl.File{"main.hcl": {Bytes: src}})
	checkGolden(t, "json/plan", out.String())
	checkLines(t, out.String())
}

// checkLines proves what every line of the envelope has, and that seq counts them.
func checkLines(t testing.TB, text string) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var e struct {
			Level     string    `json:"@level"`
			Message   string    `json:"@message"`
			Module    string    `json:"@module"`
			Timestamp time.Time `json:"@timestamp"`
			Type      string    `json:"type"`
			Seq       int       `json:"seq"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
		if e.Seq != i+1 || e.Level == "" || e.Message == "" || e.Module != "waybill.ui" || e.Type == "" || e.Timestamp.IsZero() {
			t.Errorf("line %d lacks a field or has the wrong number: %s", i, line)
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

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-1: "0s", 40 * time.Millisecond: "0s", 2 * time.Second: "2s", 1540 * time.Millisecond: "1.5s",
		9990 * time.Millisecond: "10s", 75900 * time.Millisecond: "1m15s"} {
		if got := took(d); got != want {
			t.Errorf("took(%v) = %s, want %s", d, got, want)
		}
	}
	if got := fmt.Sprintln(clock(75*time.Second), clock(3723*time.Second)); got != "01:15 1:02:03\n" {
		t.Errorf("clock: %s", got)
	}
}
