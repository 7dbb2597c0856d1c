package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill-dev/waybill/internal/redistest"
)

const approvedWorkflow = `
workflow "approved" {}

job "first" {
  type = "noop"
}

job "second" {
  for_each = toset(["a", "b", "c"])
  exec { command = ["sh", "-c", "echo of-${each.key}"] }
  predecessor { job = job.first }
}

job "third" {
  type = "noop"
  predecessor { jobs = values(job.second) }
}

output "day" {
  value = "2026-11-20"
}
`

// approving is a window in which apply asks.
func approving(t *testing.T, line string, env ...string) *window {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), approvedWorkflow)
	w := newWindow(t, dir, 80, 24, env...)
	w.runs(t, line)
	return w
}

const fivePlanned = "Plan: 5 to add, 0 to change, 0 to destroy."

// TestPlanViewApproves looks at a plan, types yes, and finds the plan's text above the run.
func TestPlanViewApproves(t *testing.T) {
	t.Parallel()
	for _, store := range wantedStores() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			if store == "embedded" {
				planViewApproves(t, approving(t, "waybill apply"))
				return
			}
			planViewApproves(t, approving(t, "waybill apply -worker", "WAYBILL_REDIS="+redistest.StartTCP(t).URL()))
		})
	}
}

func planViewApproves(t *testing.T, w *window) {
	t.Helper()
	w.shows(t, fivePlanned, "+ 5 create", `job.second["b"]`, "y approve", "1 of 6")
	w.types(t, "yes")
	w.shows(t, "Only 'yes' will be accepted to approve.", "Enter a value: yes")
	w.presses(t, "Enter")
	got := w.ended(t, 0)
	for _, want := range []string{`# job.second["b"] will be created`, fivePlanned, "Approved.", "Apply complete! Jobs: 5 added, 0 changed, 0 destroyed."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not stand on the terminal:\n%s", want, got)
		}
	}
	if strings.Contains(got, "y approve") {
		t.Errorf("the view is still there:\n%s", got)
	}
	w.runs(t, "clear; waybill apply")
	w.ended(t, 0)
	if got := w.history(t); !strings.Contains(got, "No changes.") {
		t.Errorf("an apply without changes asks, or says otherwise:\n%s", got)
	}
}

func TestPlanViewDeclines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keys []string
		code int
	}{
		{name: "q", keys: []string{"q"}, code: 1},
		{name: "escape", keys: []string{"Escape"}, code: 1},
		{name: "no", keys: []string{"y", "C-u", "n", "o", "Enter"}, code: 1},
		{name: "ctrl+c", keys: []string{"C-c"}, code: 130},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := approving(t, "waybill apply")
			w.shows(t, fivePlanned, "y approve")
			w.presses(t, tt.keys...)
			if got := w.ended(t, tt.code); !strings.Contains(got, "Apply cancelled.") {
				t.Errorf("the terminal shows\n%s", got)
			}
			w.runs(t, "clear; waybill state list")
			if got := w.ended(t, 0); strings.Contains(got, "job.") {
				t.Errorf("what was declined is in the state:\n%s", got)
			}
		})
	}
}

// TestPlanViewLooks opens, filters, searches, asks why, resizes, and goes back to answer no.
func TestPlanViewLooks(t *testing.T) {
	t.Parallel()
	w := approving(t, "waybill apply -auto-approve")
	w.ended(t, 0)
	writeFile(t, filepath.Join(w.dir, "main.hcl"), strings.Replace(strings.Replace(approvedWorkflow, `job "third"`, `job "last"`, 1), "of-", "from-", 1))
	w.runs(t, "clear; waybill apply")
	w.shows(t, "Plan: 4 to add, 0 to change, 4 to destroy.", "[all 5]", "-/+ 3 replace", "- 1 destroy", "+ 1 create")

	w.presses(t, "Tab") // created
	w.shows(t, "[+ 1 create]", "job.last")
	w.hides(t, "job.second")
	w.types(t, "-")
	w.shows(t, "[- 1 destroy]", "job.third")
	w.types(t, "a")
	w.shows(t, "[all 5]")

	w.types(t, "/from-b")
	w.shows(t, "/from-b", `+ "echo from-b"`, "match 1 of 1")
	w.presses(t, "Enter")
	w.shows(t, "n next match")
	w.types(t, "w")
	w.shows(t, `Why job.second["b"] will be replaced`, "Generation 1 is completed.", "its work changed")
	w.presses(t, "Escape")
	w.hides(t, "Why job.second")

	w.resize(t, 60, 15)
	w.shows(t, `+ "echo from-b"`, "Plan: 4 to add")
	w.resize(t, 120, 30)
	w.shows(t, `+ "echo from-b"`, "? help")

	w.types(t, "c")
	w.hides(t, "echo from-b")
	w.presses(t, "Escape") // the search
	w.shows(t, "of 5")
	w.types(t, "e")
	w.shows(t, "# job.second[\"a\"] will be replaced")
	w.types(t, "q")
	w.ended(t, 1)
}

// TestPlanViewSuspends stops the process, sees the shell, and goes on where it was.
func TestPlanViewSuspends(t *testing.T) {
	t.Parallel()
	w := approving(t, "waybill apply")
	w.shows(t, fivePlanned, "y approve")
	w.suspends(t, fivePlanned, "y approve")
	w.types(t, "yes")
	w.presses(t, "Enter")
	w.shows(t, "Apply complete! Jobs: 5 added")
}

// TestPlanViewAsksAgain lets somebody else apply while the plan is looked at: the new plan says why it is asked once more.
func TestPlanViewAsksAgain(t *testing.T) {
	t.Parallel()
	w := approving(t, "waybill apply")
	w.shows(t, fivePlanned, "y approve")
	other := newWindow(t, w.dir, 80, 24)
	other.runs(t, "waybill apply -auto-approve -target=job.first")
	other.ended(t, 0)
	w.types(t, "yes")
	w.presses(t, "Enter")
	w.shows(t, "The state has changed since this plan was made", "Plan: 4 to add, 0 to change, 0 to destroy.", "y approve")
	w.types(t, "yes")
	w.presses(t, "Enter")
	if got := w.ended(t, 0); !strings.Contains(got, "Apply complete! Jobs: 4 added") {
		t.Errorf("the terminal shows\n%s", got)
	}
}

// TestPlanViewOfDestroy asks in words of its own.
func TestPlanViewOfDestroy(t *testing.T) {
	t.Parallel()
	w := approving(t, "waybill apply -auto-approve")
	w.ended(t, 0)
	w.runs(t, "clear; waybill destroy")
	w.shows(t, "waybill destroy approved", "Plan: 0 to add, 0 to change, 5 to destroy.", "completed")
	w.types(t, "y")
	w.shows(t, "Do you really want to destroy the jobs of workflow", "There is no undo.")
	w.types(t, "es")
	w.presses(t, "Enter")
	if got := w.ended(t, 0); !strings.Contains(got, "Destroy complete! Jobs: 5 destroyed.") {
		t.Errorf("the terminal shows\n%s", got)
	}
}

// TestNoPlanView lists what makes apply ask in lines, or not at all, on a terminal.
func TestNoPlanView(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, sees string }{
		{"plain", "waybill apply -plain", "Enter a value:"},
		{"variable", "WAYBILL_PLAIN=1 waybill apply", "Enter a value:"},
		{"ci", "CI=true waybill apply", "Enter a value:"},
		{"dumb", "TERM=dumb waybill apply", "Enter a value:"},
		{"no input", "waybill apply -input=false", "Approval is needed"},
		{"json", "waybill apply -json", "Approval is needed"},
		{"no terminal", "waybill apply </dev/null", "Apply cancelled."},
		{"piped", "waybill apply | cat", "Enter a value:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := approving(t, tt.line)
			w.shows(t, tt.sees)
			if got := w.history(t); strings.Contains(got, "y approve") {
				t.Errorf("there is a view:\n%s", got)
			}
			if tt.sees == "Enter a value:" {
				w.types(t, "no")
				w.presses(t, "Enter")
				w.shows(t, "Apply cancelled.")
			}
			w.finished(t)
		})
	}
}

// TestPlanViewWarns shows what is to be said about a plan above its changes, and leaves it on the terminal with the plan.
func TestPlanViewWarns(t *testing.T) {
	t.Parallel()
	w := approving(t, "waybill apply -detach", "WAYBILL_REDIS="+redistest.StartTCP(t).URL())
	w.shows(t, `! No worker serves queue "approved"`, fivePlanned, "y approve")
	w.presses(t, "Enter")
	w.shows(t, "waybill worker")
	w.types(t, "yes")
	w.presses(t, "Enter")
	if got := w.ended(t, 0); !strings.Contains(got, `No worker serves queue "approved"`) || !strings.Contains(got, "Approved.") {
		t.Errorf("the terminal shows\n%s", got)
	}
}

// TestPlanViewIsInterrupted signals the process while it asks: it gives the terminal back, and nothing is done.
func TestPlanViewIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "main.hcl"), approvedWorkflow)
			r := onTerminal(t, dir, nil, "apply")
			r.sees(t, fivePlanned)
			if err := r.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if _, below, left := strings.Cut(r.ends(t, 130), leaveScreen); !left || !strings.Contains(below, showCursor) {
				t.Errorf("the terminal is left with %q", below)
			}
			if got := onTerminal(t, dir, nil, "state", "list").ends(t, 0); strings.Contains(got, "job.") {
				t.Errorf("the state holds %q", got)
			}
		})
	}
}
