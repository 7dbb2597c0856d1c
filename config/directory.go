package config

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// directory is what the files of one directory declare: read and parsed once, whatever the number of modules made of it.
type directory struct {
	l       *loader
	r       *report // the loader's for the root; else its own, in which a mistake is told for the first of its modules
	root    bool
	path    string // as given, or joined to the path of the workflow's
	sources []*source

	variables map[string]*variable
	locals    map[string]*local
	jobs      map[string]*jobBlock
	outputs   map[string]*block
	calls     map[string]*moduleBlock
	checks    map[string]*block
	moved     []*block
	removed   []*block
	// incomplete: some block could not be read at all, so a name that is not declared may be declared in it.
	incomplete bool

	nodes     []node // what is evaluated in an order, for each call anew; set by prepare
	instances int    // modules made of it
}

func (l *loader) newDirectory(path string, root bool) *directory {
	d := &directory{
		l: l, r: &l.r, root: root, path: path,
		variables: map[string]*variable{}, locals: map[string]*local{}, jobs: map[string]*jobBlock{},
		outputs: map[string]*block{}, checks: map[string]*block{}, calls: map[string]*moduleBlock{},
	}
	if !root {
		d.r = &report{seen: map[finding]struct{}{}}
	}
	return d
}

// readRoot finds and reads the files of the workflow.
func (l *loader) readRoot() *directory {
	path, names := l.library.findSources(l.o.Paths, &l.r)
	l.library.dir = path
	d := l.newDirectory(path, true)
	d.incomplete = l.r.failed()
	d.read(names)
	return d
}

// read reads files and cuts them into items, several at a time.
func (d *directory) read(names []string) {
	l := d.l
	d.sources = make([]*source, len(names))
	reports := make([]report, len(names))
	parallel(len(names), 1, func(i int) {
		s := &source{name: names[i], json: filepath.Ext(names[i]) == ".json", steps: &l.steps}
		s.bytes = l.library.readSource(s.name, sumCannotRead, &reports[i])
		l.library.keep(s.name, s.bytes)
		d.sources[i] = s
	})
	for _, s := range d.sources {
		l.files[s.name] = &hcl.File{Bytes: s.bytes, Nav: &outline{src: s.bytes}}
		if l.bytes += len(s.bytes); l.bytes > maxTotal {
			d.r.error(sumFileTooLarge, wholeFile(s.name), "The files of this workflow have more than %d MiB in all. Use for_each for jobs that only differ in a few values, and data files for data.", maxTotal>>20)
			d.sources, d.incomplete = nil, true
			break
		}
	}
	parallel(len(d.sources), 1, func(i int) { d.sources[i].split(&reports[i]) })
	for i := range reports {
		d.incomplete = d.incomplete || reports[i].failed()
		d.r.add(reports[i].diags)
	}
}

// prepare looks into the blocks whose values others may need, and lists these.
func (d *directory) prepare() {
	if !d.root {
		for _, name := range slices.Sorted(maps.Keys(d.variables)) {
			d.nodes = append(d.nodes, node{kind: nodeVariable, name: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.locals)) {
		d.nodes = append(d.nodes, node{kind: nodeLocal, name: name})
	}
	for _, name := range slices.Sorted(maps.Keys(d.jobs)) {
		if j := d.jobs[name]; j.block != nil {
			j.block.openAll(d.r)
			if j.repeat(d.r) != nil {
				d.nodes = append(d.nodes, node{kind: nodeJob, name: name})
			}
		}
	}
	if d.root {
		return // nothing can refer to its outputs
	}
	for _, name := range slices.Sorted(maps.Keys(d.outputs)) {
		d.outputs[name].openAll(d.r)
		d.nodes = append(d.nodes, node{kind: nodeOutput, name: name})
	}
}

// openAll opens a block with all blocks in it.
func (b *block) openAll(r *report) *content {
	c := b.open(r)
	for i := range c.blocks {
		c.blocks[i].openAll(r)
	}
	return c
}

// fresh is the block for one more module: the same expressions, and nothing known about them yet.
func (b *block) fresh() *block {
	c := *b
	c.inner = b.inner.fresh()
	if b.dynamic != nil {
		own := *b.dynamic
		for i := range c.inner.blocks {
			if own.content == &b.inner.blocks[i] {
				own.content = &c.inner.blocks[i]
			}
		}
		c.dynamic = &own
	}
	return &c
}

func (c *content) fresh() *content {
	if c == nil {
		return nil
	}
	f := &content{kind: c.kind, refused: c.refused, attrs: slices.Clone(c.attrs), blocks: slices.Clone(c.blocks)}
	for i := range f.blocks {
		f.blocks[i] = *c.blocks[i].fresh()
	}
	return f
}

// names are those of its files.
func (d *directory) names() []string {
	list := make([]string, len(d.sources))
	for i, s := range d.sources {
		list[i] = filepath.Base(s.name)
	}
	return list
}
