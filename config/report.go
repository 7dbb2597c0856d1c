package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxDiagnostics bounds what one load reports; a file of garbage has a mistake on every line.
const maxDiagnostics = 1_000

// report collects the diagnostics of one goroutine's share of the work. The zero report is ready.
type report struct {
	diags hcl.Diagnostics
	// seen is set while the instances of one block are evaluated: a mistake in the block is reported for the
	// first of them only.
	seen map[finding]struct{}
	// onward gets what is reported here, with a note about the element of a dynamic block that it is about.
	onward *report
	turn   *turn
	// about is what was evaluated last, and with what: a mistake in it is reported with the values it is made of.
	about hcl.Expression
	ctx   *hcl.EvalContext
	each  *instance
	// in is the module whose values are looked at, "" for the root: the same block may be right in another one.
	in string
}

// finding is what makes two diagnostics the same mistake.
type finding struct {
	summary string
	at      hcl.Range
	whose   string // see origin
}

// origin is the Extra of a diagnostic of ours.
type origin struct {
	whose string // the instance or other thing that has it for itself, when each has; "" where a block has it once
	site  string // where in the code it was made, when traced
}

// traced makes diagnostics know where in the code they were made. Only tests set it, before anything is loaded.
var traced = false

func here(whose string) any {
	o := origin{whose: whose}
	if traced {
		if _, file, line, ok := runtime.Caller(2); ok {
			o.site = fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
	}
	return o
}

func (r *report) error(sum summary, at hcl.Range, format string, args ...any) {
	if r.full() {
		return
	}
	r.addOne(r.explained(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: string(sum), Detail: fmt.Sprintf(format, args...), Subject: &at, Extra: here("")}))
}

// errorIn reports a mistake in a part of a value, several of which may have one place. what is what here gave for the part.
func (r *report) errorIn(sum summary, at hcl.Range, what any, detail string) {
	r.addOne(r.explained(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: string(sum), Detail: detail, Subject: &at, Extra: what}))
}

func (r *report) warn(sum summary, at hcl.Range, format string, args ...any) {
	r.addOne(r.explained(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: string(sum), Detail: fmt.Sprintf(format, args...), Subject: &at, Extra: here("")}))
}

// refuted reports a condition that does not hold, with the values it is made of.
func (r *report) refuted(severity hcl.DiagnosticSeverity, sum summary, at hcl.Range, v verdict, whose, format string, args ...any) {
	r.addOne(&hcl.Diagnostic{Severity: severity, Summary: string(sum), Detail: v.message + "\n\n" + fmt.Sprintf(format, args...), Subject: &at,
		Expression: v.condition, EvalContext: v.ctx, Extra: here(whose)})
}

// ruled reports what a rule of a policy says of a plan. A condition, where there is one, is shown with the values it is made of.
func (r *report) ruled(deny bool, at hcl.Range, detail string, ruling Ruling, v verdict) {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: string(sumDenied), Detail: detail, Subject: &at, Expression: v.condition, EvalContext: v.ctx, Extra: ruling}
	if !deny {
		d.Severity, d.Summary = hcl.DiagWarning, string(sumWarned)
	}
	r.addOne(d)
}

// explained adds to a diagnostic about the value of an expression what that is made of.
func (r *report) explained(d *hcl.Diagnostic) *hcl.Diagnostic {
	if r.about == nil || r.ctx == nil || r.about.Range() != *d.Subject {
		return d
	}
	d.Expression, d.EvalContext = r.about, r.ctx
	if r.each != nil {
		d.EvalContext = r.each.context(r.ctx)
	}
	return d
}

// add takes over what a library reports.
func (r *report) add(diags hcl.Diagnostics) {
	for _, d := range diags {
		r.addOne(d)
	}
}

func (r *report) addOne(d *hcl.Diagnostic) {
	if r.onward != nil {
		noted := *d
		noted.Detail += r.turn.note()
		r.onward.addOne(&noted)
		return
	}
	// The library finds near names only where the innermost context has functions.
	if call, is := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); is && call.CalledFunctionNamespace() == "" && !strings.Contains(d.Detail, "Did you mean") {
		named := *d
		named.Detail += didYouMeanOf(call.CalledFunctionName(), functionNames()...)
		d = &named
	}
	if r.seen != nil && d.Subject != nil {
		f := finding{summary: d.Summary, at: *d.Subject}
		if o, ok := d.Extra.(origin); ok {
			f.whose = o.whose
		}
		if _, known := r.seen[f]; known {
			return
		}
		r.seen[f] = struct{}{}
	}
	if r.full() {
		return
	}
	if r.in != "" && !strings.Contains(d.Detail, r.in+".") { // it may name a job in it already
		c := *d
		c.Detail += " This is in " + clip(r.in) + "."
		d = &c
	}
	r.diags = append(r.diags, d)
}

// full tells whether more would not be shown.
func (r *report) full() bool { return r.onward == nil && len(r.diags) > maxDiagnostics }

func (r *report) failed() bool { return r.diags.HasErrors() }

// sorted gives the diagnostics in the order of the files, each once, errors before warnings at the same place.
func (r *report) sorted() hcl.Diagnostics {
	slices.SortStableFunc(r.diags, func(a, b *hcl.Diagnostic) int {
		x, y := subject(a), subject(b)
		return cmp.Or(strings.Compare(x.Filename, y.Filename), cmp.Compare(x.Start.Byte, y.Start.Byte),
			cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Summary, b.Summary), strings.Compare(a.Detail, b.Detail))
	})
	diags := slices.CompactFunc(r.diags, func(a, b *hcl.Diagnostic) bool {
		return a.Summary == b.Summary && a.Detail == b.Detail && subject(a) == subject(b)
	})
	if len(diags) > maxDiagnostics {
		last := subject(diags[maxDiagnostics])
		diags = append(diags[:maxDiagnostics:maxDiagnostics], &hcl.Diagnostic{Severity: hcl.DiagError, Summary: string(sumTooManyMistakes), Subject: &last,
			Detail: fmt.Sprintf("Only the first %d mistakes are shown. Correct them and try again.", maxDiagnostics)})
	}
	return diags
}

func subject(d *hcl.Diagnostic) hcl.Range {
	if d.Subject == nil {
		return hcl.Range{}
	}
	return *d.Subject
}

func (r *report) unknownArgument(in *kind, name string, at hcl.Range) {
	switch {
	case in.name == "job" && name == "depends_on":
		r.error(sumDependsOn, at, "Jobs say what they wait for in blocks. Write predecessor { job = job.NAME } to start after a job and all its children are complete, "+
			"or parent { job = job.NAME } to start as a child once its own work is done.")
	case in.name == "job" && otherWords[name] != "":
		r.error(sumUnknownArgument, at, "A job block has no argument %q. Did you mean %q?", name, otherWords[name])
	case in.name == "job" && schedules[name]:
		r.error(sumUnknownArgument, at, "When a job recurs is said in a block of its own: write run_at { %s = ... }.", name)
	case in.name == "dynamic" && name == "labels":
		r.error(sumUnknownArgument, at, "No block inside of a job has a label, so a dynamic block takes no labels. Remove the argument.")
	case in.block(name) != nil:
		r.error(sumUnknownArgument, at, "%q is a block and not an argument of %s: write %s { ... } without an equals sign.", name, in.where(), name)
	case in.name == "" && in.place == "" && policySchema().arg(name) != nil:
		r.error(sumUnknownArgument, at, "%s has no argument %q. %s", upperFirst(in.where()), name, policyAstray)
	case in.name == "" && in.place == "" && name != "":
		r.error(sumUnknownArgument, at, "The top level of a workflow has blocks and no arguments. Values to be used in several places belong into a locals block.")
	default:
		r.error(sumUnknownArgument, at, "%s has no argument %q.%s", upperFirst(in.where()), clip(name), didYouMean(name, slices.Values(in.names())))
	}
}

// otherWords are what other systems call arguments of a job.
var otherWords = map[string]string{
	"labels": "meta", "tags": "meta", "metadata": "meta",
	"ttl": "remove_after", "unique_key": "unique", "dedupe": "unique",
}

// schedules are arguments of a run_at block that people write into the job.
var schedules = map[string]bool{"every": true, "cron": true, "timezone": true, "catchup": true, "overlap": true}

// terraformBlocks are what people who know Terraform write first, and what to write instead.
var terraformBlocks = map[string]string{
	"resource":  `Write job "NAME" { ... }.`,
	"data":      `Write a job for what has to be looked up, or use file and jsondecode for what is there already.`,
	"terraform": `Settings are in workflow "NAME" { ... }.`,
	"provider":  `What runs a job is a block inside it: exec, http or sleep, or type = "TYPE" for workers of your own.`,
	"local":     `Write locals { ... }.`,
	"var":       `Write variable "NAME" { ... }.`,
	"tasks":     `Write job "NAME" { ... }.`,
}

func (r *report) unknownBlock(in *kind, name string, at hcl.Range) {
	hint := didYouMean(name, slices.Values(in.names()))
	switch {
	case in.place != "":
	case in.name == "" && terraformBlocks[name] != "":
		hint = " " + terraformBlocks[name]
	case in.name == "" && policySchema().block(name) != nil:
		hint = " " + policyAstray
	}
	if in.arg(name) != nil {
		r.error(sumUnknownBlock, at, "%q is an argument and not a block of %s: write %s = VALUE.", name, in.where(), name)
		return
	}
	r.error(sumUnknownBlock, at, "%s has no block %q.%s", upperFirst(in.where()), clip(name), hint)
}

// place writes a range for a sentence: file and line.
func place(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// upperFirst begins a sentence. An address stays as it is written.
func upperFirst(s string) string {
	if strings.HasPrefix(s, "job.") || strings.HasPrefix(s, "module.") {
		return s
	}
	c, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(c)) + s[n:]
}
