package gitsource

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/internal/controller"
)

// commits is how many TestManyCommits makes.
var commits = flag.Int("commits", 12, "commits in a row")

// TestFollow: each commit of the branch is seen once it is there, and nothing is left of those before.
func TestFollow(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.write("jobs/sales/main.hcl", "one")
	f.write("jobs/sales/run.sh", "#!/bin/sh")
	f.ok(os.Chmod(filepath.Join(f.work, "jobs/sales/run.sh"), 0o755))
	f.ok(os.Symlink("../sales/main.hcl", filepath.Join(f.work, "jobs/sales/alias.hcl")))
	first := f.push("first jobs\n\nand why")
	s := f.follow(Options{Branch: "main", Path: "jobs/sales"})
	before := f.shows(s, first, "main.hcl", "one")
	f.shows(s, first, "alias.hcl", "one")
	rev, _, err := s.Revision(t.Context())
	f.ok(err)
	want := controller.Revision{ID: first, Author: "Ann <ann@example.com>", Message: "first jobs\n\nand why\n", Time: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	rev.Time = rev.Time.UTC()
	if d := cmp.Diff(want, rev); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if info, err := os.Stat(filepath.Join(before, "run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("run.sh cannot be run: %v, %v", info, err)
	}
	f.write("jobs/sales/main.hcl", "two")
	second := f.push("second")
	f.shows(s, second, "main.hcl", "two")
	if _, err := os.Stat(before); err == nil {
		t.Error("the files of the first commit are still there")
	}

	// A branch that is rewritten is followed, and that is said.
	f.git("-C", f.work, "reset", "-q", "--hard", first)
	f.write("jobs/sales/main.hcl", "another two")
	other := f.push("instead", "--force")
	if len(f.told) > 0 {
		t.Errorf("it told %q", f.told)
	}
	f.shows(s, other, "main.hcl", "another two")
	if len(f.told) != 1 || !strings.Contains(f.told[0], "branch main of "+f.bare+" was rewritten: commit "+second[:10]+" is no ancestor of "+other[:10]) {
		t.Errorf("it told %q", f.told)
	}
}

// TestManyCommits: what a source has on disk does not grow with what it has seen.
func TestManyCommits(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	s := f.follow(Options{Branch: "main"})
	s.limit = 5
	most, size := 0, int64(0)
	for i := range *commits {
		text := fmt.Sprint("number ", i)
		f.write("main.hcl", text)
		f.shows(s, f.push(text), "main.hcl", text)
		files, bytes := 0, int64(0)
		f.ok(filepath.WalkDir(s.desk.dir, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				info, err := e.Info()
				f.ok(err)
				files, bytes = files+1, bytes+info.Size()
			}
			return err
		}))
		most, size = max(most, files), max(size, bytes)
	}
	t.Logf("%d commits: at most %d files, %d bytes", *commits, most, size)
	if limit := 40 + 3*s.limit; most > limit || len(f.told) > 0 {
		t.Errorf("there were %d files, more than %d; it told %q", most, limit, f.told)
	}
}

// TestRefused: what cannot be followed is said, and what was there before stays.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		spoil func(f *forge)
		path  string
		want  []string
	}{
		{"link to a file elsewhere", func(f *forge) { f.ok(os.Symlink("/etc/passwd", filepath.Join(f.work, "x.hcl"))) }, "",
			[]string{"the symbolic link x.hcl leads out of the repository"}},
		{"link upwards", func(f *forge) { f.ok(os.Symlink("../../x", filepath.Join(f.work, "jobs/x.hcl"))) }, "jobs",
			[]string{"the symbolic link jobs/x.hcl leads out of the repository"}},
		{"link through a link", func(f *forge) {
			f.ok(os.Symlink("..", filepath.Join(f.work, "jobs/up")))
			f.ok(os.Symlink("jobs/up/../etc", filepath.Join(f.work, "x")))
		}, "", []string{"the symbolic link x leads out of the repository"}},
		{"link to itself", func(f *forge) { f.ok(os.Symlink("x", filepath.Join(f.work, "x"))) }, "", []string{"the symbolic link x leads out of the repository, or in a circle"}},
		{"submodule", func(f *forge) {
			f.git("-c", "protocol.file.allow=always", "-C", f.work, "submodule", "--quiet", "add", "file://"+f.bare, "jobs/shared")
		}, "jobs", []string{"has the submodule jobs/shared, and submodules are not followed"}},
		{"directory that went", func(f *forge) { f.ok(os.RemoveAll(filepath.Join(f.work, "jobs"))) }, "jobs", []string{"has no directory jobs"}},
		{"file in its place", func(f *forge) {
			f.ok(os.RemoveAll(filepath.Join(f.work, "jobs")))
			f.write("jobs", "")
		}, "jobs", []string{"has no directory jobs"}},
		{"branch that went", func(f *forge) {
			f.git("-C", f.work, "push", "-q", "origin", "HEAD:refs/heads/other")
			f.git("-C", f.bare, "symbolic-ref", "HEAD", "refs/heads/other")
			f.git("-C", f.bare, "branch", "-D", "main")
		}, "", []string{`has no branch "main"; it has other`}},
		{"repository that went", func(f *forge) { f.ok(os.RemoveAll(f.bare)) }, "", []string{"origin.git"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newForge(t)
			f.write("jobs/main.hcl", "good")
			f.write("good", "good")
			f.push("good")
			s := f.follow(Options{Branch: "main", Path: row.path})
			_, dir, err := s.Revision(t.Context())
			f.ok(err)
			row.spoil(f)
			if !strings.HasSuffix(row.name, "that went") || strings.HasPrefix(row.name, "directory") {
				f.push("bad")
			}
			f.refuses(s, row.want...)
			f.refuses(s, row.want...) // not fetched again
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("the last good files are gone: %v", err)
			}
			if strings.HasPrefix(row.name, "branch") || strings.HasPrefix(row.name, "repository") {
				return
			}
			f.git("-C", f.work, "revert", "--no-edit", "HEAD")
			f.git("-C", f.work, "clean", "-ffdxq")
			f.write("jobs/main.hcl", "mended")
			mended := f.push("mended")
			if rev, _, err := s.Revision(t.Context()); rev.ID != mended || err != nil {
				t.Errorf("after it was mended: %s (%v)", rev.ID, err)
			}
		})
	}
}

// TestElsewhere: what is no repository that can be followed.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.refuses(f.follow(Options{Branch: "main"}), "has no commit yet")
	f.write("main.hcl", "one")
	commit := f.push("one")
	f.shows(f.follow(Options{}), commit, "main.hcl", "one")
	f.shows(f.follow(Options{Remote: f.bare}), commit, "main.hcl", "one")
	f.refuses(f.follow(Options{Branch: "prod"}), `has no branch "prod"; it has main`)
	f.git("-C", f.work, "checkout", "-q", "--detach")
	f.git("-C", f.work, "commit", "-q", "--allow-empty", "-m", "on no branch")
	f.refuses(f.follow(Options{Remote: "file://" + f.work}), "its HEAD is detached")
	f.refuses(f.follow(Options{Remote: "file://" + f.work, Branch: "main"}), "its HEAD is detached")
	f.refuses(f.follow(Options{Remote: "http://ann:pass-word@127.0.0.1:1/x.git", Branch: "main"}), "http://ann@127.0.0.1:1/x.git cannot be read")
	f.refuses(f.follow(Options{Remote: t.TempDir(), Branch: "main"}), "")

	for _, row := range []struct {
		name string
		o    Options
		env  string
		want string
	}{
		{"nothing", Options{}, "", "the remote is missing"},
		{"path that leaves", Options{Remote: "file:///x", Path: "../x"}, "", "no path in a repository"},
		{"absolute path", Options{Remote: "file:///x", Path: "/x"}, "", "no path in a repository"},
		{"protocol", Options{Remote: "git://example.com/x"}, "", "git:// is none of these"},
		{"branch", Options{Remote: "file:///x", Branch: "a..b"}, "", `"a..b" is no name of a branch`},
		{"token in the open", Options{Remote: "http://example.com/x"}, "s3cret-token", "without encryption"},
	} {
		row.o.Cache, row.o.Getenv = t.TempDir(), func(name string) string {
			if name == tokenVariable {
				return row.env
			}
			return ""
		}
		_, err := New(row.o)
		if err == nil || !strings.Contains(err.Error(), row.want) || row.env != "" && strings.Contains(err.Error(), row.env) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestDesk: what a killed process leaves is cleared away, and what a living one has is not.
func TestDesk(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	dead := filepath.Join(cache, "source-dead")
	if err := os.MkdirAll(filepath.Join(dead, "copy-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	one, err := newDesk(cache)
	if err != nil {
		t.Fatal(err)
	}
	two, err := newDesk(cache)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a killed process left is still there")
	}
	for _, d := range []*desk{one, two} {
		if _, err := os.Stat(d.dir); err != nil {
			t.Error(err)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}
