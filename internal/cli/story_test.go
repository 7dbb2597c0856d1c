package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/internal/cli"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/schematest"
	"github.com/waybill-dev/waybill/internal/sqltest"
	"github.com/waybill-dev/waybill/tui"
)

// suite runs the tests between the start and the end of what they share.
type suite struct{ m *testing.M }

func (s suite) Run() int { return sqltest.Run(func() int { return redistest.Run(s.m) }) }

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"waybill": func() {
		interrupts := make(chan os.Signal, 8)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		out, fits := checkedOutput()
		code := cli.Run(cli.Process{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr, Interrupts: interrupts})
		if !fits() {
			code = notAsDescribed
		}
		os.Exit(code)
	}, "conveyorstand": fleetWorker, "conveyorclient": fleetClient})
}

// notAsDescribed is the exit code of a command of these tests that wrote a line with -json which is not as its schema says.
const notAsDescribed = 97

// checkedOutput is stdout; with -json each line of those that have a schema is held against it.
func checkedOutput() (out io.Writer, fits func() bool) {
	if !slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(strings.TrimLeft(arg, "-"), "json") }) {
		return os.Stdout, func() bool { return true }
	}
	var failed atomic.Bool
	out = os.Stdout
	for _, of := range []struct{ prefix, schema, among string }{ // among the arguments, or "" for any command
		{`{"@`, tui.Schema, ""},
		{`{"job":"`, tui.LogSchema, "logs"},
		{`{"address":"`, tui.ExplainSchema, "explain"},
		{`{"format_version":"1.0","workflow":`, tui.PlanSchema(), ".wbplan"},
		{`{"format_version":"1.0","`, tui.JobSchema, "job"},
		{`{"format_version":"1.0","revisions":`, tui.HistorySchema, "history"},
		{`{"time":"`, tui.BridgeSchema, "bridge"},
	} {
		if !slices.ContainsFunc(os.Args, func(arg string) bool {
			return of.among == "" || arg == of.among || of.among[0] == '.' && strings.HasSuffix(arg, of.among)
		}) {
			continue
		}
		schema, err := schematest.Compile(of.schema)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(notAsDescribed)
		}
		out = &schematest.Writer{Out: out, Schema: schema, Prefix: of.prefix, Fail: func(err error) {
			failed.Store(true)
			fmt.Fprintln(os.Stderr, err)
		}}
	}
	return out, func() bool { return !failed.Load() }
}

// wantedStores are the stores to test: both, or the one that WAYBILL_TEST_STORE names.
func wantedStores() []string {
	if only := os.Getenv("WAYBILL_TEST_STORE"); only != "" {
		return []string{only}
	}
	return []string{"redis", "embedded"}
}

// TestStories runs the stories of testdata: those of testdata/any on both stores, the others on the one that their folder
// is named for. -update takes what commands write into the stories.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, story := range []struct{ folder, store string }{
		{"none", ""}, {"any", "embedded"}, {"any", "redis"}, {"embedded", "embedded"}, {"redis", "redis"},
	} {
		if story.store != "" && !slices.Contains(wantedStores(), story.store) {
			continue
		}
		files, err := filepath.Glob(filepath.Join("testdata", story.folder, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no stories in testdata/%s: %v", story.folder, err)
		}
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+" "+story.store, func(t *testing.T) {
				t.Parallel()
				tell(t, file, story.store)
			})
		}
	}
}

// tell runs one story. It finds the URL of a server of its own in REDIS and WAYBILL_REDIS and its host and port
// in REDIS_ADDRESS, or nothing there. More variables are name=value.
func tell(t *testing.T, file, store string, variables ...string) {
	url := ""
	if store == "redis" {
		url = redistest.StartTCP(t, "--enable-debug-command", "yes").URL()
	}
	testscript.Run(t, testscript.Params{
		Files: []string{file}, RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".home", "config"))
			e.Setenv("XDG_RUNTIME_DIR", "")
			e.Setenv("CI", "")
			e.Setenv("GORACE", noWait)
			e.Setenv("REDIS", url)
			e.Vars = append(e.Vars, variables...)
			if url != "" {
				e.Setenv("REDIS_ADDRESS", strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0"))
				e.Setenv("WAYBILL_REDIS", url)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "embedded":
				return store == "embedded", nil
			case "redis":
				return store == "redis", nil
			case "root":
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "await": await, "snapshot": snapshot, "shorter": shorter, "interrupt": interrupt, "redis": redisCommand,
			"freeport": freePort, "get": get, "store": storeCommand, "uuid": uuidOf, "pending": pending,
		},
	})
}

// noWait is for processes with the race detector: by default they wait for a second when they end.
const noWait = "atexit_sleep_ms=0"

// exits runs a command that has to end with a certain code: exits CODE COMMAND ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = fmt.Sprint(exit.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// awaitAtMost bounds await. Nothing is measured by it: a story that needs it all has failed.
const awaitAtMost = 30 * time.Second

// await runs a command until its output matches a pattern, or waits until a file exists: await FILE, or
// await PATTERN COMMAND ARGS...
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: await FILE, or await PATTERN COMMAND ARGS...")
	}
	met := func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	}
	if len(args) > 1 {
		pattern, err := regexp.Compile(args[0])
		ts.Check(err)
		met = func() bool {
			_ = ts.Exec(args[1], args[2:]...)
			return pattern.MatchString(ts.ReadFile("stdout"))
		}
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(awaitAtMost); !met(); <-tick.C {
		if time.Now().After(deadline) {
			ts.Fatalf("%q did not come", args[0])
		}
	}
}

// snapshot writes a folder's files, their sizes and times into a file, to prove that a command changes nothing:
// snapshot FOLDER FILE.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: snapshot FOLDER FILE")
	}
	var b strings.Builder
	ts.Check(filepath.Walk(ts.MkAbs(args[0]), func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// shorter copies a file (or stdout) and replaces what differs from run to run: shorter FROM TO.
func shorter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shorter FROM TO")
	}
	text := ts.ReadFile(args[0])
	for _, r := range volatile {
		text = r.pattern.ReplaceAllString(text, r.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`after [0-9.]+m?s`), "after N"},
	{regexp.MustCompile(`redis://127\.0\.0\.1:\d+`), "REDIS"},
	{regexp.MustCompile(`"elapsed_seconds":[0-9.]+`), `"elapsed_seconds":N`},
	{regexp.MustCompile(`"worker":"[^"]+"`), `"worker":"W"`},
	{regexp.MustCompile(`Key     [0-9a-f]{8}`), "Key     ID"},
}
