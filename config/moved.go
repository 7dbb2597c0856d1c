package config

import (
	"github.com/hashicorp/hcl/v2"
)

// Moved is a moved block: what state records of From belongs to To from now on. Both are jobs, or both are modules, with all that is
// in them. Where neither has a key, it is a whole block that was renamed, and every instance keeps its key; a From without key is
// otherwise the one instance of a block that had neither count nor for_each. Nothing is declared at From.
type Moved struct {
	From, To Addr
	Range    hcl.Range
}

// Whole tells whether a block was renamed with all of its instances.
func (m Moved) Whole() bool {
	if m.From.IsModule() {
		_, from := splitKey(m.From.Module)
		_, to := splitKey(m.To.Module)
		return from+to == ""
	}
	return m.From.Key == (InstanceKey{}) && m.To.Key == (InstanceKey{})
}

// Moves says where the records of a workflow went; see NewMoves.
type Moves struct {
	exact map[Addr]Addr // of one instance each; they go before those of whole blocks
	whole map[Addr]Addr

	modules      map[string]string // of one module each, by address; those of jobs go before them
	wholeModules map[string]string
}

// NewMoves takes moved blocks together.
func NewMoves(list []Moved) Moves {
	m := Moves{exact: map[Addr]Addr{}, whole: map[Addr]Addr{}, modules: map[string]string{}, wholeModules: map[string]string{}}
	for _, v := range list {
		switch module, whole := v.From.IsModule(), v.Whole(); {
		case module && whole:
			m.wholeModules[v.From.Module] = v.To.Module
		case module:
			m.modules[v.From.Module] = v.To.Module
		case whole:
			m.whole[v.From] = v.To
		default:
			m.exact[v.From] = v.To
		}
	}
	return m
}

// Of follows an address to where it has moved, over any number of blocks; moved is false if it has not.
func (m Moves) Of(a Addr) (to Addr, moved bool) {
	for range len(m.exact) + len(m.whole) + len(m.modules) + len(m.wholeModules) {
		next, ok := m.step(a)
		if !ok {
			break
		}
		a, moved = next, true
	}
	return a, moved
}

func (m Moves) step(a Addr) (Addr, bool) {
	if !a.IsModule() {
		if to, ok := m.exact[a]; ok {
			return to, true
		}
		if to, ok := m.whole[a.Block()]; ok {
			to.Key = a.Key
			return to, true
		}
	}
	if a.Module == "" || len(m.modules)+len(m.wholeModules) == 0 {
		return a, false
	}
	to, ok := m.stepModule(a.Module)
	a.Module = to
	return a, ok
}

// stepModule moves the innermost module of a path that has moved, with what is in it.
func (m Moves) stepModule(path string) (string, bool) {
	for end := len(path); end > 0; {
		outer, call, key := splitModule(path[:end])
		if to, ok := m.modules[path[:end]]; ok {
			return to + path[end:], true
		}
		if to, ok := m.wholeModules[inModule(outer, call)]; ok {
			return to + key + path[end:], true
		}
		end = len(outer)
	}
	return path, false
}
