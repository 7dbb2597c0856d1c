package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config"
)

// Value is what a reference in the expression of a diagnostic stood for, in the members that Terraform writes.
type Value struct {
	Traversal string `json:"traversal"` // as it is written: "var.day"
	Statement string `json:"statement"` // what follows: `is "monday"`
}

// maxShownValue is how much of a text is shown, in bytes.
const maxShownValue = 200

// Values tells what the references in a diagnostic's expression stood for, each once, sorted. Sensitive values are not told.
func Values(d *hcl.Diagnostic) []Value {
	if d.Expression == nil || d.EvalContext == nil {
		return nil
	}
	var list []Value
	for _, t := range d.Expression.Variables() {
		val, diags := t.TraverseAbs(d.EvalContext)
		if diags.HasErrors() || !val.IsKnown() {
			continue // reported by itself
		}
		v := Value{Traversal: config.Written(t), Statement: statement(val)}
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b Value) int { return strings.Compare(a.Traversal, b.Traversal) })
	return list
}

// statement says what a value is, as the rest of a sentence.
func statement(val cty.Value) string {
	plain, marks := val.UnmarkDeep()
	ty := plain.Type()
	switch {
	case len(marks) > 0:
		return "has a sensitive value"
	case plain.IsNull():
		return "is null"
	case ty == cty.Bool && plain.True():
		return "is true"
	case ty == cty.Bool:
		return "is false"
	case ty == cty.Number:
		return "is " + plain.AsBigFloat().Text('f', -1)
	case ty == cty.String:
		text := plain.AsString()
		switch known := config.ShowPlaceholders(text); {
		case known != text && known == config.KnownAfterApply:
			return "will be known only after apply"
		case len(known) > maxShownValue:
			return fmt.Sprintf("is a text of %d bytes that begins with %q", len(text), strings.ToValidUTF8(known[:maxShownValue], ""))
		default:
			return fmt.Sprintf("is %q", known)
		}
	case ty.IsCapsuleType():
		return "is " + ty.FriendlyName()
	case ty.IsObjectType():
		return fmt.Sprintf("is object with %s", counted(len(ty.AttributeTypes()), "attribute"))
	}
	return fmt.Sprintf("is %s with %s", ty.FriendlyName(), counted(plain.LengthInt(), "element"))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
