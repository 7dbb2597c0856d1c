package conveyor

import (
	"fmt"
	"strings"
)

// keyViolations names keys of the engine that have a wrong type.
func (a *census) keyViolations() []Violation {
	var out []Violation
	for key, kind := range a.types {
		name := strings.TrimPrefix(key, string(a.keys))
		uuid, _ := jobKey(name)
		if want := wantedKind(name); want != "" && kind != want {
			out = append(out, Violation{"I1", uuid, key, "is a " + kind + ", not a " + want})
		}
	}
	return out
}

// counterViolations compares the counters of depth and slots with the statuses.
func (a *census) counterViolations() []Violation {
	depth, slots := map[string]int64{}, map[string]int64{}
	for uuid, v := range a.views {
		s, err := decodeStatus(uuid, v.entry)
		if err != nil {
			continue
		}
		switch s.State {
		case StateQueued:
			depth[fmt.Sprintf("%s:%d", s.Queue, s.Priority)]++
		case StateRunning:
			slots[s.Queue]++
		}
	}
	return append(compareCounters(a.keys.depth(), a.depth, depth), compareCounters(a.keys.slots(), a.slots, slots)...)
}

func compareCounters(key string, stored map[string]string, counted map[string]int64) []Violation {
	var out []Violation
	for field, n := range counted {
		if integer(stored[field]) != n {
			out = append(out, Violation{"I1", "", key, fmt.Sprintf("%s is %s, the statuses say %d", field, stored[field], n)})
		}
	}
	for field, text := range stored {
		if _, ok := counted[field]; !ok {
			out = append(out, Violation{"I1", "", key, fmt.Sprintf("%s is %s, the statuses say 0", field, text)})
		}
	}
	return out
}

// leftoverViolations checks I13 and I14: keys of jobs and workers that are gone.
func (a *census) leftoverViolations() []Violation {
	var out []Violation
	for key := range a.types {
		name := strings.TrimPrefix(key, string(a.keys))
		uuid, what := jobKey(name)
		if v := a.views[uuid]; uuid != "" && (v == nil || v.entry == "") {
			switch what {
			case "log", "edges":
				out = append(out, Violation{"I13", uuid, key, "left of a job that is gone"})
			case "children", "onComplete":
				if !a.waitedFor(key) {
					out = append(out, Violation{"I13", uuid, key, "nobody waits here for a job never seen"})
				}
			}
		}
		if id, ok := strings.CutPrefix(name, "worker:"); ok {
			if id = strings.TrimSuffix(id, ":jobs"); !a.workers[id] {
				out = append(out, Violation{"I14", "", key, "left of a worker that is gone"})
			}
		}
	}
	return out
}

// waitedFor tells whether a ticket of a list belongs to a job that is still known.
func (a *census) waitedFor(key string) bool {
	for _, t := range a.lists[key] {
		if v := a.views[t.uuid]; v != nil && v.entry != "" {
			return true
		}
	}
	return false
}
