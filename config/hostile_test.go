package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// hostileFiles are what testdata cannot hold: too large, no text, or made of one thing a million times over. Each
// is written to main.hcl and has to be refused with one of the summaries.
var hostileFiles = []struct {
	name    string
	text    func() []byte
	summary summary
}{
	{"NUL bytes", func() []byte { return []byte("job \"a\" {\n  type = \"\x00\"\n}\n") }, sumBadEncoding},
	{"UTF-16", func() []byte { return []byte("\xff\xfej\x00o\x00b\x00") }, sumBadEncoding},
	{"broken UTF-8", func() []byte { return []byte("# \xc3\x28\n") }, sumBadEncoding},
	{"brackets", func() []byte { return repeat("locals {\n  a = ", "[", 10_000, "") }, sumTooDeep},
	{"closed brackets", func() []byte {
		return append(repeat("locals {\n  a = ", "[", 10_000, ""), repeat("", "]", 10_000, "\n}\n")...)
	}, sumTooDeep},
	{"blocks in blocks", func() []byte { return repeat("", "a {\n", 10_000, "") }, sumTooDeep},
	{"templates in templates", func() []byte { return repeat("locals {\n  a = ", "\"${", 10_000, "") }, sumTooDeep},
	{"negations", func() []byte { return repeat("locals {\n  a = ", "!", 900_000, "true\n}\n") }, sumTooDeep},
	{"conditions", func() []byte { return repeat("locals {\n  a = ", "true ? 1 : ", 80_000, "2\n}\n") }, sumTooDeep},
	{"sums", func() []byte { return repeat("locals {\n  a = 1", " + 1", 200_000, "\n}\n") }, sumTooDeep},
	{"indices", func() []byte { return repeat("locals {\n  a = x", "[y]", 200_000, "\n}\n") }, sumTooDeep},
	{"directives", func() []byte { return repeat("locals {\n  a = \"", "%{ if true }", 80_000, "\"\n}\n") }, sumTooDeep},
	{"newlines in a for expression", func() []byte { return repeat("locals {\n  a = { for b in c :\n b => -\n", "-\n", 200_000, "1 }\n}\n") }, sumTooDeep},
	{"long name", func() []byte { return repeat("job \"a\" {\n  ", "x", 1<<20-100, " = 1\n}\n") }, sumNameTooLong},
	{"long label", func() []byte { return repeat("job \"", "x", 1<<20-100, "\" {\n  type = \"noop\"\n}\n") }, sumBadName},
	{"long number", func() []byte { return repeat("locals {\n  a = ", "9", 100_000, "\n}\n") }, sumNumberTooLarge},
	{"large block", func() []byte { return repeat("locals {\n  a = \"", "x", 2<<20, "\"\n}\n") }, sumBlockTooLarge},
	{"large list", func() []byte { return repeat("locals {\n  a = [", "1,", 1<<20, "]\n}\n") }, sumBlockTooLarge},
	{"blocks without end", func() []byte { return repeat("", "job \"a\" {\n", 1<<20, "") }, sumTooDeep},
	{"module blocks", func() []byte {
		var b bytes.Buffer
		for i := range maxCalls + 1 {
			fmt.Fprintf(&b, "module \"m%d\" {\n  source = \"./m\"\n}\n", i)
		}
		return b.Bytes()
	}, sumTooManyModules},
	{"comments without end", func() []byte { return repeat("", "/*\n", 1<<20, "") }, sumTooManyMistakes},
	{"strings without end", func() []byte { return repeat("", "job \"a\n", 1<<20, "") }, sumMultilineString},
	{"garbage", func() []byte { return repeat("", "a\n", 1<<20, "") }, sumTooManyMistakes},
	{"locals that double", func() []byte { return doubling(60) }, sumValueTooLarge},
	{"count", func() []byte { return []byte("job \"a\" {\n  count = 1000000000\n  type = \"noop\"\n}\n") }, sumOutOfRange},
	{"a million and one", func() []byte {
		return []byte("job \"a\" {\n  count = 1000000\n  type = \"noop\"\n}\njob \"b\" {\n  type = \"noop\"\n}\n")
	}, sumTooManyJobs},
	{"more than a million elements", func() []byte {
		return append(bytes.Replace(doubling(20), []byte("0123456789"), []byte("x,"), 1), "job \"a\" {\n  for_each = toset(split(\",\", local.a20))\n  type = \"noop\"\n}\n"...)
	}, sumTooManyJobs},
	{"for in for in for", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : [for b in local.r : [for c in local.r : 1]]]\n}\n")
	}, sumTooManySteps},
	{"for in for that keeps nothing", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : 1 if length([for b in local.r : 1 if length([for c in local.r : 1 if false]) > 0]) > 0]\n}\n")
	}, sumTooManySteps},
	{"for in for with much in each pass", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : [for b in local.r : [for c in local.r : { a = a, b = { c = [a, b, c], d = \"${a}${b}\" }, e = merge({ x = 1 }, { y = 2 }) }]]]\n}\n")
	}, sumTooManySteps},
	{"for in for with operations in each pass", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : a if anytrue([for b in local.r : a + b + length(upper(\"x${b}\")) > 10000])]\n}\n")
	}, sumTooManySteps},
	{"for in for with functions that read", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : [for b in local.r : jsondecode(\"[1,2,3,{\\\"a\\\":[1,2,3]}]\")]]\n}\n")
	}, sumTooManySteps},
	{"for in for with large text", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  t = join(\"\", [for i in range(1000) : \"0123456789\"])\n  a = [for a in local.r : [for b in local.r : replace(local.t, \"/[0-4]+/\", sha256(local.t))]]\n}\n")
	}, sumTooManySteps},
	{"for in for with large collections", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : [for b in local.r : concat(local.r, [a])]]\n}\n")
	}, sumTooManySteps},
	{"splat in for", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = [for a in local.r : local.r]\n  b = [for a in local.r : local.a[*][*]]\n}\n")
	}, sumTooManySteps},
	{"objects in for in for", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = { for a in local.r : a => { for b in local.r : b => 1 } }\n}\n")
	}, sumTooManySteps},
	{"for in for with functions of lists", func() []byte {
		return []byte("locals {\n  s = [for i in range(1000) : \"${i}\"]\n  a = [for a in local.s : [for b in local.s : [join(\",\", local.s), sort(local.s), contains(local.s, b), jsonencode(local.s)]]]\n}\n")
	}, sumTooManySteps},
	{"dollar signs", func() []byte { return repeat("locals {\n  a = \"", "$", 1<<19, "\"\n}\n") }, sumBlockTooLarge},
	{"lines of a heredoc", func() []byte { return repeat("locals {\n  a = <<EOT\n", "x\n", 1<<18, "EOT\n}\n") }, sumBlockTooLarge},
	{"for in a template", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = \"%{ for a in local.r }%{ for b in local.r }%{ for c in local.r }x%{ endfor }%{ endfor }%{ endfor }\"\n}\n")
	}, sumTooManySteps},
	{"for in a function", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = try([for a in local.r : [for b in local.r : [for c in local.r : 1]]], 1)\n}\n")
	}, sumTooManySteps},
	{"for in many jobs", func() []byte {
		return []byte("locals {\n  r = range(1000)\n}\njob \"a\" {\n  count = 1000\n  type = \"x\"\n  payload = { a = length([for a in local.r : [for b in local.r : count.index]]) }\n}\n")
	}, sumTooManySteps},
	{"one text joined many times over", func() []byte {
		return bytes.Replace(doubling(20), []byte("}\n"), []byte("  z = join(\"\", [for i in range(1000) : local.a20])\n}\n"), -1)
	}, "Invalid function argument"},
	{"one text many times over in JSON", func() []byte {
		return bytes.Replace(doubling(20), []byte("}\n"), []byte("  z = jsonencode([for i in range(1000) : local.a20])\n}\n"), -1)
	}, "Invalid function argument"},
	{"one text a thousand times over in a template", func() []byte {
		return manyTimes("  z = \"" + strings.Repeat("${local.a20}", 1000) + "\"\n")
	}, sumValueTooLarge},
	{"one text in many short templates", func() []byte {
		return manyTimes("  z = [" + strings.Repeat("\"${local.a20}x\",", 1000) + "]\n")
	}, sumValueTooLarge},
	{"one text in many locals", func() []byte {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "  z%d = \"${local.a20}x\"\n", i)
		}
		return manyTimes(b.String())
	}, sumValueTooLarge},
	{"one text many times over in a for of a template", func() []byte {
		return manyTimes("  z = \"%{ for i in range(1000) }${local.a20}%{ endfor }\"\n")
	}, sumValueTooLarge},
	{"one text in a template within a function", func() []byte {
		return manyTimes("  z = try(upper(\"" + strings.Repeat("${local.a20}", 1000) + "\"), 1)\n")
	}, sumValueTooLarge},
	{"for in for in the default of a variable", func() []byte {
		return []byte("variable \"a\" {\n  default = " + nestedFor() + "\n}\n")
	}, sumTooManySteps},
	{"format", func() []byte { return []byte("locals {\n  a = format(\"%1000000000s\", \"x\")\n}\n") }, "Invalid function argument"},
	{"product", func() []byte {
		return []byte("locals {\n  r = range(1000)\n  a = setproduct(local.r, local.r, local.r)\n}\n")
	}, "Invalid function argument"},
	{"deep JSON", func() []byte {
		return []byte("locals {\n  a = jsondecode(join(\"\", [for i in range(1024) : \"[[\"]))\n}\n")
	}, "Invalid function argument"},
	{"deep YAML", func() []byte {
		return []byte("locals {\n  a = yamldecode(join(\"\", [for i in range(1024) : \"- - \"]))\n}\n")
	}, "Invalid function argument"},
}

func repeat(head, part string, n int, tail string) []byte {
	return []byte(head + strings.Repeat(part, n) + tail)
}

func doubling(n int) []byte {
	var b bytes.Buffer
	b.WriteString("locals {\n  a0 = \"0123456789\"\n")
	for i := range n {
		fmt.Fprintf(&b, "  a%d = \"${local.a%d}${local.a%d}\"\n", i+1, i, i)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// manyTimes are locals of which a20 has 10 MiB.
func manyTimes(more string) []byte {
	return bytes.Replace(doubling(20), []byte("}\n"), []byte(more+"}\n"), -1)
}

// nestedFor is an expression without references that makes a billion passes.
func nestedFor() string {
	list := "[" + strings.Repeat("0,", 1000) + "]"
	return "[for a in " + list + " : [for b in " + list + " : [for c in " + list + " : 1]]]"
}

// TestHostileElsewhere gives bombs in JSON, in files of values and on the command line.
func TestHostileElsewhere(t *testing.T) {
	t.Parallel()
	variable := "variable \"a\" {\n  type = list(any)\n}\n"
	for _, row := range []struct {
		name  string
		files map[string]string
		vars  []VarSource
		sum   summary
	}{
		{name: "many jobs in each of many modules", sum: sumTooManyJobs, files: map[string]string{
			"main.hcl":   "module \"m\" {\n  count  = 100000\n  source = \"./m\"\n}\n",
			"m/main.hcl": "job \"a\" {\n  count = 100000\n  type  = \"noop\"\n}\n"}},
		{name: "for in JSON", sum: sumTooManySteps, files: map[string]string{
			"main.hcl.json": `{"locals": {"r": "${range(1000)}", "a": "${[for a in local.r : [for b in local.r : [for c in local.r : 1]]]}"}}`}},
		{name: "for in a list in JSON", sum: sumTooManySteps, files: map[string]string{
			"main.hcl.json": `{"locals": {"r": "${range(1000)}", "a": [{"x": "${[for a in local.r : [for b in local.r : [for c in local.r : 1]]]}"}]}}`}},
		{name: "template in JSON", sum: sumValueTooLarge, files: map[string]string{
			"a.hcl": string(doubling(20)), "main.hcl.json": `{"locals": {"z": "` + strings.Repeat("${local.a20}", 1000) + `"}}`}},
		{name: "for in a file of values", sum: sumTooManySteps, files: map[string]string{"main.hcl": variable, "waybill.wbvars": "a = " + nestedFor() + "\n"}},
		{name: "for in -var", sum: sumTooManySteps, files: map[string]string{"main.hcl": variable}, vars: []VarSource{{Assign: "a=" + nestedFor()}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range row.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, diags := Load(Options{Paths: []string{dir}, NeedVariables: true, Vars: row.vars})
			if len(diags) != 1 || diags[0].Summary != string(row.sum) {
				t.Errorf("got %.1000v, want %q", diags, row.sum)
			}
		})
	}
}

func loadText(t *testing.T, text []byte) (*Workflow, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w, diags := Load(Options{Paths: []string{dir}, NeedVariables: true})
	return w, diags
}

// TestHostileFiles loads files that are made to take time, memory or the stack. They run one after the other, so
// that what each allocates can be counted.
func TestHostileFiles(t *testing.T) {
	const most = 2 << 30 // bytes allocated in all, garbage included
	for _, h := range hostileFiles {
		t.Run(h.name, func(t *testing.T) {
			text := h.text()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, diags := loadText(t, text)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%d MiB were allocated", n>>20)
			}
			found := false
			for _, d := range diags {
				found = found || d.Summary == string(h.summary)
				if len(d.Detail) > 1000 {
					t.Errorf("a detail of %d bytes: %.100s", len(d.Detail), d.Detail)
				}
			}
			if !found {
				t.Errorf("no %q in %.2000v", h.summary, diags)
			}
			hostileSaid[h.name] = origins(diags)
		})
	}
}

// hostileSaid holds what TestHostileFiles heard of each file, for the test that comes after it: tests that are not parallel run first.
var hostileSaid = map[string]hcl.Diagnostics{}

// origins is what diagnostics are known by, without the files that they hold on to.
func origins(diags hcl.Diagnostics) hcl.Diagnostics {
	slim := make(hcl.Diagnostics, len(diags))
	for i, d := range diags {
		slim[i] = &hcl.Diagnostic{Severity: d.Severity, Summary: d.Summary, Extra: d.Extra}
	}
	return slim
}

// hugeFile makes a directory with a main.hcl of 100 MiB, which takes no space.
func hugeFile(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Create(filepath.Join(dir, "main.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestHugeFileIsNotRead(t *testing.T) {
	t.Parallel()
	dir := hugeFile(t)
	w, diags := Load(Options{Paths: []string{dir}})
	expectOne(t, diags, sumFileTooLarge, "The file has 100 MiB")
	if file := w.Sources[filepath.Join(dir, "main.hcl")]; file != nil && len(file.Bytes) > 0 {
		t.Errorf("%d bytes were read", len(file.Bytes))
	}
}

func expectOne(t *testing.T, diags hcl.Diagnostics, sum summary, fragment string) {
	t.Helper()
	if len(diags) != 1 || diags[0].Summary != string(sum) || !strings.Contains(diags[0].Detail, fragment) {
		t.Errorf("got %v, want %q with %q", diags, sum, fragment)
	}
	checkDiagnostics(t, diags)
}

// TestPaths checks what is said about the arguments themselves.
func TestPaths(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	a := write(filepath.Join(dir, "a.hcl"), "job \"a\" {\n  type = \"noop\"\n}\n")
	b := write(filepath.Join(dir, "b.hcl"), "job \"b\" {\n  type = \"noop\"\n}\n")
	vars := write(filepath.Join(dir, "x.wbvars"), "")
	write(filepath.Join(dir, ".hidden.hcl"), "not HCL")
	write(filepath.Join(dir, "#b.hcl"), "not HCL")
	c := write(filepath.Join(other, "c.hcl"), "")
	write(filepath.Join(t.TempDir(), "main.tf"), "")
	terraform := t.TempDir()
	write(filepath.Join(terraform, "main.tf"), "")
	odd := t.TempDir()
	if err := os.Mkdir(filepath.Join(odd, "dir.hcl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name     string
		paths    []string
		jobs     int
		summary  summary
		fragment string
	}{
		{name: "directory", paths: []string{dir}, jobs: 2},
		{name: "one file", paths: []string{b}, jobs: 1},
		{name: "two files, one twice", paths: []string{b, a, b}, jobs: 2},
		{name: "missing", paths: []string{filepath.Join(dir, "nowhere")}, summary: sumCannotRead, fragment: "does not exist"},
		{name: "missing file", paths: []string{a, filepath.Join(dir, "z.hcl")}, jobs: 1, summary: sumCannotRead, fragment: "does not exist"},
		{name: "empty directory", paths: []string{odd}, summary: sumNoFiles, fragment: "has no *.hcl"},
		{name: "Terraform's", paths: []string{terraform}, summary: sumNoFiles, fragment: "main.tf is a file of Terraform"},
		{name: "two directories", paths: []string{dir, other}, summary: sumSeveralDirectories},
		{name: "files of two directories", paths: []string{a, c}, jobs: 1, summary: sumSeveralDirectories},
		{name: "variables", paths: []string{vars}, summary: sumCannotRead, fragment: "-var-file="},
		{name: "no path", paths: []string{""}, summary: sumCannotRead, fragment: "is not a path"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w, diags := Load(Options{Paths: row.paths})
			if len(w.Jobs) != row.jobs {
				t.Errorf("%d jobs, want %d", len(w.Jobs), row.jobs)
			}
			if row.summary == "" && len(diags) > 0 {
				t.Errorf("diagnostics: %v", diags)
			}
			if row.summary != "" && (len(diags) == 0 || diags[0].Summary != string(row.summary) || !strings.Contains(diags[0].Detail, row.fragment)) {
				t.Errorf("got %v, want %q with %q", diags, row.summary, row.fragment)
			}
			checkDiagnostics(t, diags)
		})
	}
}

// crash is an expression whose evaluation panics, as a defect in a library would make it.
type crash struct{ hclsyntax.LiteralValueExpr }

func (*crash) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) { panic("defect") }

// crashed evaluates it.
func crashed() hcl.Diagnostics {
	var r report
	s := &scope{l: &loader{}, m: &module{dir: &directory{}}, r: &r}
	s.evaluate(&crash{hclsyntax.LiteralValueExpr{SrcRange: wholeFile("x.hcl")}})
	return r.diags
}

func TestCrashIsADiagnostic(t *testing.T) {
	t.Parallel()
	expectOne(t, crashed(), sumCannotEvaluate, "defect")
}

func TestCrashOfAFunctionIsADiagnostic(t *testing.T) {
	t.Parallel()
	boom := function.New(&function.Spec{Type: function.StaticReturnType(cty.String), Impl: func([]cty.Value, cty.Type) (cty.Value, error) { panic("s3cret") }})
	call, diags := hclsyntax.ParseExpression([]byte("boom()"), "x.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var r report
	s := &scope{l: &loader{}, m: &module{dir: &directory{}}, r: &r, ctx: &hcl.EvalContext{Functions: map[string]function.Function{"boom": boom}}}
	if _, ok := s.evaluate(call); ok {
		t.Error("evaluated")
	}
	expectOne(t, r.diags, sumCannotEvaluate, `Function "boom"`)
}
