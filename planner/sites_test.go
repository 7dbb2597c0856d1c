package planner_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// unreachable are summaries, with a part of their detail, that no configuration and state provokes, and why.
var unreachable = map[string]string{
	"Duplicate job|":               "config refuses two jobs of one address",
	"Reference to undeclared job|": "config refuses it, and names what is near",
	"Output cannot be stored|":     "config refuses what has no JSON form",
	"Job waits for itself|":        "config refuses it",
}

// refuse makes the plan of a folder of testdata/invalid and gives what is said about it. The folders are as TestGolden has them,
// with more options: nokey, otherkey, "record ADDR" for a record of that name, "shared QUEUE" for a queue of another workflow.
func refuse(t *testing.T, folder string) (hcl.Diagnostics, *config.Workflow) {
	t.Helper()
	s := goldenState(t, folder)
	o := planner.Options{Digest: keyed, KeyID: "0badcafe"}
	for _, line := range linesOf(t, folder, "options") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "nokey":
			o.Digest, o.KeyID = nil, ""
		case "otherkey":
			o.KeyID = "5afe5afe"
		case "record":
			s.Records[rest] = &planner.Record{}
		case "shared":
			if s.Shared == nil {
				s.Shared = map[string]planner.SharedQueue{}
			}
			q := s.Shared[rest]
			q.DeclaredBy = append(q.DeclaredBy, "other"+strings.Repeat("s", len(q.DeclaredBy)))
			s.Shared[rest] = q
		case "target":
			o.Targets = append(o.Targets, anyAddr(t, rest))
		case "exclude":
			o.Exclude = append(o.Exclude, anyAddr(t, rest))
		case "replace":
			o.Replace = append(o.Replace, anyAddr(t, rest))
		default:
			t.Fatalf("%q is no option", line)
		}
	}
	file := filepath.Join(folder, "after.hcl")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		file = filepath.Join(folder, "before.hcl")
	}
	w := load(t, file)
	_, diags := planner.Make(w, s, o)
	return diags, w
}

// anyAddr reads the address of a job or of a module, as options of the command line have it.
func anyAddr(t *testing.T, text string) config.Addr {
	t.Helper()
	a, err := config.ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestInvalid makes plans that are refused, or warned of, and compares what is said with diagnostics.txt of the folder.
func TestInvalid(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/invalid/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no folders in testdata/invalid: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			diags, w := refuse(t, folder)
			var b bytes.Buffer
			if err := hcl.NewDiagnosticTextWriter(&b, w.Sources, 100, false).WriteDiagnostics(diags); err != nil {
				t.Fatal(err)
			}
			if len(diags) == 0 || strings.Contains(b.String(), "s3cret") {
				t.Errorf("nothing is said, or too much:\n%s", b.String())
			}
			compareGolden(t, filepath.Join(folder, "diagnostics.txt"), b.Bytes())
		})
	}
}

// site is a place in the code that makes a diagnostic: its summary, and the longest part of its detail that is always the same.
type site struct{ place, summary, part string }

var verbs = regexp.MustCompile(`%(\[\d+\])?[a-z]`)

// constant is the longest part of a text or format that is written out, in an expression.
func constant(e ast.Expr) (longest string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			for _, part := range verbs.Split(text, -1) {
				if len(part) > len(longest) {
					longest = part
				}
			}
		}
		return true
	})
	return longest
}

// sites finds what the code of the package says.
func sites(t *testing.T) (list []site) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s := site{}
			switch n := n.(type) {
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					pair, ok := e.(*ast.KeyValueExpr)
					if !ok {
						return true
					}
					if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Summary" {
						s.summary = constant(pair.Value)
					} else if ok && key.Name == "Detail" {
						s.part = constant(pair.Value)
					}
				}
			case *ast.AssignStmt:
				if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "Summary" {
					s.summary = constant(n.Rhs[0])
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "unknown" {
					s.summary = constant(n.Args[0])
				}
			}
			if s.summary != "" {
				s.place = set.Position(n.Pos()).String()
				list = append(list, s)
			}
			return true
		})
	}
	if len(list) < 20 {
		t.Fatalf("only %d places found", len(list))
	}
	return list
}

// TestEverySiteIsProvoked fails on a diagnostic of the code that no folder of testdata/invalid provokes: nobody has read it as a
// user does. Add a folder.
func TestEverySiteIsProvoked(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/invalid/*")
	if err != nil {
		t.Fatal(err)
	}
	var all hcl.Diagnostics
	for _, folder := range folders {
		diags, _ := refuse(t, folder)
		all = append(all, diags...)
	}
	for _, s := range sites(t) {
		seen := slices.ContainsFunc(all, func(d *hcl.Diagnostic) bool { return d.Summary == s.summary && strings.Contains(d.Detail, s.part) })
		_, excused := unreachable[s.summary+"|"]
		if !seen && !excused {
			t.Errorf("%s: no folder of testdata/invalid provokes %q: %q", s.place, s.summary, s.part)
		}
		if seen && excused {
			t.Errorf("%s: %q is provoked after all: take it off the list", s.place, s.summary)
		}
	}
}
