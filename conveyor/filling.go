package conveyor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// tree is the result of one job, taken apart only where something is read. It keeps what it took apart, so that many readings of
// one large result cost one pass over it for each object and list on their ways.
type tree struct {
	raw    json.RawMessage
	object map[string]json.RawMessage
	list   []json.RawMessage
	parts  map[any]*tree
}

// newTree takes a result that is JSON in UTF-8; anything else a handler may have stored cannot be read by others.
func newTree(result []byte) (*tree, bool) {
	if !json.Valid(result) || !utf8.Valid(result) {
		return nil, false
	}
	return &tree{raw: bytes.TrimSpace(result)}, true
}

// textTree is the tree of a text.
func textTree(text string) *tree {
	return &tree{raw: slices.Concat([]byte{'"'}, insideString([]byte(text), "s"), []byte{'"'})}
}

// kind names what a value is.
func (t *tree) kind() string {
	switch c := t.raw[0]; {
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '"':
		return "a string"
	case c == 't' || c == 'f':
		return "true or false"
	case c == 'n':
		return "null"
	default:
		return "a number"
	}
}

// at follows one step. The error says what is there instead.
func (t *tree) at(step any) (*tree, error) {
	if part := t.parts[step]; part != nil {
		return part, nil
	}
	var raw json.RawMessage
	switch step := step.(type) {
	case string:
		if t.raw[0] != '{' {
			return nil, fmt.Errorf("it is %s and has no keys", t.kind())
		}
		if t.object == nil {
			if err := json.Unmarshal(t.raw, &t.object); err != nil {
				return nil, err
			}
		}
		found, ok := t.object[step]
		if !ok {
			return nil, fmt.Errorf("it has no key %q, %s", shortKey(step), t.keys())
		}
		raw = found
	case int:
		if t.raw[0] != '[' {
			return nil, fmt.Errorf("it is %s and no list", t.kind())
		}
		if t.list == nil {
			if err := json.Unmarshal(t.raw, &t.list); err != nil {
				return nil, err
			}
		}
		if step >= len(t.list) {
			return nil, fmt.Errorf("it has %d elements, and this would be number %d", len(t.list), step+1)
		}
		raw = t.list[step]
	}
	part := &tree{raw: bytes.TrimSpace(raw)}
	if t.parts == nil {
		t.parts = map[any]*tree{}
	}
	t.parts[step] = part
	return part, nil
}

// keys says which keys there are.
func (t *tree) keys() string {
	if len(t.object) == 0 {
		return "and no other"
	}
	const shown = 20
	var names []string
	for _, key := range slices.Sorted(maps.Keys(t.object)) {
		if len(names) == shown {
			names = append(names, fmt.Sprintf("%d more", len(t.object)-shown))
			break
		}
		names = append(names, fmt.Sprintf("%q", shortKey(key)))
	}
	return "but " + strings.Join(names, ", ")
}

// value finds what a reading reads and writes it in its form.
func (t *tree) value(r *Reading) ([]byte, error) {
	for i, step := range r.Path {
		next, err := t.at(step)
		if err != nil {
			return nil, fmt.Errorf("it reads %s: %s: %w", r.where(), r.expression(i), err)
		}
		t = next
	}
	written, err := t.written(r.Form)
	if err != nil {
		return nil, fmt.Errorf("it reads %s, which %w", r.where(), err)
	}
	return written, nil
}

// written is the value in a form, see Reading.
func (t *tree) written(form string) ([]byte, error) {
	if form[0] == 'v' {
		compact := &bytes.Buffer{}
		if err := json.Compact(compact, t.raw); err != nil {
			return nil, err
		}
		return insideString(compact.Bytes(), form[1:]), nil
	}
	text, err := t.text()
	if err != nil {
		return nil, err
	}
	form = form[1:]
	switch {
	case strings.HasPrefix(form, "p"):
		if text == "." || text == ".." {
			return nil, fmt.Errorf("is %q: in the path of a url that would lead elsewhere", text)
		}
		text, form = url.PathEscape(text), form[1:]
	case strings.HasPrefix(form, "q"):
		text, form = url.QueryEscape(text), form[1:]
	}
	return insideString([]byte(text), form), nil
}

// text is the value where text is wanted. Numbers are as their job wrote them.
func (t *tree) text() (string, error) {
	switch t.raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(t.raw, &text)
		return text, err
	case 'n':
		return "", fmt.Errorf("is null: there is no text for it")
	}
	compact := &bytes.Buffer{}
	err := json.Compact(compact, t.raw)
	return compact.String(), err
}

// insideString writes text as the inside of a JSON string, once for each letter of form. It stops where the whole is too large for
// any payload, since each time may double it.
func insideString(text []byte, form string) []byte {
	for range form {
		if len(text) > MaxPayload {
			break
		}
		b := &bytes.Buffer{}
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		_ = e.Encode(string(text)) // a string is always written
		text = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		text = text[1 : len(text)-1]
	}
	return text
}

// put replaces the readings of a payload by their values.
func put(payload []byte, list []found, values [][]byte) []byte {
	size := len(payload)
	for i := range list {
		size += len(values[i])
	}
	out := make([]byte, 0, size)
	at := 0
	for i, r := range list {
		out = append(append(out, payload[at:r.start]...), values[i]...)
		at = r.end
	}
	return append(out, payload[at:]...)
}
