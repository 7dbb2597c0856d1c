package outbox

import (
	"testing"
	"time"
)

// TestBackoff doubles the pauses up to the limit, spreads each over its upper half, and begins anew.
func TestBackoff(t *testing.T) {
	t.Parallel()
	b := backoff{least: 100 * time.Millisecond, most: time.Second}
	if b.reset() {
		t.Error("a fresh one has failures")
	}
	for range 2 {
		for i, full := range []time.Duration{100, 200, 400, 800, 1000, 1000, 1000} {
			full *= time.Millisecond
			if d := b.next(); d > full || d < full/2 {
				t.Errorf("pause %d is %s, want %s to %s", i, d, full/2, full)
			}
		}
		b.failures += 1 << 20
		if d := b.next(); d > b.most {
			t.Errorf("pause %s", d)
		}
		if !b.reset() {
			t.Error("no failures were counted")
		}
	}
}
