package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// TestSchedule wants each kind of fault before one comes again, in order of time, and the same from the same seed.
func TestSchedule(t *testing.T) {
	t.Parallel()
	for _, d := range []rig.Durability{rig.Always, rig.EverySec, rig.None, rig.Replica, rig.Journal} {
		kinds := faultKinds(d)
		faults := schedule(7, time.Hour, 3*time.Second, kinds)
		if len(faults) < 1000 {
			t.Errorf("%s: %d faults in an hour", d, len(faults))
		}
		var first []faultKind
		for _, f := range faults[:len(kinds)] {
			first = append(first, f.Kind)
		}
		slices.Sort(first)
		slices.Sort(kinds)
		if diff := cmp.Diff(kinds, first); diff != "" {
			t.Errorf("%s: the first ones are not one of each\n%s", d, diff)
		}
		if !slices.IsSortedFunc(faults, func(a, b fault) int { return int(a.At - b.At) }) {
			t.Errorf("%s: they are not in the order of time", d)
		}
		for _, f := range faults {
			if span := lasts[f.Kind]; f.For < span[0] || f.For > span[1] {
				t.Errorf("%s: it lasts %s, and has to last %s to %s", f, f.For, span[0], span[1])
			}
		}
		if diff := cmp.Diff(faults, schedule(7, time.Hour, 3*time.Second, faultKinds(d))); diff != "" {
			t.Errorf("%s: the same seed gives another\n%s", d, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct{ args, want string }{
		{"", ""},
		{"-store embedded", ""},
		{"-durability replica -seed 9 -duration 1h", ""},
		{"-store disk", `-store "disk": choose redis or embedded`},
		{"-durability journal", "-durability journal is the embedded store's: give -store embedded"},
		{"-durability often", `-durability "often": choose always, everysec, none or replica`},
		{"-workers 0", "-workers 0 is not in 1..1000"},
		{"-every 1ms", "-duration and -settle are at least 1s, -every at least 100ms"},
		{"now", `unexpected argument "now": all settings are flags`},
	}
	for _, test := range tests {
		var out bytes.Buffer
		o, err := parseOptions(strings.Fields(test.args), &out)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.args, got, test.want)
			continue
		}
		if err == nil { // the command that repeats it says the same
			again, err := parseOptions(strings.Fields(o.again())[3:], &out)
			if err != nil {
				t.Errorf("%q: %v", o.again(), err)
			}
			again.json, again.keep, o.json, o.keep = "", "", "", ""
			if again != o {
				t.Errorf("%q: again is %+v, and it was %+v", test.args, again, o)
			}
		}
	}
}
