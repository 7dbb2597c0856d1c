// Package examples_test runs every example as its README tells a newcomer to, on the embedded store.
package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"waybill": func() {
		interrupts := make(chan os.Signal, 8)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		os.Exit(cli.Run(cli.Process{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Interrupts: interrupts}))
	}})
}

// example is a copy of one example's folder.
type example struct {
	*testing.T
	dir, home string
}

func open(t *testing.T, name string) example {
	t.Helper()
	e := example{T: t, dir: filepath.Join(t.TempDir(), name), home: t.TempDir()}
	if err := os.CopyFS(e.dir, os.DirFS(name)); err != nil {
		t.Fatal(err)
	}
	for _, leftover := range []string{".waybill", "out"} {
		if err := os.RemoveAll(filepath.Join(e.dir, leftover)); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func (e example) command(command string, args ...string) *exec.Cmd {
	c := exec.Command("waybill", append([]string{command, e.dir}, args...)...)
	c.Env = append(os.Environ(), "HOME="+e.home, "XDG_CONFIG_HOME="+filepath.Join(e.home, "config"), "CI=true", "WAYBILL_REDIS=")
	return c
}

// run runs a command on the example and checks its exit code and that it says each of wants.
func (e example) run(code int, wants []string, command string, args ...string) {
	e.Helper()
	out, err := e.command(command, args...).CombinedOutput()
	if exit, failed := err.(*exec.ExitError); err != nil && (!failed || exit.ExitCode() != code) || err == nil && code != 0 {
		e.Fatalf("waybill %s: %v, want exit code %d\n%s", command, err, code, out)
	}
	for _, want := range wants {
		if !strings.Contains(string(out), want) {
			e.Fatalf("waybill %s does not say %q:\n%s", command, want, out)
		}
	}
}

func TestHello(t *testing.T) {
	t.Parallel()
	e := open(t, "hello")
	e.run(0, []string{"Apply complete! Jobs: 1 added, 0 changed, 0 destroyed."}, "apply", "-auto-approve")
	e.run(0, []string{"No changes. Your jobs match the configuration."}, "plan")
}

func TestSales(t *testing.T) {
	t.Parallel()
	e := open(t, "sales")
	e.run(0, []string{"Apply complete! Jobs: 12 added, 0 changed, 0 destroyed."}, "apply", "-auto-approve")
	e.run(0, []string{"No changes. Your jobs match the configuration."}, "plan", "-detailed-exitcode")
	report, err := os.ReadFile(filepath.Join(e.dir, "out", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := excerpt(t, filepath.Join(e.dir, "README.md"))
	for i, part := range strings.Split(shown, "\n...\n") {
		if !strings.Contains(string(report), strings.Trim(part, "\n")) {
			t.Errorf("part %d of the report in the README is not what the example writes: %s", i, cmp.Diff(part, string(report)))
		}
	}
	other := "-var=day=2026-11-19"
	e.run(2, []string{"Plan: 7 to add, 5 to change, 7 to destroy.", `job.ingest["uk"] will be reopened`}, "plan", "-detailed-exitcode", other)
	e.run(0, []string{"Apply complete! Jobs: 7 added, 5 changed, 7 destroyed."}, "apply", "-auto-approve", other)
	e.run(0, []string{"Destroy complete! Jobs: 12 destroyed."}, "destroy", "-auto-approve")
	e.run(0, []string{"Apply complete! Jobs: 12 added, 0 changed, 0 destroyed."}, "apply", "-auto-approve")
}

// excerpt is the report in a README, without the fences around it.
func excerpt(t *testing.T, readme string) string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begins := strings.Cut(string(text), "<!-- report: begin -->\n```markdown\n")
	shown, _, ends := strings.Cut(rest, "```\n<!-- report: end -->")
	if !begins || !ends {
		t.Fatalf("%s has no report between its marks", readme)
	}
	return shown
}

func TestFanOut(t *testing.T) {
	t.Parallel()
	e := open(t, "fan-out")
	e.run(0, []string{"Apply complete! Jobs: 8 added"}, "apply", "-auto-approve")
	e.run(0, []string{"No changes."}, "plan")
}

func TestFailure(t *testing.T) {
	t.Parallel()
	e := open(t, "failure")
	e.run(1, []string{"job.rollback: Completed", "job.cleanup: Completed", "job.announce: Skipped"}, "apply", "-auto-approve")
	e.run(0, []string{"job.announce: Completed", "job.rollback: Skipped"}, "apply", "-auto-approve", "-var=release=2.1")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	e := open(t, "limits")
	e.run(0, []string{"Apply complete! Jobs: 5 added"}, "apply", "-auto-approve")
	log, err := os.ReadFile(filepath.Join(e.dir, "out", "imports.log"))
	if err != nil {
		t.Fatal(err)
	}
	most, now, ended := 0, 0, 0
	for line := range strings.Lines(string(log)) {
		if strings.HasPrefix(line, "+") {
			now++
		} else {
			now--
			ended++
		}
		most = max(most, now)
	}
	if most > 2 || ended != 4 {
		t.Errorf("%d imports ended, up to %d at once:\n%s", ended, most, log)
	}
	e.run(1, []string{
		"Warning: Unique key of several jobs",
		`unique key exec:import/us is held by job.import["us"]`, "5 completed, 1 failed",
	}, "apply", "-auto-approve", "-rerun", "-var=again=true")
	e.run(0, []string{"job.import_again[0]: Completed", "Apply complete! Jobs: 1 added"}, "apply", "-auto-approve", "-var=again=true")
	e.run(0, []string{"No changes."}, "plan", "-var=again=true")
}

// TestDelay also runs the worker that the README asks for: apply does not wait for a job that waits for its time.
func TestDelay(t *testing.T) {
	t.Parallel()
	e := open(t, "delay")
	e.run(0, []string{"Apply complete! Jobs: 5 added"}, "apply", "-auto-approve")
	worker := e.command("worker")
	var log bytes.Buffer
	worker.Stdout, worker.Stderr = &log, &log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = worker.Process.Signal(os.Interrupt)
		_ = worker.Wait()
	}()
	e.run(0, nil, "wait", "-timeout=60s")
}
