package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

const (
	// maxModuleDepth bounds how deep modules nest.
	maxModuleDepth = 20
	// maxCalls bounds the module blocks, each counted once for every module block on the way to it.
	maxCalls = 10_000
	// maxModuleWeight bounds what all modules declare together, see directory.weight.
	maxModuleWeight = 2_000_000
)

// moduleBlock is one module block: which directory it calls, and with which inputs.
type moduleBlock struct {
	name  string
	block *block
	dir   *directory // nil after a report
}

// declareModule registers a module block.
func (d *directory) declareModule(b *block, broken bool) {
	if first, ok := d.calls[b.label]; ok {
		d.r.duplicate("module", b.label, b.labelRange, first.block.header)
		return
	}
	if !d.r.identifier("module", b.label, b.labelRange) {
		return
	}
	m := &moduleBlock{name: b.label, block: b}
	if broken {
		b.inner = &content{kind: b.kind, refused: true}
	}
	b.open(d.r)
	m.repeat(d.r)
	d.calls[b.label] = m
}

// repeat is the argument that makes several modules of the block.
func (b *moduleBlock) repeat(r *report) *attribute {
	count, forEach := b.block.inner.attr("count"), b.block.inner.attr("for_each")
	if count != nil && forEach != nil && r != nil {
		r.error(sumCountAndForEach, count.nameRange, "Module %q has both count and for_each, at %s. Keep one of them: count for a number of equal modules, for_each for one module per element.",
			b.name, place(forEach.nameRange))
	}
	if forEach != nil {
		return forEach
	}
	return count
}

// reserved are the arguments of a module block that are no inputs.
var reserved = []string{"source", "count", "for_each"}

func isInput(name string) bool { return !slices.Contains(reserved, name) }

// modules reads the directories that module blocks name, and those that these name again.
type modules struct {
	l      *loader
	known  map[string]*directory // by path without symbolic links
	open   []*directory          // on the way to the one that is looked at
	opened []string              // how each of them is written
	blocks int
}

// readModules reads all modules of the workflow.
func (l *loader) readModules(root *directory) {
	if len(root.calls) == 0 {
		return
	}
	m := &modules{l: l, known: map[string]*directory{}, opened: []string{"."}}
	if real, err := l.library.real(root.path); err == nil {
		m.known[real] = root
	}
	m.follow(root)
}

func (m *modules) follow(d *directory) {
	m.open = append(m.open, d)
	names := slices.Sorted(maps.Keys(d.calls))
	if m.blocks += len(names); m.blocks > maxCalls {
		d.r.error(sumTooManyModules, d.calls[names[len(names)-1]].block.header, "The files of this workflow have %d module blocks so far; at most %d are possible. Use for_each for modules that only differ in a few values.", m.blocks, maxCalls)
		names = nil
	}
	for _, name := range names {
		d.calls[name].dir = m.find(d, d.calls[name])
	}
	for _, name := range names {
		if b := d.calls[name]; b.dir != nil {
			d.checkInputs(b)
		}
	}
	m.open = m.open[:len(m.open)-1]
}

// find gives the directory that a module block names, read with all it names itself. It is nil after a report.
func (m *modules) find(from *directory, b *moduleBlock) *directory {
	a := b.block.inner.attr("source")
	if a == nil {
		return nil // reported
	}
	source, ok := from.source(a)
	if !ok {
		return nil
	}
	path := filepath.Join(from.path, filepath.FromSlash(source))
	at := a.expr.Range()
	info, err := m.l.library.stat(path)
	switch {
	case err != nil:
		from.r.error(sumBadSource, at, "There is no directory for module %q: %s. A source is relative to the directory of the file that it stands in.", b.name, m.l.disk.explain(err))
		return nil
	case !info.IsDir():
		from.r.error(sumBadSource, at, "%q is %s, and the source of a module is a directory. Name the directory that the file is in.", clip(source), fileKind(info.Mode()))
		return nil
	}
	real, err := m.l.library.real(path)
	if err != nil {
		from.r.error(sumBadSource, at, "%s.", upperFirst(m.l.disk.explain(err)))
		return nil
	}
	m.opened = append(m.opened, source)
	defer func() { m.opened = m.opened[:len(m.opened)-1] }()
	if d := m.known[real]; d != nil {
		if i := slices.Index(m.open, d); i >= 0 {
			m.reportCircle(from, b, at, i)
			return nil
		}
		return d
	}
	if len(m.open) > maxModuleDepth {
		from.r.error(sumTooDeep, at, "Modules nest more than %d deep here. Call some of them from a module further out.", maxModuleDepth)
		return nil
	}
	var r report
	names := m.l.library.listDirectory(path, &r)
	for _, d := range r.diags {
		from.r.error(summary(d.Summary), at, "%s", d.Detail)
	}
	if r.failed() {
		return nil
	}
	d := m.l.newDirectory(path, false)
	m.known[real] = d
	m.l.directories = append(m.l.directories, d)
	d.read(names)
	d.declare()
	m.follow(d)
	return d
}

// source reads what must be written out: modules are read before anything is evaluated.
func (d *directory) source(a *attribute) (string, bool) {
	at := a.expr.Range()
	val, diags := constant(a.expr)
	if diags.HasErrors() || val.Type() != cty.String || val.IsNull() || !val.IsKnown() {
		d.r.error(sumBadSource, at, "The source of a module is a text that is written out, such as \"./report\": modules are read before any value is known.")
		return "", false
	}
	source := val.AsString()
	if strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") || source == ".." {
		return source, true
	}
	hint := "Only modules in directories of this machine exist, and their sources begin with ./ or ../: copy the module into a directory next to this file."
	if info, err := os.Stat(filepath.Join(d.path, filepath.FromSlash(source))); err == nil && info.IsDir() && source != "" && source != "." && !filepath.IsAbs(source) {
		hint = fmt.Sprintf("Sources begin with ./ or ../. Did you mean \"./%s\"?", clip(source))
	}
	d.r.error(sumBadSource, at, "%q is not the source of a module. %s", clip(source), hint)
	return "", false
}

// reportCircle tells of a module that includes itself, with the way back to it.
func (m *modules) reportCircle(from *directory, b *moduleBlock, at hcl.Range, first int) {
	way := make([]string, 0, len(m.open)-first+1)
	for i := first; i < len(m.open); i++ {
		way = append(way, clip(m.opened[i]))
	}
	way = append(way, clip(m.opened[len(m.opened)-1]))
	what := "the workflow itself"
	if first > 0 {
		what = "a module that this one is a part of"
	}
	if m.open[first] == from && first > 0 {
		what = "this module itself"
	}
	from.r.error(sumModuleCircle, at, "Module %q is %s, so there would be no end: %s. Move what both need into a module of its own.", b.name, what, strings.Join(way, " -> "))
}

// checkInputs holds the inputs of a module block against the variables of the module.
func (d *directory) checkInputs(b *moduleBlock) {
	c := b.block.inner
	for i := range c.attrs {
		a := &c.attrs[i]
		if !isInput(a.name) || b.dir.variables[a.name] != nil || b.dir.incomplete {
			continue
		}
		hint := didYouMean(a.name, maps.Keys(b.dir.variables))
		switch {
		case a.name == "depends_on":
			hint = " What waits are jobs: write predecessor { jobs = module.NAME } into those that have to wait for a module."
		case a.name == "version" || a.name == "providers":
			hint = " Modules are directories of this machine, so there is nothing to choose from: remove it."
		case hint == "":
			hint = fmt.Sprintf(" Declare it there: variable %q {}.", clip(a.name))
		}
		d.r.error(sumUnknownInput, a.nameRange, "The module in %s has no variable %q.%s", clip(b.dir.path), clip(a.name), hint)
	}
	if c.refused {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.dir.variables)) {
		if v := b.dir.variables[name]; v.fallback == cty.NilVal && !v.broken && c.attr(name) == nil {
			d.r.error(sumNoValueForInput, b.block.header, "Module %q needs a value for its variable %q, which is declared at %s and has no default. Write %s = VALUE into the block.",
				b.name, name, place(v.block.header), name)
		}
	}
}
