package script

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// CheckGolden compares got with a file below testdata, or writes it.
func CheckGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// CheckHarmless fails on control characters that no renderer of ours writes without colours.
func CheckHarmless(t testing.TB, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			t.Errorf("control character %U at %d", r, i)
		}
	}
}

// CheckSize fails when a screen is taller or wider than its terminal.
func CheckSize(t testing.TB, screen string, width, height int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) > height {
		t.Errorf("%d lines on a terminal of %d", len(lines), height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > width {
			t.Errorf("line %d is %d cells wide on a terminal of %d: %q", i, w, width, line)
		}
	}
}
