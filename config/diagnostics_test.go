package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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

// TestSummaries looks for two summaries of one text.
func TestSummaries(t *testing.T) {
	t.Parallel()
	declaredSummaries(t)
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
