package conveyor

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"
)

// EnvMutation, set to "<file>=<path>" for a run of the test binary, has every script use the text at path instead of that
// of the embedded file. TestMutants runs the tests so.
const EnvMutation = "WAYBILL_TEST_MUTATION"

// EnvMutationCPU is how many milliseconds of processor time that run may use. The time of day would be no measure on a busy
// machine.
const EnvMutationCPU = "WAYBILL_TEST_MUTATION_CPU"

// mutantMemory is what a process with a mutation may use, in bytes: one that never ends tends to fill the memory first.
const mutantMemory = 1 << 30

// scripts are all that are embedded, by their file.
var scripts = func() map[string]*script {
	byFile := map[string]*script{}
	for _, s := range scriptList {
		byFile[s.name] = s
	}
	return byFile
}()

func init() {
	mutation := os.Getenv(EnvMutation)
	if mutation == "" {
		return
	}
	file, changed, _ := strings.Cut(mutation, "=")
	text, err := os.ReadFile(changed)
	if err == nil {
		err = mutate(file, string(text))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	go bound()
}

// mutate replaces a file in the texts of the scripts that have it.
func mutate(file, text string) error {
	var before strings.Builder
	appendLua(&before, file)
	users := 0
	for _, s := range scripts {
		if !strings.Contains(s.text, before.String()) {
			continue
		}
		users++
		s.text = strings.Replace(s.text, before.String(), compactLua(text), 1)
		sum := sha1.Sum([]byte(s.text))
		s.sha = hex.EncodeToString(sum[:])
	}
	if users == 0 {
		return fmt.Errorf("no script has %s", file)
	}
	return nil
}

// bound ends a process that uses too much.
func bound() {
	limit, _ := strconv.ParseInt(os.Getenv(EnvMutationCPU), 10, 64)
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(50 * time.Millisecond) {
		what := ""
		if metrics.Read(heap); heap[0].Value.Uint64() > mutantMemory {
			what = "memory"
		}
		if used := processorTime(); limit > 0 && used.Milliseconds() > limit {
			what = "processor time"
		}
		if what != "" {
			fmt.Println("--- FAIL: too much " + what)
			os.Exit(2)
		}
	}
}

// Every embedded file is a script in the table above, or part of one.
func TestScriptsKnown(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"lua", "lua/lib"} {
		entries, err := luaFiles.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			var piece strings.Builder
			appendLua(&piece, path.Join(dir, e.Name()))
			used := false
			for _, s := range scripts {
				used = used || strings.Contains(s.text, piece.String())
			}
			if name := strings.TrimSuffix(e.Name(), ".lua"); !used || dir == "lua" && scripts[name] == nil {
				t.Errorf("%s/%s is in no script of the table in this file", dir, e.Name())
			}
		}
	}
}
