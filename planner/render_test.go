package planner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func render(t testing.TB, p *planner.Plan, o planner.RenderOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Render(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestColours checks that colours are all there is between the coloured plan and the plain one.
func TestColours(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b ^a", "c a", "d")
	s := stateOf(t, w)
	s.Live["job.d"] = planner.Live{}
	p := mustMake(t, with(without(edited(w, "b", newWork), "d"), "e"), s, planner.Options{})
	coloured, plain := render(t, p, planner.RenderOptions{Color: true}), render(t, p, planner.RenderOptions{})
	if !strings.Contains(coloured, "\x1b[32m+\x1b[0m") || strings.Contains(plain, "\x1b") {
		t.Error("colours are missing, or where they should not be")
	}
	if colours.ReplaceAllString(coloured, "") != plain {
		t.Error("without its colours the plan is another")
	}
}

// TestNothingEscapes puts control characters wherever users, or whoever can write to Redis, can put text.
func TestNothingEscapes(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;x\x07\x9b31m\u009b\u202e\r\b\x7f\u2028z\ny"
	j := jobOf("a @x")
	j.Addr.Key = config.InstanceKey{Kind: config.KeyString, Str: evil}
	j.Queue, j.Type = evil, evil
	j.Predecessors[0].UUIDs = []string{evil}
	payload, err := json.Marshal(map[string]any{"k\x1b[1m": "v\x1b[1m\u009b", "list": []string{"\x07"}, "lines": "one\n\x1btwo\n", "name": "\u202e\n"})
	if err != nil {
		t.Fatal(err)
	}
	j.Payload, j.Shown = payload, payload
	j.Triggers = []byte(`{"t":"\u001b[2J"}`)
	j.Inputs = []config.Input{{Path: evil}}
	w := &config.Workflow{
		Name: evil, Jobs: []*config.Job{j},
		Queues:  []*config.Queue{{Name: evil}},
		Outputs: []*config.Output{{Name: evil, Value: cty.StringVal(evil)}},
	}
	s := noState()
	created := settled(t, w, s, planner.Options{})
	failed := noState()
	name := j.Addr.String()
	prior := *created.Rows[0].Next
	prior.Definition = append([]byte("not JSON \x1b[1m"), prior.Definition...)
	failed.Records[name] = &prior
	failed.Live[name] = planner.Live{Status: planner.Failed, Opening: 1, Cause: evil}
	failed.Queues = map[string]planner.QueueSettings{"q\x1b": {}}
	failed.Outputs = map[string]string{"o\x1b": "\"\x1b\"", "p": "{\x1b"}
	again := settled(t, w, failed, planner.Options{})
	gone := settled(t, &config.Workflow{Name: evil}, failed, planner.Options{})
	for _, p := range []*planner.Plan{created, again, gone} {
		for _, r := range render(t, p, planner.RenderOptions{Width: 40}) {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%q is in the plan:\n%q", r, render(t, p, planner.RenderOptions{}))
			}
		}
	}
	g, diags := planner.NewGraph(w)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var dot strings.Builder
	if err := g.WriteDOT(&dot); err != nil {
		t.Fatal(err)
	}
	for _, r := range dot.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q is in the graph:\n%q", r, dot.String())
		}
	}
}

func TestRenderStopsAtErrors(t *testing.T) {
	t.Parallel()
	w := &config.Workflow{Name: "test"}
	for i := range 2000 {
		w.Jobs = append(w.Jobs, jobOf(fmt.Sprintf("j[%d]", i)))
	}
	full := errors.New("no space left")
	err := mustMake(t, w, noState(), planner.Options{}).Render(failing{full}, planner.RenderOptions{})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestLongPayload checks that a plan keeps what it shows of a payload, and what a record keeps, in bounds.
func TestLongPayload(t *testing.T) {
	t.Parallel()
	w := edited(workflowOf("a"), "a", func(j *config.Job) {
		j.Type = "shop.v1.Load"
		j.Payload = fmt.Appendf(nil, `{"blob":%q}`, strings.Repeat("x", 1<<20))
		j.Shown = j.Payload
	})
	p := settled(t, w, noState(), planner.Options{})
	if size := len(p.Rows[0].Next.AppendTo(nil)); size > 300 {
		t.Errorf("the record has %d bytes", size)
	}
	if text := render(t, p, planner.RenderOptions{}); !strings.Contains(text, "bytes  = 1048587") || len(text) > 1000 {
		t.Errorf("the plan says:\n%.2000s", text)
	}
}

func TestBecause(t *testing.T) {
	t.Parallel()
	causes := func(reason planner.Reason, names ...string) (all []planner.Cause) {
		for _, name := range names {
			all = append(all, planner.Cause{Addr: addr("job." + name), Reason: reason})
		}
		return all
	}
	tests := []struct {
		row  planner.Row
		want string
	}{
		{planner.Row{Reason: planner.ReasonUpstream, Causes: causes(planner.ReasonWork, "a")}, "job.a runs again"},
		{planner.Row{Reason: planner.ReasonUpstream, Causes: causes(planner.ReasonNew, "a")}, "job.a is new"},
		{planner.Row{Reason: planner.ReasonUpstream, Causes: causes(planner.ReasonChildAgain, "a", "b")}, "job.a and job.b reopen"},
		{planner.Row{Reason: planner.ReasonUpstream, Causes: append(causes(planner.ReasonNew, "a"), causes(planner.ReasonWork, "b")...)},
			"job.a and job.b run again"},
		{planner.Row{Reason: planner.ReasonChildAgain, Causes: causes(planner.ReasonFailed, "a", "b", "c", "d", "e")},
			"job.a, job.b, job.c and 2 more run again"},
		{planner.Row{Reason: planner.ReasonUpstreamRan, Causes: causes(planner.ReasonUnchanged, "a", "b", "c")}, "job.a, job.b and job.c ran again"},
		{planner.Row{Reason: planner.ReasonFailed, Live: planner.Live{Cause: "exit status 2\nlast line"}}, "it failed: exit status 2 last line"},
		{planner.Row{Reason: planner.ReasonUndeclared, Addr: addr("job.a")}, "job.a is not in the configuration"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			if got := test.row.Because(); got != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	p := &planner.Plan{}
	for a := planner.NoOp; a <= planner.Forget; a++ {
		p.Rows = append(p.Rows, &planner.Row{Action: a})
	}
	if add, change, destroy := p.Summary(); add != 2 || change != 3 || destroy != 2 || p.Forgotten() != 1 || p.Empty() {
		t.Errorf("%d to add, %d to change, %d to destroy, %d to forget, empty %t", add, change, destroy, p.Forgotten(), p.Empty())
	}
}

func TestDOT(t *testing.T) {
	t.Parallel()
	g, diags := planner.NewGraph(workflowOf(`a["x\"y"]`, `b ^a["x\"y"]`, "c ?b", `d !b *c`, "e d @outside"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var b strings.Builder
	if err := g.WriteDOT(&b); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "testdata/graph.dot", []byte(b.String()))
}
