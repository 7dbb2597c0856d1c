package gitsource

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/planner"
)

// TestDescribe: which commit files are of, and whether they are as they are there.
func TestDescribe(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	dir := filepath.Join(f.work, "jobs")
	files := []string{filepath.Join(dir, "main.hcl"), filepath.Join(f.work, "lib/main.hcl"), filepath.Join(dir, "secret.wbvars"), "/elsewhere/x.hcl", dir}
	if d := cmp.Diff(planner.Source{}, Describe(t.TempDir(), files)); d != "" {
		t.Errorf("outside of a work tree (-want +got):\n%s", d)
	}
	f.write("jobs/main.hcl", "one")
	f.write("lib/main.hcl", "two")
	if d := cmp.Diff(planner.Source{}, Describe(dir, files)); d != "" {
		t.Errorf("before the first commit (-want +got):\n%s", d)
	}
	commit := f.push("first jobs\n\nand why")
	for _, row := range []struct {
		name   string
		change func()
		dirty  bool
	}{
		{"as committed", func() {}, false},
		{"another file", func() { f.write("other.hcl", "") }, false},
		{"values that are not tracked", func() { f.write("jobs/secret.wbvars", "a = 1") }, false},
		{"changed", func() { f.write("jobs/main.hcl", "1") }, true},
		{"the same again", func() { f.write("jobs/main.hcl", "one") }, false},
		{"staged", func() { f.write("lib/main.hcl", "2"); f.git("-C", f.work, "add", "-A") }, true},
		{"gone", func() { f.ok(os.Remove(filepath.Join(f.work, "lib/main.hcl"))) }, true},
		{"as committed again", func() { f.git("-C", f.work, "reset", "-q", "--hard") }, false},
		{"new and not tracked", func() { f.write("jobs/new.hcl", ""); files = append(files, filepath.Join(dir, "new.hcl")) }, true},
	} {
		row.change()
		want := commit
		if row.dirty {
			want += planner.DirtySuffix
		}
		got := Describe(dir, files)
		if got.Revision != want || got.Message != "first jobs" || got.Author != "Ann <ann@example.com>" || got.Time.IsZero() {
			t.Errorf("%s: %+v, want revision %s", row.name, got, want)
		}
	}
	f.git("-C", f.work, "checkout", "-q", "--detach")
	if got := Describe(dir, nil); got.Revision != commit {
		t.Errorf("with a detached HEAD: %+v", got)
	}
}
