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

const placesOfResults = "Results and secrets may stand in payload, in command, env and stdin of exec, and in url, headers and body of http."

// noPlace says why something known later cannot stand somewhere. The zero noPlace says that it can.
type noPlace struct {
	result string // of another job
	secret string // of the worker
}

// both is of a place where neither can stand, for the same reason.
func both(why string) noPlace { return noPlace{why, why} }

// refusesResults says why results and secrets cannot stand in an argument.
func (s *scope) refusesResults(a *attribute) noPlace {
	switch {
	case s.body == nil:
		early := upperFirst(s.what) + " is made before any job runs. " + placesOfResults
		if s.what == inputsOfModule {
			return noPlace{
				"Inputs of modules are made before any job runs. Give the module the job instead, such as after = job.NAME, and read its result in there: var.after.result.KEY.",
				"Inputs of modules are made before any job runs. Give the module the name of the secret instead, and call the function in its job.",
			}
		}
		return both(early)
	case slices.Contains(resultPlaces[s.body.name], a.name):
		return noPlace{}
	case s.body.name == "exec" && a.name == "dir":
		return noPlace{
			"It comes from the store, and whoever can write there must not decide which files a command finds. Give it to the command as an argument or in env.",
			"Dir is shown in messages. Give the secret to the command in env.",
		}
	}
	return both(upperFirst(a.name) + " is needed before that. " + placesOfResults)
}

// The reasons why a result or a secret cannot stand inside of some expression.
var (
	noComputing = noPlace{
		"Nothing can be computed or decided from it here: let the job that runs do it, or the job that leaves the result.",
		"Nothing can be computed or decided from it here: let the job that runs do it.",
	}
	noElements = noPlace{
		"Which elements it has is known as late, so they cannot be gone through here. Hand over the whole: job.NAME.result.KEY.",
		"It is a text and has no elements.",
	}
	noKeyOfIt = both("The keys of an object are needed before that; only values may be known later.")
	noName    = both("The name of a secret is needed when the job is planned.")
)

// resultFunctions are those through which results and secrets may go: they neither look into strings nor change them.
var resultFunctions = []string{"concat", "flatten", "join", "jsonencode", "merge", "nonsensitive", "sensitive", "tolist", "tomap", "tostring", "values", "zipmap"}

func noFunction(name string) noPlace {
	if name == "try" || name == "can" {
		late := "Whether it is there shows when the job starts, so " + name + "() cannot tell."
		return noPlace{late + " A value that may be missing is best left as null by the job whose result it is.", late}
	}
	return both("The function " + name + " would see a placeholder in its place. It may go through " + strings.Join(resultFunctions[:len(resultFunctions)-1], ", ") + " and " + resultFunctions[len(resultFunctions)-1] + ".")
}

// findResults makes the references of an expression know results, and its calls secrets, if there may be any.
func (s *scope) findResults(a *attribute) {
	expr, native := a.expr.(hclsyntax.Expression)
	if !native {
		file := s.l.files[a.expr.Range().Filename]
		if file == nil || !mayMentionResult(string(a.expr.Range().SliceBytes(file.Bytes))) {
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

// mayMentionResult is mentionsResult for an expression as it is written.
func mayMentionResult(text string) bool {
	return strings.Contains(text, ".result") || strings.Contains(text, "secret_")
}

// mentionsResult tells whether an expression may refer to a result or a secret. The common expressions are walked without allocations.
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
		return secretSchemes[e.Name] != "" || slices.ContainsFunc(e.Args, mentionsResult)
	}
	found := false
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			found = found || inTraversal(n.Traversal)
		case *hclsyntax.RelativeTraversalExpr:
			found = found || hasResultStep(n.Traversal)
		case *hclsyntax.FunctionCallExpr:
			found = found || secretSchemes[n.Name] != ""
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

// withResults gives the expression with references that know results and calls that know secrets. refusal says why neither can be its value. What it changes it
// copies, since an expression may be evaluated elsewhere at the same time.
func withResults(expr hclsyntax.Expression, refusal noPlace) hclsyntax.Expression {
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
		if secretSchemes[e.Name] != "" {
			return newSecretExpr(e, refusal)
		}
		c := *e
		if refusal == (noPlace{}) && !slices.Contains(resultFunctions, e.Name) {
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
func decidingResults(expr hclsyntax.Expression, refusal noPlace) hclsyntax.Expression {
	other := func(e hclsyntax.Expression, inside noPlace) hclsyntax.Expression {
		if e == nil {
			return nil
		}
		if refusal != (noPlace{}) {
			inside = refusal
		}
		return withResults(e, inside)
	}
	switch e := expr.(type) {
	case *hclsyntax.ConditionalExpr:
		c := *e
		c.Condition, c.TrueResult, c.FalseResult = other(e.Condition, noComputing), other(e.TrueResult, noPlace{}), other(e.FalseResult, noPlace{})
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
		c.CollExpr, c.KeyExpr, c.ValExpr, c.CondExpr = other(e.CollExpr, noElements), other(e.KeyExpr, noKeyOfIt), other(e.ValExpr, noPlace{}), other(e.CondExpr, noComputing)
		return &c
	case *hclsyntax.SplatExpr:
		c := *e
		c.Source, c.Each = other(e.Source, noElements), other(e.Each, noPlace{})
		return &c
	}
	return expr
}

func allWithResults(list []hclsyntax.Expression, refusal noPlace) []hclsyntax.Expression {
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
