package handlers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entries are the names in a directory, without what is random in them.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, scratchPrefix) && strings.Trim(name[len(scratchPrefix):], "0123456789") == "" {
			name = scratchPrefix
		}
		names = append(names, name)
	}
	return names
}

func wantEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), entries(t, dir)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", dir, diff)
	}
}

func TestScratch(t *testing.T) {
	t.Parallel()
	attempt := func(t *testing.T, s *scratch) string {
		t.Helper()
		dir, err := s.attempt()
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	// killed leaves what a worker leaves that did not come to close.
	killed := func(t *testing.T, parent string) {
		t.Helper()
		s := &scratch{parent: parent}
		if err := os.WriteFile(filepath.Join(attempt(t, s), "output"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.lock.Close(); err != nil { // as the kernel does
			t.Fatal(err)
		}
	}
	t.Run("one directory a worker, one in it an attempt, and nothing is left", func(t *testing.T) {
		t.Parallel()
		s := &scratch{parent: t.TempDir()}
		s.close()
		wantEntries(t, s.parent)
		a, b := attempt(t, s), attempt(t, s)
		if a == b || filepath.Dir(a) != filepath.Dir(b) || filepath.Base(a) == filepath.Base(b) {
			t.Errorf("attempts in %s and %s", a, b)
		}
		wantEntries(t, s.parent, scratchPrefix)
		if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
		s.close()
		wantEntries(t, s.parent)
	})
	t.Run("directories of killed workers are swept, those of live ones are not", func(t *testing.T) {
		t.Parallel()
		parent := t.TempDir()
		live := &scratch{parent: parent}
		kept := attempt(t, live)
		killed(t, parent)
		killed(t, parent)
		other := &scratch{parent: parent}
		if n := other.sweep(); n != 2 {
			t.Errorf("swept %d, want 2", n)
		}
		if _, err := os.Stat(kept); err != nil {
			t.Error(err)
		}
		if n := live.sweep(); n != 0 { // its own neither
			t.Errorf("swept %d more", n)
		}
		live.close()
		wantEntries(t, parent)
	})
	t.Run("what is not a worker's is left alone", func(t *testing.T) {
		t.Parallel()
		parent, elsewhere := t.TempDir(), t.TempDir()
		killed(t, elsewhere)
		for _, dir := range []string{scratchPrefix + "unlocked", "waybill-other", scratchPrefix + "open"} {
			if err := os.Mkdir(filepath.Join(parent, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		open := filepath.Join(parent, scratchPrefix+"open")
		if err := os.WriteFile(filepath.Join(open, scratchLock), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(elsewhere, "*"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if err := os.Symlink(found[0], filepath.Join(parent, scratchPrefix+"link")); err != nil {
			t.Fatal(err)
		}
		if n := (&scratch{parent: parent}).sweep(); n != 0 {
			t.Errorf("swept %d", n)
		}
		wantEntries(t, parent, "waybill-other", scratchPrefix+"link", scratchPrefix+"open", scratchPrefix+"unlocked")
		wantEntries(t, elsewhere, scratchPrefix)
		if got := entries(t, filepath.Join(parent, scratchPrefix+"unlocked")); len(got) != 0 {
			t.Errorf("made %v where there was no lock", got)
		}
	})
	t.Run("a directory that was cleared away is made anew", func(t *testing.T) {
		t.Parallel()
		s := &scratch{parent: t.TempDir()}
		attempt(t, s)
		if err := os.RemoveAll(s.dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(attempt(t, s)); err != nil {
			t.Error(err)
		}
		s.close()
		wantEntries(t, s.parent)
	})
}
