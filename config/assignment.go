package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

const (
	variablePrefix = "WAYBILL_VAR_"
	variableFile   = "waybill.wbvars"
)

// assignment is a value that some source gives to a variable.
type assignment struct {
	expr hcl.Expression // from a file
	text string         // from the command line or the environment
	at   hcl.Range
	from string // for sentences
}

// assignVariables reads all sources of values, weakest first, and settles each variable.
func (l *loader) assignVariables() {
	for _, entry := range l.o.Environ {
		name, text, _ := strings.Cut(entry, "=")
		if name, ok := strings.CutPrefix(name, variablePrefix); ok && l.root.variables[name] != nil {
			l.root.variables[name].given = l.textAssignment("environment variable "+variablePrefix+name, text)
		}
	}
	for _, file := range l.variableFiles() {
		l.assignFile(file)
	}
	for _, v := range l.o.Vars {
		if v.File != "" {
			l.assignFile(v.File)
		} else {
			l.assignOption(v.Assign)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.root.variables)) {
		l.root.variables[name].settle(l)
	}
}

// textAssignment is a value that is in no file. Its range names the source, and covers the text as its only line.
func (l *loader) textAssignment(source, text string) *assignment {
	return &assignment{text: text, at: rangeAt(source, []byte(text), 0, len(text)), from: source}
}

func (l *loader) assignOption(option string) {
	name, text, ok := strings.Cut(option, "=")
	if !ok {
		l.r.error(sumBadOption, wholeFile("-var "+clip(option)), "-var needs the form -var NAME=VALUE.")
		return
	}
	a := l.textAssignment("-var "+clip(name), text)
	v := l.root.variables[name]
	switch {
	case v != nil:
		v.given = a
	case !l.root.dir.incomplete:
		l.r.error(sumUndeclaredVariable, wholeFile("-var "+clip(name)), "-var sets %q, and no such variable is declared.%s Declare it with variable %q {}, or leave the option out.",
			clip(name), didYouMean(name, maps.Keys(l.root.variables)), clip(name))
	}
}

// variableFiles lists the files that are read without being named.
func (l *loader) variableFiles() []string {
	entries, err := os.ReadDir(l.root.dir.path)
	if err != nil {
		return nil // reported when the sources were read
	}
	var first, auto []string
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir():
		case name == variableFile || name == variableFile+".json":
			first = append(first, filepath.Join(l.root.dir.path, name))
		case strings.HasSuffix(name, ".auto.wbvars") || strings.HasSuffix(name, ".auto.wbvars.json"):
			auto = append(auto, filepath.Join(l.root.dir.path, name))
		}
	}
	return append(first, auto...)
}

// assignFile reads a file of values: arguments without expressions, in either syntax.
func (l *loader) assignFile(name string) {
	var r report
	s := &source{name: name, json: filepath.Ext(name) == ".json", steps: &l.steps}
	if s.bytes = readSource(name, &r); s.bytes != nil {
		l.files[name] = &hcl.File{Bytes: s.bytes}
		s.split(&r)
	}
	first := map[string]hcl.Range{}
	for i := range s.items {
		for _, a := range s.assignments(&s.items[i], &r) {
			at := a.NameRange
			if other, ok := first[a.Name]; ok {
				r.error(sumDuplicateName, at, "%q was already set at %s. Remove one of the two lines.", clip(a.Name), place(other))
				continue
			}
			first[a.Name] = at
			v := l.root.variables[a.Name]
			switch {
			case v != nil:
				v.given = &assignment{expr: a.Expr, at: a.Range, from: name}
			case !l.root.dir.incomplete:
				r.warn(sumUndeclaredVariable, at, "The file sets %q, and no such variable is declared.%s Declare it, or remove the line.", clip(a.Name), didYouMean(a.Name, maps.Keys(l.root.variables)))
			}
		}
	}
	l.r.add(r.diags)
}

func (s *source) assignments(it *item, r *report) []*hcl.Attribute {
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
	r.add(diags)
	if diags.HasErrors() {
		return nil
	}
	attrs, diags := file.Body.JustAttributes()
	r.add(diags)
	list := slices.Collect(maps.Values(attrs))
	slices.SortFunc(list, func(a, b *hcl.Attribute) int { return a.Range.Start.Byte - b.Range.Start.Byte })
	return list
}

// evaluate gives the value in the variable's type; cty.NilVal when the variable's default is to be used, or after a report.
func (a *assignment) evaluate(v *variable, l *loader) cty.Value {
	val, ok := a.raw(v, l)
	if !ok {
		return cty.NilVal
	}
	at := a.at
	if v.sensitive {
		at = v.block.header // no snippet of the value
	}
	if val.IsNull() && !v.nullable {
		if v.fallback == cty.NilVal {
			l.r.error(sumBadVariableValue, at, "Variable %q is not nullable and has no default, so it cannot be null. The value comes from %s.", v.name, a.from)
		}
		return v.fallback
	}
	val, err := v.convert(val)
	if err != nil {
		l.r.error(sumBadVariableValue, at, "Variable %q, declared at %s, has the type %s, which the value from %s does not fit: %s.",
			v.name, place(v.block.header), typeexpr.TypeString(v.constraint), a.from, conversionError(err))
		return cty.NilVal
	}
	return val
}

// raw is the value as written. Text is taken literally for variables of a primitive type or without one, and is
// an expression for the others.
func (a *assignment) raw(v *variable, l *loader) (cty.Value, bool) {
	var r report
	defer func() {
		if !v.sensitive {
			l.r.add(r.diags)
		} else if r.failed() {
			l.r.error(sumBadVariableValue, v.block.header, "The value of the sensitive variable %q from %s is not a valid expression.", v.name, a.from)
		}
	}()
	if a.expr != nil {
		val, diags := constant(a.expr)
		r.add(diags)
		return val, !diags.HasErrors()
	}
	if !v.sensitive {
		l.files[a.at.Filename] = &hcl.File{Bytes: []byte(a.text)}
	}
	if !checkText(a.at.Filename, []byte(a.text), &r) {
		return cty.NilVal, false
	}
	literal := !v.typed || v.constraint.IsPrimitiveType()
	if literal && v.constraint != cty.Number {
		return cty.StringVal(a.text), true
	}
	if f := scanExpression([]byte(a.text)); f != nil {
		r.error(f.summary, rangeAt(a.at.Filename, []byte(a.text), f.at, f.length), "%s", f.detail)
		return cty.NilVal, false
	}
	if literal {
		return cty.StringVal(a.text), true
	}
	expr, diags := hclsyntax.ParseExpression([]byte(a.text), a.at.Filename, hcl.InitialPos)
	r.add(diags)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	l.steps.count(expr, []byte(a.text))
	val, diags := constant(expr)
	r.add(diags)
	return val, !diags.HasErrors()
}
