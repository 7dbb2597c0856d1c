package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/internal/cli"
)

// TestDocs checks that COMMANDS.md is what the commands say; -update writes it anew. The other pages belong to config, and are
// the same here.
func TestDocs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var problems bytes.Buffer
	if code := cli.Run(cli.Process{Args: []string{"docs", "-out", dir}, Stdout: &problems, Stderr: &problems}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &problems)
	}
	for page, committed := range map[string]string{
		"REFERENCE.md": "../../config/REFERENCE.md", "FUNCTIONS.md": "../../config/FUNCTIONS.md", "POLICIES.md": "../../config/POLICIES.md", "COMMANDS.md": "COMMANDS.md",
	} {
		want, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		if *update && page == committed {
			if err := os.WriteFile(committed, want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(committed)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s is not what the code says; \"go test ./internal/cli ./config -run 'TestDocs|TestReference' -update\" writes it anew:\n%s", page, d)
		}
	}
}
