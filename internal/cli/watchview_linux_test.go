package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// watchedWorkflow has a job that writes until it is let go, one that fails until it is mended, and one that waits for a time.
const watchedWorkflow = `
workflow "live" {}

queue "etl" { concurrency = 2 }

job "ticks" {
  queue = "etl"
  exec { command = ["sh", "-c", "n=0; while ! test -e go; do n=$((n+1)); echo tick $n; sleep 0.2; done"] }
}

job "after" {
  type = "noop"
  predecessor { job = job.ticks }
}

job "bad" {
  retry { max_attempts = 1 }
  exec { command = ["sh", "-c", "echo looking for mended; test -e mended"] }
}

job "late" {
  type = "noop"
  run_at { time = "2099-01-01T00:00:00Z" }
}
`

// watched is a window with watch, beside another one in which the workflow is applied and its jobs run.
func watched(t *testing.T, env ...string) (watch, apply *window) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), watchedWorkflow)
	apply = newWindow(t, dir, 80, 24, append(env, "CI=true")...)
	apply.runs(t, "waybill apply -auto-approve"+worker(env))
	apply.shows(t, "job.bad: Failed")
	watch = newWindow(t, dir, 80, 24, env...)
	watch.runs(t, "waybill watch")
	watch.shows(t, "waybill watch", "[1 Jobs 4]", "job.ticks")
	return watch, apply
}

// worker is what makes an apply run the jobs itself.
func worker(env []string) string {
	if len(env) > 0 {
		return " -worker"
	}
	return ""
}

// TestWatchView works with the view beside an apply of another process: it filters, reads a log as it grows, tries a failed job
// again, pauses a queue, changes its size, and leaves the terminal as it was.
func TestWatchView(t *testing.T) {
	t.Parallel()
	for _, store := range wantedStores() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			var env []string
			if store == "redis" {
				env = append(env, "WAYBILL_REDIS="+redistest.StartTCP(t).URL())
			}
			w, apply := watched(t, env...)

			w.types(t, "/")
			w.shows(t, "enter keeps, esc clears")
			w.types(t, "state:run")
			w.shows(t, "/state:run · 1", "▸▶ job.ticks")
			if got := w.hides(t, "job.bad"); strings.Contains(got, "job.late") {
				t.Errorf("the filter lets other jobs through:\n%s", got)
			}
			w.presses(t, "Enter", "Tab", "Tab")
			w.shows(t, "━ Log of job.ticks", "tick ", "following")
			w.presses(t, "Home")
			w.shows(t, "━ Log of job.ticks", "start 1", "tick 1", ", line ")
			w.types(t, "f")
			w.shows(t, "following")

			w.presses(t, "Escape")
			w.shows(t, "━ job.ticks ━")
			w.presses(t, "Escape")
			w.shows(t, "━ Jobs of live · list ━")
			w.presses(t, "Escape")
			w.shows(t, "━ Jobs of live · tree ━", "job.bad")
			w.types(t, "n")
			w.shows(t, "▸✗ job.bad")
			w.presses(t, "Tab", "Tab")
			w.shows(t, "━ Log of job.bad", "looking for mended")
			w.presses(t, "Escape")
			w.shows(t, "━ job.bad ━")
			w.presses(t, "Escape")
			w.shows(t, "━ Jobs of live · tree ━")
			w.types(t, "r")
			w.shows(t, "Retry job.bad?", "y yes")
			w.types(t, "n")
			w.hides(t, "Retry job.bad?")
			writeFile(t, filepath.Join(w.dir, "mended"), "")
			w.types(t, "r")
			w.shows(t, "Retry job.bad?")
			w.types(t, "y")
			w.shows(t, "job.bad runs again.")
			w.shows(t, "✓ completed")

			w.types(t, "2")
			w.shows(t, "[2 Queues", "QUEUE", "1/2")
			w.types(t, "p")
			w.shows(t, "Pause queue etl?")
			w.types(t, "y")
			w.shows(t, "Queue etl is paused.", "Paused by hand")
			w.types(t, "p")
			w.shows(t, "Resume queue etl?")
			w.types(t, "y")
			w.shows(t, "Queue etl is open.")
			w.hides(t, "Paused by hand")

			w.types(t, "4")
			w.shows(t, "[4 Scheduled 1]", "▸◷ job.late", "2099-01-01")
			w.types(t, "3")
			w.shows(t, "[3 Workers 1]", "1/")
			w.types(t, "1")
			w.resize(t, 60, 15)
			w.shows(t, "[1 Jobs]", "job.ticks")
			w.hides(t, "─ job.")
			w.resize(t, 140, 40)
			w.shows(t, "[1 Jobs 4]", "├─ Log of job.bad")

			w.types(t, "q")
			if got := w.ended(t, 0); strings.Contains(got, "[1 Jobs") {
				t.Errorf("the view is still there:\n%s", got)
			}
			writeFile(t, filepath.Join(w.dir, "go"), "")
			apply.shows(t, "job.after: Completed")
			apply.ended(t, 0)
		})
	}
}

// TestWatchSuspends stops the process from the keyboard and by signal beside an apply that goes on, and comes back; the mouse
// stays off where its user has put it off.
func TestWatchSuspends(t *testing.T) {
	t.Parallel()
	w, apply := watched(t)
	w.types(t, "/state:run")
	w.presses(t, "Enter")
	w.shows(t, "▸▶ job.ticks")
	w.suspends(t, "/state:run · 1", "▸▶ job.ticks")
	w.types(t, "m")
	w.shows(t, "The mouse selects text now")
	w.presses(t, "C-z")
	w.shows(t, "Stopped")
	w.types(t, "fg\n")
	w.shows(t, "▸▶ job.ticks")
	writeFile(t, filepath.Join(w.dir, "go"), "")
	w.shows(t, "/state:run · 0")
	if mouse := strings.TrimSpace(w.tmux(t, "display", "-p", "#{mouse_any_flag}")); mouse != "0" {
		t.Errorf("the mouse is on: %s", mouse)
	}
	w.types(t, "q")
	if got := w.hides(t, "state:run"); strings.Contains(got, "redis:") {
		t.Errorf("the client talks for itself:\n%s", got)
	}
	apply.ended(t, 1) // job.bad
}

// TestWatchOpens shows the jobs of the workflow that is named, and where there is none, those of all.
func TestWatchOpens(t *testing.T) {
	t.Parallel()
	env := "WAYBILL_REDIS=" + redistest.StartTCP(t).URL()
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name, "main.hcl"), `workflow "`+name+`" {}`+"\njob \"in_"+name+"\" { type = \"noop\" }\n")
		onTerminal(t, dir, []string{env}, "apply", "-auto-approve", "-detach", "-plain", name).ends(t, 0)
	}
	w := newWindow(t, dir, 80, 24, env)
	w.runs(t, "waybill watch one")
	w.shows(t, "━ Jobs of one · tree ━", "job.in_one")
	if got := w.screen(t); strings.Contains(got, "job.in_two") {
		t.Errorf("the other workflow is shown:\n%s", got)
	}
	w.presses(t, "Escape")
	w.shows(t, "━ Jobs · tree ━", "job.in_one", "job.in_two")
	w.types(t, "q")
	w.ended(t, 0)
	w.runs(t, "waybill watch")
	w.shows(t, "━ Jobs · tree ━", "job.in_one", "job.in_two")
	w.types(t, "q")
	w.ended(t, 0)
}

// scheduledWorkflow has a schedule far ahead, and a job downstream of it.
const scheduledWorkflow = `
workflow "recurring" {}

job "monthly" {
  queue = "etl"
  run_at { every = "1200 months" }
  exec { command = ["echo", "collecting"] }
}

job "load" {
  queue = "etl"
  predecessor { job = job.monthly }
  exec { command = ["sh", "-c", "while ! test -e go; do sleep 0.05; done; echo loading"] }
}
`

// TestWatchSchedules runs a schedule from the view, follows its cycle, pauses and resumes it.
func TestWatchSchedules(t *testing.T) {
	t.Parallel()
	for _, store := range wantedStores() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			var env []string
			if store == "redis" {
				env = append(env, "WAYBILL_REDIS="+redistest.StartTCP(t).URL())
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "main.hcl"), scheduledWorkflow)
			worker := newWindow(t, dir, 100, 24, append(env, "CI=true")...)
			worker.runs(t, "waybill apply -auto-approve -detach")
			worker.ended(t, 0)
			worker.runs(t, "waybill worker")
			worker.shows(t, "worker started")
			w := newWindow(t, dir, 80, 24, append(env, "NO_COLOR=1")...)
			w.runs(t, "waybill watch")
			w.shows(t, "[1 Jobs 2]", "4 Scheduled 1")
			w.types(t, "4")
			w.shows(t, "[4 Scheduled 1]", "▸◷ job.monthly", "no cycle yet", "every 1200 months", "r run · p pause · c its jobs")
			w.types(t, "r")
			w.shows(t, "Run job.monthly?", "y yes")
			w.types(t, "y")
			w.shows(t, "▸▶ job.monthly", "runs, 1 of 2")
			w.types(t, "c")
			w.shows(t, "/cycle:job.monthly · 2", "✓ job.monthly@2", "▶ job.load@2")
			writeFile(t, filepath.Join(dir, "go"), "")
			w.shows(t, "✓ job.load@2")
			w.types(t, "4")
			w.shows(t, "completed")
			w.presses(t, "Tab", "Tab")
			w.shows(t, "━ Cycles of job.monthly ━", "1 cycle", "✓  2")
			w.presses(t, "Escape", "Escape")
			w.types(t, "p")
			w.shows(t, "Pause job.monthly?")
			w.types(t, "y")
			w.shows(t, "▸‖ job.monthly", "paused", "p resume")
			w.types(t, "p")
			w.shows(t, "Resume job.monthly?")
			w.types(t, "y")
			w.shows(t, "▸◷ job.monthly", "completed")
			w.types(t, "q")
			w.ended(t, 0)
			worker.presses(t, "C-c")
			worker.ended(t, 0)
		})
	}
}
