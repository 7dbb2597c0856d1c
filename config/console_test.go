package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func openConsole(t *testing.T) *Console {
	t.Helper()
	dir := t.TempDir()
	const text = `
variable "day" {
  default = "2026-11-20"
}
variable "key" {
  default   = "s3cret"
  sensitive = true
}
locals {
  regions = ["eu", "us"]
}
job "load" {
  for_each = toset(local.regions)
  type     = "noop"
  precondition {
    condition     = var.day == ""
    error_message = "A console opens all the same."
  }
}
output "first" {
  value = job.load["eu"].address
}
output "hidden" {
  value     = var.key
  sensitive = true
}
check "never" {
  assert {
    condition     = false
    error_message = "No."
  }
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, diags := OpenConsole(Options{Paths: []string{dir}})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return c
}

func TestConsole(t *testing.T) {
	t.Parallel()
	c := openConsole(t)
	for text, want := range map[string]cty.Value{
		`1 + 2`:                         cty.NumberIntVal(3),
		`upper(var.day)`:                cty.StringVal("2026-11-20"),
		`[for r in local.regions : r]`:  cty.TupleVal([]cty.Value{cty.StringVal("eu"), cty.StringVal("us")}),
		`job.load["us"].address`:        cty.StringVal(`job.load["us"]`),
		`output.first`:                  cty.StringVal(`job.load["eu"]`),
		`"${output.first}, ${var.day}"`: cty.StringVal(`job.load["eu"], 2026-11-20`),
		`output.hidden`:                 cty.StringVal("s3cret").Mark(sensitive),
		`var.key`:                       cty.StringVal("s3cret").Mark(sensitive),
		`path.root`:                     cty.StringVal("."),
	} {
		got, diags, _ := c.Evaluate(text)
		if len(diags) > 0 || !got.RawEquals(want) {
			t.Errorf("%s is %#v, want %#v: %v", text, got, want, diags)
		}
	}
}

var consoleMistakes = []struct {
	text     string
	summary  summary
	fragment string
}{
	{"\x00", sumBadEncoding, "NUL"},
	{strings.Repeat("[", 5000), sumTooDeep, "nests"},
	{strings.Repeat("1 ", 1<<20), sumBlockTooLarge, "at most 1 MiB"},
	{"1 +", "Missing expression", ""},
	{"var.dya", sumUndeclaredVariable, `Did you mean "day"?`},
	{"job.load", "", ""},
	{"each.key", sumBadReference, "only known inside a job"},
	{"output", sumBadReference, "write output.NAME"},
	{"output.frist", sumBadReference, `Did you mean "first"?`},
	{"timestamp()", sumRefusedFunction, ""},
}

func TestConsoleMistakes(t *testing.T) {
	t.Parallel()
	c := openConsole(t)
	for _, row := range consoleMistakes {
		_, diags, files := c.Evaluate(row.text)
		checkDiagnostics(t, diags)
		checkRendering(t, &Workflow{Sources: files}, diags)
		if row.summary == "" {
			if len(diags) > 0 {
				t.Errorf("%.100q: %v", row.text, diags)
			}
			continue
		}
		if len(diags) != 1 || diags[0].Summary != string(row.summary) || !strings.Contains(diags[0].Detail, row.fragment) {
			t.Errorf("%.100q: got %v, want %q with %q", row.text, diags, row.summary, row.fragment)
		}
	}
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1": false, "[": true, "[1": true, "[1]": false, "f(": true, "{ a = [": true, `"${"`: true, "<<EOT\nx\n": true, "<<EOT\nx\nEOT\n": false, "])": false, "": false,
	} {
		if got := Incomplete(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
