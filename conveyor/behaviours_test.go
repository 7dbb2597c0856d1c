package conveyor_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

var (
	behaviours = flag.String("behaviours", "", "make the mistakes of COVERAGE.md: all, how many to draw, or a regular expression of ids")
	update     = flag.Bool("update", false, "write what the tests want to see: COVERAGE.md")
)

// behaviour is a sentence of the specification's seeds, the subtest that holds the engine to it, and the proof that it does:
// a mistake that this subtest notices.
type behaviour struct {
	id   string // part, number and letter; the name of the subtest begins with it
	says string
	// The mistake: in file, relative to this package, old stands exactly once and becomes new. One in two places has both in old
	// and in new, with a zero byte between.
	file, old, new string
	// also lists the other subtests that cannot but notice it too, and because is the reason; empty when there are none.
	also, because string
}

var allBehaviours = slices.SortedFunc(slices.Values(slices.Concat(
	behavioursA,
	behavioursC,
	behavioursTask,
	behavioursCEndings,
	behavioursD,
	behavioursE,
)), func(a, b behaviour) int { return byID(a.id, b.id) })

// places are the texts to change and what they become.
func (b behaviour) places() (olds, news []string) {
	return strings.Split(b.old, "\x00"), strings.Split(b.new, "\x00")
}

// mistaken makes the mistake.
func (b behaviour) mistaken(text string) string {
	olds, news := b.places()
	for i := range olds {
		text = strings.Replace(text, olds[i], news[i], 1)
	}
	return text
}

// partsDone are the parts of which every subtest must be a row.
const partsDone = "ACDE"

// subtest is where a behaviour is tested.
type subtest struct {
	id, name, file, function string
	top                      bool // function is one that `go test` runs
}

var numberedName = regexp.MustCompile(`^([A-E]\d+[a-z]) \S`)

// numberedSubtests finds the subtests whose names begin with an id.
func numberedSubtests(t *testing.T) []subtest {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []subtest
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				name, err := strconv.Unquote(lit.Value)
				if m := numberedName.FindStringSubmatch(name); err == nil && m != nil {
					top := d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test")
					out = append(out, subtest{m[1], strings.TrimPrefix(name, m[1]+" "), file, d.Name.Name, top})
				}
				return true
			})
		}
	}
	return out
}

// TestBehaviours wants each behaviour to have one subtest and a mistake that can be made, and each numbered subtest to be that
// of a behaviour.
func TestBehaviours(t *testing.T) {
	t.Parallel()
	tests := map[string]subtest{}
	for _, s := range numberedSubtests(t) {
		if !s.top {
			t.Errorf("%s: %q stands in %s: give it to a test by name, so that it can be found", s.file, s.id+" "+s.name, s.function)
		}
		if other, twice := tests[s.id]; twice {
			t.Errorf("%s has two subtests: %q in %s and %q in %s", s.id, other.name, other.file, s.name, s.file)
		}
		tests[s.id] = s
	}
	texts := map[string]string{}
	for i, b := range allBehaviours {
		if i > 0 && !before(allBehaviours[i-1].id, b.id) {
			t.Errorf("%s stands behind %s", b.id, allBehaviours[i-1].id)
		}
		if _, ok := tests[b.id]; !ok {
			t.Errorf("%s has no subtest: name one %q", b.id, b.id+" "+b.says)
		}
		if (b.also == "") != (b.because == "") {
			t.Errorf("%s: the others that notice its mistake, and why, belong together", b.id)
		}
		if b.old == b.new || b.says == "" {
			t.Errorf("%s has no mistake, or does not say what it is", b.id)
			continue
		}
		if texts[b.file] == "" {
			text, err := os.ReadFile(b.file)
			if err != nil {
				t.Fatal(err)
			}
			texts[b.file] = string(text)
		}
		olds, news := b.places()
		if len(olds) != len(news) {
			t.Errorf("%s: %d places and %d texts", b.id, len(olds), len(news))
		}
		for _, old := range olds {
			if n := strings.Count(texts[b.file], old); n != 1 {
				t.Errorf("%s: %q stands %d times in %s, want once: choose its mistake anew and try it with `make behaviours`", b.id, old, n, b.file)
			}
		}
	}
	for id, s := range tests {
		if strings.Contains(partsDone, id[:1]) && !slices.ContainsFunc(allBehaviours, func(b behaviour) bool { return b.id == id }) {
			t.Errorf("%s: %q of %s is no row of the table of behaviours", s.file, id+" "+s.name, s.function)
		}
	}
	if t.Failed() {
		return
	}
	want := coveragePage(tests)
	if *update {
		if err := os.WriteFile("COVERAGE.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("COVERAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("COVERAGE.md is not up to date: run `go test ./conveyor -run TestBehaviours -update` (-is +should be)\n%s", diff)
	}
}

// before tells the order of ids: part, number, letter.
func before(a, b string) bool {
	number := func(id string) int {
		n, _ := strconv.Atoi(id[1 : len(id)-1])
		return n
	}
	switch na, nb := number(a), number(b); {
	case a[0] != b[0]:
		return a[0] < b[0]
	case na != nb:
		return na < nb
	}
	return a[len(a)-1] < b[len(b)-1]
}

func coveragePage(tests map[string]subtest) string {
	var b strings.Builder
	b.WriteString(`# What the engine must do, where that is tested, and what proves the test

Generated from the tables of behaviours in the tests by ` + "`go test ./conveyor -run TestBehaviours -update`" + `.

The ids are those of the specification's seeds: part, number, and a letter for each sentence; a subtest has its id in its
name. Parts: A adding, parents, heirs, scheduling; C schedules, gates, delivery, roots, sync, tasks; D life cycle, uniqueness, teams; E message queue; the subtests of part B are
those of package outbox. The last columns
hold a mistake that turns this subtest red and none of the others, or those named, for the reason given.
` + "`make behaviours`" + ` makes every one of these mistakes and wants exactly that.
`)
	part := byte(0)
	for _, r := range allBehaviours {
		if r.id[0] != part {
			part = r.id[0]
			fmt.Fprintf(&b, "\n## %c\n\n| id | behaviour | subtest | mistake | also red |\n| --- | --- | --- | --- | --- |\n", part)
		}
		s := tests[r.id]
		also := ""
		if r.also != "" {
			also = r.also + ": " + r.because
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s: %s | %s |\n", r.id, cell(r.says), s.function, r.file, mistake(r), cell(also))
	}
	return b.String()
}

// mistake shows a change of text in one line.
func mistake(b behaviour) string {
	code := func(text string) string { return "`` " + cell(strings.Join(strings.Fields(text), " ")) + " ``" }
	var all []string
	olds, news := b.places()
	for i := range olds {
		if strings.TrimSpace(news[i]) == "" {
			all = append(all, "without "+code(olds[i]))
		} else {
			all = append(all, code(olds[i])+" becomes "+code(news[i]))
		}
	}
	return strings.Join(all, " and ")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// TestBehaviourMistakes makes the chosen mistakes one at a time: of all numbered subtests those named may fail, and must.
func TestBehaviourMistakes(t *testing.T) {
	t.Parallel()
	if *behaviours == "" {
		return
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := redSubtests{tests: numberedTests(t)}
	if red := run.red(t, binary, ""); len(red) > 0 {
		t.Fatalf("without any mistake these fail: %v", red)
	}
	for _, b := range chooseBehaviours(t) {
		t.Run(b.id, func(t *testing.T) {
			text, err := os.ReadFile(b.file)
			if err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(t.TempDir(), filepath.Base(b.file))
			if err := os.WriteFile(changed, []byte(b.mistaken(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			var red []string
			if strings.HasSuffix(b.file, ".lua") {
				red = run.red(t, binary, b.file+"="+changed)
			} else {
				red = run.red(t, overlaid(t, b.file, changed), "")
			}
			want := append(strings.Fields(b.also), b.id)
			slices.SortFunc(want, byID)
			if diff := cmp.Diff(want, red); diff != "" {
				t.Errorf("red subtests (-want +got):\n%s", diff)
			}
		})
	}
}

func byID(a, b string) int {
	switch {
	case before(a, b):
		return -1
	case a == b:
		return 0
	}
	return 1
}

func chooseBehaviours(t *testing.T) []behaviour {
	t.Helper()
	if *behaviours == "all" {
		return allBehaviours
	}
	if n, err := strconv.Atoi(*behaviours); err == nil {
		out := slices.Clone(allBehaviours)
		rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out[:min(n, len(out))]
	}
	wanted, err := regexp.Compile(*behaviours)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(allBehaviours), func(b behaviour) bool { return !wanted.MatchString(b.id) })
}

// numberedTests are the tests that have subtests of behaviours.
func numberedTests(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, s := range numberedSubtests(t) {
		if !slices.Contains(names, s.function) {
			names = append(names, s.function)
		}
	}
	return names
}

// redSubtests runs the tests of behaviours and reads which fail.
type redSubtests struct{ tests []string }

var failedBehaviour = regexp.MustCompile(`--- FAIL: \S+/([A-E]\d+[a-z])_`)

func (r redSubtests) red(t *testing.T, binary, mutation string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^("+strings.Join(r.tests, "|")+")$", "-test.v")
	cmd.Env = append(os.Environ(), envStore+"=miniredis", conveyor.EnvMutation+"="+mutation)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("the tests do not end:\n%s", out[max(0, len(out)-1000):])
	}
	if strings.Contains(string(out), "\npanic: ") {
		t.Errorf("a test panics, and those behind it do not run:\n%s", out[max(0, len(out)-3000):])
	}
	var red []string
	for _, m := range failedBehaviour.FindAllStringSubmatch(string(out), -1) {
		if !slices.Contains(red, m[1]) {
			red = append(red, m[1])
		}
	}
	if err != nil && len(red) == 0 && !strings.Contains(string(out), "--- FAIL") {
		t.Errorf("the tests did not run: %v\n%s", err, out)
	}
	slices.SortFunc(red, byID)
	return red
}

// overlaid builds the test binary with another text of one file.
func overlaid(t *testing.T, file, changed string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "conveyor.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-ldflags=-s -w", "-gcflags=-N -l", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
