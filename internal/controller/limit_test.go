package controller

import (
	"testing"

	"github.com/waybill-dev/waybill/planner"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text              string
		recorded, allowed int // so many may go, and no more
		bad               bool
	}{
		{text: "0", recorded: 10, allowed: 0},
		{text: "3", recorded: 10, allowed: 3},
		{text: "0%", recorded: 10, allowed: 0},
		{text: "50%", recorded: 10, allowed: 5},
		{text: "50%", recorded: 3, allowed: 1},
		{text: "10%", recorded: 9, allowed: 0},
		{text: "100%", recorded: 4, allowed: 4},
		{text: "101%", bad: true},
		{text: "-1", bad: true},
		{text: "", bad: true},
		{text: "%", bad: true},
		{text: "many", bad: true},
		{text: "5 %", bad: true},
	} {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			l, err := ParseLimit(test.text)
			if test.bad {
				if err == nil {
					t.Errorf("%q is taken as %s", test.text, l)
				}
				return
			}
			if err != nil || l.String() != test.text {
				t.Fatalf("read as %q, error %v", l, err)
			}
			for n := range test.recorded + 1 {
				if got, want := l.exceeded(destruction{rows: make([]*planner.Row, n), recorded: test.recorded}), n > test.allowed; got != want {
					t.Errorf("%d of %d: exceeded is %t, want %t", n, test.recorded, got, want)
				}
			}
		})
	}
}
