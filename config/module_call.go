package config

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
)

// call is one module block on one of the ways that lead to it from the root. The modules that it makes, over all instances of the
// module that it stands in, are evaluated together, value by value.
type call struct {
	parent *call // nil for the root, which nothing calls
	block  *moduleBlock
	dir    *directory
	addr   string // without keys, "" for the root
	where  string // path.module: the directory, seen from that of the workflow
	path   cty.Value
	depth  int
	calls  map[string]*call // in its directory

	modules []*module
	found   int // outputs evaluated so far
}

// plant makes the tree of calls.
func (l *loader) plant(root *module) {
	root.call = &call{dir: root.dir, where: ".", calls: map[string]*call{}, modules: []*module{root}}
	l.calls = []*call{root.call}
	root.call.grow()
}

func (c *call) grow() {
	l := c.dir.l
	for _, name := range slices.Sorted(maps.Keys(c.dir.calls)) {
		b := c.dir.calls[name]
		if b.dir == nil {
			continue // reported
		}
		if c.depth == maxModuleDepth {
			c.dir.r.error(sumTooDeep, b.block.header, "Modules nest more than %d deep here. Call some of them from a module further out.", maxModuleDepth)
			continue
		}
		if len(l.calls) > maxCalls {
			if l.full {
				return
			}
			l.full = true
			c.dir.r.error(sumTooManyModules, b.block.header, "The modules of this workflow call each other more than %d times. Use for_each for modules that only differ in a few values.", maxCalls)
			return
		}
		inner := &call{parent: c, block: b, dir: b.dir, addr: inModule(c.addr, name), where: c.below(b), depth: c.depth + 1, calls: map[string]*call{}}
		c.calls[name] = inner
		l.calls = append(l.calls, inner)
		inner.grow()
	}
}

// below is the path of a module that is called here, seen from the workflow's directory.
func (c *call) below(b *moduleBlock) string {
	source, _ := literalString(b.block.inner.attr("source").expr)
	where := path.Join(c.where, source)
	if where == ".." || strings.HasPrefix(where, "../") {
		return where
	}
	return "./" + where
}

// moduleSet is the modules that one module block makes, in one instance of the module that it stands in.
type moduleSet struct {
	expansion
	call    *call
	modules []*module // by index of keys
	broken  bool      // reported; it has none

	mu    sync.Mutex
	value cty.Value
	found int // call.found when value was made
}

// expand makes the modules of a call.
func (c *call) expand() {
	for _, p := range c.parent.modules {
		set := &moduleSet{call: c}
		p.calls[c.block.name] = set
		if a := c.block.repeat(nil); a == nil {
			set.keys = plainInstance
		} else {
			own := attribute{name: a.name, nameRange: a.nameRange, expr: a.expr}
			set.broken = !p.expansion(&own, "module", &set.expansion)
		}
		if set.broken {
			continue
		}
		l := p.l
		if l.weight += len(set.keys) * c.dir.weight(); l.weight > maxModuleWeight {
			if !l.tooHeavy {
				p.report().error(sumTooManyModules, c.block.block.header, "This block makes %d modules with %d blocks and values each, which with those of other modules is more than %d, even an empty module counting as ten. Let one job do the work of several.",
					len(set.keys), c.dir.weight()-10, maxModuleWeight)
			}
			l.tooHeavy, set.broken = true, true
			continue
		}
		set.modules = make([]*module, len(set.keys))
		for i, k := range set.keys {
			set.modules[i] = l.newModule(c, p, inModule(p.addr, c.block.name)+k.String())
		}
		c.modules = append(c.modules, set.modules...)
	}
}

// each is what tells the i-th module of the set from the others, nil for the only one.
func (s *moduleSet) each(i int) *instance {
	k := s.keys[i]
	if k.Kind == NoKey {
		return nil
	}
	each := &instance{key: k}
	if k.Kind == KeyString {
		each.value = s.values[i]
	}
	return each
}

// index finds the module with a key.
func (s *moduleSet) index(k InstanceKey) (*module, bool) {
	if i, ok := s.find(k); ok && !s.broken {
		return s.modules[i], true
	}
	return nil, false
}

// object is the value of the block in expressions: one object of outputs, or a list or an object of these.
func (s *moduleSet) object() cty.Value {
	if s == nil || s.broken {
		return cty.DynamicVal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value != cty.NilVal && s.found == s.call.found {
		return s.value
	}
	s.found = s.call.found
	a := s.call.block.repeat(nil)
	switch {
	case a == nil:
		s.value = s.modules[0].object()
	case a.name == "count":
		vals := make([]cty.Value, len(s.modules))
		for i, m := range s.modules {
			vals[i] = m.object()
		}
		s.value = cty.TupleVal(vals)
	default:
		vals := make(map[string]cty.Value, len(s.modules))
		for i, m := range s.modules {
			vals[s.keys[i].Str] = m.object()
		}
		s.value = cty.ObjectVal(vals)
	}
	return s.value
}
