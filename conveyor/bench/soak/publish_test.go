package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFaultsPage wants FAULTS.md to be what the results in runs/ say.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", "runs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := faultsPage(names)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", faultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("FAULTS.md is another (-want +got), run `go run ./soak publish runs/*.json`\n%s", diff)
	}
}
