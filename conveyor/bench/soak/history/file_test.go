package history

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRead: all histories in the order of time, without the line that a killed process began.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for who, at := range map[string]int64{"worker0.1": 2, "worker1.1": 1, "applier0.1": 3} {
		w, err := Create(dir, who)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(Record{At: at, Kind: Up}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	torn := filepath.Join(dir, "worker0.1.jsonl")
	text, err := os.ReadFile(torn)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, append(text, text[:10]...), 0o600); err != nil {
		t.Fatal(err)
	}
	for begins, want := range map[string][]string{"": {"worker1.1", "worker0.1", "applier0.1"}, "worker": {"worker1.1", "worker0.1"}} {
		records, err := Read(dir, begins)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records {
			got = append(got, r.Who)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("those that begin with %q: %s", begins, diff)
		}
	}
	if err := os.WriteFile(torn, append(text[:10], text...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, ""); err == nil {
		t.Error("a damaged line in the middle is read over")
	}
}
