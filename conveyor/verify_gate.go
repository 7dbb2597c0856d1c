package conveyor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// declaredGate are the labels that a template's bytes say it waits for; false when they cannot be read.
func declaredGate(bytes string) ([]string, bool) {
	job := &wire.Job{}
	if bytes == "" || proto.Unmarshal([]byte(bytes), job) != nil || checkGateLabels(job.Gate) != nil {
		return nil, false
	}
	return job.Gate, true
}

// gateState tells whether a gate can show this of a label.
func gateState(text string) bool {
	failed, ok := strings.CutPrefix(text, "-")
	return text == "0" || text == "1" || ok && validName(failed)
}

// gate checks I9 as far as the store shows it: a gate waits for the labels that it is declared with, once each, and whatever
// triggers one of them finds it.
func (j *judgement) gate(t *templateSeen) {
	declared, ok := declaredGate(t.bytes)
	if !ok {
		return
	}
	mend, repair := newFix("gate", packNames(declared)), fmt.Sprintf("have gate %s wait for the labels that it is declared with", j.uuid)
	want, wrong := map[string]bool{}, []string{}
	for _, label := range declared {
		want["gate:"+label] = true
		if !gateState(t.gate[label]) {
			wrong = append(wrong, label)
		}
	}
	for label := range t.gate {
		if !want["gate:"+label] {
			wrong = append(wrong, label)
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		j.say("I9", j.keys.gateOf(j.uuid), "differs from the labels that the gate is declared with: "+strings.Join(wrong, ", "), repair, mend)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if at, in := j.listed[name]; !in || at != j.status.Place {
			j.say("I9", j.keys.key(name), "does not list a gate in its order: no trigger would find it", repair, mend)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.listed)) {
		if strings.HasPrefix(name, "gate:") && !want[name] {
			j.unref("I9", j.keys.key(name), "zset", "names a template that does not wait for this label")
		}
	}
}
