package config

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"
)

// DefaultNamespace is the Redis key namespace of a workflow that names none.
const DefaultNamespace = "waybill"

// loader is one Load: its modules, and what they have in common.
type loader struct {
	o     Options
	files map[string]*hcl.File // for snippets, also of values that are in no file
	r     report

	root     *module
	modules  []*module // all instances, the root among them, by address
	workflow *block
	queues   map[string]*block

	name      string
	functions map[string]function.Function
	disk      *disk
	total     int // of instances of blocks with count or for_each
}

// Load evaluates the files of one workflow. The diagnostics hold every mistake that is found, in the order of the
// files. The workflow is never nil: after errors it lacks what could not be evaluated, and serves only for its
// Sources, which show the places of the mistakes.
func Load(o Options) (*Workflow, hcl.Diagnostics) {
	o = o.withDefaults()
	l := &loader{o: o, files: map[string]*hcl.File{}, queues: map[string]*block{}}
	w := &Workflow{Namespace: DefaultNamespace, Sources: l.files}
	if err := o.validate(); err != nil {
		l.r.error(sumCannotRead, wholeFile("options"), "%v.", err)
		return w, l.r.sorted()
	}
	d := l.readRoot()
	w.Dir = d.path
	d.declare()
	l.root = l.newRoot(d)
	l.modules = []*module{l.root}
	l.nameWorkflow(w)
	l.disk = newDisk(d.path)
	l.assignVariables()
	l.evaluate(w)
	return w, l.r.sorted()
}

// evaluate finds the values, in the order in which they depend on each other.
func (l *loader) evaluate(w *Workflow) {
	l.functions = l.functionTable()
	l.root.newBase()
	if l.o.Quick {
		l.root.evaluateOnly(l.workflowNeeds())
		l.evaluateWorkflow(w)
		return
	}
	l.workflowNeeds() // reports jobs among them
	l.root.evaluateAll()
	l.root.base.Variables["local"] = l.root.localObject()
	l.root.validateVariables()
	l.evaluateWorkflow(w)
	w.Queues = l.evaluateQueues()
	w.Outputs = l.evaluateOutputs()
	for _, m := range l.modules {
		m.evaluateChecks()
	}
	w.Moved = l.evaluateMoved()
	w.Jobs = l.evaluateJobs()
	l.warnOfSharedKeys(w.Jobs)
	l.checkRelations(w.Jobs)
}

// readRoot finds and reads the files of the workflow.
func (l *loader) readRoot() *directory {
	path, names := findSources(l.o.Paths, &l.r)
	d := l.newDirectory(path)
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
		s := &source{name: names[i], json: filepath.Ext(names[i]) == ".json"}
		s.bytes = readSource(s.name, &reports[i])
		s.split(&reports[i])
		d.sources[i] = s
	})
	total := 0
	for i, s := range d.sources {
		d.incomplete = d.incomplete || reports[i].failed()
		l.r.add(reports[i].diags)
		l.files[s.name] = &hcl.File{Bytes: s.bytes, Nav: &outline{src: s.bytes}}
		if total += len(s.bytes); total > maxTotal {
			l.r.error(sumFileTooLarge, wholeFile(s.name), "The files of this workflow have more than %d MiB in all.", maxTotal>>20)
			d.sources = d.sources[:i]
			d.incomplete = true
			break
		}
	}
}

// split cuts the source into items and reports what must not be parsed.
func (s *source) split(r *report) {
	var flaws []flaw
	if s.json {
		if f := scanJSON(s.bytes); f != nil {
			flaws = []flaw{*f}
		} else if len(s.bytes) > 0 {
			s.items = []item{{end: len(s.bytes), line: 1}}
		}
	} else {
		s.items, flaws = splitItems(s.bytes)
	}
	for _, f := range flaws {
		r.error(f.summary, rangeAt(s.name, s.bytes, f.at, f.length), "%s", f.detail)
	}
}
