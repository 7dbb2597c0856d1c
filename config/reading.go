package config

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Reading is a value out of another job's result, or a secret of the worker, which stands in a payload as text that survives jsonencode.
// The worker puts the value there before the job starts.
type Reading struct {
	Address string // of the job whose result it is; "" for a secret
	Secret  string // its name, as conveyor has it: env:DB_PASSWORD, file:/run/secrets/db; "" for a result
	Path    []any  // what follows job.x.result: keys as strings, indexes as ints; nil is the whole result
	// Form is how the value is written, a letter each: v as JSON, t as text; p and q with percent signs, for the path and the
	// query of a URL; s escaped as the inside of a JSON string, once for each that it is in. v alone stands for a whole JSON
	// string of the payload, quotes included, and keeps its type. conveyor.Reading says the same.
	Form string

	origin string // of one that was just evaluated: its place in the files
}

const readingHead = "@{result:"

// secretMark begins what stands in place of an address, which never begins so, in the reading of a secret.
const secretMark = "!"

// String is the reading as people write it: job.x.result.key, secret_env("DB_PASSWORD").
func (r Reading) String() string {
	if r.Secret != "" {
		return secretCall(r.Secret)
	}
	var b strings.Builder
	b.WriteString(r.Address + ".result")
	for _, step := range r.Path {
		switch step := step.(type) {
		case string:
			if hclsyntax.ValidIdentifier(step) {
				b.WriteString("." + step)
			} else {
				fmt.Fprintf(&b, "[%q]", clip(step))
			}
		default:
			fmt.Fprintf(&b, "[%d]", step)
		}
	}
	return b.String()
}

// Placeholder is what the reading reads as until the job starts.
func (r Reading) Placeholder() string {
	path := r.Path
	if path == nil {
		path = []any{}
	}
	steps, _ := json.Marshal(path) // of strings and ints
	encode := base64.RawURLEncoding.EncodeToString
	source := r.Address
	if r.Secret != "" {
		source = secretMark + r.Secret
	}
	text := readingHead + encode([]byte(source)) + ":" + encode(steps) + ":" + r.Form
	if r.origin != "" {
		text += ":" + encode([]byte(r.origin))
	}
	return text + string(placeholderTail)
}

// parseReading reads what stands between head and tail.
func parseReading(text []byte) (r Reading, ok bool) {
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 && len(parts) != 4 {
		return r, false
	}
	decode := base64.RawURLEncoding.DecodeString
	address, err := decode(parts[0])
	if err != nil || len(address) == 0 {
		return r, false
	}
	steps, err := decode(parts[1])
	if err != nil || json.Unmarshal(steps, &r.Path) != nil {
		return r, false
	}
	for i, step := range r.Path {
		switch step := step.(type) {
		case string:
		case float64:
			r.Path[i] = int(step)
		default:
			return r, false
		}
	}
	if len(r.Path) == 0 {
		r.Path = nil
	}
	r.Address, r.Form = string(address), parts[2]
	if secret, is := strings.CutPrefix(r.Address, secretMark); is {
		r.Address, r.Secret = "", secret
	}
	if strings.Trim(r.Form, "vtpqs") != "" {
		return r, false
	}
	if len(parts) == 4 {
		origin, err := decode(parts[3])
		if err != nil || !strings.HasPrefix(string(origin), originMark()) {
			return r, false
		}
		r.origin = string(origin)
	}
	return r, true
}

// FillReadings replaces each reading in data by what with gives. Text that only looks like one, and one that with gives "" for,
// stays as it is.
func FillReadings(data []byte, with func(Reading) string) []byte {
	return eachReading(data, func(r Reading, _, _ []byte) (string, int) { return with(r), 0 })
}

// eachReading replaces the readings in data. with gets each with what stands before and behind it, and says what comes in its
// place and how many bytes on each side go with it.
func eachReading(data []byte, with func(r Reading, before, behind []byte) (string, int)) []byte {
	var out []byte
	kept, at := 0, 0 // data up to kept is in out; what stands at at is looked at next
	for {
		head := bytes.Index(data[at:], []byte(readingHead))
		if head < 0 {
			break
		}
		start := at + head
		at = start + len(readingHead)
		tail := bytes.IndexByte(data[at:], placeholderTail)
		if tail < 0 {
			break
		}
		end := at + tail + 1
		r, ok := parseReading(data[at : end-1])
		if !ok {
			continue
		}
		value, around := with(r, data[:start], data[end:])
		if value == "" {
			continue
		}
		out = append(append(out, data[kept:start-around]...), value...)
		kept, at = end+around, end+around
	}
	if kept == 0 {
		return data
	}
	return append(out, data[kept:]...)
}

// hasReading tells whether a text reads a result or a secret.
func hasReading(s string) bool { return strings.Contains(s, readingHead) }

// firstReading is the first reading of a text that an expression has made, of a result or of a secret as wanted.
func firstReading(text string, secret bool) (first Reading, found bool) {
	if !hasReading(text) {
		return first, false
	}
	FillReadings([]byte(text), func(r Reading) string {
		if r.origin != "" && (r.Secret != "") == secret && !found {
			first, found = r, true
		}
		return ""
	})
	return first, found
}

// wholeReading is the reading that a text is, when it is one and nothing else.
func wholeReading(s string) (r Reading, ok bool) {
	if !strings.HasPrefix(s, readingHead) || strings.IndexByte(s, placeholderTail) != len(s)-1 {
		return r, false
	}
	return parseReading([]byte(s[len(readingHead) : len(s)-1]))
}

// inString is a reading in a JSON string that it does not fill: written as text unless it has a form, and escaped.
func (r Reading) inString() Reading {
	if r.Form == "" {
		r.Form = "t"
	}
	r.Form += "s"
	return r
}

// fills tells whether what stands before and behind a reading is the quotes of a JSON string that it fills.
func fills(before, behind []byte) bool {
	n := len(before)
	return n > 0 && before[n-1] == '"' && (n == 1 || before[n-2] != '\\') && len(behind) > 0 && behind[0] == '"'
}

// encodedReadings settles the readings in what jsonencode made: those that are whole strings keep the type of their value.
func encodedReadings(text string) string {
	return string(eachReading([]byte(text), func(r Reading, before, behind []byte) (string, int) {
		if r.Form == "" && fills(before, behind) {
			r.Form = "v"
			return r.Placeholder(), 1
		}
		return r.inString().Placeholder(), 0
	}))
}

// mayBeJSON tells whether a text begins as an object or a list.
func mayBeJSON(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\n', '\t', '\r':
		default:
			return s[i] == '{' || s[i] == '['
		}
	}
	return false
}

// readingsInJSON settles the readings in JSON that was written by hand: inside of its strings they are escaped, so that no value
// can end one, and outside of them they are JSON.
func readingsInJSON(text string) string {
	if !json.Valid([]byte(withoutReadings(text))) {
		return text
	}
	return string(eachReading([]byte(text), func(r Reading, before, _ []byte) (string, int) {
		if r.Form != "" || r.origin == "" {
			return "", 0 // of jsonencode
		}
		r.Form = "v"
		if insideString(before) {
			r.Form = "ts"
		}
		return r.Placeholder(), 0
	}))
}

// insideString tells whether a JSON string is open at the end of text.
func insideString(text []byte) (open bool) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			open = !open
		case text[i] == '\\' && open:
			i++
		}
	}
	return open
}

// textReading is a value as text, also where it would keep its type.
func textReading(text string) string {
	if r, ok := wholeReading(text); ok && r.Form == "" {
		r.Form = "t"
		return r.Placeholder()
	}
	return text
}

// originMark begins the origins of this process and is another one in each: nobody can write a value of a variable that is taken for a
// reading. It is in nothing that a load gives back.
var originMark = sync.OnceValue(func() string { return fmt.Sprintf("%016x ", maphash.String(maphash.MakeSeed(), readingHead)) })

// originText keeps a range in a reading until it is in its payload.
func originText(at hcl.Range) string {
	return originMark() + fmt.Sprintf("%d %d %d %d %d %d %s", at.Start.Line, at.Start.Column, at.Start.Byte, at.End.Line, at.End.Column, at.End.Byte, at.Filename)
}

func originRange(text string) (at hcl.Range) {
	text = strings.TrimPrefix(text, originMark())
	_, _ = fmt.Sscanf(text, "%d %d %d %d %d %d", &at.Start.Line, &at.Start.Column, &at.Start.Byte, &at.End.Line, &at.End.Column, &at.End.Byte)
	if parts := strings.SplitN(text, " ", 7); len(parts) == 7 {
		at.Filename = parts[6]
	}
	return at
}
