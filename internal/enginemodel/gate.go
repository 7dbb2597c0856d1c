package enginemodel

import (
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// flip is what a job's end means to the gates that wait for a label it triggers: a success flips it, a failure shows and
// changes nothing. The flip that opens a gate makes one cycle, with what the job has of the gate's synced state, and all
// labels wait again.
func (e *Engine) flip(j *job) {
	for _, label := range j.wire.TriggersGate {
		for _, gate := range e.sorted(func(g *job) bool { return g.template != nil && slices.Contains(g.wire.Gate, label) }, byOrder) {
			t := gate.template
			if j.end.state != conveyor.StateCompleted && j.end.state != conveyor.StateObsolete {
				if t.gate[label] != gateFlipped {
					t.gate[label] = "-" + j.uuid
				}
				continue
			}
			t.gate[label] = gateFlipped
			if slices.ContainsFunc(gate.wire.Gate, func(l string) bool { return t.gate[l] != gateFlipped }) {
				continue
			}
			for name, value := range j.sync {
				if _, shared := t.sync[name]; shared {
					t.sync[name] = value
				}
			}
			for _, l := range gate.wire.Gate {
				t.gate[l] = gateWaits
			}
			e.emit(gate, max(e.now, t.last+1), false)
		}
	}
}
