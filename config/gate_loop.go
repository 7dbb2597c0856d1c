package config

import (
	"fmt"
	"slices"
	"strings"
)

// refuseGateLoops reports gates each of whose labels is triggered downstream of one of them: once they have opened they would open
// each other for ever, as fast as workers are. A gate with max_cycles is on hold in the end, and one that waits for another label too
// opens no more often than that comes.
func (l *loader) refuseGateLoops(jobs []*Job) {
	gates := map[Addr]*Job{}
	for _, j := range jobs {
		if j.Gate != nil && j.MaxCycles == 0 {
			gates[j.Addr] = j
		}
	}
	if len(gates) == 0 {
		return
	}
	openers := map[string][]Addr{} // label -> gates in whose cycles it is triggered
	heirs, byAddr := downstream(jobs), map[Addr]*Job{}
	for _, j := range jobs {
		byAddr[j.Addr] = j
	}
	for _, j := range jobs { // in their order, so that the same is told each time
		if gates[j.Addr] == nil {
			continue
		}
		for below := range reach(j.Addr, heirs) {
			for _, label := range byAddr[below].TriggersGate {
				if !slices.Contains(openers[label], j.Addr) {
					openers[label] = append(openers[label], j.Addr)
				}
			}
		}
	}
	if len(openers) == 0 {
		return
	}
	opener := func(label string) (Addr, bool) {
		for _, a := range openers[label] {
			if gates[a] != nil {
				return a, true
			}
		}
		return Addr{}, false
	}
	for again := true; again; { // whoever waits for something else keeps nobody going
		again = false
		for a, g := range gates {
			if slices.ContainsFunc(g.Gate.Waiting, func(label string) bool { _, ok := opener(label); return !ok }) {
				delete(gates, a)
				again = true
			}
		}
	}
	for _, j := range jobs {
		if gates[j.Addr] != nil {
			l.reportGateLoop(j, gates, opener)
			return
		}
	}
}

// reportGateLoop follows a gate back to who opens it, until the circle is closed.
func (l *loader) reportGateLoop(from *Job, gates map[Addr]*Job, opener func(label string) (Addr, bool)) {
	var path []Addr
	var labels []string
	for at := from.Addr; ; {
		if i := slices.Index(path, at); i >= 0 {
			path, labels = path[i:], labels[i:]
			break
		}
		label := gates[at].Gate.Waiting[0]
		path, labels = append(path, at), append(labels, label)
		at, _ = opener(label)
	}
	steps := make([]string, 0, len(path))
	for i := len(path) - 1; i >= 0; i-- {
		steps = append(steps, fmt.Sprintf("%q opens %s", clip(labels[i]), path[i]))
	}
	gate := gates[path[0]]
	l.r.error(sumEndlessGate, gate.Gate.Ranges[0], "This gate opens again and again, without end once it has opened: downstream of %s %s. Give a job of this circle with a gate max_cycles, "+
		"after which it is on hold, or one more label that nothing downstream of it triggers.", path[0], strings.Join(steps, ", downstream of which "))
}
