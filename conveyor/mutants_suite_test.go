package conveyor_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/mutant"
)

// suite is the conformance tests, and which of them come by each mutant. A test is what opens a store of its own, mostly a
// subtest.
type suite struct {
	binary    string
	tests     []string                 // the functions
	patient   map[string]bool          // those with workers, which wait for what a mistake may keep from coming
	took      map[string]time.Duration // by test, when all run at once
	processor time.Duration            // of all tests
	reach     map[string][]string      // the tests that come by a mutant, by its key

	mu    sync.Mutex
	kills map[string]int // by test
}

// measureSuite runs the tests once without a mistake, with marks at these mutants.
func measureSuite(t *testing.T, chosen []mutant.Mutant, texts map[string]string) *suite {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{binary: binary, took: map[string]time.Duration{}, patient: map[string]bool{}, reach: map[string][]string{}, kills: map[string]int{}}
	for _, name := range conformanceTests(t, "onBothStores", "work", "NewWorker") {
		s.patient[name] = true
	}
	s.tests = append(conformanceTests(t, "onBoth", "stores", "onBothStores", "work", "NewWorker"), "TestHistories")
	byFile := map[string][]mutant.Mutant{}
	for _, m := range chosen {
		file, _, _ := strings.Cut(m.ID, ":")
		byFile[file] = append(byFile[file], m)
	}
	dir := t.TempDir()
	var marked []string
	for file, found := range byFile {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(path, []byte(mutant.Mark(texts[file], conveyor.MarkSign+file+":", found)), 0o600); err != nil {
			t.Fatal(err)
		}
		marked = append(marked, file+"="+path)
	}
	if len(marked) == 0 {
		return s
	}
	tests := s.tests
	for try := 1; ; try++ {
		cmd := s.command(t.Context(), tests, strings.Join(marked, ","), 0)
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "-test.failfast" })
		cmd.Env = append(cmd.Env, conveyor.EnvMarks+"="+filepath.Join(dir, "marks"))
		out, err := cmd.CombinedOutput()
		s.processor += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		failed := failures.FindAllSubmatch(out, -1)
		if err != nil && (len(failed) == 0 || try == 3) {
			t.Fatalf("the tests fail without any mistake: %v\n%s", err, out)
		}
		s.marks(t, filepath.Join(dir, "marks"), string(out), byFile)
		if err == nil {
			return s
		}
		tests = nil // on a busy machine those that wait may fail by chance: once more
		for _, m := range failed {
			tests = append(tests, string(m[1]))
		}
	}
}

var failures = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// marks reads which tests came by which mutants.
func (s *suite) marks(t *testing.T, path, out string, byFile map[string][]mutant.Mutant) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		test, at, _ := strings.Cut(strings.TrimSpace(line), "\t")
		file, number, _ := strings.Cut(at, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n >= len(byFile[file]) {
			t.Fatalf("%q is not a test and a mark", line)
		}
		key := keyOf(byFile[file][n])
		s.reach[key] = append(s.reach[key], test)
		s.took[test] += 0
	}
	// A test that runs its subtests in parallel takes no time of its own.
	deep := map[[2]string]time.Duration{} // by test, and by how deep its subtests are
	for _, m := range passed.FindAllStringSubmatch(out, -1) {
		seconds, _ := strconv.ParseFloat(m[3], 64)
		for test := m[2]; test != ""; test = test[:max(strings.LastIndexByte(test, '/'), 0)] {
			if before, known := s.took[test]; known {
				level := [2]string{test, m[1]}
				deep[level] += time.Duration(seconds * float64(time.Second))
				s.took[test] = max(before, deep[level])
			}
		}
	}
}

var passed = regexp.MustCompile(`(?m)^( *)--- PASS: (\S+) \(([0-9.]+)s\)`)

// command runs some tests with a mutation, on the embedded store's server only.
func (s *suite) command(ctx context.Context, tests []string, mutation string, processor time.Duration) *exec.Cmd {
	patterns := make([]string, len(tests))
	for i, test := range tests {
		patterns[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
	}
	cmd := exec.CommandContext(ctx, s.binary, "-test.run="+strings.Join(patterns, "|"), "-test.v", "-test.failfast", "-test.parallel=4")
	cmd.Env = append(os.Environ(), envStore+"=miniredis", "GOMAXPROCS=2", "GOGC=400",
		conveyor.EnvMutation+"="+mutation, conveyor.EnvMutationCPU+"="+strconv.FormatInt(processor.Milliseconds(), 10))
	cmd.WaitDelay = time.Second
	return cmd
}

// rounds are the tests that come by a mutant in the order in which they are asked, each some processes one after the other:
// first few of those that noticed most so far for what they take, then the others, those that wait last.
func (s *suite) rounds(m mutant.Mutant) [2][][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	worth := func(test string) float64 {
		return float64(1+s.kills[test]) / (s.took[test].Seconds() + 0.05)
	}
	tests := slices.Clone(s.reach[keyOf(m)])
	slices.Sort(tests)
	tests = slices.Compact(tests)
	slices.SortStableFunc(tests, func(a, b string) int { return cmp.Compare(worth(b), worth(a)) })
	var best, good, others, patient []string
	sum := time.Duration(0)
	for _, test := range tests {
		sum += s.took[test]
		switch {
		case s.waits(test):
			patient = append(patient, test)
			sum -= s.took[test]
		case len(best) < 6 && sum < time.Second:
			best = append(best, test)
		case len(good) < 30 && sum < 4*time.Second:
			good = append(good, test)
		default:
			others = append(others, test)
		}
	}
	none := func(tests []string) bool { return len(tests) == 0 }
	return [2][][]string{slices.DeleteFunc([][]string{best, good}, none), slices.DeleteFunc([][]string{others, patient}, none)}
}

func (s *suite) waits(test string) bool {
	name, _, _ := strings.Cut(test, "/")
	return s.patient[name]
}

// cost is how long some processes take.
func (s *suite) cost(processes [][]string) time.Duration {
	sum := time.Duration(0)
	for _, tests := range processes {
		for _, test := range tests {
			sum += s.took[test]
		}
	}
	return sum
}

// tries is try, twice for a mutant that is listed as a survivor: a test that failed by chance is no witness.
func (s *suite) tries(t *testing.T, m mutant.Mutant, texts map[string]string, processes [][]string, listed map[string]listedMutant) string {
	by := s.try(t, m, texts, processes)
	if _, yes := listed[keyOf(m)]; yes && by != "" {
		by = s.try(t, m, texts, processes)
	}
	return by
}

// try makes one mistake in some processes of tests and returns what noticed it, "" when nothing did.
func (s *suite) try(t *testing.T, m mutant.Mutant, texts map[string]string, processes [][]string) string {
	file, _, _ := strings.Cut(m.ID, ":")
	changed := filepath.Join(t.TempDir(), "mutant.lua")
	if err := os.WriteFile(changed, []byte(m.Apply(texts[file])), 0o600); err != nil {
		t.Error(err)
		return ""
	}
	for _, tests := range processes {
		by := s.fails(t, tests, file+"="+changed, 1)
		if by != "" && (s.waits(tests[0]) || !strings.HasPrefix(by, "Test")) {
			by = s.fails(t, tests, file+"="+changed, 2) // a busy machine may have been to blame
		}
		if by != "" {
			return by
		}
	}
	return ""
}

// fails returns the first test that fails, or why none could. A run that uses four times the processor, or twenty times the
// time, that it should hangs.
func (s *suite) fails(t *testing.T, tests []string, mutation string, patience time.Duration) string {
	took := s.cost([][]string{tests})
	ctx, cancel := context.WithTimeout(t.Context(), patience*(20*took+20*time.Second))
	defer cancel()
	cmd := s.command(ctx, tests, mutation, patience*(4*min(took, s.processor)+2*time.Second))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return ""
	}
	by := s.firstFailure(out)
	late := ctx.Err() != nil
	if by != "" {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case by != "":
		return by
	case late:
		return "the time limit"
	case err != nil:
		return err.Error()
	}
	return ""
}

// firstFailure reads the output of tests up to the first that fails, and counts that for the subtest.
func (s *suite) firstFailure(out io.Reader) string {
	by, lines := "", bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, failed := strings.CutPrefix(strings.TrimSpace(lines.Text()), "--- FAIL: ")
		if !failed && by != "" {
			break
		}
		if failed {
			by = cmp.Or(by, name) // its subtests follow
			test, _, _ := strings.Cut(name, " ")
			s.mu.Lock()
			s.kills[test]++
			s.mu.Unlock()
		}
	}
	return by
}

// String tells what measuring found.
func (s *suite) String() string {
	return fmt.Sprintf("%d tests use %v of the processor; they come by %d of these", len(s.took), s.processor.Round(time.Millisecond), len(s.reach))
}

// conformanceTests are the tests that use one of these names, to run on both stores. Those that draw what they do are left out:
// they would not find the same each time; TestHistories does.
func conformanceTests(t *testing.T, runners ...string) []string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") && uses(d, runners) && !uses(d, []string{"rapid"}) {
				names = append(names, d.Name.Name)
			}
		}
	}
	return names
}

// uses tells whether one of these names stands in a test.
func uses(test *ast.FuncDecl, names []string) bool {
	found := false
	ast.Inspect(test, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && slices.Contains(names, name.Name) {
			found = true
		}
		return !found
	})
	return found
}
