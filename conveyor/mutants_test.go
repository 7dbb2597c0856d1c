package conveyor_test

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/internal/mutant"
)

var (
	mutants = flag.String("mutants", "", "try mutants of the scripts: new (writes and guards not known yet, and the survivors), "+
		"open (of these, no survivors), operands (the parts of conditions not known yet), how many known ones to draw, survivors, or a regular expression of ids")
	mutantsSeed = flag.Uint64("mutants.seed", 0, "draw by this seed, not by one that the scripts themselves give")
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

// Every listed survivor is a mutant of the scripts as they are. With -update the list of those that were noticed is put in order.
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
	if *update {
		known.tidy(t, all)
	}
	for key, m := range readSurvivors(t) {
		if known[key] != "" {
			t.Errorf("%s is listed as a survivor and as noticed", m.id)
		}
		known[key] = "survived"
	}
	for kind, of := range map[string]func(mutant.Mutant) bool{
		"writes and guards": func(m mutant.Mutant) bool { return !isOperand(m) }, "operands of guards": isOperand,
	} {
		list := slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return !of(m) })
		t.Logf("%d of %d %s are known", len(list)-len(slices.DeleteFunc(slices.Clone(list), known.has)), len(list), kind)
	}
}

// TestMutants makes each of the chosen mistakes and runs the conformance tests that come by it on the embedded store's server:
// some test must fail, or the mistake is listed as one that cannot be noticed.
func TestMutants(t *testing.T) {
	t.Parallel()
	if *mutants == "" {
		return
	}
	all, texts := findMutants(t)
	listed := readSurvivors(t)
	dead := readDead(t)
	chosen := choose(t, all, listed, dead)
	if _, err := strconv.Atoi(*mutants); err == nil {
		if chosen = askWitnesses(t, chosen, texts, dead); len(chosen) == 0 {
			return
		}
	}
	s := measureSuite(t, chosen, texts)
	t.Logf("%d of %d mutants; %v", len(chosen), len(all), s)
	v := verdicts{listed: listed, dead: dead}
	chosen = slices.DeleteFunc(chosen, func(m mutant.Mutant) bool {
		if s.reach[keyOf(m)] != nil {
			return false
		}
		v.judge(t, m, "no test reaches it, or none where it matters", "")
		return true
	})
	// Most are noticed by the tests of the first round: it is made for all before the second, which takes long. Both are settled
	// beforehand: what a test noticed meanwhile must not move it from the second round to a first one that is over.
	type trial struct {
		mutant.Mutant
		rounds [2][][]string
	}
	var mu sync.Mutex
	var left []trial
	each(chosen, func(m mutant.Mutant) {
		rounds := s.rounds(m)
		by := s.tries(t, m, texts, rounds[0], listed)
		mu.Lock()
		defer mu.Unlock()
		if by == "" && len(rounds[1]) > 0 {
			left = append(left, trial{m, rounds})
			t.Logf("not noticed yet: %s\t%s\tline %d", m.ID, m.Text, m.Line)
			return
		}
		v.judge(t, m, "survived", by)
	})
	slices.SortStableFunc(left, func(a, b trial) int { return cmp.Compare(s.cost(a.rounds[1]), s.cost(b.rounds[1])) })
	each(left, func(m trial) {
		by := s.tries(t, m.Mutant, texts, m.rounds[1], listed)
		mu.Lock()
		defer mu.Unlock()
		v.judge(t, m.Mutant, "survived", by)
	})
	t.Logf("%d tried, %d survived", v.done, v.survived)
}

// askWitnesses makes each mistake for the one test that is listed to have noticed it, and returns those that it does not notice:
// another may, but which one takes a measurement of all.
func askWitnesses(t *testing.T, chosen []mutant.Mutant, texts map[string]string, dead graveyard) []mutant.Mutant {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{binary: binary, kills: map[string]int{}}
	var mu sync.Mutex
	var left []mutant.Mutant
	each(chosen, func(m mutant.Mutant) {
		witness := dead[keyOf(m)]
		file, _, _ := strings.Cut(m.ID, ":")
		changed := filepath.Join(t.TempDir(), "mutant.lua")
		if err := os.WriteFile(changed, []byte(m.Apply(texts[file])), 0o600); err != nil {
			t.Error(err)
			return
		}
		by := ""
		for try := 0; by == "" && try < 3; try++ { // some notice it by what they draw, or by the order in which Go walks a map
			by = s.fails(t, []string{witness}, file+"="+changed, 10)
		}
		t.Logf("%s\tline %d\tnoticed by: %s", m.ID, m.Line, cmp.Or(by, "not by "+witness))
		if by == "" {
			mu.Lock()
			defer mu.Unlock()
			left = append(left, m)
		}
	})
	return left
}

// each does something with each of a list, two at once.
func each[T any](list []T, do func(T)) {
	queue := make(chan T)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for one := range queue {
				do(one)
			}
		})
	}
	for _, one := range list {
		queue <- one
	}
	close(queue)
	wg.Wait()
}

// verdicts are what became of the mutants tried.
type verdicts struct {
	listed         map[string]listedMutant
	dead           graveyard
	done, survived int
}

// judge takes down that a mutant was noticed by a test, or that it survived, and how.
func (v *verdicts) judge(t *testing.T, m mutant.Mutant, how, by string) {
	t.Helper()
	v.done++
	if by == "" {
		v.survived++
	} else {
		v.dead.add(t, m, by)
	}
	switch _, yes := v.listed[keyOf(m)]; {
	case by == "" && !yes:
		t.Errorf("%s: %s\t%s\tline %d", how, m.ID, m.Text, m.Line)
	case by != "" && yes:
		t.Errorf("%s\t%s\tis listed as a survivor, but %s notices it: take it off %s", m.ID, m.Text, by, survivorsFile)
	}
	if v.done%100 == 0 {
		t.Logf("%d tried, %d survived", v.done, v.survived)
	}
}

// choose returns the mutants that the flag asks for.
func choose(t *testing.T, all []mutant.Mutant, listed map[string]listedMutant, dead graveyard) []mutant.Mutant {
	t.Helper()
	switch *mutants {
	case "new":
		return slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return dead.has(m) || isOperand(m) && listed[keyOf(m)].id == "" })
	case "open":
		return slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return dead.has(m) || isOperand(m) || listed[keyOf(m)].id != "" })
	case "survivors":
		return slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return listed[keyOf(m)].id == "" })
	case "operands":
		return slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return dead.has(m) || !isOperand(m) || listed[keyOf(m)].id != "" })
	}
	if n, err := strconv.Atoi(*mutants); err == nil {
		seed := *mutantsSeed
		if seed == 0 {
			seed = seedOf(all) // the same scripts, the same draw: a run that was green stays so
		}
		t.Logf("to try the same again: -mutants=%d -mutants.seed=%d", n, seed)
		all = slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return !strings.HasPrefix(dead[keyOf(m)], "Test") })
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:min(n, len(all))]
	}
	wanted, err := regexp.Compile(*mutants)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(all), func(m mutant.Mutant) bool { return !wanted.MatchString(m.ID) })
}

// seedOf returns a seed that changes with the scripts.
func seedOf(all []mutant.Mutant) uint64 {
	h := fnv.New64a()
	for _, m := range all {
		io.WriteString(h, keyOf(m)+"\n")
	}
	return h.Sum64()
}

// isOperand tells a mutant that leaves out one operand of a condition. They are tried after the writes and the guards: one that
// survives is often the half of a guard that the other half stands for.
func isOperand(m mutant.Mutant) bool { return strings.Contains(m.ID, ":without ") }

// graveyard is the list of mutants that were noticed, by key, and by which test.
type graveyard map[string]string

func readDead(t *testing.T) graveyard {
	t.Helper()
	g := graveyard{}
	text, err := os.ReadFile(noticedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(line, "\t", 3); len(parts) == 3 {
			g[parts[0]+"\t"+parts[1]] = strings.TrimSpace(parts[2])
		}
	}
	return g
}

// tidy writes the list in the order of the scripts, without mutants of lines that are gone.
func (g graveyard) tidy(t *testing.T, all []mutant.Mutant) {
	t.Helper()
	text, err := os.ReadFile(noticedFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(line, "\t", 3); len(parts) == 3 {
			lines[parts[0]+"\t"+parts[1]] = line
		}
	}
	var b strings.Builder
	for _, m := range all {
		b.WriteString(lines[keyOf(m)])
	}
	if err := os.WriteFile(noticedFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (g graveyard) has(m mutant.Mutant) bool { return g[keyOf(m)] != "" }

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
	name, _, _ := strings.Cut(by, " (")
	_, err = fmt.Fprintf(f, "%s\t%s\n", keyOf(m), name)
	if e := f.Close(); err != nil || e != nil {
		t.Error(err, e)
	}
}
