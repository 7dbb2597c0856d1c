package conveyor_test

import (
	"bufio"
	"context"
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
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/mutant"
)

var (
	mutants = flag.String("mutants", "", "try mutants of the scripts: new (those not known yet, and the survivors), "+
		"how many known ones to draw, or a regular expression of ids")
	mutantsSeed = flag.Uint64("mutants.seed", 0, "draw the mutants that this seed gave")
)

// The known mutants: those that no test can notice, as id, line and reason, and those that were noticed, as id, line and the test
// that did, with tabs between. What is in neither list was not tried yet. `make mutate` tries it, and the survivors: it fails on
// one that is not listed and on a listed one that is noticed now, and adds to the other list. To try all anew, delete that.
const (
	survivorsFile = "testdata/survivors.tsv"
	noticedFile   = "testdata/noticed.tsv"
)

// findMutants returns the mutants of all scripts, and the texts of these by file.
func findMutants(t *testing.T) ([]mutant.Mutant, map[string]string) {
	t.Helper()
	var all []mutant.Mutant
	texts := map[string]string{}
	for _, pattern := range []string{"lua/*.lua", "lua/lib/*.lua"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found, err := mutant.Find(filepath.ToSlash(file), string(text))
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.ToSlash(file)] = string(text)
			all = append(all, found...)
		}
	}
	return all, texts
}

// listedMutant is one line of the list.
type listedMutant struct{ id, text, reason string }

func readSurvivors(t *testing.T) map[string]listedMutant {
	t.Helper()
	text, err := os.ReadFile(survivorsFile)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]listedMutant{}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			t.Errorf("%s: %q is not id, line and reason", survivorsFile, line)
			continue
		}
		s := listedMutant{parts[0], parts[1], parts[2]}
		if _, twice := list[s.key()]; twice {
			t.Errorf("%s: %s is listed twice", survivorsFile, s.id)
		}
		list[s.key()] = s
	}
	return list
}

func (s listedMutant) key() string { return s.id + "\t" + s.text }

func keyOf(m mutant.Mutant) string { return m.ID + "\t" + m.Text }

// Every listed survivor is a mutant of the scripts as they are.
func TestSurvivorsExist(t *testing.T) {
	t.Parallel()
	left := readSurvivors(t)
	all, _ := findMutants(t)
	for _, m := range all {
		delete(left, keyOf(m))
	}
	for _, s := range left {
		t.Errorf("%s lists %s of the line %q, which is not there any more: take it out, and run `make mutate`", survivorsFile, s.id, s.text)
	}
	known := readDead(t)
	for key := range readSurvivors(t) {
		known[key] = true
	}
	t.Logf("%d of %d mutants are known", len(slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return !known.has(m) })), len(all))
}

// TestMutants makes each of the chosen mistakes and runs the conformance tests on the embedded store's server: some test must
// fail, or the mistake is listed as one that cannot be noticed.
func TestMutants(t *testing.T) {
	t.Parallel()
	if *mutants == "" {
		return
	}
	all, texts := findMutants(t)
	listed := readSurvivors(t)
	dead := readDead(t)
	chosen := choose(t, all, listed, dead)
	s := measureSuite(t)
	t.Logf("%d of %d mutants", len(chosen), len(all))

	var mu sync.Mutex
	survived, done := 0, 0
	queue := make(chan mutant.Mutant)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for m := range queue {
				by := s.try(t, m, texts)
				if _, yes := listed[keyOf(m)]; yes && by != "" {
					by = s.try(t, m, texts) // a test that failed by chance is no witness
				}
				mu.Lock()
				done++
				if by == "" {
					survived++
				} else {
					dead.add(t, m, by)
				}
				switch _, yes := listed[keyOf(m)]; {
				case by == "" && !yes:
					t.Errorf("survived: %s\t%s\tline %d", m.ID, m.Text, m.Line)
				case by != "" && yes:
					t.Errorf("%s is listed as a survivor, but %s notices it: take it off %s", m.ID, by, survivorsFile)
				}
				if done%100 == 0 {
					t.Logf("%d tried, %d survived", done, survived)
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range chosen {
		queue <- m
	}
	close(queue)
	wg.Wait()
	t.Logf("%d tried, %d survived", done, survived)
}

// choose returns the mutants that the flag asks for.
func choose(t *testing.T, all []mutant.Mutant, listed map[string]listedMutant, dead graveyard) []mutant.Mutant {
	t.Helper()
	if *mutants == "new" {
		return slices.DeleteFunc(slices.Clone(all), dead.has)
	}
	if n, err := strconv.Atoi(*mutants); err == nil {
		seed := *mutantsSeed
		if seed == 0 {
			seed = rand.Uint64()
		}
		t.Logf("to try the same again: -mutants=%d -mutants.seed=%d", n, seed)
		all = slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return listed[keyOf(m)].id == "" && !dead.has(m) })
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:min(n, len(all))]
	}
	wanted, err := regexp.Compile(*mutants)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return !wanted.MatchString(m.ID) })
}

// graveyard is the list of mutants that were noticed.
type graveyard map[string]bool

func readDead(t *testing.T) graveyard {
	t.Helper()
	g := graveyard{}
	text, err := os.ReadFile(noticedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(line, "\t", 3); len(parts) == 3 {
			g[parts[0]+"\t"+parts[1]] = true
		}
	}
	return g
}

func (g graveyard) has(m mutant.Mutant) bool { return g[keyOf(m)] }

func (g graveyard) add(t *testing.T, m mutant.Mutant, by string) {
	t.Helper()
	if g.has(m) {
		return
	}
	f, err := os.OpenFile(noticedFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	_, err = fmt.Fprintf(f, "%s\t%s\n", keyOf(m), by)
	if e := f.Close(); err != nil || e != nil {
		t.Error(err, e)
	}
}

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
