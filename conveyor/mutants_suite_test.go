package conveyor_test

import (
	"bufio"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
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

// phase is some of the conformance tests, and what they take when nothing is wrong.
type phase struct {
	tests     []string
	processor time.Duration
	took      time.Duration
}

// suite is the conformance tests in the order in which they are asked: first those that are quick, then those that use the
// processor for long, then those with workers, which wait for what a mistake may keep from coming.
type suite struct {
	binary string
	phases []phase

	mu    sync.Mutex
	kills map[string]int // by test
}

// measureSuite runs the tests once without a mistake.
func measureSuite(t *testing.T) *suite {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{binary: binary, phases: make([]phase, 3), kills: map[string]int{}}
	patient := conformanceTests(t, "onBothStores", "work", "NewWorker")
	engine := conformanceTests(t, "onBoth", "stores")
	engine = slices.DeleteFunc(engine, func(name string) bool { return slices.Contains(patient, name) })
	var all phase
	out := s.measure(t, &all, engine)
	took, sum := map[string]float64{}, 0.0 // by test: a test that runs its subtests in parallel takes no time of its own
	passed := regexp.MustCompile(`(?m)^    --- PASS: (\w+)/\S+ \(([0-9.]+)s\)`)
	for _, m := range passed.FindAllStringSubmatch(out, -1) {
		seconds, _ := strconv.ParseFloat(m[2], 64)
		took[m[1]] += seconds
		sum += seconds
	}
	for _, name := range engine {
		p := &s.phases[0]
		if took[name] > sum/50 {
			p = &s.phases[1]
		}
		p.tests = append(p.tests, name)
	}
	s.phases[2].tests = patient
	for i := range s.phases {
		s.measure(t, &s.phases[i], s.phases[i].tests)
		t.Logf("phase %d: %d tests take %v, %v of the processor", i, len(s.phases[i].tests), s.phases[i].took, s.phases[i].processor)
	}
	return s
}

func (s *suite) measure(t *testing.T, p *phase, tests []string) string {
	t.Helper()
	began := time.Now()
	cmd := s.command(t.Context(), tests, "", 0)
	out, err := cmd.CombinedOutput()
	for range 2 { // on a busy machine those that wait may fail by chance
		if err == nil {
			break
		}
		cmd = s.command(t.Context(), tests, "", 0)
		out, err = cmd.CombinedOutput()
	}
	if err != nil {
		t.Fatalf("the tests fail without any mistake: %v\n%s", err, out)
	}
	p.tests, p.took = tests, time.Since(began)
	p.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return string(out)
}

// command runs some tests with a mutation, on the embedded store's server only.
func (s *suite) command(ctx context.Context, tests []string, mutation string, processor time.Duration) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary, "-test.run=^("+strings.Join(tests, "|")+")$", "-test.v", "-test.failfast", "-test.parallel=4")
	cmd.Env = append(os.Environ(), envStore+"=miniredis", "GOMAXPROCS=2",
		conveyor.EnvMutation+"="+mutation, conveyor.EnvMutationCPU+"="+strconv.FormatInt(processor.Milliseconds(), 10))
	cmd.WaitDelay = time.Second
	return cmd
}

// sharpest are the few quick tests that noticed most so far: they go first.
func (s *suite) sharpest() phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.phases[0]
	p.tests = slices.Clone(p.tests)
	slices.SortStableFunc(p.tests, func(a, b string) int { return s.kills[b] - s.kills[a] })
	p.tests = p.tests[:min(8, len(p.tests))]
	return p
}

// try makes one mistake and returns what noticed it, "" when nothing did.
func (s *suite) try(t *testing.T, m mutant.Mutant, texts map[string]string) string {
	file, _, _ := strings.Cut(m.ID, ":")
	changed := filepath.Join(t.TempDir(), "mutant.lua")
	if err := os.WriteFile(changed, []byte(m.Apply(texts[file])), 0o600); err != nil {
		t.Error(err)
		return ""
	}
	for i, p := range append([]phase{s.sharpest()}, s.phases...) {
		by := s.fails(t, &p, file+"="+changed)
		if by != "" && i == len(s.phases) {
			by = s.fails(t, &p, file+"="+changed) // those that wait may fail by chance
		}
		if by != "" {
			name, _, _ := strings.Cut(strings.Fields(by)[0], "/")
			s.mu.Lock()
			s.kills[name]++
			s.mu.Unlock()
			return by
		}
	}
	return ""
}

// fails returns the first test that fails, or why none could. A run that uses four times the processor, or twenty times the
// time, that it should hangs.
func (s *suite) fails(t *testing.T, p *phase, mutation string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 20*p.took+20*time.Second)
	defer cancel()
	cmd := s.command(ctx, p.tests, mutation, 4*p.processor+2*time.Second)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return ""
	}
	by, lines := "", bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "--- FAIL: "); ok {
			by = name
			cancel()
			break
		}
	}
	err = cmd.Wait()
	switch {
	case by != "":
		return by
	case ctx.Err() != nil:
		return "the time limit"
	case err != nil:
		return err.Error()
	}
	return ""
}

// conformanceTests are the tests that use one of these names, to run on both stores. Those that draw what they do are left out:
// they would not find the same each time.
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
