package main

import (
	"slices"
	"strings"
	"testing"
)

// TestRows holds rows.json against the trials: each row names a trial, and sides that it has.
func TestRows(t *testing.T) {
	t.Parallel()
	rows, err := readRows()
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]string{}
	for _, s := range onRedis {
		for _, one := range s.sides {
			of[s.name] = append(of[s.name], one.name)
		}
	}
	for _, p := range planTrials() {
		of[p.name] = []string{"waybill", "terraform", "floor"}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Name] {
			t.Errorf("two rows are named %q", r.Name)
		}
		seen[r.Name] = true
		sides := of[r.Trial]
		if !slices.Contains(sides, r.Ours) || (r.Peer != "" && !slices.Contains(sides, r.Peer)) {
			t.Errorf("%s: trial %q has the sides %s, not %q and %q", r.Name, r.Trial, strings.Join(sides, ", "), r.Ours, r.Peer)
		}
		if units[r.Unit] == nil {
			t.Errorf("%s: there is no unit %q", r.Name, r.Unit)
		}
		if r.AtLeast == 0 && r.AtMost == 0 && !r.Reported {
			t.Errorf("%s: nothing is required", r.Name)
		}
		if (r.AtLeast > 0 || r.Aim > 0) && r.Peer == "" {
			t.Errorf("%s: a ratio needs a peer", r.Name)
		}
		if r.Aim > 0 && r.Aim < r.AtLeast || r.AimAtMost > r.AtMost {
			t.Errorf("%s: the aim is less than what is required", r.Name)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	s := samples{"trial": {
		"waybill": {{"time": 3, "rate": 10}, {"time": 1, "rate": 10}, {"time": 2, "rate": 40}},
		"peer":    {{"time": 8, "rate": 4}, {"time": 8, "rate": 6}},
	}}
	for _, test := range []struct {
		name  string
		row   row
		ratio float64
		want  verdict
	}{
		{"less is better", row{Figure: "time", Peer: "peer", AtLeast: 4}, 4, met},
		{"more is better", row{Figure: "rate", Peer: "peer", More: true, AtLeast: 2.5}, 2, below},
		{"aim reached", row{Figure: "time", Peer: "peer", AtLeast: 3, Aim: 4}, 4, aimMet},
		{"aim missed", row{Figure: "time", Peer: "peer", AtLeast: 3, Aim: 5}, 4, met},
		{"limit without peer", row{Figure: "time", AtMost: 2}, 0, met},
		{"limit exceeded beside a good ratio", row{Figure: "time", Peer: "peer", AtLeast: 1, AtMost: 1.9}, 4, below},
		{"aim of the limit missed", row{Figure: "time", Peer: "peer", AtLeast: 1, Aim: 2, AtMost: 3, AimAtMost: 1}, 4, met},
		{"no such peer", row{Figure: "time", Peer: "nobody", AtLeast: 1}, 0, notMeasured},
		{"no such figure", row{Figure: "weight", AtMost: 1}, 0, notMeasured},
	} {
		test.row.Trial, test.row.Ours = "trial", "waybill"
		if got := s.judge(test.row); got.Verdict != test.want || got.Ratio != test.ratio {
			t.Errorf("%s: %s with ratio %g, want %s with %g", test.name, got.Verdict, got.Ratio, test.want, test.ratio)
		}
	}
}
