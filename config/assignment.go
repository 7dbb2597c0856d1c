package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
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
	if l.o.Archive != nil {
		for name, v := range l.root.variables {
			v.kept = l.o.Archive.values[name]
		}
	}
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
			l.assignOption(v)
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

func (l *loader) assignOption(option VarSource) {
	name, text, ok := strings.Cut(option.Assign, "=")
	if !ok {
		l.r.error(sumBadOption, wholeFile("-var "+clip(option.Assign)), "-var needs the form -var NAME=VALUE.")
		return
	}
	a := l.textAssignment("-var "+clip(name), text)
	if option.Asked {
		a = l.textAssignment("value for var."+clip(name), text)
		a.from = "the prompt"
	}
	v := l.root.variables[name]
	switch {
	case v != nil && v.kept != cty.NilVal:
		l.r.error(sumBadOption, a.at, "%q has the value that it had in this revision; -var gives what is not kept there, which is sensitive values.", clip(name))
	case v != nil:
		v.given = a
	case !l.root.dir.incomplete:
		l.r.error(sumUndeclaredVariable, wholeFile("-var "+clip(name)), "-var sets %q, and no such variable is declared.%s Declare it with variable %q {}, or leave the option out.",
			clip(name), didYouMean(name, maps.Keys(l.root.variables)), clip(name))
	}
}

// variableFiles lists the files that are read without being named.
func (l *loader) variableFiles() []string {
	if l.o.Archive != nil {
		return nil
	}
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
	if s.bytes = newLibrary(nil).readSource(name, sumCannotReadValues, &r); s.bytes != nil {
		s.split(&r)
	}
	unread := r.failed()
	first := map[string]hcl.Range{}
	for i := range s.items {
		attrs, read := s.assignments(&s.items[i], &r)
		unread = unread || !read
		for _, a := range attrs {
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
	l.revealValues(s, unread, &r)
}

// revealValues hands on what was found in a file of values. unread tells that it may have values that were not found. Its lines are
// shown in diagnostics, unless there are sensitive variables and a line may have the value of one without anybody's noticing: in a file
// that is not understood, beside others in one line, under a wrong name.
func (l *loader) revealValues(s *source, unread bool, r *report) {
	sensitive := false
	for _, v := range l.root.variables {
		sensitive = sensitive || v.sensitive
		v.misread = v.misread || unread
	}
	l.r.add(r.diags)
	if s.bytes != nil && !(sensitive && (s.json || len(r.diags) > 0)) {
		l.files[s.name] = &hcl.File{Bytes: s.bytes}
	}
}

func (s *source) assignments(it *item, r *report) (list []*hcl.Attribute, ok bool) {
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
		return nil, false
	}
	attrs, diags := file.Body.JustAttributes()
	if body, native := file.Body.(*hclsyntax.Body); native && len(body.Blocks) > 0 {
		b := body.Blocks[0]
		r.error(sumBlockInValues, b.DefRange(), "A file of values has lines NAME = VALUE and no blocks. Blocks such as %q stand in *.hcl files.", clip(b.Type))
		return nil, false
	}
	r.add(diags)
	ok = !diags.HasErrors()
	list = slices.Collect(maps.Values(attrs))
	slices.SortFunc(list, func(a, b *hcl.Attribute) int { return a.Range.Start.Byte - b.Range.Start.Byte })
	return list, ok
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
			v.name, place(v.block.header), constraintText(v.constraint), a.from, conversionError(err))
		return cty.NilVal
	}
	return val
}

// collection tells whether a text is written as a list, a map or an object is.
func (a *assignment) collection() bool {
	text := strings.TrimSpace(a.text)
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") || scanExpression([]byte(text)) != nil {
		return false
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), a.at.Filename, hcl.InitialPos)
	switch expr.(type) {
	case *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr:
		return !diags.HasErrors()
	}
	return false
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
	value := func(expr hcl.Expression) (cty.Value, bool) {
		if refs := expr.Variables(); len(refs) > 0 {
			text := "."
			if len(refs[0]) == 1 {
				text = fmt.Sprintf(": %q.", clip(refs[0].RootName()))
			}
			r.error(sumBadVariableValue, refs[0].SourceRange(), "The value of variable %q has a reference, and values from outside can have none. Text is written in quotes%s", v.name, text)
			return cty.NilVal, false
		}
		val, diags := constant(expr)
		r.add(diags)
		return val, !diags.HasErrors()
	}
	if a.expr != nil {
		return value(a.expr)
	}
	if !v.sensitive {
		l.files[a.at.Filename] = &hcl.File{Bytes: []byte(a.text)}
	}
	if !checkText(a.at.Filename, []byte(a.text), &r) {
		return cty.NilVal, false
	}
	literal := !v.typed || v.constraint.IsPrimitiveType()
	if literal && v.constraint != cty.Number {
		if !v.typed && a.collection() {
			at := a.at
			if v.sensitive {
				at = v.block.header // no snippet of the value
			}
			l.r.warn(sumTextWithoutType, at, "Variable %q has no type, so its value from %s is this text and no list, map or object. Declare the type that it has, or type = any, to have it "+
				"read as one; or type = string, if text is what is meant.", v.name, a.from)
		}
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
	return value(expr)
}
