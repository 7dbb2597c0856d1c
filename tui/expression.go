package tui

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/tui/screen"
)

// FormatExpression writes a value as an expression that has it, the way Terraform's console does. What is sensitive, or not
// known yet, says so instead.
func FormatExpression(val cty.Value) string {
	if ty := val.Type(); ty == cty.String && !val.IsMarked() && val.IsKnown() && !val.IsNull() {
		if text := config.ShowPlaceholders(val.AsString()); strings.Contains(text, "\n") {
			return "<<EOT\n" + screen.CleanText(strings.TrimSuffix(text, "\n")) + "\nEOT"
		}
	}
	var b strings.Builder
	formatExpression(&b, val, "")
	return b.String()
}

func formatExpression(b *strings.Builder, val cty.Value, indent string) {
	if val.IsMarked() {
		b.WriteString("(sensitive value)")
		return
	}
	ty := val.Type()
	switch {
	case !val.IsKnown():
		b.WriteString(config.KnownAfterApply)
	case val.IsNull():
		b.WriteString("null")
	case ty == cty.String:
		text := config.ShowPlaceholders(val.AsString())
		if text == config.KnownAfterApply && text != val.AsString() {
			b.WriteString(text)
			return
		}
		b.WriteString(quoted(text))
	case ty == cty.Number:
		b.WriteString(val.AsBigFloat().Text('f', -1))
	case ty == cty.Bool && val.True():
		b.WriteString("true")
	case ty == cty.Bool:
		b.WriteString("false")
	case ty.IsListType():
		formatSequence(b, val, indent, "tolist([", "])")
	case ty.IsSetType():
		formatSequence(b, val, indent, "toset([", "])")
	case ty.IsTupleType():
		formatSequence(b, val, indent, "[", "]")
	case ty.IsMapType():
		formatMembers(b, val, indent, "tomap({", "})")
	case ty.IsObjectType():
		formatMembers(b, val, indent, "{", "}")
	default:
		b.WriteString(ty.FriendlyName())
	}
}

func formatSequence(b *strings.Builder, val cty.Value, indent, open, end string) {
	b.WriteString(open)
	if val.LengthInt() > 0 {
		b.WriteByte('\n')
		for it := val.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			b.WriteString(indent + "  ")
			formatExpression(b, elem, indent+"  ")
			b.WriteString(",\n")
		}
		b.WriteString(indent)
	}
	b.WriteString(end)
}

func formatMembers(b *strings.Builder, val cty.Value, indent, open, end string) {
	b.WriteString(open)
	if members := val.AsValueMap(); len(members) > 0 {
		names := make([]string, 0, len(members))
		for name := range members {
			names = append(names, name)
		}
		slices.Sort(names)
		b.WriteByte('\n')
		for _, name := range names {
			b.WriteString(indent + "  " + quoted(name) + " = ")
			formatExpression(b, members[name], indent+"  ")
			b.WriteByte('\n')
		}
		b.WriteString(indent)
	}
	b.WriteString(end)
}
