package config

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// variable is one variable block and, once assigned, its value.
type variable struct {
	name  string
	block *block

	constraint cty.Type // cty.DynamicPseudoType without a type
	typed      bool     // a type is written
	defaults   *typeexpr.Defaults
	fallback   cty.Value // the default, converted; cty.NilVal without
	sensitive  bool
	nullable   bool
	about      string // its description

	given   *assignment // the strongest source's
	kept    cty.Value   // the archive's, which stands; cty.NilVal without
	value   cty.Value
	broken  bool         // reported; its value is unknown
	missing bool         // no source has a value
	wanted  *atomic.Bool // that is reported
	misread bool         // a source may have one, but it could not be read, which is reported
}

// newVariable reads the block of a variable as far as no value is needed.
func newVariable(b *block, broken bool, r *report) *variable {
	v := &variable{name: b.label, block: b, constraint: cty.DynamicPseudoType, nullable: true, broken: broken, wanted: new(atomic.Bool)}
	if broken {
		return v
	}
	before := len(r.diags)
	c := b.open(r)
	if a := c.attr("type"); a != nil {
		v.readType(a, r)
	}
	v.sensitive = constantBool(c.attr("sensitive"), false, r)
	v.nullable = constantBool(c.attr("nullable"), true, r)
	if a := c.attr("description"); a != nil {
		v.about = constantString(a, r)
	}
	if a := c.attr("default"); a != nil && !r.diags[before:].HasErrors() {
		v.readDefault(a, r)
	}
	v.broken = r.diags[before:].HasErrors()
	return v
}

func (v *variable) readType(a *attribute, r *report) {
	v.typed = true
	if literal, ok := literalString(a.expr); ok && !isJSON(a.expr) {
		r.error(sumBadType, a.expr.Range(), "A type is written without quotes: type = %s.", clip(literal))
		return
	}
	ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.expr)
	r.add(diags)
	if diags.HasErrors() {
		ty = cty.DynamicPseudoType
	}
	v.constraint, v.defaults = ty, defaults
}

func (v *variable) readDefault(a *attribute, r *report) {
	val, diags := constant(a.expr)
	r.add(diags)
	if diags.HasErrors() {
		return
	}
	if val.IsNull() && !v.nullable {
		r.error(sumBadVariableValue, a.expr.Range(), "Variable %q is not nullable, so its default cannot be null. Without a default a value has to be given.", v.name)
		return
	}
	val, err := v.convert(val)
	if err != nil {
		r.error(sumBadVariableValue, a.expr.Range(), "The default of variable %q does not fit its type %s: %s.", v.name, constraintText(v.constraint), conversionError(err))
		return
	}
	v.fallback = val
}

// convert brings a value to the variable's type, with the defaults of optional object attributes filled in.
func (v *variable) convert(val cty.Value) (cty.Value, error) {
	if v.defaults != nil && !val.IsNull() {
		val = v.defaults.Apply(val)
	}
	return convertAny(val, v.constraint)
}

// settle finds the value after all sources have been read.
func (v *variable) settle(l *loader) {
	v.value = cty.DynamicVal
	if v.broken {
		return
	}
	if v.kept != cty.NilVal && !v.sensitive {
		v.value = v.kept
		return
	}
	before := len(l.r.diags)
	val := v.fallback
	if v.given != nil {
		val = v.given.evaluate(v, l)
	}
	switch {
	case l.r.diags[before:].HasErrors():
		v.broken = true
	case val == cty.NilVal && v.misread:
		v.broken = true
	case val == cty.NilVal:
		v.missing = true
		if l.o.NeedVariables && !l.o.Quick {
			v.reportMissing(&l.r)
		}
	case v.sensitive:
		v.value = val.Mark(sensitive)
	default:
		v.value = val
	}
}

func (v *variable) reportMissing(r *report) {
	v.wanted.Store(true)
	r.error(sumMissingVariable, v.block.header, "Variable %q has no default and no value was given. Set it with -var %s=VALUE, in the environment as %s%s, or in a file such as %s.",
		v.name, v.name, variablePrefix, v.name, variableFile)
}

// Missing is a variable of the workflow that is needed, and that no source gives a value.
type Missing struct {
	Name        string
	Description string // "" without
	Sensitive   bool
}

// missing lists the variables that were reported for having no value, by name.
func (l *loader) missing() (list []Missing) {
	for _, name := range slices.Sorted(maps.Keys(l.root.variables)) {
		if v := l.root.variables[name]; v.wanted.Load() {
			list = append(list, Missing{Name: name, Description: v.about, Sensitive: v.sensitive})
		}
	}
	return list
}

// variableObject is the value of var in expressions.
func (m *module) variableObject() cty.Value {
	if len(m.variables) == 0 {
		return cty.EmptyObjectVal
	}
	vals := make(map[string]cty.Value, len(m.variables))
	for name, v := range m.variables {
		vals[name] = v.value
	}
	return cty.ObjectVal(vals)
}

// validateVariables checks the validation blocks of all variables that have a value.
func (m *module) validateVariables() {
	for _, name := range slices.Sorted(maps.Keys(m.variables)) {
		v := m.variables[name]
		if v.broken || v.missing {
			continue
		}
		c := v.block.open(m.dir.r)
		for i := range c.blocks {
			m.validate(v, c.blocks[i].open(m.dir.r))
		}
	}
}

func (m *module) validate(v *variable, c *content) {
	s := m.scope(m.report(), rootVar|rootPath, "the validation of a variable")
	s.ctx = m.base
	verdict, ok := s.judge(c)
	if !ok || !verdict.fails {
		return
	}
	at := v.block.header
	if v.given != nil && !v.sensitive {
		at = v.given.at
	}
	s.r.refuted(hcl.DiagError, sumInvalidVariable, at, verdict, "", "This was checked by the validation rule at %s.", place(verdict.condition.Range()))
}

// constantBool reads an argument that no expression can change.
func constantBool(a *attribute, fallback bool, r *report) bool {
	if a == nil {
		return fallback
	}
	val, diags := constant(a.expr)
	r.add(diags)
	if diags.HasErrors() {
		return fallback
	}
	val, err := convert.Convert(val, cty.Bool)
	if err != nil || val.IsNull() {
		r.error(sumWrongType, a.expr.Range(), "%s is either true or false.", a.name)
		return fallback
	}
	return val.True()
}

func constantString(a *attribute, r *report) string {
	val, diags := constant(a.expr)
	r.add(diags)
	if diags.HasErrors() {
		return ""
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || val.IsNull() {
		r.error(sumWrongType, a.expr.Range(), "%s is a string.", a.name)
		return ""
	}
	return val.AsString()
}

// conversionError words why a value has not the type that is needed.
func conversionError(err error) string {
	text := err.Error()
	if want, have, ok := strings.Cut(text, " required, but have "); ok {
		at := strings.LastIndex(want, ": ") + 1 // behind "element 1: "
		text = want[:at]
		if at > 0 {
			text += " "
		}
		text += "a " + strings.TrimSpace(want[at:]) + " is required, and this is " + withArticle(have)
	}
	if pe, ok := err.(cty.PathError); ok && len(pe.Path) > 0 {
		return "at " + pathString(pe.Path) + ", " + text
	}
	return text
}

func withArticle(noun string) string {
	if strings.ContainsAny(noun[:min(1, len(noun))], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// constraintText writes a type as the files do, with what is optional in it.
func constraintText(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "any"
	case ty.IsListType():
		return "list(" + constraintText(ty.ElementType()) + ")"
	case ty.IsSetType():
		return "set(" + constraintText(ty.ElementType()) + ")"
	case ty.IsMapType():
		return "map(" + constraintText(ty.ElementType()) + ")"
	case ty.IsTupleType():
		var parts []string
		for _, elem := range ty.TupleElementTypes() {
			parts = append(parts, constraintText(elem))
		}
		return "tuple([" + strings.Join(parts, ", ") + "])"
	case ty.IsObjectType():
		attrs := ty.AttributeTypes()
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(attrs)) {
			text := constraintText(attrs[name])
			if ty.AttributeOptional(name) {
				text = "optional(" + text + ")"
			}
			parts = append(parts, name+" = "+text)
		}
		return "object({" + strings.Join(parts, ", ") + "})"
	}
	return typeexpr.TypeString(ty)
}

// pathString writes a path into a value as an expression would.
func pathString(path cty.Path) string {
	t := hcl.Traversal{hcl.TraverseRoot{Name: ""}}
	for _, step := range path {
		switch s := step.(type) {
		case cty.GetAttrStep:
			t = append(t, hcl.TraverseAttr{Name: s.Name})
		case cty.IndexStep:
			t = append(t, hcl.TraverseIndex{Key: s.Key})
		}
	}
	return Written(t)
}
