package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"pgregory.net/rapid"
)

// drawBlocks draws the blocks of a valid workflow: jobs refer to any others, and to locals and variables that do to
// others, wherever they stand.
func drawBlocks(t *rapid.T) []string {
	n := rapid.IntRange(1, 12).Draw(t, "jobs")
	shapes := make([]int, n) // 0 plain, 1 count, 2 for_each, 3 for_each over an earlier job
	blocks := []string{
		"workflow \"w\" {\n  namespace = local.l0\n}",
		"variable \"v\" {\n  default = \"x\"\n}",
		"queue \"q\" {\n  concurrency = length(local.l1) + 1\n}",
		"locals {\n  l0 = \"n-${var.v}\"\n  l1 = local.l2\n}",
		"locals {\n  l2 = [local.l0, var.v]\n}",
	}
	for i := range n {
		shapes[i] = rapid.IntRange(0, 3).Draw(t, "shape")
		if i == 0 || shapes[i] == 3 && shapes[i-1] < 2 {
			shapes[i] %= 3
		}
		blocks = append(blocks, drawJob(t, i, shapes))
	}
	return append(blocks, fmt.Sprintf("output \"o\" {\n  value = job.j%d\n}", n-1))
}

func drawJob(t *rapid.T, i int, shapes []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "job \"j%d\" {\n", i)
	switch shapes[i] {
	case 1:
		fmt.Fprintf(&b, "  count = %d\n", rapid.IntRange(1, 3).Draw(t, "count"))
	case 2:
		b.WriteString("  for_each = { b = 1, a = local.l1[0] }\n")
	case 3:
		fmt.Fprintf(&b, "  for_each = job.j%d\n", i-1)
	}
	switch rapid.IntRange(0, 2).Draw(t, "work") {
	case 0:
		b.WriteString("  type = \"noop\"\n  queue = \"q\"\n")
	case 1:
		b.WriteString("  exec {\n    command = [\"echo\", var.v, local.l0]\n    env = { A = \"${local.l1[1]}-${var.v}\" }\n  }\n")
	case 2:
		fmt.Fprintf(&b, "  type = \"shop.Load\"\n  payload = { up = job.j%d, n = %d }\n", rapid.IntRange(0, i).Draw(t, "payload"), i)
	}
	switch rapid.IntRange(0, 4).Draw(t, "cycles") {
	case 1:
		b.WriteString("  run_at {\n    cron = \"0 2 * * mon\"\n    timezone = \"Europe/Berlin\"\n  }\n  sync = { cursor = var.v, a = 1 }\n")
	case 2:
		b.WriteString("  run_at { every = \"${length(local.l1)} days\" }\n  max_cycles = 3\n")
	case 3:
		b.WriteString("  triggers_gate = local.l1\n  obsolete_if { labels = { a = local.l0 } }\n")
	}
	for k := range rapid.IntRange(0, 2).Draw(t, "edges") {
		if i == 0 {
			break
		}
		up := rapid.IntRange(0, i-1).Draw(t, "upstream")
		expr := fmt.Sprintf("job.j%d", up)
		switch shapes[up] {
		case 0:
			expr = fmt.Sprintf("[%s]", expr)
		case 2:
			expr = []string{expr, "values(" + expr + ")", fmt.Sprintf("[%s[\"a\"]]", expr)}[rapid.IntRange(0, 2).Draw(t, "form")]
		}
		fmt.Fprintf(&b, "  predecessor {\n    jobs   = %s\n    run_if = %q\n  }\n", expr, RunIf((up+k)%3).String())
	}
	return b.String() + "}"
}

func writeFiles(t *rapid.T, dir string, files []string) {
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.hcl", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShuffledBlocks checks that neither the order of blocks nor the file they stand in means anything.
func TestShuffledBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		blocks := drawBlocks(rt)
		writeFiles(rt, dir, []string{strings.Join(blocks, "\n\n") + "\n"})
		first, diags := Load(Options{Paths: []string{dir}, NeedVariables: true})
		if len(diags) > 0 {
			rt.Fatalf("%v\n%s", texts(diags), strings.Join(blocks, "\n"))
		}
		checkWorkflow(t, first)
		files := make([]string, rapid.IntRange(1, 3).Draw(rt, "files"))
		for i, block := range rapid.Permutation(blocks).Draw(rt, "order") {
			files[i%len(files)] += "# " + strings.Repeat("-", i) + "\n" + block + "\n"
		}
		writeFiles(rt, dir, files)
		again, diags := Load(Options{Paths: []string{dir}, NeedVariables: true})
		if len(diags) > 0 {
			rt.Fatal(texts(diags))
		}
		if d := cmp.Diff(string(describe(first)), string(describe(again))); d != "" {
			rt.Fatal(d)
		}
	})
}

// drawValue draws any value that JSON can hold.
func drawValue(t *rapid.T, depth int) cty.Value {
	switch k := rapid.IntRange(0, 8).Draw(t, "kind"); {
	case k <= 1:
		return cty.StringVal(rapid.String().Draw(t, "string"))
	case k == 2:
		return cty.BoolVal(rapid.Bool().Draw(t, "bool"))
	case k == 3:
		return cty.NumberIntVal(rapid.Int64().Draw(t, "int"))
	case k == 4:
		return cty.NumberFloatVal(rapid.Float64Range(-1e12, 1e12).Draw(t, "float"))
	case k == 5:
		return cty.NullVal(cty.DynamicPseudoType)
	case depth == 0:
		return cty.EmptyTupleVal
	case k == 6:
		elems := make([]cty.Value, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range elems {
			elems[i] = drawValue(t, depth-1)
		}
		return cty.TupleVal(elems)
	}
	attrs := map[string]cty.Value{}
	for range rapid.IntRange(0, 3).Draw(t, "size") {
		attrs[rapid.String().Draw(t, "key")] = drawValue(t, depth-1)
	}
	return cty.ObjectVal(attrs)
}

// TestDocument compares canonical JSON with encoding/json, and what people see of it with what is hidden.
func TestDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		val := drawValue(rt, 3)
		var d document
		if err := d.value(val); err != nil {
			rt.Fatal(err)
		}
		back, err := ctyjson.Unmarshal(d.real, val.Type())
		if err != nil {
			rt.Fatalf("%s: %v", d.real, err)
		}
		if !back.RawEquals(val) {
			rt.Fatalf("%#v reads back as %#v", val, back)
		}
		var decoded any
		decoder := json.NewDecoder(strings.NewReader(string(d.real)))
		decoder.UseNumber()
		if err := decoder.Decode(&decoded); err != nil {
			rt.Fatal(err)
		}
		var want strings.Builder
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(decoded); err != nil {
			rt.Fatal(err)
		}
		if got := string(d.real) + "\n"; got != want.String() {
			rt.Fatalf("got %q, want %q", got, want.String())
		}
	})
}

// TestDocumentHides checks that what is sensitive is in the document and not in what is shown of it.
func TestDocumentHides(t *testing.T) {
	t.Parallel()
	secret := func(v cty.Value) cty.Value { return v.Mark(sensitive) }
	for _, row := range []struct {
		name        string
		value       cty.Value
		real, shown string
	}{
		{"nothing", cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}), `{"a":0}`, ``},
		{"string", secret(cty.StringVal("x")), `"x"`, `"(sensitive value)"`},
		{"attribute", cty.ObjectVal(map[string]cty.Value{"a": cty.True, "b": secret(cty.StringVal("x")), "c": cty.StringVal("y")}),
			`{"a":true,"b":"x","c":"y"}`, `{"a":true,"b":"(sensitive value)","c":"y"}`},
		{"object", secret(cty.ObjectVal(map[string]cty.Value{"a": cty.ListVal([]cty.Value{cty.StringVal("x")})})), `{"a":["x"]}`, `"(sensitive value)"`},
		{"elements", cty.TupleVal([]cty.Value{secret(cty.Zero), cty.Zero, secret(cty.NullVal(cty.String))}), `[0,0,null]`, `["(sensitive value)",0,"(sensitive value)"]`},
		{"set", cty.SetVal([]cty.Value{secret(cty.StringVal("x")), cty.StringVal("y")}), `["x","y"]`, `"(sensitive value)"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var d document
			if err := d.value(row.value); err != nil {
				t.Fatal(err)
			}
			real, shown := d.finish()
			if row.shown == "" {
				row.shown = row.real
			}
			if string(real) != row.real || string(shown) != row.shown || d.sensitive != (row.real != row.shown) {
				t.Errorf("real %s, shown %s, sensitive %t; want %s and %s", real, shown, d.sensitive, row.real, row.shown)
			}
		})
	}
}

// FuzzLoad loads anything: nothing may crash, everything that is reported has a place, and what loads without errors
// is whole.
func FuzzLoad(f *testing.F) {
	corpus(f)
	for _, src := range hostile {
		f.Add([]byte(src))
	}
	dir := f.TempDir()
	name := filepath.Join(dir, "main.hcl")
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<14 {
			return
		}
		if err := os.WriteFile(name, src, 0o600); err != nil {
			t.Fatal(err)
		}
		w, diags := Load(Options{Paths: []string{name}, Version: "0.4.2"})
		checkDiagnostics(t, diags)
		if !diags.HasErrors() {
			checkWorkflow(t, w)
		}
		for _, d := range diags {
			if d.Severity != hcl.DiagError && d.Severity != hcl.DiagWarning {
				t.Errorf("severity of %v", d)
			}
		}
	})
}
