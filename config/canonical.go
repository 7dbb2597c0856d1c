package config

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
)

// redacted stands where people would see a sensitive value.
const redacted = `"(sensitive value)"`

// document writes canonical JSON: keys sorted, no space, nothing escaped that need not be. It writes twice at once,
// as the worker gets it and as people see it; the two differ from the first sensitive value on.
type document struct {
	real      []byte
	shown     []byte // when sensitive
	sensitive bool
	encoded   bool // shown is set, since real is no JSON any more
	first     bool // no member or element has been written yet
	unknown   bool // a value is not known, which was reported where it comes from

	hidden []string // the texts that people do not see
}

func (d *document) raw(s string) {
	d.real = append(d.real, s...)
	if d.sensitive {
		d.shown = append(d.shown, s...)
	}
}

func (d *document) open(c string)  { d.raw(c); d.first = true }
func (d *document) close(c string) { d.raw(c); d.first = false }

func (d *document) comma() {
	if !d.first {
		d.raw(",")
	}
	d.first = false
}

// member begins a member of an object. The caller writes keys in sorted order.
func (d *document) member(key string) {
	d.comma()
	start := len(d.real)
	d.real = append(appendString(d.real, key), ':')
	if d.sensitive {
		d.shown = append(d.shown, d.real[start:]...)
	}
}

// text writes a string, which people do not see if it is secret.
func (d *document) text(s string, secret bool) {
	if mayBeJSON(s) && hasReading(s) {
		s = readingsInJSON(s)
	}
	d.hide(secret, func() { d.real = appendString(d.real, s) })
	if secret {
		d.hidden = append(d.hidden, s)
	}
}

// hide runs write, which appends to real, and shows what it wrote unless it is secret.
func (d *document) hide(secret bool, write func()) {
	if secret && !d.sensitive {
		d.sensitive, d.shown = true, slices.Clone(d.real)
	}
	start := len(d.real)
	write()
	switch {
	case secret:
		d.shown = append(d.shown, redacted...)
	case d.sensitive:
		d.shown = append(d.shown, d.real[start:]...)
	}
}

// value writes any value. An error names what JSON cannot hold.
func (d *document) value(v cty.Value) error {
	if v.IsMarked() {
		plain, _ := v.UnmarkDeep()
		var inner document
		if err := inner.value(plain); err != nil {
			return err
		}
		d.unknown = d.unknown || inner.unknown
		d.hide(true, func() { d.real = append(d.real, inner.real...) })
		d.hidden = append(d.hidden, textsIn(plain)...)
		return nil
	}
	switch ty := v.Type(); {
	case !v.IsKnown():
		d.unknown = true
		d.raw("null")
	case v.IsNull():
		d.raw("null")
	case ty == cty.String:
		d.text(v.AsString(), false)
	case ty == cty.Bool:
		d.raw(strconv.FormatBool(v.True()))
	case ty == cty.Number:
		text, err := numberText(v.AsBigFloat())
		if err != nil {
			return err
		}
		d.raw(text)
	case ty.IsMapType() || ty.IsObjectType():
		return d.object(v)
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		d.open("[")
		for it := v.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			d.comma()
			if err := d.value(elem); err != nil {
				return err
			}
		}
		d.close("]")
	default:
		return fmt.Errorf("%s cannot be written as JSON", ty.FriendlyName())
	}
	return nil
}

func (d *document) object(v cty.Value) error {
	vals := v.AsValueMap()
	d.open("{")
	for _, key := range slices.Sorted(maps.Keys(vals)) {
		d.member(key)
		if err := d.value(vals[key]); err != nil {
			return err
		}
	}
	d.close("}")
	return nil
}

// numberText writes a number without an exponent, as long as that stays short.
func numberText(f *big.Float) (string, error) {
	if n, accuracy := f.Int64(); accuracy == big.Exact {
		return strconv.FormatInt(n, 10), nil
	}
	if f.IsInf() {
		return "", fmt.Errorf("an infinite number cannot be written as JSON")
	}
	if exp := f.MantExp(nil); exp > 10_000 || exp < -10_000 {
		return f.Text('g', -1), nil
	}
	return f.Text('f', -1), nil
}

// appendString writes a JSON string as encoding/json does without its escapes for HTML.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case r == '\u2028' || r == '\u2029':
			b = append(b, '\\', 'u', '2', '0', '2', hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// encode gives the worker bytes in place of the JSON, which people go on to see.
func (d *document) encode(data []byte) {
	if !d.sensitive {
		d.shown = d.real
	}
	d.real, d.encoded = data, true
}

// finish gives the two texts, which are one slice when nothing is sensitive or encoded.
func (d *document) finish() (real, shown []byte) {
	real = slices.Clip(d.real)
	if !d.sensitive && !d.encoded {
		return real, real
	}
	return real, slices.Clip(d.shown)
}
