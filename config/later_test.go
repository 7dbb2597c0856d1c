package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAwaited loads what the language has and the engine does not run yet: nothing of it is taken without a word.
func TestAwaited(t *testing.T) {
	t.Parallel()
	_, o := readCase(t, "testdata/valid/cycles.hcl")
	o.preview = false
	_, diags := Load(o)
	lines := map[int]int{}
	for _, d := range diags {
		if d.Summary != string(sumNotSupported) {
			t.Errorf("unexpected: %v", d)
		}
		lines[d.Subject.Start.Line]++
	}
	want := map[int]int{20: 1, 55: 1}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("refused lines (-want +got):\n%s", diff)
	}
}
