package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// declaredSummaries reads the constants of diagnostics.go: name by text.
func declaredSummaries(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "diagnostics.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			text, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := names[text]; taken {
				t.Errorf("%s and %s are both %q", name, other, text)
			}
			names[text] = name.Name
		}
		return true
	})
	if len(names) < 50 {
		t.Fatalf("only %d summaries found", len(names))
	}
	return names
}

// TestEverySummaryIsProvoked fails on a diagnostic that the code can emit and no test shows: by a file of
// testdata/invalid or, where none can, by a hostile file or a wrong path.
func TestEverySummaryIsProvoked(t *testing.T) {
	t.Parallel()
	left := declaredSummaries(t)
	see := func(diags hcl.Diagnostics) {
		for _, d := range diags {
			delete(left, d.Summary)
		}
	}
	for _, path := range cases(t, "testdata/invalid") {
		_, o := readCase(t, path)
		_, diags := Load(o)
		see(diags)
	}
	for _, h := range hostileFiles {
		if _, missing := left[string(h.summary)]; missing {
			_, diags := loadText(t, h.text())
			see(diags)
		}
	}
	for _, paths := range [][]string{{"nowhere"}, {t.TempDir()}, {t.TempDir(), t.TempDir()}, {hugeFile(t)}} {
		_, diags := Load(Options{Paths: paths})
		see(diags)
	}
	see(crashed())
	for _, text := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s, %q, is provoked by no test", left[text], text)
	}
}

// TestSummariesComeFromTheList keeps literals out of the calls that report.
func TestSummariesComeFromTheList(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "report.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := lit.Key.(*ast.Ident); ok && key.Name == "Summary" {
					t.Errorf("%s makes a diagnostic by hand", name)
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "error" || sel.Sel.Name == "warn" || sel.Sel.Name == "fail") {
				if _, isLiteral := call.Args[0].(*ast.BasicLit); isLiteral {
					t.Errorf("%s reports a summary that is not in diagnostics.go", name)
				}
			}
			return true
		})
	}
}
