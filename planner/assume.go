package planner

import (
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// Assume fills in Live for a state whose jobs nobody looked at: each is taken to have done what it was submitted for. One that
// runs once has completed, a template stands, and a deposed job has not ended yet. A plan made from it compares the configuration
// with the records and nothing else; apply, which reads how the jobs stand, decides its rows again where that was another.
func (s *State) Assume() {
	s.Assumed, s.Live, s.Earlier = true, make(map[string]Live, len(s.Records)), nil
	recurs := s.recordedTemplates()
	for name, r := range s.Records {
		live := Live{Status: Completed, Opening: max(1, r.Opening)}
		switch {
		case r.Deposed:
			live.Status = Running
		case recurs[name]:
			live.Status = Template
		}
		s.Live[name] = live
	}
}

// recordedTemplates finds the records of templates: those with a schedule or a gate of their own, and what is downstream of them.
func (s *State) recordedTemplates() map[string]bool {
	recurs := map[string]bool{}
	var todo []string
	for name, r := range s.Records {
		if r.recurs() {
			recurs[name] = true
			todo = append(todo, name)
		}
	}
	if todo == nil {
		return nil
	}
	below := map[string][]string{}
	for name, r := range s.Records {
		for i := range r.Edges {
			if addr := r.Edges[i].Addr; addr != (config.Addr{}) {
				up := addr.String()
				below[up] = append(below[up], name)
			}
		}
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range below[name] {
			if !recurs[next] {
				recurs[next] = true
				todo = append(todo, next)
			}
		}
	}
	return recurs
}

// recurs tells whether the recorded job begins cycles of its own.
func (r *Record) recurs() bool {
	definition := string(r.Definition)
	if !strings.Contains(definition, `"gate":`) && !strings.Contains(definition, `"run_at":`) {
		return false
	}
	d := decodeDefinition(r.Definition)
	if d["gate"] != nil {
		return true
	}
	runAt, _ := d["run_at"].(map[string]any)
	return runAt["cron"] != nil || runAt["every"] != nil
}
