package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

// parsed is what one item, or one JSON file, declares.
type parsed struct {
	blocks []block
	attrs  []attribute // a policy alone may have some
	broken bool        // it has a syntax error: its names count, its values do not
	report report
}

// declare registers what the files declare. Plain jobs are registered by the name that the scan found and parsed
// later, each right before its evaluation, so that no more than a few syntax trees exist at a time.
func (d *directory) declare() {
	l := d.l
	type unit struct {
		source *source
		item   *item
	}
	var eager []unit
	for _, s := range d.sources {
		for i := range s.items {
			it := &s.items[i]
			switch {
			case l.o.Quick && it.kind == "job" && l.o.Protected && it.mentions(s, "prevent_destroy"):
				eager = append(eager, unit{s, it})
			case l.o.Quick && (it.kind == "job" || it.kind == "queue" || it.kind == "output" || it.kind == "check" || it.kind == "module" && !l.o.Protected):
			case it.kind == "job" && it.label != "" && !it.instanced:
				d.declareJob(&jobBlock{name: it.label, source: s, item: it, header: it.headerRange(s)})
			default:
				eager = append(eager, unit{s, it})
			}
		}
	}
	for wave := range slices.Chunk(eager, 4096) {
		results := make([]parsed, len(wave))
		parallel(len(wave), 8, func(i int) { results[i] = wave[i].source.parse(wave[i].item) })
		for i := range results {
			p := &results[i]
			d.r.add(p.report.diags)
			if p.broken && len(p.blocks) == 0 {
				d.incomplete = true
			}
			for j := range p.blocks {
				d.declareBlock(&p.blocks[j], wave[i].source, p.broken)
			}
		}
		if len(d.r.diags) > maxDiagnostics {
			d.incomplete = true // garbage; what is reported already is enough
			return
		}
	}
}

// headerRange is the range of a plain header, which is in ASCII and begins its line or follows a comment.
func (it *item) headerRange(s *source) hcl.Range {
	column := 1
	for i := it.head; i > it.start && s.bytes[i-1] != '\n'; i-- {
		column++
	}
	return hcl.Range{
		Filename: s.name,
		Start:    hcl.Pos{Line: it.headLine, Column: column, Byte: it.head},
		End:      hcl.Pos{Line: it.headLine, Column: column + it.labelEnd - it.head, Byte: it.labelEnd},
	}
}

func (s *source) parse(it *item) (p parsed) {
	if !s.json {
		if b, ok := s.parsePlain(it, s.grammar()); ok {
			s.steps.countBlock(&b, s.bytes[it.start:it.end])
			p.blocks = []block{b}
			return p
		}
	}
	var file *hcl.File
	var diags hcl.Diagnostics
	if s.json {
		file, diags = json.Parse(s.bytes, s.name)
	} else {
		file, diags = hclsyntax.ParseConfig(s.bytes[it.start:it.end], s.name, hcl.Pos{Line: it.line, Column: 1, Byte: it.start})
		if body, ok := file.Body.(*hclsyntax.Body); ok {
			s.steps.count(body, s.bytes[it.start:it.end])
		}
	}
	p.report.add(diags)
	p.broken = diags.HasErrors()
	if file != nil && file.Body != nil && !(s.json && p.broken) {
		c := openBody(file.Body, s.grammar(), hcl.Range{}, &p.report)
		p.blocks, p.attrs = c.blocks, c.attrs
	}
	return p
}

// declareBlock registers one block of the top level.
func (d *directory) declareBlock(b *block, s *source, broken bool) {
	l := d.l
	switch b.kind.name {
	case "module":
		d.declareModule(b, broken)
	case "queue":
		if d.rootOnly(b, "Queues have one setting for all jobs") {
			d.declareQueue(b, broken)
		}
	case "workflow":
		if !d.root {
			d.moduleSettings(b, broken)
			return
		}
		if l.workflow != nil {
			d.r.error(sumDuplicateBlock, b.header, "A workflow has one workflow block; the first is at %s.", place(l.workflow.header))
			return
		}
		if broken {
			b.inner = &content{kind: b.kind}
		}
		l.workflow = b
	case "variable":
		if first, ok := d.variables[b.label]; ok {
			d.r.duplicate("variable", b.label, b.labelRange, first.block.header)
		} else if d.r.identifier("variable", b.label, b.labelRange) {
			if !d.root && !isInput(b.label) {
				d.r.error(sumBadName, b.labelRange, "No variable of a module can be called %q, since that is an argument of module blocks. Rename it.", b.label)
			}
			d.variables[b.label] = newVariable(b, broken, d.r)
		}
	case "locals":
		d.declareLocals(b, broken)
	case "moved":
		if !broken {
			d.moved = append(d.moved, b)
		}
	case "removed":
		if !broken {
			d.removed = append(d.removed, b)
		}
	case "import":
		if d.rootOnly(b, "What the store holds belongs to the whole workflow") && !broken {
			l.imports = append(l.imports, b)
		}
	case "job":
		d.declareJob(&jobBlock{name: b.label, source: s, header: b.header, block: b, broken: broken})
	case "check":
		if first, ok := d.checks[b.label]; ok {
			d.r.duplicate("check", b.label, b.labelRange, first.header)
		} else if d.r.identifier("check", b.label, b.labelRange) && !broken {
			d.checks[b.label] = b
		}
	case "output":
		if first, ok := d.outputs[b.label]; ok {
			d.r.duplicate("output", b.label, b.labelRange, first.header)
		} else if d.r.identifier("output", b.label, b.labelRange) && !broken {
			d.outputs[b.label] = b
		}
	}
}

// rootOnly reports a block that makes no sense in a module.
func (d *directory) rootOnly(b *block, why string) bool {
	if !d.root {
		d.r.error(sumRootOnly, b.header, "%s, so a module has no %s block. Move it to the workflow that calls the module.", why, b.kind.name)
	}
	return d.root
}

func (d *directory) declareQueue(b *block, broken bool) {
	if first, ok := d.l.queues[b.label]; ok {
		d.r.duplicate("queue", b.label, b.labelRange, first.header)
	} else if d.r.storeName("queue", b.label, b.labelRange) && !broken {
		d.l.queues[b.label] = b
	}
}

// moduleSettings reads the workflow block of a module, which only says what it needs.
func (d *directory) moduleSettings(b *block, broken bool) {
	if broken {
		return
	}
	c := b.open(d.r)
	for i := range c.attrs {
		a := &c.attrs[i]
		if a.name != "required_version" {
			d.r.error(sumRootOnly, a.nameRange, "%q is a setting of the whole workflow. The workflow block of a module has required_version alone: move this to the workflow that calls it.", a.name)
		} else if text := constantString(a, d.r); text != "" {
			d.l.checkVersion(text, a.expr.Range())
		}
	}
	for i := range c.blocks {
		d.r.error(sumRootOnly, c.blocks[i].header, "%q is a setting of the whole workflow. The workflow block of a module has required_version alone: move this to the workflow that calls it.", c.blocks[i].kind.name)
	}
}

func (d *directory) declareJob(j *jobBlock) {
	if !d.root {
		j.shared = &sharedBlock{}
	}
	if first, ok := d.jobs[j.name]; ok {
		at, other := j.header, first.header
		if at.Filename < other.Filename || at.Filename == other.Filename && at.Start.Byte < other.Start.Byte {
			at, other = other, at
		}
		d.r.duplicate("job", j.name, at, other)
	} else if d.r.identifier("job", j.name, j.header) {
		d.jobs[j.name] = j
	}
}

func (r *report) duplicate(kind, name string, at, first hcl.Range) {
	r.error(sumDuplicateName, at, "There is already %s %s named %q, at %s. Rename one of them.", article(kind), kind, clip(name), place(first))
}

// declareLocals registers the arguments of a locals block, which may have any name.
func (d *directory) declareLocals(b *block, broken bool) {
	attrs, diags := b.body.JustAttributes()
	if !broken {
		d.r.add(diags)
	}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		if first, ok := d.locals[name]; ok {
			d.r.duplicate("local", name, a.NameRange, first.attr.nameRange)
		} else if d.r.identifier("local", name, a.NameRange) {
			d.locals[name] = &local{name: name, attr: attribute{name: name, nameRange: a.NameRange, expr: a.Expr}, broken: broken}
		}
	}
}
