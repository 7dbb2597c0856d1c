package config

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

func init() { traced = true }

// unreachable are the calls that report what no configuration provokes, by their text, and why.
var unreachable = map[string]string{
	"This schedule cannot be read: %v. Please report this, it is a defect of Waybill.":                             "package schedule gives every mistake as its own Error",
	"%q has the value that it had in this revision; -var gives what is not kept there, which is sensitive values.": "of a load from an archive: TestArchive provokes it",
	"Nothing is known of what this rule is made from. Please report this, it is a defect of Waybill.":              "all of a plan is known, and all functions know their results",
	"The file cannot be compiled: %s. Please report this, it is a defect of Waybill or of a library it uses.":      "the compiler does not fail on any file that is known",
	"Payload cannot be written as a %s: %v. Please report this, it is a defect of Waybill.":                        "all that a message was made of can be written",
	"%s.": "of listDirectory: the directory was there and readable a moment ago",
}

// site is a call in the code that makes a diagnostic.
type site struct {
	file        string
	first, last int // lines of the call
	function    string
	text        string // what it says, to find it by
}

func (s site) has(file string, line int) bool {
	return s.file == file && s.first <= line && line <= s.last
}

// sitesOf finds the calls of error, warn and refuted in the code of the package.
func sitesOf(t *testing.T) []site {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sites []site
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) < 3 {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if ok && slices.Contains([]string{"error", "warn", "refuted"}, sel.Sel.Name) {
					s := site{file: name, first: set.Position(call.Pos()).Line, last: set.Position(call.End()).Line, function: f.Name.Name}
					for _, arg := range call.Args {
						ast.Inspect(arg, func(n ast.Node) bool {
							if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && s.text == "" {
								s.text, _ = strconv.Unquote(lit.Value)
							}
							return true
						})
					}
					sites = append(sites, s)
				}
				return true
			})
		}
	}
	if len(sites) < 200 {
		t.Fatalf("only %d calls found", len(sites))
	}
	return sites
}

// provoked loads everything wrong that the tests know, and gives what is said about it.
func provoked(t *testing.T) (all hcl.Diagnostics) {
	t.Helper()
	for _, path := range cases(t, "testdata/invalid") {
		_, o := readCase(t, path)
		_, diags := Load(o)
		all = append(all, diags...)
	}
	for _, path := range cases(t, "testdata/policy/invalid") {
		_, diags := LoadPolicy([]string{path})
		all = append(all, diags...)
	}
	for _, h := range hostileFiles {
		said, known := hostileSaid[h.name]
		if !known {
			_, diags := loadText(t, h.text())
			said = origins(diags)
		}
		all = append(all, said...)
	}
	for _, paths := range wrongPaths(t) {
		_, diags := Load(Options{Paths: paths})
		all = append(all, diags...)
	}
	_, diags := Format(make([]byte, maxFile+1), "main.hcl")
	all = append(append(all, diags...), crashed()...)
	c := openConsole(t)
	for _, row := range consoleMistakes {
		_, diags, _ := c.Evaluate(row.text)
		all = append(all, diags...)
	}
	return all
}

// wrongPaths are arguments that name no workflow.
func wrongPaths(t *testing.T) [][]string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	a, vars := write("a.hcl"), write("x.wbvars")
	pipe := t.TempDir()
	if err := os.Symlink(os.DevNull, filepath.Join(pipe, "main.hcl")); err != nil {
		t.Fatal(err)
	}
	crowd := t.TempDir()
	for i := range maxFiles + 1 {
		if err := os.Symlink(a, filepath.Join(crowd, fmt.Sprintf("%05d.hcl", i))); err != nil {
			t.Fatal(err)
		}
	}
	library := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), bytes.Repeat([]byte("# "+strings.Repeat("x", 1021)+"\n"), maxFile>>10), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range maxTotal/maxFile + 1 {
		if err := os.Symlink(filepath.Join(dir, "large.txt"), filepath.Join(library, fmt.Sprintf("%d.hcl", i))); err != nil {
			t.Fatal(err)
		}
	}
	return [][]string{{library}, {"nowhere"}, {a, filepath.Join(dir, "b.hcl")}, {t.TempDir()}, {t.TempDir(), t.TempDir()}, {a, filepath.Join(t.TempDir(), "a.hcl")},
		{a, "testdata/valid/minimal.hcl"}, {vars}, {""}, {pipe}, {crowd}, {hugeFile(t)}}
}

// TestEverySiteIsProvoked fails on a call that reports something which no file of testdata/invalid provokes, nor, where none
// can, a hostile file or a wrong path. Such a mistake was never read by anybody as a user reads it. Add a file that makes it.
func TestEverySiteIsProvoked(t *testing.T) {
	t.Parallel()
	sites := sitesOf(t)
	seen := map[int]bool{}
	for _, d := range provoked(t) {
		o, ok := d.Extra.(origin)
		if !ok {
			continue // of hcl
		}
		file, number, _ := strings.Cut(o.site, ":")
		var line int
		if _, err := fmt.Sscan(number, &line); err != nil {
			t.Fatalf("%s: %q is no place in the code", d.Summary, o.site)
		}
		i := slices.IndexFunc(sites, func(s site) bool { return s.has(file, line) })
		if i < 0 {
			t.Errorf("%s is reported at %s, where no call was found", d.Summary, o.site)
			continue
		}
		seen[i] = true
	}
	excused := maps.Clone(unreachable)
	for i, s := range sites {
		_, known := unreachable[s.text]
		known = known && !seen[i]
		if known {
			delete(excused, s.text)
		}
		if !seen[i] && !known {
			t.Errorf("%s:%d, in %s: no file of testdata/invalid provokes %.120q", s.file, s.first, s.function, s.text)
		}
	}
	for text := range excused {
		t.Errorf("%q is provoked after all, or gone: take it off the list", text)
	}
}
