package enginemodel

import (
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// flip is what a job's end means to the gates that wait for a label it triggers: a success gives each of them what the job has of
// its synced state, and flips the label; a failure shows, where it is not flipped, and changes nothing. The flip that opens a gate
// makes one cycle, and all labels wait again; one that has emitted as many cycles as it may stays as it is. Neither is a job that
// was withdrawn, nor one that is passed over since others succeeded.
func (e *Engine) flip(j *job) {
	good := j.end.state == conveyor.StateCompleted || j.end.state == conveyor.StateObsolete
	if j.withdrawn || j.end == skippedSuccess || j.template != nil || j.of == "" && isTemplate(j.wire) {
		return
	}
	for _, label := range slices.Sorted(slices.Values(j.wire.TriggersGate)) {
		for _, gate := range e.sorted(func(g *job) bool {
			return g.state == conveyor.StateTemplate && slices.Contains(g.wire.Gate, label)
		}, byOrder) {
			e.flipOne(gate, label, j, good)
		}
	}
}

func (e *Engine) flipOne(gate *job, label string, j *job, good bool) {
	t := gate.template
	if !good {
		if t.gate[label] != gateFlipped {
			t.gate[label] = "-" + j.uuid
		}
		return
	}
	for name, value := range j.sync {
		if _, shared := t.sync[name]; shared {
			t.sync[name] = value
		}
	}
	t.gate[label] = gateFlipped
	if slices.ContainsFunc(gate.wire.Gate, func(l string) bool { return t.gate[l] != gateFlipped }) {
		return
	}
	if e.emit(gate, max(e.now, t.last+1), false) == tickHeld {
		return
	}
	for _, l := range gate.wire.Gate {
		t.gate[l] = gateWaits
	}
}
