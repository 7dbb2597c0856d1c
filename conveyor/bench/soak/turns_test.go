package main

import (
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	queued := func(uuid string, place int64, priority int) conveyor.Status {
		return conveyor.Status{UUID: uuid, State: conveyor.StateQueued, Queue: "q", Place: place, Priority: priority}
	}
	running := func(uuid string) conveyor.Status {
		return conveyor.Status{UUID: uuid, State: conveyor.StateRunning, Queue: "q"}
	}
	told := func(jobs ...conveyor.Status) conveyor.Observation {
		return conveyor.Observation{Event: conveyor.Event{Jobs: jobs}}
	}
	waiting := conveyor.Observation{Snapshot: true, Event: conveyor.Event{Jobs: []conveyor.Status{queued("a", 1, 1), queued("b", 2, 1), queued("c", 3, 2)}}}
	tests := []struct {
		name   string
		events []conveyor.Observation
		out    int
	}{
		{"in turn", []conveyor.Observation{waiting, told(running("c")), told(running("a")), told(running("b"))}, 0},
		{"at once", []conveyor.Observation{waiting, told(running("a"), running("b"), running("c"))}, 0},
		{"a priority passed over", []conveyor.Observation{waiting, told(running("a"))}, 1},
		{"a place passed over", []conveyor.Observation{waiting, told(running("c")), told(running("b"))}, 1},
		{"put back behind by the same script", []conveyor.Observation{waiting, told(running("c"), running("b"), queued("a", 1, 1))}, 0},
		{"given back to its place", []conveyor.Observation{waiting, told(running("c")), told(running("a")), told(queued("a", 1, 1)), told(running("b"))}, 1},
		{"a new snapshot", []conveyor.Observation{waiting, {Snapshot: true, Event: conveyor.Event{Jobs: []conveyor.Status{queued("b", 2, 1)}}}, told(running("b"))}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var watch turns
			out := 0
			for _, o := range test.events {
				out += len(watch.observe(o))
			}
			if out != test.out {
				t.Errorf("%d out of turn, want %d", out, test.out)
			}
		})
	}
}
