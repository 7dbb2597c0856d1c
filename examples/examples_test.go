// Package examples_test runs every example as its README tells a newcomer to, on the embedded store.
package examples_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

func TestModules(t *testing.T) {
	t.Parallel()
	e := open(t, "modules")
	e.run(0, []string{"Apply complete! Jobs: 15 added", `"it" = "module.edition[\"it\"].job.print"`}, "apply", "-auto-approve")
	e.run(0, []string{"No changes."}, "plan")
	e.run(2, []string{`module.edition["no"].module.proof[1].job.read will be created`, "Plan: 5 to add, 0 to change, 1 to destroy."},
		"plan", "-detailed-exitcode", `-var=languages={ da = "Nyheder", en = "News", it = "Notizie", no = "Nytt" }`)
	e.run(2, []string{"job.send will be replaced", "Plan: 5 to add, 0 to change, 5 to destroy."}, "plan", "-detailed-exitcode", `-replace=module.edition["it"]`)
	e.run(1, []string{"Languages have codes of two letters, and eng has not.", `This is in module.edition["eng"].`}, "plan", `-var=languages={ eng = "News" }`)
}

// TestResults compares the report with the README, and reads what is not there.
func TestResults(t *testing.T) {
	t.Parallel()
	e := open(t, "results")
	e.run(0, []string{"whose results it reads", "Apply complete! Jobs: 3 added"}, "apply", "-auto-approve")
	e.run(0, []string{"Apply complete! Jobs: 1 added, 0 changed, 1 destroyed."}, "apply", "-auto-approve", "-var=column=words")
	report := e.await("out/report.txt")
	if readme, err := os.ReadFile("results/README.md"); err != nil || !strings.Contains(string(readme), "```\n"+report+"```\n") {
		t.Errorf("the README does not show the report: %v\n%s", err, report)
	}
	e.run(1, []string{`result: it has no key "pages", but "lines", "words"`}, "apply", "-auto-approve", "-var=column=pages")
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

// TestNightly begins the cycles by hand that the README begins, and reads what they leave.
func TestNightly(t *testing.T) {
	t.Parallel()
	e := open(t, "nightly")
	e.run(0, []string{"Apply complete! Jobs: 8 added", "Next run of job.nightly: "}, "apply", "-auto-approve")
	e.run(0, []string{"No changes.", "2 jobs are scheduled"}, "plan")
	worker := e.command("worker")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = worker.Process.Signal(os.Interrupt)
		_ = worker.Wait()
	}()
	e.cycle(0, "job.nightly", "All jobs are settled: 5 completed, 1 skipped.")
	e.cycle(0, "job.rates", "All jobs are settled: 1 completed.")
	report := e.await("out/report.txt")
	if readme, err := os.ReadFile("nightly/README.md"); err != nil || !strings.Contains(string(readme), "```\n"+report+"```\n") {
		t.Errorf("the README does not show the report: %v\n%s", err, report)
	}
	if err := os.Remove(filepath.Join(e.dir, "out", "report.txt")); err != nil {
		t.Fatal(err)
	}
	e.cycle(0, "job.rates", "All jobs are settled: 1 completed.")
	e.cycle(0, "job.nightly", "All jobs are settled: 5 completed, 1 skipped.")
	if report := e.await("out/report.txt"); !strings.HasPrefix(report, "10 orders\n") {
		t.Errorf("the second report is\n%s", report)
	}
	e.run(0, []string{"Apply complete! Jobs: 0 added, 3 changed"}, "apply", "-auto-approve", "-var=broken=ch")
	e.cycle(1, "job.nightly", "4 completed, 1 failed, 1 skipped.")
	if alarms := e.await("out/alarms.txt"); strings.Count(alarms, "\n") != 1 {
		t.Errorf("the alarms are\n%s", alarms)
	}
}

// cycle begins a cycle of a template now and follows it to its end.
func (e example) cycle(code int, job, want string) {
	e.Helper()
	c := e.command("job")
	c.Args = []string{"waybill", "job", "run", "-follow", job, e.dir}
	out, err := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) {
		e.Fatalf("a cycle of %s: %v, exit code %d, want %d and %q\n%s", job, err, got, code, want, out)
	}
}

// await reads a file of the example as soon as it is there.
func (e example) await(name string) string {
	e.Helper()
	path := filepath.Join(e.dir, name)
	ctx, cancel := context.WithTimeout(e.Context(), time.Minute)
	defer cancel()
	if err := exec.CommandContext(ctx, "sh", "-c", `while [ ! -e "$1" ]; do sleep 0.05; done`, "sh", path).Run(); err != nil {
		e.Fatalf("there is no %s: %v", name, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		e.Fatal(err)
	}
	return string(text)
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
