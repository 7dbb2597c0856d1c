package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

// expectation is a diagnostic written into a file of testdata, on the guilty line:
//
//	timeout = "soon" # ERROR: Invalid duration | such as "90s"
//
// The detail has to hold what stands behind the bar. Several on a line are separated by ||. Where no comment can stand, it
// is written elsewhere as ERROR@LINE or ERROR@FILE:LINE.
type expectation struct {
	severity, summary, fragment string
	file                        string
	line                        int
}

var expectations = regexp.MustCompile(`(?:#|//|"//": ") ?(ERROR|WARNING)(?:@([^|]*?))?: (.*)`)

// readCase reads what a file, or the files of a directory, expects, and the options to load it with: lines such as
//
//	#! var day=2026-11-20
func readCase(t *testing.T, path string) (want []expectation, o Options) {
	t.Helper()
	o = Options{Paths: []string{path}, NeedVariables: true}
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		for _, depth := range []string{"*", "*/*", "*/*/*"} { // its modules too
			more, _ := filepath.Glob(filepath.Join(path, depth))
			files = append(files, more...)
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if info, statErr := os.Stat(file); statErr == nil && info.IsDir() {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if option, ok := strings.CutPrefix(line, "#! "); ok {
				o.set(t, option)
			}
			m := expectations.FindStringSubmatch(line)
			if m == nil || file != path && strings.HasSuffix(file, ".json") {
				continue
			}
			for _, text := range strings.Split(m[1]+"@"+m[2]+": "+m[3], " || ") {
				want = append(want, parseExpectation(t, text, file, i+1))
			}
		}
	}
	return want, o
}

func parseExpectation(t *testing.T, text, file string, line int) expectation {
	t.Helper()
	head, rest, _ := strings.Cut(text, ": ")
	severity, place, _ := strings.Cut(head, "@")
	summary, fragment, _ := strings.Cut(strings.TrimRight(rest, "\r"), " | ")
	fragment, _, _ = strings.Cut(fragment, "\r")
	if place != "" {
		name, number, ok := strings.Cut(place, ":")
		if !ok {
			name, number = filepath.Base(file), place
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s:%d: %q is no place", file, line, place)
		}
		return expectation{severity, summary, fragment, name, n}
	}
	return expectation{severity, summary, fragment, filepath.Base(file), line}
}

func (o *Options) set(t *testing.T, option string) {
	t.Helper()
	name, value, _ := strings.Cut(option, " ")
	switch name {
	case "var":
		o.Vars = append(o.Vars, VarSource{Assign: value})
	case "var-file":
		o.Vars = append(o.Vars, VarSource{File: value})
	case "env":
		o.Environ = append(o.Environ, value)
	case "version":
		o.Version = value
	case "optional":
		o.NeedVariables = false
	case "quick":
		o.Quick = true
	default:
		t.Fatalf("no option %q", option)
	}
}

func cases(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || !info.IsDir() && !strings.HasSuffix(name, ".hcl")
	})
}

// TestInvalid loads every wrong configuration and compares all that is reported with what its lines expect.
func TestInvalid(t *testing.T) {
	t.Parallel()
	for _, path := range cases(t, "testdata/invalid") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".hcl"), func(t *testing.T) {
			t.Parallel()
			want, o := readCase(t, path)
			w, diags := Load(o)
			compareDiagnostics(t, want, diags)
			checkDiagnostics(t, diags)
			checkRendering(t, w, diags)
		})
	}
}

func compareDiagnostics(t *testing.T, want []expectation, diags hcl.Diagnostics) {
	t.Helper()
	if len(want) == 0 {
		t.Error("nothing is expected")
	}
	for _, d := range diags {
		severity := map[hcl.DiagnosticSeverity]string{hcl.DiagError: "ERROR", hcl.DiagWarning: "WARNING"}[d.Severity]
		i := slices.IndexFunc(want, func(e expectation) bool {
			return e.severity == severity && e.summary == d.Summary && strings.Contains(strings.ReplaceAll(d.Detail, "\n\n", " "), e.fragment) &&
				e.line == d.Subject.Start.Line && e.file == filepath.Base(d.Subject.Filename)
		})
		if i < 0 {
			t.Errorf("not expected: %s:%d: %s: %s | %s", filepath.Base(d.Subject.Filename), d.Subject.Start.Line, severity, d.Summary, d.Detail)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	for _, e := range want {
		t.Errorf("missing: %s:%d: %s: %s | %s", e.file, e.line, e.severity, e.summary, e.fragment)
	}
}

// checkDiagnostics checks what holds for every diagnostic: a place, an order, sentences.
func checkDiagnostics(t *testing.T, diags hcl.Diagnostics) {
	t.Helper()
	for i, d := range diags {
		switch {
		case d.Subject == nil || d.Subject.Filename == "" || d.Subject.Start.Line < 1:
			t.Errorf("%s has no place", d.Summary)
			continue
		case d.Detail == "" || strings.HasSuffix(d.Summary, ".") || d.Detail != strings.TrimSpace(d.Detail):
			t.Errorf("%s: the detail %q is no sentence", d.Summary, d.Detail)
		case i > 0 && fmt.Sprint(diags[i-1].Subject.Filename) > d.Subject.Filename:
			t.Errorf("%s is out of order", d.Summary)
		}
		if strings.Contains(d.Detail, "s3cret") {
			t.Errorf("%s shows a sensitive value: %s", d.Summary, d.Detail)
		}
	}
}

// checkRendering shows the diagnostics as the command does: that must work for each, and show no secret.
func checkRendering(t *testing.T, w *Workflow, diags hcl.Diagnostics) {
	t.Helper()
	var b strings.Builder
	if err := hcl.NewDiagnosticTextWriter(&b, w.Sources, 100, false).WriteDiagnostics(diags); err != nil {
		t.Error(err)
	}
	if strings.Contains(b.String(), "s3cret") {
		t.Errorf("a sensitive value is shown:\n%s", b.String())
	}
}

// TestInvalidIsDeterministic loads the cases with the most mistakes again and again.
func TestInvalidIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"many_mistakes_at_once", "one_mistake_in_many_instances", "unclosed_block"} {
		_, o := readCase(t, "testdata/invalid/"+name+".hcl")
		_, first := Load(o)
		for range 20 {
			if _, again := Load(o); cmp.Diff(texts(first), texts(again)) != "" {
				t.Fatalf("%s: %s", name, cmp.Diff(texts(first), texts(again)))
			}
		}
	}
}

func texts(diags hcl.Diagnostics) []string {
	var list []string
	for _, d := range diags {
		list = append(list, d.Error())
	}
	return list
}
