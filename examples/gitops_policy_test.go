package examples_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGitOpsPolicy proposes what the repository's policy denies: the reviewers read why, no plan is kept, and an apply of the same
// files submits nothing.
func TestGitOpsPolicy(t *testing.T) {
	t.Parallel()
	f := openForge(t)
	f.propose("shell", `exec { command = ["echo", "reporting"] }`, "exec {\n    command = \"echo reporting\"\n    shell   = true\n  }")
	dir := f.checkout("shell")
	f.run(1, dir, "sh", "ci/plan.sh", ".", f.planOf(dir), "comment.md")
	f.expect(f.read(filepath.Join(dir, "comment.md")), "Denied by policy", "job.report: Write the command as a list", "Plan: 3 to add, 0 to change, 0 to destroy.")
	if _, err := os.Stat(f.planOf(dir)); !os.IsNotExist(err) {
		t.Errorf("a plan is kept: %v", err)
	}
	f.expect(f.run(1, dir, "sh", "ci/apply.sh", "."), "Denied by policy", `This is the rule "no_shell".`)
	if state := f.run(0, dir, "waybill", "state", "list", "."); state != "" {
		t.Errorf("something was submitted:\n%s", state)
	}
}
