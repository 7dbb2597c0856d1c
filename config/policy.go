package config

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Policy is the rules of some files, by which plans are judged. It keeps the files' text and nothing that came of it, so every plan
// is judged by what the files said when they were read, however often one is made anew. A nil Policy has no rules.
type Policy struct {
	files   []policyFile
	sources map[string]*hcl.File
}

type policyFile struct {
	name string
	text []byte
}

// LoadPolicy reads the files of a policy. Each is one by itself: its locals and the names of its rules are its own. The diagnostics
// hold every mistake that can be found without a plan; the files are for their snippets. The policy is never nil, and after errors of
// no use.
func LoadPolicy(paths []string) (*Policy, hcl.Diagnostics) {
	p := &Policy{sources: map[string]*hcl.File{}}
	var diags hcl.Diagnostics
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			continue
		}
		var r report
		f := policyFile{name: path, text: newLibrary(nil).readSource(path, sumCannotRead, &r)}
		if r.failed() {
			diags = append(diags, r.diags...)
			continue
		}
		p.sources[path] = &hcl.File{Bytes: f.text, Nav: &outline{src: f.text}}
		p.files = append(p.files, f)
		diags = append(diags, f.judge(samplePlan(), 1, true)...)
	}
	return p, diags
}

// Sources are the files, for the snippets of diagnostics.
func (p *Policy) Sources() map[string]*hcl.File {
	if p == nil {
		return nil
	}
	return p.sources
}

// Judge holds a plan against all rules. Errors deny it: each is a rule of deny that holds, or one that could not be decided. Rules of
// warn give warnings.
func (p *Policy) Judge(d *PlanData) hcl.Diagnostics {
	if p == nil || len(p.files) == 0 {
		return nil
	}
	plan := d.value()
	var diags hcl.Diagnostics
	for i := range p.files {
		diags = append(diags, p.files[i].judge(plan, len(d.Changes)+len(d.Jobs), false)...)
	}
	return diags
}

// policyRun is one judgement by one file.
type policyRun struct {
	l       *loader
	rules   []*block
	labels  []attribute // required_labels, as often as it stands there
	plan    cty.Value
	jobs    int
	sampled bool // plan is a sample: what is looked for are mistakes
}

// judge evaluates the rules of a file over a plan of so many jobs. A sample is not judged.
func (f *policyFile) judge(plan cty.Value, jobs int, sampled bool) hcl.Diagnostics {
	l := &loader{o: Options{}.withDefaults(), files: map[string]*hcl.File{f.name: {Bytes: f.text}}, queues: map[string]*block{}, plan: plan}
	l.steps.sampled = sampled
	l.steps.grant(jobs)
	d := l.newDirectory(filepath.Dir(f.name), true)
	j := &policyRun{l: l, plan: plan, jobs: jobs, sampled: sampled}
	j.declare(d, f)
	l.root = l.newRoot(d)
	l.disk = newDisk(d.path, newLibrary(nil))
	l.plant(l.root)
	l.functions = l.functionTable()
	l.root.newBase()
	l.evaluateAll()
	l.settleModules()
	for i := range j.labels {
		j.requiredLabels(&j.labels[i])
	}
	for _, b := range j.rules {
		j.rule(b)
	}
	diags := l.r.sorted()
	if sampled { // a plan may have more elements than the sample
		diags = slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == "Invalid index" })
	}
	return diags
}

// declare reads the file.
func (j *policyRun) declare(d *directory, f *policyFile) {
	r := &j.l.r
	s := &source{name: f.name, bytes: f.text, json: filepath.Ext(f.name) == ".json", steps: &j.l.steps, rules: true}
	s.split(r)
	d.incomplete = r.failed()
	first := map[string]*block{}
	for i := range s.items {
		p := s.parse(&s.items[i])
		r.add(p.report.diags)
		d.incomplete = d.incomplete || p.broken
		j.labels = append(j.labels, p.attrs...)
		for k := range p.blocks {
			b := &p.blocks[k]
			switch {
			case b.kind.name == "locals":
				d.declareLocals(b, p.broken)
			case first[b.label] != nil:
				r.duplicate("rule", b.label, b.labelRange, first[b.label].header)
			case r.identifier("rule", b.label, b.labelRange):
				first[b.label] = b
				if !p.broken {
					j.rules = append(j.rules, b)
				}
			}
		}
		if len(r.diags) > maxDiagnostics {
			break
		}
	}
	for i := 1; i < len(j.labels); i++ {
		r.error(sumDuplicateName, j.labels[i].nameRange, "A policy has one required_labels; the first is at %s. Write all labels into one list.", place(j.labels[0].nameRange))
	}
	j.labels = j.labels[:min(len(j.labels), 1)]
}
