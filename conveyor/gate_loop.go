package conveyor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// ErrGateLoop refuses gates that would open each other for ever: see checkGateLoops.
var ErrGateLoop = errors.New("gates open each other again and again, without end once they have opened: give one of them max_cycles, " +
	"or one more label that nothing downstream of them triggers")

// checkGateLoops refuses gates each of whose labels is triggered downstream of one of them: as soon as they have opened they would
// go on for ever, and as fast as workers are, with nothing that could stop them. A gate with max_cycles is on hold in the end. It looks
// at the jobs of one call only.
func (f *families) checkGateLoops() error {
	openers := map[string][]string{} // label -> gates in whose cycles it is triggered
	for _, uuid := range slices.Sorted(maps.Keys(f.jobs)) {
		job := f.jobs[uuid]
		if len(job.TriggersGate) == 0 || !isTemplate(job) {
			continue
		}
		root := f.jobs[f.root(uuid)]
		if root == nil || len(root.Gate) == 0 || root.MaxCycles > 0 {
			continue
		}
		for _, label := range job.TriggersGate {
			openers[label] = append(openers[label], root.Uuid)
		}
	}
	if len(openers) == 0 {
		return nil // as in most calls
	}
	loop := gateLoop(f.jobs, openers)
	if len(loop) == 0 {
		return nil
	}
	var steps []string
	for i, label := range loop {
		steps = append(steps, fmt.Sprintf("%q opens %s", label.name, f.named(loop[(i+1)%len(loop)].gate)))
	}
	return fmt.Errorf("job %s: downstream of it %s: %w", f.named(loop[0].gate), strings.Join(steps, ", downstream of which "), ErrGateLoop)
}

func (f *families) named(uuid string) string { return label(f.jobs[uuid]) }

// gateLabel is a gate and a label that is triggered in its cycles.
type gateLabel struct{ gate, name string }

// gateLoop is a circle of gates, each of which triggers a label of the next, out of those that keep each other going; empty when
// there is none. It leaves out whoever waits for a label that none of them triggers, until only such gates are left.
func gateLoop(jobs map[string]*wire.Job, openers map[string][]string) []gateLabel {
	going := map[string]bool{}
	for uuid, job := range jobs {
		if len(job.Gate) > 0 && job.MaxCycles == 0 {
			going[uuid] = true
		}
	}
	opener := func(label string) string {
		for _, gate := range openers[label] {
			if going[gate] {
				return gate
			}
		}
		return ""
	}
	for again := true; again; {
		again = false
		for uuid := range going {
			if slices.ContainsFunc(jobs[uuid].Gate, func(l string) bool { return opener(l) == "" }) {
				delete(going, uuid)
				again = true
			}
		}
	}
	if len(going) == 0 {
		return nil
	}
	var back []gateLabel // each is opened by the one behind it
	at := slices.Min(slices.Collect(maps.Keys(going)))
	for seen := map[string]int{}; ; {
		if from, met := seen[at]; met {
			back = back[from:]
			break
		}
		seen[at] = len(back)
		name := slices.Min(jobs[at].Gate)
		at = opener(name)
		back = append(back, gateLabel{at, name})
	}
	slices.Reverse(back)
	return back
}
