package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/config"
)

// unknown is a value known after apply, sensitive one that is never shown; equal texts are equal values.
type (
	unknown   struct{}
	sensitive struct{ text string }
)

// shownSensitive stands in a shown payload for what is not shown.
const shownSensitive = "(sensitive value)"

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// address is the address of another job in an edge, which people write without quotes.
type address string

// The words for what nobody knows when a plan is made.
const (
	knownAfterApply = config.KnownAfterApply
	knownAfterRun   = "(known after run)"
)

// value writes a whole value from where the line stands; lines below carry sign. With a plus it is one that is to be, and says what
// of it is not known yet; else it is recorded, and shows what it refers to.
func (c *canvas) value(indent int, sign mark, v any) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			c.raw("[]")
			return
		}
		c.raw("[\n")
		for _, element := range v {
			c.start(indent+4, sign)
			c.value(indent+4, sign, element)
			c.raw(",\n")
		}
		c.raw(strings.Repeat(" ", indent) + "]")
	case map[string]any:
		if len(v) == 0 {
			c.raw("{}")
			return
		}
		c.raw("{\n")
		pad := 0
		for key := range v {
			pad = max(pad, utf8.RuneCountInString(quotedKey(key)))
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.name(indent+4, sign, key, pad)
			c.value(indent+4, sign, v[key])
			c.raw("\n")
		}
		c.raw(strings.Repeat(" ", indent) + "}")
	case string:
		if !printsInLines(v) {
			c.raw(signed(sign, v))
			return
		}
		c.raw("<<-EOT\n")
		for line := range strings.SplitSeq(strings.TrimSuffix(v, "\n"), "\n") {
			c.start(indent+4, sign)
			c.raw(line + "\n")
		}
		c.raw(strings.Repeat(" ", indent) + "EOT")
		if sign == "+" {
			c.raw(unknownIn(v))
		}
	default:
		c.raw(signed(sign, v))
	}
}

func signed(sign mark, v any) string {
	if sign == "+" {
		return scalar(v)
	}
	return recorded(v)
}

// recorded writes a value that has no parts as a record has it: references are what stands there.
func recorded(v any) string {
	if hidden, is := v.(veiled); is {
		v = hidden.text
	}
	if text, ok := v.(string); ok && text != shownSensitive {
		return template(text)
	}
	return scalar(v)
}

// scalar writes a value that has no parts.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == shownSensitive {
			return v
		}
		switch {
		case isSecret(v):
			return template(v)
		case isResult(v):
			return knownAfterRun
		case IsReference(v):
			return knownAfterApply
		}
		return template(v) + unknownIn(v)
	case veiled:
		return scalar(v.text)
	case address:
		return string(v)
	case unknown:
		return knownAfterApply
	case sensitive:
		return shownSensitive
	default:
		return fmt.Sprint(v)
	}
}

// inline writes any value on one line, its parts as write does.
func inline(v any, write func(any) string) string {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = inline(v[i], write)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quotedKey(key)+" = "+inline(v[key], write))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		return write(v)
	}
}
