package config

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// DefaultNamespace is the Redis key namespace of a workflow that names none.
const DefaultNamespace = "waybill"

// loader is one Load: what the files declare, and the values found so far.
type loader struct {
	o       Options
	dir     string
	sources []*source
	files   map[string]*hcl.File // for snippets, also of values that are in no file
	r       report

	workflow  *block
	variables map[string]*variable
	locals    map[string]*local
	jobs      map[string]*jobBlock
	queues    map[string]*block
	outputs   map[string]*block
	moved     []*block
	// incomplete: some block could not be read at all, so a name that is not declared may be declared in it.
	incomplete bool

	name  string
	base  *hcl.EvalContext // what every expression may use; locals are in it once all are known
	disk  *disk
	total int // of instances of blocks with count or for_each
}

// Load evaluates the files of one workflow. The diagnostics hold every mistake that is found, in the order of the
// files. The workflow is never nil: after errors it lacks what could not be evaluated, and serves only for its
// Sources, which show the places of the mistakes.
func Load(o Options) (*Workflow, hcl.Diagnostics) {
	o = o.withDefaults()
	l := &loader{
		o: o, files: map[string]*hcl.File{},
		variables: map[string]*variable{}, locals: map[string]*local{}, jobs: map[string]*jobBlock{},
		queues: map[string]*block{}, outputs: map[string]*block{},
	}
	w := &Workflow{Namespace: DefaultNamespace, Sources: l.files}
	if err := o.validate(); err != nil {
		l.r.error(sumCannotRead, wholeFile("options"), "%v.", err)
		return w, l.r.sorted()
	}
	l.read()
	w.Dir = l.dir
	l.declare()
	l.nameWorkflow(w)
	l.disk = newDisk(l.dir)
	l.assignVariables()
	l.evaluate(w)
	return w, l.r.sorted()
}

// evaluate finds the values, in the order in which they depend on each other.
func (l *loader) evaluate(w *Workflow) {
	l.base = &hcl.EvalContext{
		Functions: l.functions(),
		Variables: map[string]cty.Value{
			"var":      l.variableObject(),
			"path":     cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal("."), "root": cty.StringVal(".")}),
			"workflow": cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(l.name)}),
		},
	}
	if l.o.Quick {
		l.evaluateOnly(l.workflowNeeds())
		l.evaluateWorkflow(w)
		return
	}
	l.workflowNeeds() // reports jobs among them
	l.evaluateAll()
	l.base.Variables["local"] = l.localObject()
	l.validateVariables()
	l.evaluateWorkflow(w)
	w.Queues = l.evaluateQueues()
	w.Outputs = l.evaluateOutputs()
	w.Moved = l.evaluateMoved()
	w.Jobs = l.evaluateJobs()
	l.warnOfSharedKeys(w.Jobs)
	l.checkRelations(w.Jobs)
}

// read finds the files, reads them and cuts them into items, several at a time.
func (l *loader) read() {
	var names []string
	l.dir, names = findSources(l.o.Paths, &l.r)
	l.incomplete = l.r.failed()
	l.sources = make([]*source, len(names))
	reports := make([]report, len(names))
	parallel(len(names), 1, func(i int) {
		s := &source{name: names[i], json: filepath.Ext(names[i]) == ".json"}
		s.bytes = readSource(s.name, &reports[i])
		s.split(&reports[i])
		l.sources[i] = s
	})
	total := 0
	for i, s := range l.sources {
		l.incomplete = l.incomplete || reports[i].failed()
		l.r.add(reports[i].diags)
		l.files[s.name] = &hcl.File{Bytes: s.bytes, Nav: &outline{src: s.bytes}}
		if total += len(s.bytes); total > maxTotal {
			l.r.error(sumFileTooLarge, wholeFile(s.name), "The files of this workflow have more than %d MiB in all.", maxTotal>>20)
			l.sources = l.sources[:i]
			l.incomplete = true
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
