package enginemodel

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// List finds the jobs that carry all labels of a filter, in the order of their uuids. What it does not find for lack of a
// bound is told in full.
func (e *Engine) List(o conveyor.ListOptions) []string {
	var out []string
	for _, uuid := range slices.Sorted(maps.Keys(e.jobs)) {
		j := e.jobs[uuid]
		if (o.Queue == "" || o.Queue == j.queue) && (o.States == nil || slices.Contains(o.States, j.state)) && j.carries(o.Labels) {
			out = append(out, uuid)
		}
	}
	return out
}

// Exists tells whether a live job carries all labels.
func (e *Engine) Exists(labels map[string]string) bool {
	return len(e.List(conveyor.ListOptions{Labels: labels, States: conveyor.LiveStates()})) > 0
}

// carries tells whether a job has all labels; * is any name of its own labels, and any value.
func (j *job) carries(filter map[string]string) bool {
	for name, want := range filter {
		matches := func(labels map[string]string, name string) bool {
			value, ok := labels[name]
			return ok && (want == conveyor.Any || want == value)
		}
		switch {
		case name == conveyor.Any:
			if !slices.ContainsFunc(slices.Collect(maps.Keys(j.labels)), func(n string) bool { return matches(j.labels, n) }) {
				return false
			}
		case conveyor.ReservedLabel(name):
			if !matches(j.facts(), name) {
				return false
			}
		case !matches(j.labels, name):
			return false
		}
	}
	return true
}

// facts are what the engine knows of a job and shows as labels.
func (j *job) facts() map[string]string {
	out := map[string]string{"object": j.uuid, "method": "any"}
	if worker := cmp.Or(j.owner, j.holder); worker != "" {
		out["worker"] = worker
	}
	if j.expires > 0 {
		out["expiry"] = time.UnixMilli(j.expires).UTC().Format(time.RFC3339Nano)
	}
	return out
}
