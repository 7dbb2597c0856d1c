package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	if err := os.MkdirAll(dir, 0o755); err != nil { // as init may have made it
		t.Fatal(err)
	}
	s := open(t, dir)
	must(t, s.Client().Set(t.Context(), "k", "v", 0))
	for _, name := range []string{"", "journal", "lock", "socket"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); perm&0o077 != 0 {
			t.Errorf("%q has mode %o", name, perm)
		}
	}
	closeStore(t, s)
	if _, err := os.Stat(filepath.Join(dir, "socket")); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestLongPathHasItsSocketElsewhere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(storeDir(t), strings.Repeat("long/", 30))
	s := open(t, dir)
	must(t, s.Client().Set(t.Context(), "k", "v", 0))
	if len(s.paths.socket) > maxSocketPath {
		t.Fatalf("the socket's path has %d bytes", len(s.paths.socket))
	}
	other := open(t, dir)
	if got, err := other.Client().Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Fatalf("GET k through the other store is %q, %v", got, err)
	}
	if s.Hosting() == other.Hosting() {
		t.Fatal("not exactly one of two is host")
	}
}

// TestHostIsFoundThroughItsNote joins a host whose environment puts sockets elsewhere.
func TestHostIsFoundThroughItsNote(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	host := open(t, dir)
	must(t, host.Client().Set(t.Context(), "k", "v", 0))
	joiner, err := newStore(dir, testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	joiner.paths.socket = filepath.Join(dir, "another")
	conn, err := joiner.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestSymlinkIsTheSameStore(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	host := open(t, dir)
	must(t, host.Client().Set(t.Context(), "k", "v", 0))
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	other := open(t, link)
	if other.Path() != host.Path() {
		t.Errorf("the paths are %s and %s", other.Path(), host.Path())
	}
	if got := other.Client().Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("GET k is %q through the link", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	_, err := Open(t.Context(), dir, Options{CompactAt: 5})
	if err == nil || !strings.Contains(err.Error(), "CompactAt is 5, must be at least 1024") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("a store with bad options made its directory")
	}
}

func TestFileInPlaceOfDirectory(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	write(t, dir, nil)
	if _, err := Open(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error is %v, want one that names %s", err, dir)
	}
}
