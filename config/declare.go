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
	broken bool // it has a syntax error: its names count, its values do not
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
			case l.o.Quick && (it.kind == "job" || it.kind == "queue" || it.kind == "output" || it.kind == "check"):
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
			l.r.add(p.report.diags)
			if p.broken && len(p.blocks) == 0 {
				d.incomplete = true
			}
			for j := range p.blocks {
				d.declareBlock(&p.blocks[j], wave[i].source, p.broken)
			}
		}
		if len(l.r.diags) > maxDiagnostics {
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
		if b, ok := s.parsePlain(it, schema()); ok {
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
	}
	p.report.add(diags)
	p.broken = diags.HasErrors()
	if file != nil && file.Body != nil && !(s.json && p.broken) {
		p.blocks = openBody(file.Body, schema(), hcl.Range{}, &p.report).blocks
	}
	return p
}

// declareBlock registers one block of the top level.
func (d *directory) declareBlock(b *block, s *source, broken bool) {
	l := d.l
	switch b.kind.name {
	case "workflow":
		if l.workflow != nil {
			l.r.error(sumDuplicateBlock, b.header, "A workflow has one workflow block; the first is at %s.", place(l.workflow.header))
			return
		}
		if broken {
			b.inner = &content{kind: b.kind}
		}
		l.workflow = b
	case "variable":
		if first, ok := d.variables[b.label]; ok {
			l.duplicate("variable", b.label, b.labelRange, first.block.header)
		} else if l.r.identifier("variable", b.label, b.labelRange) {
			d.variables[b.label] = newVariable(b, broken, &l.r)
		}
	case "locals":
		d.declareLocals(b, broken)
	case "moved":
		if !broken {
			d.moved = append(d.moved, b)
		}
	case "job":
		d.declareJob(&jobBlock{name: b.label, source: s, header: b.header, block: b, broken: broken})
	case "queue":
		if first, ok := l.queues[b.label]; ok {
			l.duplicate("queue", b.label, b.labelRange, first.header)
		} else if l.r.storeName("queue", b.label, b.labelRange) && !broken {
			l.queues[b.label] = b
		}
	case "check":
		if first, ok := d.checks[b.label]; ok {
			l.duplicate("check", b.label, b.labelRange, first.header)
		} else if l.r.identifier("check", b.label, b.labelRange) && !broken {
			d.checks[b.label] = b
		}
	case "output":
		if first, ok := d.outputs[b.label]; ok {
			l.duplicate("output", b.label, b.labelRange, first.header)
		} else if l.r.identifier("output", b.label, b.labelRange) && !broken {
			d.outputs[b.label] = b
		}
	}
}

func (d *directory) declareJob(j *jobBlock) {
	if first, ok := d.jobs[j.name]; ok {
		at, other := j.header, first.header
		if at.Filename < other.Filename || at.Filename == other.Filename && at.Start.Byte < other.Start.Byte {
			at, other = other, at
		}
		d.l.duplicate("job", j.name, at, other)
	} else if d.l.r.identifier("job", j.name, j.header) {
		d.jobs[j.name] = j
	}
}

func (l *loader) duplicate(kind, name string, at, first hcl.Range) {
	l.r.error(sumDuplicateName, at, "There is already %s %s named %q, at %s. Rename one of them.", article(kind), kind, clip(name), place(first))
}

// declareLocals registers the arguments of a locals block, which may have any name.
func (d *directory) declareLocals(b *block, broken bool) {
	l := d.l
	attrs, diags := b.body.JustAttributes()
	if !broken {
		l.r.add(diags)
	}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		if first, ok := d.locals[name]; ok {
			l.duplicate("local", name, a.NameRange, first.attr.nameRange)
		} else if l.r.identifier("local", name, a.NameRange) {
			d.locals[name] = &local{name: name, attr: attribute{name: name, nameRange: a.NameRange, expr: a.Expr}, broken: broken}
		}
	}
}
