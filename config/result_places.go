package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// resultPlaces are the arguments in which results may stand, by kind of block.
var resultPlaces = map[string][]string{
	"job":  {"payload"},
	"exec": {"command", "env", "stdin"},
	"http": {"url", "headers", "body"},
}

const placesOfResults = "Results may stand in payload, in command, env and stdin of exec, and in url, headers and body of http."

// refusesResults says why results cannot stand in an argument; "": they can.
func (s *scope) refusesResults(a *attribute) string {
	switch {
	case s.body == nil:
		if s.what == inputsOfModule {
			return "Inputs of modules are made before any job runs. Give the module the job instead, such as after = job.NAME, and read its result in there: var.after.result.KEY."
		}
		return upperFirst(s.what) + " is made before any job runs. " + placesOfResults
	case slices.Contains(resultPlaces[s.body.name], a.name):
		return ""
	case s.body.name == "exec" && a.name == "dir":
		return "It comes from the store, and whoever can write there must not decide which files a command finds. Give it to the command as an argument or in env."
	}
	return upperFirst(a.name) + " is needed before that. " + placesOfResults
}

// The reasons why a result cannot stand inside of some expression.
const (
	noComputing = "Nothing can be computed or decided from it here: let the job that runs do it, or the job that leaves the result."
	noElements  = "Which elements it has is known as late, so they cannot be gone through here. Hand over the whole: job.NAME.result.KEY."
	noKeyOfIt   = "The keys of an object are needed before that; only values may be results."
)

// resultFunctions are those through which results may go: they neither look into strings nor change them.
var resultFunctions = []string{"concat", "flatten", "join", "jsonencode", "merge", "nonsensitive", "sensitive", "tolist", "tomap", "tostring", "values", "zipmap"}

func noFunction(name string) string {
	if name == "try" || name == "can" {
		return "Whether it is there shows when the job starts, so " + name + "() cannot tell. A value that may be missing is best left as null by the job whose result it is."
	}
	return "The function " + name + " would see a placeholder in its place. It may go through " + strings.Join(resultFunctions[:len(resultFunctions)-1], ", ") + " and " + resultFunctions[len(resultFunctions)-1] + "."
}

// findResults makes the references of an expression know results, if any of them may be to one.
func (s *scope) findResults(a *attribute) {
	expr, native := a.expr.(hclsyntax.Expression)
	if !native {
		file := s.l.files[a.expr.Range().Filename]
		if file == nil || !strings.Contains(string(a.expr.Range().SliceBytes(file.Bytes)), ".result") {
			return
		}
		var diags hcl.Diagnostics
		if expr, diags = nativeExpr(a.expr); diags.HasErrors() {
			return // reported when it is evaluated
		}
		s.l.steps.count(expr, []byte("for"))
	}
	if mentionsResult(expr) {
		a.expr = withResults(expr, s.refusesResults(a))
	}
}

// mentionsResult tells whether an expression may refer to a result. The common expressions are walked without allocations.
func mentionsResult(expr hclsyntax.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return false
	case *hclsyntax.ScopeTraversalExpr:
		return inTraversal(e.Traversal)
	case *hclsyntax.TemplateExpr:
		return slices.ContainsFunc(e.Parts, mentionsResult)
	case *hclsyntax.TemplateWrapExpr:
		return mentionsResult(e.Wrapped)
	case *piece:
		return mentionsResult(e.Expression)
	case *hclsyntax.TupleConsExpr:
		return slices.ContainsFunc(e.Exprs, mentionsResult)
	case *hclsyntax.ObjectConsExpr:
		return slices.ContainsFunc(e.Items, func(it hclsyntax.ObjectConsItem) bool {
			return mentionsResult(it.ValueExpr) || mentionsResult(it.KeyExpr)
		})
	case *hclsyntax.FunctionCallExpr:
		return slices.ContainsFunc(e.Args, mentionsResult)
	}
	found := false
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			found = found || inTraversal(n.Traversal)
		case *hclsyntax.RelativeTraversalExpr:
			found = found || hasResultStep(n.Traversal)
		}
		return nil
	})
	return found
}

// inTraversal leaves out the name of a variable, local or job, which may be result too.
func inTraversal(t hcl.Traversal) bool {
	first := 1
	if rootNames[t.RootName()] != 0 {
		first = 2
	}
	return len(t) > first && hasResultStep(t[first:])
}

func hasResultStep(steps hcl.Traversal) bool {
	for _, step := range steps {
		if attr, ok := step.(hcl.TraverseAttr); ok && attr.Name == "result" {
			return true
		}
	}
	return false
}

// withResults gives the expression with references that know results. refusal says why a result cannot be its value. What it changes it
// copies, since an expression may be evaluated elsewhere at the same time.
func withResults(expr hclsyntax.Expression, refusal string) hclsyntax.Expression {
	if !mentionsResult(expr) {
		return expr
	}
	switch e := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return &resultExpr{Expression: e, steps: e.Traversal, refusal: refusal}
	case *hclsyntax.RelativeTraversalExpr:
		return &resultExpr{Expression: e, source: withResults(e.Source, refusal), steps: e.Traversal, refusal: refusal}
	case *hclsyntax.IndexExpr:
		return &resultExpr{Expression: e, source: withResults(e.Collection, refusal), key: withResults(e.Key, noComputing), refusal: refusal}
	case *hclsyntax.TemplateExpr:
		c := *e
		c.Parts = allWithResults(e.Parts, refusal)
		return &c
	case *hclsyntax.TemplateWrapExpr:
		c := *e
		c.Wrapped = withResults(e.Wrapped, refusal)
		return &c
	case *hclsyntax.TemplateJoinExpr:
		c := *e
		c.Tuple = withResults(e.Tuple, refusal)
		return &c
	case *hclsyntax.ParenthesesExpr:
		c := *e
		c.Expression = withResults(e.Expression, refusal)
		return &c
	case *pass:
		return &pass{&hclsyntax.ParenthesesExpr{Expression: withResults(e.Expression, refusal), SrcRange: e.SrcRange}, e.steps, e.weight, e.keeps}
	case *piece:
		return &piece{&hclsyntax.ParenthesesExpr{Expression: withResults(e.Expression, refusal), SrcRange: e.SrcRange}, e.steps}
	case *hclsyntax.TupleConsExpr:
		c := *e
		c.Exprs = allWithResults(e.Exprs, refusal)
		return &c
	case *hclsyntax.ObjectConsExpr:
		c := *e
		c.Items = slices.Clone(e.Items)
		for i := range c.Items {
			c.Items[i].KeyExpr, c.Items[i].ValueExpr = withResults(c.Items[i].KeyExpr, noKeyOfIt), withResults(c.Items[i].ValueExpr, refusal)
		}
		return &c
	case *hclsyntax.ObjectConsKeyExpr:
		c := *e
		c.Wrapped = withResults(e.Wrapped, refusal)
		return &c
	case *hclsyntax.FunctionCallExpr:
		c := *e
		if refusal == "" && !slices.Contains(resultFunctions, e.Name) {
			refusal = noFunction(e.Name)
		}
		c.Args = allWithResults(e.Args, refusal)
		if e.Name == "try" || e.Name == "can" {
			return &tryExpr{Expression: &c, args: c.Args}
		}
		return &c
	default:
		return decidingResults(expr, refusal)
	}
}

// decidingResults is withResults for expressions that decide or compute something.
func decidingResults(expr hclsyntax.Expression, refusal string) hclsyntax.Expression {
	other := func(e hclsyntax.Expression, inside string) hclsyntax.Expression {
		if e == nil {
			return nil
		}
		if refusal != "" {
			inside = refusal
		}
		return withResults(e, inside)
	}
	switch e := expr.(type) {
	case *hclsyntax.ConditionalExpr:
		c := *e
		c.Condition, c.TrueResult, c.FalseResult = other(e.Condition, noComputing), other(e.TrueResult, ""), other(e.FalseResult, "")
		return &c
	case *hclsyntax.BinaryOpExpr:
		c := *e
		c.LHS, c.RHS = other(e.LHS, noComputing), other(e.RHS, noComputing)
		return &c
	case *hclsyntax.UnaryOpExpr:
		c := *e
		c.Val = other(e.Val, noComputing)
		return &c
	case *hclsyntax.ForExpr:
		c := *e
		c.CollExpr, c.KeyExpr, c.ValExpr, c.CondExpr = other(e.CollExpr, noElements), other(e.KeyExpr, noKeyOfIt), other(e.ValExpr, ""), other(e.CondExpr, noComputing)
		return &c
	case *hclsyntax.SplatExpr:
		c := *e
		c.Source, c.Each = other(e.Source, noElements), other(e.Each, "")
		return &c
	}
	return expr
}

func allWithResults(list []hclsyntax.Expression, refusal string) []hclsyntax.Expression {
	out := make([]hclsyntax.Expression, len(list))
	for i, e := range list {
		out[i] = withResults(e, refusal)
	}
	return out
}

// nativeExpr makes of an expression of the JSON syntax one of the native syntax that means the same.
func nativeExpr(expr hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	at := expr.Range()
	if list, diags := hcl.ExprList(expr); !diags.HasErrors() {
		tuple := &hclsyntax.TupleConsExpr{SrcRange: at, OpenRange: at}
		for _, elem := range list {
			e, diags := nativeExpr(elem)
			if diags.HasErrors() {
				return nil, diags
			}
			tuple.Exprs = append(tuple.Exprs, e)
		}
		return tuple, nil
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		object := &hclsyntax.ObjectConsExpr{SrcRange: at, OpenRange: at}
		for _, pair := range pairs {
			key, diags := nativeExpr(pair.Key)
			if diags.HasErrors() {
				return nil, diags
			}
			value, diags := nativeExpr(pair.Value)
			if diags.HasErrors() {
				return nil, diags
			}
			object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: &hclsyntax.ObjectConsKeyExpr{Wrapped: key, ForceNonLiteral: true}, ValueExpr: value})
		}
		return object, nil
	}
	if text, ok := literalString(expr); ok {
		start := at.Start
		start.Byte++
		start.Column++
		return hclsyntax.ParseTemplate([]byte(text), at.Filename, start)
	}
	val, diags := expr.Value(nil)
	return &hclsyntax.LiteralValueExpr{Val: val, SrcRange: at}, diags
}
