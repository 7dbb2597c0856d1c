package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// resultExpr is a reference in which .result of a job may be met: job.x.result.rows, each.value.result, and what is read out of
// these. Where what it meets is no job it is the reference that it was.
type resultExpr struct {
	hclsyntax.Expression                      // as it was written
	source               hclsyntax.Expression // what the steps start from; nil: the name that they begin with
	steps                hcl.Traversal
	key                  hclsyntax.Expression // of an index that is computed, behind the steps
	refusal              noPlace              // why a result cannot stand here; zero: it can
}

// Value follows the steps, from a job's result on without looking.
func (e *resultExpr) Value(ctx *hcl.EvalContext) (val cty.Value, diags hcl.Diagnostics) {
	steps := e.steps
	if e.source != nil {
		val, diags = e.source.Value(ctx)
	} else {
		val, diags = steps[:1].TraverseAbs(ctx)
		steps = steps[1:]
	}
	for _, step := range steps {
		if diags.HasErrors() {
			return cty.DynamicVal, diags
		}
		var more hcl.Diagnostics
		val, more = e.step(val, step)
		diags = append(diags, more...)
	}
	if e.key == nil || diags.HasErrors() {
		return val, diags
	}
	key, more := e.key.Value(ctx)
	if diags = append(diags, more...); diags.HasErrors() || !key.IsKnown() {
		return cty.DynamicVal, diags
	}
	if _, _, reads := readingOf(val); reads {
		plain, marks := key.Unmark()
		val, more = e.step(val, hcl.TraverseIndex{Key: plain, SrcRange: e.key.Range()})
		return val.WithMarks(marks), append(diags, more...)
	}
	at := e.Range()
	val, more = hcl.Index(val, key, &at)
	return val, append(diags, more...)
}

// step is one step from a value.
func (e *resultExpr) step(val cty.Value, step hcl.Traverser) (cty.Value, hcl.Diagnostics) {
	name := ""
	var index cty.Value
	switch step := step.(type) {
	case hcl.TraverseAttr:
		name = step.Name
	case hcl.TraverseIndex:
		index = step.Key
	}
	if r, marks, reads := readingOf(val); reads {
		if r.Secret != "" {
			return cty.DynamicVal, e.refuse(sumBadSecret, "A secret is a text and has no parts that could be named here.")
		}
		r.Path = append(r.Path[:len(r.Path):len(r.Path)], name)
		if index != cty.NilVal {
			at, ok := resultStep(index)
			if !ok {
				return cty.DynamicVal, e.refuse(sumBadResult, "An index into a result is a key or a whole number from 0, and this is %s.", shownIndex(index))
			}
			r.Path[len(r.Path)-1] = at
		}
		return cty.StringVal(r.Placeholder()).WithMarks(marks), nil
	}
	plain, marks := val.Unmark()
	if name != "result" || plain.IsNull() || !plain.Type().Equals(jobType()) {
		return step.TraversalStep(val)
	}
	address, more := plain.GetAttr("address").Unmark()
	switch {
	case !address.IsKnown():
		return cty.DynamicVal, nil
	case e.refusal != (noPlace{}):
		return cty.DynamicVal, e.refuse(sumBadResult, "The result of %s is known only when it has run. %s", clip(address.AsString()), e.refusal.result)
	}
	r := Reading{Address: address.AsString(), origin: originText(e.Range())}
	return cty.StringVal(r.Placeholder()).WithMarks(marks, more), nil
}

func (e *resultExpr) refuse(sum summary, format string, args ...any) hcl.Diagnostics {
	r := &report{}
	r.error(sum, e.Range(), format, args...)
	return r.diags
}

// tryExpr is a call of try or can, which take the refusal of a result or secret for a value that is not there.
type tryExpr struct {
	hclsyntax.Expression // the call
	args                 []hclsyntax.Expression
}

// Value reports refusals first.
func (e *tryExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	var refusals hcl.Diagnostics
	for _, arg := range e.args {
		_, diags := arg.Value(ctx)
		for _, d := range diags {
			if d.Summary == string(sumBadResult) || d.Summary == string(sumBadSecret) || d.Summary == string(sumBadSecretName) {
				refusals = append(refusals, d)
			}
		}
	}
	if refusals.HasErrors() {
		return cty.DynamicVal, refusals
	}
	return e.Expression.Value(ctx)
}

// readingOf reads a value back that a result stands for.
func readingOf(val cty.Value) (r Reading, marks cty.ValueMarks, ok bool) {
	plain, marks := val.Unmark()
	if plain.Type() != cty.String || plain.IsNull() || !plain.IsKnown() {
		return r, nil, false
	}
	r, ok = wholeReading(plain.AsString())
	return r, marks, ok && r.Form == ""
}

// resultStep is a key or an index as a path has it.
func resultStep(key cty.Value) (any, bool) {
	switch {
	case key.IsNull() || !key.IsKnown():
		return nil, false
	case key.Type() == cty.String:
		return key.AsString(), !hasReading(key.AsString()) && !hasPlaceholder(key.AsString())
	case key.Type() == cty.Number:
		n, err := wholeNumber(key.AsBigFloat(), 0, maxPayload)
		return n, err == nil
	}
	return nil, false
}

func shownIndex(key cty.Value) string {
	if !key.IsNull() && key.IsKnown() && key.Type() == cty.Number {
		return key.AsBigFloat().Text('g', 10)
	}
	return valueName(key)
}
