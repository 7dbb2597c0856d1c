package gitsource

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// forge is a bare repository, a clone that its commits are made in, and a source that follows it.
type forge struct {
	*testing.T
	bare, work string
	told       []string // by the source
}

func newForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{T: t, bare: filepath.Join(t.TempDir(), "origin.git"), work: t.TempDir()}
	f.git("init", "-q", "--bare", "-b", "main", f.bare)
	f.git("init", "-q", "-b", "main", f.work)
	f.git("-C", f.work, "remote", "add", "origin", "file://"+f.bare)
	return f
}

// git runs the program, as one author, with nobody's settings.
func (f *forge) git(args ...string) string {
	f.Helper()
	cmd := exec.CommandContext(f.Context(), "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_COMMITTER_DATE=2026-11-20T10:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *forge) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// write writes a file of the clone.
func (f *forge) write(name, text string) {
	f.Helper()
	name = filepath.Join(f.work, name)
	f.ok(errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
}

// push commits everything and pushes it, and returns the commit.
func (f *forge) push(message string, options ...string) string {
	f.Helper()
	f.git("-C", f.work, "add", "-A")
	f.git("-C", f.work, "commit", "-q", "--allow-empty", "-m", message)
	f.git(append([]string{"-C", f.work, "push", "-q", "origin", "HEAD:main"}, options...)...)
	return f.git("-C", f.work, "rev-parse", "HEAD")
}

// follow opens a source of the bare repository, unless the options name another remote.
func (f *forge) follow(o Options) *Source {
	f.Helper()
	if o.Remote == "" {
		o.Remote = "file://" + f.bare
	}
	o.Cache, o.Getenv, o.Log = filepath.Join(f.TempDir(), "cache"), func(string) string { return "" }, func(text string) { f.told = append(f.told, text) }
	s, err := New(o)
	f.ok(err)
	f.Cleanup(func() {
		f.ok(s.Close())
		if left, err := filepath.Glob(filepath.Join(o.Cache, "source-*")); len(left) > 0 || err != nil {
			f.Errorf("closed, it leaves %v (%v)", left, err)
		}
	})
	return s
}

// shows wants the source to show a commit, and a file of it.
func (f *forge) shows(s *Source, commit, name, text string) string {
	f.Helper()
	rev, dir, err := s.Revision(f.Context())
	f.ok(err)
	if rev.ID != commit {
		f.Errorf("it shows %s, want %s", rev.ID, commit)
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if string(got) != text || err != nil {
		f.Errorf("%s is %q (%v), want %q", name, got, err, text)
	}
	return dir
}

// refuses wants an error that says all of this.
func (f *forge) refuses(s *Source, want ...string) {
	f.Helper()
	_, _, err := s.Revision(f.Context())
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			f.Errorf("got the error %v, want one with %q", err, w)
		}
	}
}
