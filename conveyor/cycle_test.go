package conveyor

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeCycles(t *testing.T) {
	t.Parallel()
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	for _, row := range []struct {
		name, tick, text string // no tick: a line of the history
		want             Cycle
	}{
		{"began", "60000", "60005:3:1:", Cycle{Tick: at(60000), Began: at(60005), Jobs: 3, Failed: 1}},
		{"replaced", "60000", "60005:3::r", Cycle{Tick: at(60000), Began: at(60005), Jobs: 3, Replaced: true}},
		{"the shortest", "60000", "", Cycle{Tick: at(60000)}},
		{"completed", "", "60000:C:60005:61000:3:0:0", Cycle{Tick: at(60000), Outcome: CycleCompleted, Began: at(60005), Ended: at(61000), Jobs: 3}},
		{"failed", "", "60000:F:60005:61000:3:2", Cycle{Tick: at(60000), Outcome: CycleFailed, Began: at(60005), Ended: at(61000), Jobs: 3, Failed: 2}},
		{"skipped", "", "60000:s", Cycle{Tick: at(60000), Outcome: CycleSkipped}},
		{"missed", "", "60000:m:::::7", Cycle{Tick: at(60000), Outcome: CycleMissed, Missed: 7}},
		{"replaced and over", "", "60000:r:60005:61000:3:3", Cycle{Tick: at(60000), Outcome: CycleReplaced, Began: at(60005), Ended: at(61000), Jobs: 3, Failed: 3, Replaced: true}},
		{"cancelled", "", "60000:X", Cycle{Tick: at(60000), Outcome: CycleCancelled}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeHistory("k", row.text)
			if row.tick != "" {
				got, err = decodeCycle("k", row.tick, row.text)
			}
			if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
	for _, bad := range []string{"", "x:C", "60000", "60000:?", "60000:C:x", "60000:C::x", "60000:C:::x", "60000:C::::x", "60000:C:::::x", ":C"} {
		if c, err := decodeHistory("k", bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q was decoded: %+v, %v", bad, c, err)
		}
	}
	for _, bad := range [][2]string{{"x", ""}, {"", "1"}, {"60000", "x"}, {"60000", ":x"}, {"60000", "::x"}} {
		if c, err := decodeCycle("k", bad[0], bad[1]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q was decoded: %+v, %v", bad, c, err)
		}
	}
}

func TestCycleNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for o := CycleLive; o <= CycleCancelled; o++ {
		if o.String() == "" || seen[o.String()] {
			t.Errorf("outcome %d is %q", o, o)
		}
		seen[o.String()] = true
	}
	for k := TemplateKind(0); k <= TemplateDownstream; k++ {
		if k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d is %q", k, k)
		}
		seen[k.String()] = true
	}
	if CycleOutcome(200).String() != "invalid" || TemplateKind(200).String() != "invalid" {
		t.Errorf("got %q and %q", CycleOutcome(200), TemplateKind(200))
	}
}
