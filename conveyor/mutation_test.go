package conveyor

import (
	"fmt"
	"os"
	"path"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// EnvMutation, set to "<file>=<path>" for a run of the test binary, or to several of them with commas between, has every script
// use the text at path instead of that of the embedded file. TestMutants runs the tests so.
const EnvMutation = "WAYBILL_TEST_MUTATION"

// EnvMutationCPU is how many milliseconds of processor time that run may use. The time of day would be no measure on a busy
// machine.
const EnvMutationCPU = "WAYBILL_TEST_MUTATION_CPU"

// EnvMarks is a file for the marks that the scripts of that run come by: as the test that opened the store and the
// mark, with a tab between.
const EnvMarks = "WAYBILL_TEST_MARKS"

// MarkSign begins the text of a mark, which a script has the server echo.
const MarkSign = "mark "

// mutantMemory is what a process with a mutation may use, in bytes: one that never ends tends to fill the memory first.
const mutantMemory = 3 << 30

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
	for one := range strings.SplitSeq(mutation, ",") {
		file, changed, _ := strings.Cut(one, "=")
		text, err := os.ReadFile(changed)
		if err == nil {
			err = mutate(file, string(text))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if os.Getenv(EnvMarks) != "" {
		redistest.Watch = marks.see
		if err := compiles(); err != nil { // tests with workers would wait for them for ever
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	go bound()
}

// marks are those that this run came by.
var marks = marksSeen{seen: map[[2]string]bool{}}

type marksSeen struct {
	mu   sync.Mutex
	seen map[[2]string]bool // by test and mark
}

func (m *marksSeen) see(test, command string, args []string) {
	if command != "ECHO" || len(args) != 1 || !strings.HasPrefix(args[0], MarkSign) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[[2]string{test, args[0]}] = true
}

// WriteMarks writes the marks that were seen to their file, when there is one.
func WriteMarks() error {
	file := os.Getenv(EnvMarks)
	if file == "" {
		return nil
	}
	marks.mu.Lock()
	defer marks.mu.Unlock()
	var b strings.Builder
	for m := range marks.seen {
		fmt.Fprintf(&b, "%s\t%s\n", m[0], strings.TrimPrefix(m[1], MarkSign))
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// compiles tells whether the embedded store takes all scripts.
func compiles() error {
	for _, s := range scriptList {
		if err := compile(s.name, s.content().text); err != nil {
			return err
		}
	}
	return nil
}

// mutate replaces a file in the texts of the scripts that have it.
func mutate(file, text string) error {
	before, users := readLua, 0
	readLua = func(name string) string {
		if name == file {
			return text
		}
		return before(name)
	}
	for _, s := range scripts {
		if slices.Contains(s.files(), file) {
			users++
			*s.luaText = luaText{name: s.luaText.name, pieces: s.pieces}
		}
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
		if metrics.Read(heap); limit > 0 && heap[0].Value.Uint64() > mutantMemory { // all tests at once, without a mistake, may need more
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
			used := false
			for _, s := range scripts {
				used = used || slices.Contains(s.files(), path.Join(dir, e.Name()))
			}
			if name := strings.TrimSuffix(e.Name(), ".lua"); !used || dir == "lua" && scripts[name] == nil {
				t.Errorf("%s/%s is in no script of the table in this file", dir, e.Name())
			}
		}
	}
}
