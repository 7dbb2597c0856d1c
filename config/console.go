package config

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// consoleFile is what the text of a console is called in diagnostics.
const consoleFile = "<console>"

// Console evaluates expressions as they would be evaluated in the files of a workflow. Besides what those may refer to it knows
// output.NAME. It is for one goroutine at a time.
type Console struct {
	l       *loader
	outputs map[string]*Output
	base    *hcl.EvalContext
}

// OpenConsole loads a workflow for its console, which is nil after errors. All variables need values. Preconditions and checks
// are not evaluated: why one does not hold is what a console is asked.
func OpenConsole(o Options) (*Console, *Workflow, hcl.Diagnostics) {
	o.NeedVariables, o.unchecked = true, true
	l, w := load(o)
	diags := l.r.sorted()
	if diags.HasErrors() {
		return nil, w, diags
	}
	c := &Console{l: l, outputs: make(map[string]*Output, len(w.Outputs))}
	vals := make(map[string]cty.Value, len(w.Outputs))
	for _, out := range w.Outputs {
		c.outputs[out.Name] = out
		vals[out.Name] = out.Value
		if out.Sensitive {
			vals[out.Name] = out.Value.Mark(sensitive)
		}
	}
	c.base = &hcl.EvalContext{Variables: map[string]cty.Value{"output": cty.ObjectVal(vals)}}
	return c, w, diags
}

// Evaluate gives the value of an expression. Sensitive values are marked, see IsSensitive, and text may hold placeholders, see
// ShowPlaceholders. The files are for the snippets of the diagnostics.
func (c *Console) Evaluate(text string) (cty.Value, hcl.Diagnostics, map[string]*hcl.File) {
	src := []byte(text)
	files := map[string]*hcl.File{consoleFile: {Bytes: src}}
	r := &report{}
	if len(src) > maxItem {
		r.error(sumBlockTooLarge, wholeFile(consoleFile), "An expression has at most 1 MiB of text. Put the data into a file and read it with file().")
		return cty.DynamicVal, r.diags, nil
	}
	if !checkText(consoleFile, src, r) {
		return cty.DynamicVal, r.diags, files
	}
	if f := scanExpression(src); f != nil {
		r.error(f.summary, rangeAt(consoleFile, src, f.at, f.length), "%s", f.detail)
		return cty.DynamicVal, r.diags, files
	}
	expr, diags := hclsyntax.ParseExpression(src, consoleFile, hcl.InitialPos)
	if r.add(diags); diags.HasErrors() {
		return cty.DynamicVal, r.sorted(), files
	}
	c.l.steps.used.Store(0)
	c.l.steps.text.Store(0)
	c.l.steps.told.Store(false)
	c.l.steps.count(expr, src)
	s := c.l.root.scope(r, anyRoot, "an expression of the console")
	s.outputs = c.outputs
	a := &attribute{name: "value", expr: expr}
	if !s.check(a) {
		return cty.DynamicVal, r.sorted(), files
	}
	inner := s.context()
	s.ctx = inner.NewChild()
	s.ctx.Variables = c.base.Variables
	val, ok := s.value(a)
	if !ok && !r.failed() {
		val = cty.DynamicVal
	}
	return val, r.sorted(), files
}

// checkOutput checks a reference to an output, which only a console may make.
func (s *scope) checkOutput(t hcl.Traversal) bool {
	step, isAttr := hcl.TraverseAttr{}, false
	if len(t) > 1 {
		step, isAttr = t[1].(hcl.TraverseAttr)
	}
	switch {
	case !isAttr:
		s.r.error(sumBadReference, t.SourceRange(), "Output alone is no value: write output.NAME.")
		return false
	case s.outputs[step.Name] == nil:
		s.r.error(sumBadReference, t.SourceRange(), "No output %q is declared.%s", clip(step.Name), didYouMean(step.Name, maps.Keys(s.outputs)))
		return false
	}
	return true
}

// Incomplete tells whether an expression goes on behind what is written of it: a bracket, template or heredoc is still open.
func Incomplete(text string) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(text), consoleFile, hcl.InitialPos)
	open := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			open++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			open--
		}
	}
	return open > 0
}

// IsSensitive tells whether a value, or a part of it, came from what is sensitive.
func IsSensitive(val cty.Value) bool { return containsMarked(val) }
