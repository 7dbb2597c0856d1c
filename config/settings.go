package config

import (
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// nameWorkflow settles the name, which needs no evaluation: the block's label, or else the directory's name with
// everything that cannot stand in a name made a dash.
func (l *loader) nameWorkflow(w *Workflow) {
	if l.workflow != nil {
		w.Named = l.r.storeName("workflow", l.workflow.label, l.workflow.labelRange)
		w.Name = l.workflow.label
	}
	if !w.Named {
		w.Name = directoryName(l.root.dir.path)
	}
	l.name = w.Name
	w.Workspace, w.Name = l.o.Workspace, StateName(w.Name, l.o.Workspace)
	w.DefaultQueue = defaultQueue(w.Name)
	l.queue = w.DefaultQueue
}

func directoryName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "workflow"
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && isStoreName(string(r)) {
			return r
		}
		return '-'
	}, filepath.Base(abs))
	name = strings.Trim(name[:min(len(name), 128)], "-")
	if name == "" {
		return "workflow"
	}
	return name
}

// workflowNeeds lists the locals that the workflow block refers to, directly or through others. Jobs cannot be among them:
// the block is read before anything is known about jobs.
func (l *loader) workflowNeeds() []node {
	if l.workflow == nil {
		return nil
	}
	var needs []node
	var visit func(c *content)
	visit = func(c *content) {
		for i := range c.attrs {
			l.root.call.refer(c.attrs[i].expr, func(n node) { needs = append(needs, n) })
		}
		for i := range c.blocks {
			visit(c.blocks[i].open(&l.r))
		}
	}
	visit(l.workflow.open(&l.r))
	for i := 0; i < len(needs); i++ {
		x := l.root.locals[needs[i].name]
		if needs[i].kind != nodeLocal {
			continue
		}
		references(x.attr.expr, func(t hcl.Traversal) {
			if t.RootName() == "job" || t.RootName() == "module" {
				l.r.error(sumBadReference, t.SourceRange(), "The workflow block refers to %s, so this value cannot refer to %ss: commands need the block before they know any job.", needs[i], t.RootName())
				x.broken = true
			}
		})
		l.root.call.refer(x.attr.expr, func(n node) {
			if n.kind == nodeLocal && !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		})
	}
	return slices.DeleteFunc(needs, func(n node) bool { return n.kind != nodeLocal })
}

// evaluateWorkflow reads the workflow block.
func (l *loader) evaluateWorkflow(w *Workflow) {
	if l.workflow == nil {
		return
	}
	c := l.workflow.open(&l.r)
	s := l.root.scope(&l.r, rootVar|rootLocal|rootPath|rootWorkflow, "the workflow block")
	s.checkAll(c)
	s.ctx = s.context()
	if a := c.attr("required_version"); a != nil {
		if text, ok := s.text(a); ok {
			l.checkVersion(text, a.expr.Range())
		}
	}
	if a := c.attr("namespace"); a != nil {
		if text, ok := s.text(a); ok && (text == "" || l.r.storeName("namespace", text, a.expr.Range())) {
			w.Namespace = text
		}
	}
	if a := c.attr("moved_from"); a != nil {
		if text, ok := s.text(a); ok && l.r.storeName("workflow", text, a.expr.Range()) {
			if text == l.name {
				l.r.error(sumBadMove, a.expr.Range(), "The workflow is %q already, so it cannot have moved from there. moved_from is the name that it had before; remove it where the name has not changed.", text)
			} else {
				w.MovedFrom = StateName(text, l.o.Workspace)
			}
		}
	}
	if b := c.block("proto"); b != nil && (!l.o.Quick || l.o.Messages) {
		l.readProtos(s, b)
		w.Messages = l.protos.set
	}
	if b := c.block("redis"); b != nil {
		if a := b.inner.attr("url"); a != nil {
			w.Redis = s.redisURL(a)
		}
	}
}

func (s *scope) redisURL(a *attribute) string {
	text, secret, ok := s.optionalText(a)
	if !ok {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" && u.Path == "" {
		shown := "the value"
		if !secret {
			shown = clip(text)
		}
		s.r.error(sumBadURL, a.expr.Range(), "The url of Redis begins with redis://, rediss:// or unix://, such as redis://127.0.0.1:6379, and %s does not.", shown)
	}
	return text
}

// maxKept bounds retention_count.
const maxKept = 100_000_000

// evaluateQueues reads the queue blocks, by name.
func (l *loader) evaluateQueues() []*Queue {
	var queues []*Queue
	for _, name := range slices.Sorted(maps.Keys(l.queues)) {
		b := l.queues[name]
		c := b.open(&l.r)
		s := l.root.scope(&l.r, rootVar|rootLocal|rootPath|rootWorkflow, "a queue")
		s.prepare(c)
		q := &Queue{Name: name, Weight: 1, Range: b.header}
		if a := c.attr("concurrency"); a != nil {
			if n, ok := s.integer(a, 1, maxInstances); ok {
				q.Concurrency = n
			}
		}
		if n, ok := s.integer(c.attr("weight"), 1, 1000); ok {
			q.Weight = n
		}
		q.Paused, _ = s.boolean(c.attr("paused"))
		q.Fair, _ = s.boolean(c.attr("fair"))
		if d, ok := s.duration(c.attr("retention"), millisecond); ok {
			q.KeepFor = d
		}
		if n, ok := s.integer(c.attr("retention_count"), 1, maxKept); ok {
			q.KeepCount = n
		}
		queues = append(queues, q)
	}
	return queues
}

// evaluateOutputs reads the output blocks of the root, by name.
func (l *loader) evaluateOutputs() []*Output {
	var outputs []*Output
	for _, name := range slices.Sorted(maps.Keys(l.root.dir.outputs)) {
		outputs = append(outputs, l.root.evaluateOutput(name))
	}
	return outputs
}

// evaluateOutput reads one output block.
func (m *module) evaluateOutput(name string) *Output {
	b, r := m.dir.outputs[name], m.report()
	c := b.open(m.dir.r)
	if !m.dir.root {
		c = c.fresh()
	}
	s := m.scope(r, anyRoot, "an output")
	s.prepare(c)
	o := &Output{Name: name, Range: b.header, Value: cty.NullVal(cty.DynamicPseudoType)}
	o.Description, _ = s.text(c.attr("description"))
	o.Sensitive, _ = s.boolean(c.attr("sensitive"))
	s.preconditions(c, sumOutputPrecondition, strings.TrimPrefix(m.addr+".output."+name, "."))
	val := cty.DynamicVal
	if a := c.attr("value"); a != nil {
		val = s.output(a, o)
	}
	if m.dir.root {
		return o
	}
	if o.Sensitive && val != cty.DynamicVal {
		val = val.Mark(sensitive)
	}
	m.outputs[name] = val
	return o
}

// output evaluates the value of an output. What other blocks can use of it has its marks; it is unknown after a report.
func (s *scope) output(a *attribute, o *Output) cty.Value {
	val, ok := s.value(a)
	if !ok {
		return cty.DynamicVal
	}
	plain, marks := val.UnmarkDeep()
	if len(marks) > 0 && !o.Sensitive {
		s.r.error(sumSensitive, a.expr.Range(), "Output %q is made from a sensitive value, so it would show it. Set sensitive = true in the output, or nonsensitive() around what may be shown.", o.Name)
		return cty.DynamicVal
	}
	if !s.m.dir.root {
		if tooHeavy(plain) {
			s.r.error(sumValueTooLarge, a.expr.Range(), "The value of output %q has more than 64 MiB. Read large data where it is used, from files in a job's inputs.", o.Name)
			return cty.DynamicVal
		}
		return val
	}
	var d document
	if err := d.value(plain); err != nil {
		s.r.error(sumWrongType, a.expr.Range(), "Output %q cannot be used: %v.", o.Name, err)
		return cty.DynamicVal
	}
	if !d.unknown {
		o.Value = plain
	}
	return val
}
