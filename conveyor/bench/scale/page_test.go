package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWritePage: the figures are replaced, what stands around them stays, and a page without a place for them is refused.
func TestWritePage(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	steps := []step{{Name: "plan", Took: 1500 * time.Millisecond, CPU: time.Second, Memory: 20_000_000, Used: 1_000_000, Peak: 2_000_000}}
	write("before\n" + figuresBegin + "old\n" + figuresEnd + "after\n")
	if err := writePage(page, steps, 10, time.Now()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "before\n"+figuresBegin) || !strings.HasSuffix(got, figuresEnd+"after\n") || strings.Contains(got, "old") {
		t.Errorf("the page:\n%s", got)
	}
	if want := "| plan | 1.5 s | 1.0 s | 20 MB | 1 MB | 2 MB |"; !strings.Contains(got, want) {
		t.Errorf("no line %q in the page:\n%s", want, got)
	}
	write("nothing\n")
	if err := writePage(page, steps, 10, time.Now()); err == nil {
		t.Error("a page without a place for figures was written")
	}
}
