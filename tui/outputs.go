package tui

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// FormatDocument is FormatValue for the job of a record, in which references to other jobs are written as in the files, and addresses
// without quotes where only addresses stand.
func FormatDocument(value string) string {
	return format(value, func(at, s string) string {
		if addr, err := config.ParseAddr(s); err == nil && slices.Contains(addressesAt, at) {
			return screen.Clean(addr.String())
		}
		return quotedReferences(s)
	})
}

// addressesAt are the places in the job of a record where addresses of other jobs stand.
var addressesAt = []string{"parent.job", "predecessor.job", "predecessor.jobs", "lifecycle.replace_triggered_by"}

// FormatValue writes a value given as canonical JSON the way Terraform shows outputs. What is not JSON is quoted.
func FormatValue(value string) string {
	return format(value, func(_, s string) string { return quoted(s) })
}

// format writes a value. Quote writes a text, of which it is told where it stands: the keys above it with dots between them.
func format(value string, quote func(at, s string) string) string {
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return strconv.Quote(value)
	}
	var b strings.Builder
	formatValue(&b, v, "", "", quote)
	return b.String()
}

func formatValue(b *strings.Builder, v any, indent, at string, quote func(at, s string) string) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(quote(strings.TrimPrefix(at, "."), v))
	case []any:
		if len(v) == 0 {
			b.WriteString("[]")
			return
		}
		b.WriteString("[\n")
		for _, item := range v {
			b.WriteString(indent + "  ")
			formatValue(b, item, indent+"  ", at, quote)
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
			formatValue(b, v[key], indent+"  ", at+"."+key, quote)
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

// quotedReferences quotes a text, and leaves what refers to other jobs: alone without quotes, within text as a template.
func quotedReferences(s string) string {
	if planner.IsReference(s) {
		return screen.Clean(s[2 : len(s)-1])
	}
	var b strings.Builder
	b.WriteByte('"')
	for {
		from, to := reference(s)
		text := quoted(s[:from])
		b.WriteString(text[1 : len(text)-1])
		if from == to {
			break
		}
		b.WriteString(screen.Clean(s[from:to]))
		s = s[to:]
	}
	b.WriteByte('"')
	return b.String()
}

// reference finds the first reference in a text: its end twice where there is none.
func reference(s string) (from, to int) {
	for from = 0; ; from += 2 {
		i := strings.Index(s[from:], "${")
		if i < 0 {
			return len(s), len(s)
		}
		from += i
		// A key in quotes may hold a brace.
		for to, tries := from, 0; tries < 3; tries++ {
			j := strings.IndexByte(s[to:], '}')
			if j < 0 {
				break
			}
			if to += j + 1; planner.IsReference(s[from:to]) {
				return from, to
			}
		}
	}
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
