package board

import (
	"fmt"
	"testing"
	"time"
)

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-1: "0s", 40 * time.Millisecond: "0s", 2 * time.Second: "2s", 1540 * time.Millisecond: "1.5s",
		9990 * time.Millisecond: "10s", 75900 * time.Millisecond: "1m15s"} {
		if got := Took(d); got != want {
			t.Errorf("Took(%v) = %s, want %s", d, got, want)
		}
	}
	if got := fmt.Sprintln(Clock(75*time.Second), Clock(3723*time.Second)); got != "01:15 1:02:03\n" {
		t.Errorf("clock: %s", got)
	}
}
