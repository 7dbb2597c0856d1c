package planner

import (
	"iter"

	"github.com/agext/levenshtein"

	"github.com/waybill-dev/waybill/config"
)

// Near finds what was probably meant by an address that names nothing: one of addrs, one of their blocks, or, where want is a module,
// one of the modules they lie in. It is "" if none is near.
func Near(want config.Addr, addrs iter.Seq[config.Addr]) string {
	s := nearSearch{want: want.String(), seen: map[string]bool{}}
	// Every address begins with job. or module., which says nothing about how much alike two of them are.
	s.most = 1
	if n := len(s.want) - len("job."); n > 3 {
		s.most = min(3, max(2, n/3)) // two letters that changed places are two changes
	}
	s.best = s.most + 1
	for a := range addrs {
		if !want.IsModule() {
			s.look(a.String())
			if want.Key.Kind == config.NoKey && a.Key.Kind != config.NoKey {
				s.look(a.Block().String())
			}
			continue
		}
		for _, m := range a.Modules() {
			s.look(m)
		}
	}
	return s.found
}

type nearSearch struct {
	want       string
	most, best int
	found      string
	seen       map[string]bool // blocks and modules come again with each of their jobs
}

func (s *nearSearch) look(name string) {
	if d := len(name) - len(s.want); d > s.most || -d > s.most || s.seen[name] || name == s.want {
		return
	}
	s.seen[name] = true
	if d := levenshtein.Distance(s.want, name, nil); d < s.best || d == s.best && d <= s.most && name < s.found {
		s.best, s.found = d, name
	}
}

// addrs are all addresses that are declared or recorded.
func (m *maker) addrs() iter.Seq[config.Addr] {
	return func(yield func(config.Addr) bool) {
		for _, j := range m.g.jobs {
			if !yield(j.Addr) {
				return
			}
		}
		for i := range m.removed {
			if !yield(m.removed[i].Addr) {
				return
			}
		}
	}
}

// Near is the function of this name over what the plan has rows of.
func (p *Plan) Near(want config.Addr) string {
	return Near(want, func(yield func(config.Addr) bool) {
		for _, r := range p.Rows {
			if !yield(r.Addr) {
				return
			}
		}
	})
}

// Near is the function of this name over what is recorded.
func (s *State) Near(want config.Addr) string {
	return Near(want, func(yield func(config.Addr) bool) {
		for name := range s.Records {
			if a, err := config.ParseAddr(name); err == nil && !yield(a) {
				return
			}
		}
	})
}
