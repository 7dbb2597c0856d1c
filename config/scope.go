package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// sensitiveMark marks values that came from a sensitive variable, and all that is made from them.
type sensitiveMark struct{}

var sensitive = sensitiveMark{}

// scope evaluates the expressions of one block, or of one instance of a job.
type scope struct {
	l     *loader
	m     *module // whose names the expressions know
	r     *report
	roots roots
	what  string // the block in sentences: "the workflow block"
	ctx   *hcl.EvalContext
	self  *jobBlock // of a job's body
	each  *instance // of an instance of it; ctx does not know it before it is needed

	outputs   map[string]*Output // of the workflow, in its console alone
	iterators []string           // of the dynamic blocks around
	body      *kind              // whose arguments are being checked, in a job

	whole hcl.Expression // whose references are being checked

	locals  []string    // that expressions refer to
	vars    []string    // likewise, of a module other than the root
	jobs    []*jobBlock // likewise
	modules []string    // likewise
}

// prepare checks every reference in a body and makes the context for its expressions. Checking the whole body first
// reports all bad references, also behind a mistake that stops its evaluation.
func (s *scope) prepare(c *content) {
	s.checkAll(c)
	s.ctx = s.context()
}

func (s *scope) checkAll(c *content) {
	if s.self != nil {
		outer := s.body
		s.body = c.kind
		defer func() { s.body = outer }()
	}
	for i := range c.attrs {
		jobs, modules := len(s.jobs), len(s.modules)
		if s.check(&c.attrs[i]); edgeArgument(&c.attrs[i]) {
			s.jobs, s.modules = s.jobs[:jobs], s.modules[:modules] // read without their values
		}
	}
	for i := range c.blocks {
		b := &c.blocks[i]
		inner := b.open(s.r)
		if b.kind.name == "precondition" && !s.l.o.conditions() {
			continue // not evaluated, see preconditions
		}
		if b.dynamic == nil {
			s.checkAll(inner)
			continue
		}
		s.checkDynamic(b)
	}
}

// context extends the base by the jobs and modules that are referred to, so that no block pays for the others. While the module is
// still being evaluated it does so by the variables and locals too.
func (s *scope) context() *hcl.EvalContext {
	early := !s.m.settled && len(s.locals)+len(s.vars) > 0
	if len(s.jobs)+len(s.modules) == 0 && !early {
		return s.m.base
	}
	ctx := s.m.base.NewChild()
	ctx.Variables = map[string]cty.Value{}
	object := func(root string, names []string, value func(string) cty.Value) {
		if len(names) == 0 {
			return
		}
		vals := make(map[string]cty.Value, len(names))
		for _, name := range names {
			vals[name] = value(name)
		}
		ctx.Variables[root] = cty.ObjectVal(vals)
	}
	if len(s.jobs) > 0 {
		vals := make(map[string]cty.Value, len(s.jobs))
		for _, j := range s.jobs {
			vals[j.name] = j.object()
		}
		ctx.Variables["job"] = cty.ObjectVal(vals)
	}
	object("module", s.modules, func(name string) cty.Value { return s.m.calls[name].object() })
	if early {
		object("local", s.locals, func(name string) cty.Value { return s.m.locals[name].value })
		object("var", s.vars, func(name string) cty.Value { return s.m.variables[name].value })
	}
	return ctx
}

func (s *scope) needLocal(name string) {
	if !slices.Contains(s.locals, name) {
		s.locals = append(s.locals, name)
	}
}

func (s *scope) needJob(j *jobBlock) {
	if !slices.Contains(s.jobs, j) {
		s.jobs = append(s.jobs, j)
	}
}

// value evaluates an argument. It is false for what was reported, here or where the value comes from.
func (s *scope) value(a *attribute) (cty.Value, bool) {
	if a.state == exprConstant {
		s.r.about, s.r.ctx, s.r.each = a.expr, s.ctx, s.each
		return a.value, a.value != cty.NilVal
	}
	if !s.check(a) {
		return cty.NilVal, false
	}
	return s.evaluate(a.expr)
}

func (s *scope) evaluate(expr hcl.Expression) (val cty.Value, ok bool) {
	s.r.about, s.r.ctx, s.r.each = expr, s.ctx, s.each
	if val, ok := s.shortcut(expr); ok {
		return val, val.IsKnown()
	}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		val, ok = cty.NilVal, false
		if sum, detail, over := exhausted(p); over {
			s.ended(expr.Range(), sum, detail)
		} else {
			s.r.error(sumCannotEvaluate, expr.Range(), "This expression cannot be evaluated: %v. Please report this, it is a defect of Waybill.", p)
		}
	}()
	if s.each != nil {
		s.ctx = s.each.context(s.ctx)
		s.each = nil
	}
	val, diags := s.counting(expr).Value(s.ctx)
	s.translate(diags)
	return val, !diags.HasErrors() && val.IsKnown()
}

// counting is an expression that counts its steps. One of the JSON syntax does not, since its templates are read when they are
// evaluated; the same in the native syntax does.
func (s *scope) counting(expr hcl.Expression) hcl.Expression {
	if !isJSON(expr) {
		return expr
	}
	file := s.l.files[expr.Range().Filename]
	if file == nil || !expr.Range().CanSliceBytes(file.Bytes) {
		return expr
	}
	src := expr.Range().SliceBytes(file.Bytes)
	if !bytes.Contains(src, []byte("${")) && !bytes.Contains(src, []byte("%{")) && !bytes.Contains(src, []byte(`\u`)) {
		return expr
	}
	native, diags := nativeExpr(expr)
	if diags.HasErrors() {
		return expr // it reports them itself
	}
	s.l.steps.count(native, []byte("${"))
	return native
}

// translate takes over what an evaluation reports. Messages of functions are hidden when their arguments are
// sensitive: they may quote them.
func (s *scope) translate(diags hcl.Diagnostics) {
	for _, d := range diags {
		call, isCall := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
		if !isCall || call.FunctionCallError() == nil {
			s.r.addOne(d)
			continue
		}
		c := *d
		var refused *refusedError
		var crash function.PanicError
		switch {
		case errors.As(call.FunctionCallError(), &crash):
			if sum, detail, over := exhausted(crash.Value); over {
				s.ended(*d.Subject, sum, detail)
				continue
			}
			c.Summary = string(sumCannotEvaluate)
			c.Detail = fmt.Sprintf("Function %q does not work with these arguments. Please report this, it is a defect of Waybill or of a library it uses.", call.CalledFunctionName())
		case errors.As(call.FunctionCallError(), &refused):
			c.Summary, c.Detail = string(sumRefusedFunction), refused.Error()
		case refersToSensitive(d.Expression, d.EvalContext):
			c.Detail = fmt.Sprintf("Call to function %q failed. Its message is not shown, because its arguments are sensitive.", call.CalledFunctionName())
		}
		s.r.addOne(&c)
	}
}

func refersToSensitive(expr hcl.Expression, ctx *hcl.EvalContext) bool {
	if expr == nil || ctx == nil {
		return false
	}
	for _, t := range expr.Variables() {
		if val, diags := t.TraverseAbs(ctx); diags.HasErrors() || containsMarked(val) {
			return true
		}
	}
	return false
}

// literalString gives the text of a string without interpolation.
func literalString(expr hcl.Expression) (string, bool) {
	val, diags := expr.Value(nil)
	if diags.HasErrors() || val.Type() != cty.String || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

func isJSON(expr hcl.Expression) bool {
	_, native := expr.(hclsyntax.Node)
	return !native
}
