package tui

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FormatValue writes a value given as canonical JSON the way Terraform shows outputs. What is not JSON is quoted.
func FormatValue(value string) string {
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return strconv.Quote(value)
	}
	var b strings.Builder
	formatValue(&b, v, "")
	return b.String()
}

func formatValue(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(quoted(v))
	case []any:
		if len(v) == 0 {
			b.WriteString("[]")
			return
		}
		b.WriteString("[\n")
		for _, item := range v {
			b.WriteString(indent + "  ")
			formatValue(b, item, indent+"  ")
			b.WriteString(",\n")
		}
		b.WriteString(indent + "]")
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteString("{\n")
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(indent + "  " + quoted(key) + " = ")
			formatValue(b, v[key], indent+"  ")
			b.WriteString("\n")
		}
		b.WriteString(indent + "}")
	default: // json.Number, bool
		fmt.Fprint(b, v)
	}
}

// quoted quotes as HCL does; Go's escapes are HCL's, except those of bytes and of what HCL would interpolate.
func quoted(s string) string {
	q := strconv.Quote(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(q)
}

// sensitiveOutput begins what the state holds in place of a sensitive output: a JSON string with a hash.
const sensitiveOutput = `"(sensitive value) `

// SensitiveOutput tells whether a stored output stands for a sensitive one, whose value is nowhere in the state.
func SensitiveOutput(value string) bool { return strings.HasPrefix(value, sensitiveOutput) }

// WriteOutputs writes outputs by name, one "name = value" each.
func WriteOutputs(w io.Writer, outputs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		value := "(sensitive value)"
		if !SensitiveOutput(outputs[name]) {
			value = FormatValue(outputs[name])
		}
		if _, err := fmt.Fprintf(w, "%s = %s\n", name, value); err != nil {
			return err
		}
	}
	return nil
}
