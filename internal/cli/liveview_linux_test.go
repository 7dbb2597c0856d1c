package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const seenWorkflow = `
workflow "seen" {}

job "part" {
  count = 30
  type  = "noop"
}

job "bad" {
  exec { command = ["sh", "-c", "echo reading rows; echo row 17 is bad; exit 3"] }
  retry { max_attempts = 1 }
}

job "wait" {
  exec { command = ["sh", "-c", "while ! test -e go; do sleep 0.05; done"] }
}

job "after" {
  count = 5
  type  = "noop"
  predecessor { job = job.wait }
}
`

// seeing is a window in which apply shows a workflow: most jobs are done, one has failed, one runs until the file "go" exists.
func seeing(t *testing.T, width, height int) (w *window, dir string) {
	t.Helper()
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), seenWorkflow)
	w = newWindow(t, dir, width, height)
	w.runs(t, "waybill apply -auto-approve")
	w.shows(t, "waybill apply seen", "31 of 37 settled", "✓ 30 jobs completed", "✗ job.bad", "▶ job.wait", "∙ 5 jobs waiting")
	return w, dir
}

// TestLiveView opens and closes, goes to the failure, changes the size and lets the run come to its end.
func TestLiveView(t *testing.T) {
	t.Parallel()
	w, dir := seeing(t, 80, 24)
	w.shows(t, "30 completed", "1 failed", "1 running", "exit status 3", "│ reading rows", "│ row 17 is bad")

	w.types(t, "n")
	w.shows(t, "› ✗ job.bad")
	w.presses(t, "Space")
	w.hides(t, "│ row 17 is bad")
	w.presses(t, "Home", "Enter")
	w.shows(t, "› ✓ 30 jobs completed:", "✓ job.part[0]", "1-16 of ")
	w.presses(t, "Left")
	w.hides(t, "job.part[0]")
	w.presses(t, "End", "Right")
	w.shows(t, "∙ job.after[4]")
	w.types(t, "a")
	w.shows(t, "∙ job.after[4]", "of 38")
	w.types(t, "a")
	w.shows(t, "∙ 5 jobs waiting")

	for _, size := range [][2]int{{60, 15}, {300, 100}, {20, 5}, {1, 1}, {140, 40}} {
		w.resize(t, size[0], size[1])
		if size[0] >= 60 {
			w.shows(t, "▶ job.wait", "31 of 37 settled")
		}
	}
	w.types(t, "?")
	w.shows(t, "page down", "the one before")
	w.types(t, "?")
	w.hides(t, "the one before")

	writeFile(t, filepath.Join(dir, "go"), "")
	got := w.ended(t, 1)
	for _, want := range []string{"job.bad: Failed", "  | row 17 is bad", "36 completed, 1 failed.", "Apply ended, not every job succeeded"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not stand below the view:\n%s", want, got)
		}
	}
	if strings.Contains(got, "settled") {
		t.Errorf("the view is still there:\n%s", got)
	}
}

// TestLiveViewSuspends stops the process from the keyboard and by signal, works in the shell, and comes back.
func TestLiveViewSuspends(t *testing.T) {
	t.Parallel()
	w, _ := seeing(t, 80, 24)
	w.suspends(t, "31 of 37 settled", "▶ job.wait")
	w.presses(t, "C-c")
	w.shows(t, "Interrupted: 31 of 37 jobs settled, 1 of them not well.", "What was running is handed back.")
}

// suspends stops the program in the window from the keyboard and by a signal of somebody else: the shell has the terminal as it
// was, and fg brings back the view, which shows what it is to show, the mouse and the size.
func (w *window) suspends(t *testing.T, back ...string) {
	t.Helper()
	for i, stop := range []func(){
		func() { w.presses(t, "C-z") },
		func() {
			w.tmux(t, "run-shell", "-b", "kill -TSTP $(pgrep -P "+strings.TrimSpace(w.tmux(t, "display", "-p", "#{pane_pid}"))+" waybill)")
		},
	} {
		stop()
		w.shows(t, "Stopped")
		w.resize(t, 90+i, 26)
		w.types(t, "clear; stty -a | grep -q ' echo ' && echo cooked; echo typed\n")
		got := w.until(t, "an answer of the shell", func(screen string) bool { return strings.Contains("\n"+screen, "\ntyped\n") })
		if !strings.HasPrefix(got, "cooked\ntyped\n") {
			t.Errorf("stop %d: the shell does not have the terminal as it was:\n%s", i, got)
		}
		if mouse := strings.TrimSpace(w.tmux(t, "display", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}")); mouse != "001" {
			t.Errorf("stop %d: other screen, mouse and cursor are %s, want 001", i, mouse)
		}
		w.types(t, "fg\n")
		w.shows(t, back...)
		w.until(t, "the mouse", func(string) bool {
			return strings.TrimSpace(w.tmux(t, "display", "-p", "#{alternate_on}#{mouse_any_flag}")) == "11"
		})
		w.resize(t, 80, 24)
		w.shows(t, back...)
	}
}

// TestLiveViewColours finds colours where there are some, and none where they are not wanted; nothing else differs.
func TestLiveViewColours(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, env, flag string
		coloured        bool
	}{{name: "colours", coloured: true}, {name: "NO_COLOR", env: "1"}, {name: "-no-color", flag: " -no-color"}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "main.hcl"), seenWorkflow)
			w := newWindow(t, dir, 80, 24, "NO_COLOR="+tt.env)
			w.runs(t, "waybill apply -auto-approve"+tt.flag)
			w.shows(t, "31 of 37 settled", "▶ job.wait", "✗ job.bad")
			coloured := strings.Contains(w.tmux(t, "capture-pane", "-p", "-e"), "\x1b[31m")
			if coloured != tt.coloured {
				t.Errorf("coloured: %v, want %v", coloured, tt.coloured)
			}
			w.types(t, "q")
			w.ended(t, 130)
		})
	}
}
