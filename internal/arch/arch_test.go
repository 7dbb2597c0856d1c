// Package arch keeps the architecture true: it reads the imports of every Go file of the module and fails on an arrow
// that is not drawn, on a dependency that a package must never have, and on a top-level entry nobody decided on.
// It has no code of its own to import and never runs the code it reads.
package arch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/waybill-dev/waybill"

// unit is a folder together with everything below it that is not a unit itself; inside a unit imports are free.
//
// imports are the arrows of its program code. They are transitive: whoever may import the applier may import all
// that the applier may. tests are what its test files may import besides, inside the package or outside it
// (package x_test) alike: the stores to run on, and the handlers that give a worker something to do. A folder that
// only tests may import, such as internal/redistest, appears in no imports.
type unit struct {
	folder  string
	imports []string
	tests   []string
}

// units are the packages of the module, drawn as in ARCHITECTURE.md. A new folder needs a row here, and a reason.
var units = []unit{
	{folder: ".", imports: []string{"internal/cli"}},
	{folder: "internal/cli", imports: []string{"tui", "applier", "planner", "config", "internal/gitops", "internal/controller", "internal/gitsource",
		"conveyor", "conveyor/handlers", "conveyor/embedded", "conveyor/metrics", "conveyor/outbox", "conveyor/outbox/pgnotify", "conveyor/bridge", "internal/sqldb"},
		tests: []string{"internal/redistest", "internal/sqltest", "internal/schematest", "internal/conveyorstand"}},
	{folder: "internal/sqldb", imports: []string{"conveyor/outbox", "conveyor/outbox/pgnotify"}, tests: []string{"internal/sqltest"}},
	{folder: "internal/gitops", imports: []string{"applier", "planner", "config"}, tests: stores},
	{folder: "internal/controller", imports: []string{"applier"}, tests: append(stores, "conveyor/metrics")},
	{folder: "internal/gitsource", imports: []string{"planner", "internal/controller"}, tests: stores},
	{folder: "tui", imports: []string{"applier"}, tests: append(stores, "internal/schematest")},
	{folder: "applier", imports: []string{"planner", "conveyor"}, tests: stores},
	{folder: "planner", imports: []string{"config", "conveyor/schedule"}},
	{folder: "config", imports: []string{"conveyor/schedule"}},

	// The queue knows jobs, never workflows: nothing above it appears here.
	{folder: "conveyor", imports: []string{"conveyor/wire", "conveyor/schedule"}, tests: append(stores, "conveyor/task", "internal/mutant", "internal/enginemodel")},
	{folder: "conveyor/handlers", imports: []string{"conveyor"}, tests: stores},
	{folder: "conveyor/embedded", imports: []string{"conveyor"}, tests: stores},
	{folder: "conveyor/metrics", imports: []string{"conveyor", "conveyor/outbox"}, tests: append(stores, "internal/sqltest")},
	{folder: "conveyor/outbox", imports: []string{"conveyor"}, tests: append(stores, "internal/sqltest", "conveyor/outbox/pgnotify")},
	{folder: "conveyor/outbox/pgnotify", imports: []string{"conveyor/outbox"}, tests: []string{"internal/redistest", "internal/sqltest"}},
	{folder: "conveyor/bridge", imports: []string{"conveyor"}, tests: []string{"internal/redistest", "internal/conveyorstand"}},
	{folder: "conveyor/task", imports: []string{"conveyor"}, tests: stores},
	{folder: "conveyor/schedule"},
	// A module of its own: it stands on whatever it measures, and nobody on it.
	{folder: "conveyor/bench", imports: []string{"applier", "conveyor/embedded", "conveyor/handlers", "internal/testserver"}, tests: []string{"config"}},
	{folder: "conveyor/wire"},

	// Examples are programs of users: they see the SDK, and their tests the command.
	{folder: "examples", imports: []string{"conveyor", "conveyor/handlers", "conveyor/embedded", "conveyor/outbox", "conveyor/outbox/pgnotify", "internal/sqldb"},
		tests: []string{"internal/cli", "internal/redistest", "internal/sqltest", "internal/conveyorstand"}},

	// The engine as a specification: for tests only. Its own compare it with the planner and with the stores.
	{folder: "internal/enginemodel", imports: []string{"conveyor"}, tests: []string{"planner", "internal/redistest"}},
	{folder: "internal/conveyorstand", imports: []string{"conveyor/wire"}},
	{folder: "internal/redistest", imports: []string{"internal/testserver"}},
	{folder: "internal/sqltest", imports: []string{"internal/testserver"}},
	{folder: "internal/testserver"},
	{folder: "internal/mutant"},
	{folder: "internal/schematest"},
	{folder: "internal/arch"},
}

// stores are the two that every test of something above the queue runs on.
var stores = []string{"internal/redistest", "conveyor/embedded", "conveyor/handlers"}

// ban keeps a unit's program code away from packages of others and from single functions of theirs.
type ban struct {
	folder  string
	imports []string // import paths; "x/..." is x and all below it
	calls   []string // path.Function
	reason  string
}

var bans = []ban{
	{folder: "config", imports: effects, calls: clock, reason: "it has no Redis, no clock and no network"},
	{folder: "planner", imports: effects, calls: clock, reason: "it is pure: the same input gives the same plan"},
	{folder: "conveyor/schedule", imports: effects, calls: clock, reason: "it is pure: time is an argument"},
	{folder: "conveyor", imports: languages, reason: "it knows jobs, never workflows"},
	{folder: "conveyor/handlers", imports: languages, reason: "it knows jobs, never workflows"},
	{folder: "conveyor/embedded", imports: languages, reason: "it knows jobs, never workflows"},
	{folder: "conveyor/metrics", imports: languages, reason: "it knows jobs, never workflows"},
	{folder: "conveyor/bridge", imports: languages, reason: "it knows jobs, never workflows"},
	{folder: "conveyor/task", imports: languages, reason: "it knows jobs, never workflows"},
	{folder: "conveyor/outbox", imports: languages, reason: "it knows jobs, never workflows"},
}

var (
	effects = []string{"github.com/redis/...", "github.com/alicebob/...", "net", "net/http/...", "os/exec", "math/rand/...",
		"crypto/rand"}
	clock     = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.NewTimer", "time.NewTicker"}
	languages = []string{"github.com/hashicorp/hcl/...", "github.com/zclconf/go-cty/..."}
)

// topLevel is all that may stand at the top besides dot-files and the folders of units.
var topLevel = []string{"main.go", "go.mod", "go.sum", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "Makefile",
	"waybill", "waybill.exe", "coverage.out"} // the last three are built, and ignored by git

func TestModule(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	violations, err := check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
}

// TestCheck plants one violation of each kind, and their lawful neighbours, in a tree made for it.
func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		file string
		code string
		want []string
	}{
		{name: "drawn arrow", file: "applier/a.go", code: `import "` + module + `/planner"`},
		{name: "transitive arrow", file: "tui/a.go", code: `import "` + module + `/conveyor/wire"`},
		{name: "arrow within a unit", file: "planner/golden/a.go", code: `import "` + module + `/planner"`},
		{
			name: "arrow that is not drawn", file: "conveyor/a.go", code: `import "` + module + `/planner"`,
			want: []string{"conveyor/a.go: conveyor must not import planner: no arrow leads there"},
		},
		{
			name: "arrow against its direction", file: "planner/a.go", code: `import "` + module + `/applier"`,
			want: []string{"planner/a.go: planner must not import applier: no arrow leads there"},
		},
		{
			name: "arrow of a folder below a unit", file: "conveyor/internal/x/a.go", code: `import "` + module + `/config"`,
			want: []string{"conveyor/internal/x/a.go: conveyor must not import config: no arrow leads there"},
		},
		{
			name: "arrow of a file for another platform", file: "config/a.go",
			code: "//go:build plan9\n\npackage x\n\nimport \"" + module + "/conveyor\"",
			want: []string{"config/a.go: config must not import conveyor: no arrow leads there"},
		},
		{name: "test imports a store", file: "applier/a_test.go", code: `import "` + module + `/internal/redistest"`},
		{
			name: "program imports a test store", file: "applier/a.go", code: `import "` + module + `/internal/redistest"`,
			want: []string{"applier/a.go: applier must not import internal/redistest: no arrow leads there"},
		},
		{
			name: "test imports what stands above", file: "config/a_test.go", code: `import "` + module + `/planner"`,
			want: []string{"config/a_test.go: config must not import planner: no arrow leads there"},
		},
		{
			name: "package without a row", file: "internal/util/a.go", code: "",
			want: []string{"internal/util/a.go: this folder belongs to no package that was decided on: see units in internal/arch"},
		},
		{
			name: "unknown folder at the top", file: "pkg/readme.txt", code: "",
			want: []string{"pkg: the top level is fixed: put it below one of its folders, or see topLevel in internal/arch"},
		},
		{name: "test data is not code", file: "config/testdata/a.go", code: `import "` + module + `/tui"`},
		{name: "dot-folder at the top", file: ".ci/a.go", code: `import "` + module + `/tui"`},
		{
			name: "Redis in a pure package", file: "planner/a.go", code: `import "github.com/redis/go-redis/v9"`,
			want: []string{"planner/a.go: planner must not import github.com/redis/go-redis/v9: it is pure: the same input gives the same plan"},
		},
		{name: "package that only begins alike", file: "planner/a.go", code: `import "net/netip"`},
		{
			name: "clock in a pure package", file: "planner/a.go", code: "import \"time\"\n\nvar now = time.Now()",
			want: []string{"planner/a.go: planner must not call time.Now: it is pure: the same input gives the same plan"},
		},
		{
			name: "clock under another name", file: "planner/a.go", code: "import clock \"time\"\n\nvar now = clock.Now",
			want: []string{"planner/a.go: planner must not call time.Now: it is pure: the same input gives the same plan"},
		},
		{name: "durations are no clock", file: "planner/a.go", code: "import \"time\"\n\nvar d = time.Second"},
		{
			name: "HCL in the queue", file: "conveyor/a.go", code: `import "github.com/hashicorp/hcl/v2"`,
			want: []string{"conveyor/a.go: conveyor must not import github.com/hashicorp/hcl/v2: it knows jobs, never workflows"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := tt.code
			if !strings.Contains(code, "package ") {
				code = "package x\n\n" + code
			}
			got, err := check(fstest.MapFS{tt.file: {Data: []byte(code)}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnits proves the table itself: arrows name units and run in no circle.
func TestUnits(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, u := range units {
		if known[u.folder] {
			t.Errorf("%s has two rows", u.folder)
		}
		known[u.folder] = true
	}
	for _, u := range units {
		for _, to := range append(append([]string{}, u.imports...), u.tests...) {
			if !known[to] {
				t.Errorf("%s: arrow to %s, which has no row", u.folder, to)
			}
		}
		for to := range reach(u.imports) {
			if to == u.folder {
				t.Errorf("%s reaches itself", u.folder)
			}
		}
	}
}

// moduleRoot is the folder of go.mod, found from the package's folder, in which go test runs it.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir
		}
		if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		t.Fatalf("no go.mod above the package: %v", err)
	}
}
