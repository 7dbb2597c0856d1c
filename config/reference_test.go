package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// TestReference checks that REFERENCE.md and FUNCTIONS.md are what the grammar and the functions say. -update writes them.
func TestReference(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"REFERENCE.md": Manual(), "FUNCTIONS.md": FunctionManual(), "POLICIES.md": PolicyManual()} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s is not what the code says; \"go test ./config -run TestReference -update\" writes it anew:\n%s", file, d)
		}
	}
}

// TestReferenceComplete checks that everything in the grammar says what it is.
func TestReferenceComplete(t *testing.T) {
	t.Parallel()
	forms := map[form]bool{}
	var check func(k *kind, path string)
	check = func(k *kind, path string) {
		if k.text == "" && k.name != "" {
			t.Errorf("%s has no text", path)
		}
		for _, name := range k.guide {
			if guide(name) == "" {
				t.Errorf("%s: guide/%s.md is missing", path, name)
			}
		}
		for _, a := range k.args {
			at := path + "." + a.name
			forms[a.is] = true
			if formTypes[a.is] == cty.NilType {
				t.Errorf("%s has the form %q, which formTypes does not have", at, a.is)
			}
			if a.text == "" {
				t.Errorf("%s has no text", at)
			}
			if a.required && a.def != "" {
				t.Errorf("%s is required and has a default", at)
			}
			for _, name := range a.not {
				other := k.arg(name)
				if other == nil && k.block(name) == nil {
					t.Errorf("%s cannot stand beside %q, which is not there", at, name)
				}
				if other != nil && !slices.Contains(other.not, a.name) {
					t.Errorf("%s cannot stand beside %q, but the other way round it can", at, name)
				}
			}
		}
		for _, b := range k.blocks {
			check(b, path+" "+b.name)
		}
	}
	check(schema(), "")
	check(policySchema(), "policy")
	for f := range formTypes {
		if !forms[f] && f != formAny {
			t.Errorf("no argument has the form %q", f)
		}
	}
}

// TestFunctionTexts evaluates the examples of all functions, and looks for functions without one.
func TestFunctionTexts(t *testing.T) {
	t.Parallel()
	l := &loader{disk: newDisk("testdata/functions", newLibrary(nil))}
	l.functions = l.functionTable()
	ctx := &hcl.EvalContext{Functions: l.functions}
	var names []string
	for _, g := range functionTexts {
		for i, f := range g.list {
			names = append(names, f.name)
			if i > 0 && g.list[i-1].name >= f.name {
				t.Errorf("%s stands behind %s", f.name, g.list[i-1].name)
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				if f.result == "" {
					if _, err := l.functions[f.name].Call([]cty.Value{cty.StringVal("x")}); err == nil || !strings.Contains(err.Error(), "only the worker knows") {
						t.Errorf("%s without a worker: %v", f.example, err)
					}
					return
				}
				got, want := evaluateText(t, ctx, f.example), evaluateText(t, ctx, f.result)
				want, err := convert.Convert(want, got.Type())
				if err != nil || !want.RawEquals(got) {
					t.Errorf("%s is %#v, and not %s (%v)", f.example, got, f.result, err)
				}
			})
		}
	}
	slices.Sort(names)
	if d := cmp.Diff(functionNames(), names); d != "" {
		t.Errorf("the functions and their texts differ:\n%s", d)
	}
}

func evaluateText(t *testing.T, ctx *hcl.EvalContext, text string) cty.Value {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(text), "example", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", text, diags)
	}
	val, diags := expr.Value(ctx)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", text, diags)
	}
	return val
}
