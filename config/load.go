package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// DefaultNamespace is the Redis key namespace of a workflow that names none.
const DefaultNamespace = "waybill"

// loader is one Load: its modules, and what they have in common.
type loader struct {
	o     Options
	files map[string]*hcl.File // for snippets, also of values that are in no file
	r     report

	root        *module
	directories []*directory // of all other modules, as they were met
	calls       []*call      // that of the root first, each before those in it
	modules     []*module    // all of them, by address, when they are all known
	byAddr      map[string]*module
	workflow    *block
	queues      map[string]*block
	imports     []*block

	name      string // of the workflow, in whatever workspace
	queue     string // of jobs that name none
	functions map[string]function.Function
	// workflowValue is the value of workflow in expressions.
	workflowValue cty.Value
	plan          cty.Value // that a policy is about; NilVal in a workflow
	protos        protos
	disk          *disk
	library       *library
	steps         steps
	total         int  // of instances of blocks with count or for_each
	bytes         int  // of the files read so far
	weight        int  // of the modules made so far, see directory.weight
	full          bool // there are too many calls, and that is reported
	tooHeavy      bool // likewise of weight
	crowded       bool // likewise of total
}

// Load evaluates the files of one workflow. The diagnostics hold every mistake that is found, in the order of the
// files. The workflow is never nil: after errors it lacks what could not be evaluated, and serves only for its
// Sources, which show the places of the mistakes.
func Load(o Options) (*Workflow, hcl.Diagnostics) {
	l, w := load(o)
	return w, l.r.sorted()
}

func load(o Options) (*loader, *Workflow) {
	o = o.withDefaults()
	l := &loader{o: o, files: map[string]*hcl.File{}, queues: map[string]*block{}, library: newLibrary(o.Archive)}
	w := &Workflow{Namespace: DefaultNamespace, Sources: l.files}
	if err := o.validate(); err != nil {
		l.r.error(sumCannotRead, wholeFile("options"), "%v.", err)
		return l, w
	}
	d := l.readRoot()
	w.Dir = d.path
	d.declare()
	l.root = l.newRoot(d)
	l.nameWorkflow(w)
	l.disk = newDisk(d.path, l.library)
	w.files = l.looked
	if !o.Quick || o.Protected {
		l.readModules(d)
	}
	l.plant(l.root)
	l.assignVariables()
	l.evaluate(w)
	w.Missing = l.missing()
	if !o.Quick {
		w.library, w.values, w.sources = l.library, l.archivedValues(), d.names()
	}
	return l, w
}

// looked are the paths of all files that were looked at.
func (l *loader) looked() []string {
	names := l.disk.looked()
	for _, d := range append([]*directory{l.root.dir}, l.directories...) {
		for _, s := range d.sources {
			names = append(names, s.name)
		}
	}
	names = append(names, l.variableFiles()...)
	for _, v := range l.o.Vars {
		if v.File != "" {
			names = append(names, v.File)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// evaluate finds the values, in the order in which they depend on each other.
func (l *loader) evaluate(w *Workflow) {
	l.functions = l.functionTable()
	l.root.newBase()
	if l.o.Quick {
		l.evaluateOnly(l.workflowNeeds())
		l.evaluateWorkflow(w)
		if l.o.Protected {
			w.Protected = l.findProtected()
		}
		return
	}
	l.workflowNeeds() // reports jobs among them
	l.evaluateAll()
	l.settleModules()
	l.evaluateWorkflow(w)
	w.Queues = l.evaluateQueues()
	w.Outputs = l.evaluateOutputs()
	for _, m := range l.modules {
		m.evaluateChecks()
	}
	w.Moved = l.evaluateMoved()
	w.Removed = l.evaluateRemoved()
	w.Jobs = l.evaluateJobs()
	w.Imports = l.evaluateImports(w.Jobs)
	for _, d := range l.directories {
		l.r.add(d.r.diags)
	}
	l.waitForResults(w.Jobs)
	w.Protected = l.protectedBlocks()
	l.warnOfSharedKeys(w.Jobs)
	l.checkRelations(w.Jobs)
}

// settleModules completes the modules when every value is found.
func (l *loader) settleModules() {
	l.modules = l.modules[:0]
	for _, c := range l.calls {
		l.modules = append(l.modules, c.modules...)
	}
	slices.SortFunc(l.modules, func(a, b *module) int { return compareModules(a.addr, b.addr) })
	l.byAddr = make(map[string]*module, len(l.modules))
	for _, m := range l.modules {
		l.byAddr[m.addr] = m
		m.settle()
		m.validateVariables()
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
