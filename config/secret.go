package config

import (
	"errors"
	"path"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The functions that stand for secrets of the worker, and how the names of these begin, see Reading.Secret.
var secretSchemes = map[string]string{"secret_env": "env:", "secret_file": "file:"}

const (
	maxVariable = 255  // bytes of the name of a variable
	maxPath     = 1000 // bytes of the path of a file
)

// secretExpr is a call of secret_env or secret_file. Its value is a reading: what it stands for only the worker knows.
type secretExpr struct {
	*hclsyntax.FunctionCallExpr
	arg     hclsyntax.Expression
	refusal noPlace // why a secret cannot stand here; zero: it can
}

// newSecretExpr is the call itself where it has not one argument: it says so.
func newSecretExpr(call *hclsyntax.FunctionCallExpr, refusal noPlace) hclsyntax.Expression {
	if len(call.Args) != 1 || call.ExpandFinal {
		return call
	}
	return &secretExpr{call, withResults(call.Args[0], noName), refusal}
}

// Value is a placeholder with the name of the secret.
func (e *secretExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if e.refusal != (noPlace{}) {
		return cty.DynamicVal, e.refuse(sumBadSecret, e.Range(), "What %s() stands for only the worker knows that runs the job. %s", e.Name, e.refusal.secret)
	}
	val, diags := e.arg.Value(ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	at := e.arg.Range()
	if containsMarked(val) {
		return cty.DynamicVal, e.refuse(sumSensitive, at, "The name of a secret is shown in plans and stored as it is, so it cannot be made from a sensitive value.")
	}
	if !val.IsKnown() {
		return cty.DynamicVal, diags // what it is made of was reported
	}
	if val.IsNull() || val.Type() != cty.String {
		return cty.DynamicVal, e.refuse(sumBadSecretName, at, "%s() needs the name of a secret as a string, and this is %s.", e.Name, shownIndex(val))
	}
	name := val.AsString()
	if problem := secretProblem(e.Name, name); problem != "" {
		return cty.DynamicVal, e.refuse(sumBadSecretName, at, "%q cannot be a secret: %s", clip(name), problem)
	}
	r := Reading{Secret: secretSchemes[e.Name] + name, origin: originText(e.Range())}
	return cty.StringVal(r.Placeholder()), diags
}

func (e *secretExpr) refuse(sum summary, at hcl.Range, format string, args ...any) hcl.Diagnostics {
	r := &report{}
	r.error(sum, at, format, args...)
	return r.diags
}

// secretProblem says what is wrong with the name of a secret; "" if nothing is.
func secretProblem(function, name string) string {
	if hasPlaceholder(name) || hasReading(name) {
		return "its name is needed when the job is planned, and this is made from what is known later."
	}
	if function == "secret_env" {
		plain := func(r rune) bool {
			return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		}
		switch {
		case name == "" || len(name) > maxVariable || name[0] >= '0' && name[0] <= '9' || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
			return "a variable of the worker's environment has a name of letters, digits and underscores, such as DB_PASSWORD. A file is secret_file(\"/run/secrets/NAME\")."
		case strings.HasPrefix(name, "WAYBILL_"):
			return "variables whose names begin with WAYBILL_ are the worker's own, its keys among them, and no job is given them."
		}
		return ""
	}
	switch {
	case !path.IsAbs(name) || path.Clean(name) != name || name == "/":
		return "a file of the worker's machine has an absolute path without . and .., such as /run/secrets/db. A file of the workflow is read with file()."
	case len(name) > maxPath || strings.ContainsAny(name, `"\{},`) || strings.ContainsFunc(name, unicode.IsControl):
		return "its path has at most 1000 bytes, and no control characters, quotes, backslashes, braces and commas."
	}
	return ""
}

// secretCall is how people write what stands for a secret.
func secretCall(name string) string {
	for function, scheme := range secretSchemes {
		if rest, ok := strings.CutPrefix(name, scheme); ok {
			return function + `("` + rest + `")`
		}
	}
	return name
}

// ParseSecret reads what Reading.String writes for a secret, such as secret_env("DB_PASSWORD"), and gives its name: env:DB_PASSWORD.
func ParseSecret(text string) (name string, ok bool) {
	function, rest, _ := strings.Cut(text, `("`)
	name, closed := strings.CutSuffix(rest, `")`)
	if secretSchemes[function] == "" || !closed || secretProblem(function, name) != "" {
		return "", false
	}
	return secretSchemes[function] + name, true
}

// secretFunc makes the function that is called where no secret can stand: in a text that is evaluated for itself, such as that of templatefile.
func secretFunc(name, param string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: param, Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			return cty.NilVal, errors.New("what " + name + "() stands for only the worker knows that runs the job: give it to the job beside the text, in env, stdin, headers or payload")
		},
	})
}
