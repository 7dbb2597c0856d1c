// Package schematest holds lines of JSON against a JSON Schema, for tests.
package schematest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile reads a schema of draft 2020-12. Formats such as date-time are checked too.
func Compile(schema string) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

// Check holds one line against a schema.
func Check(s *jsonschema.Schema, line []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, line)
	}
	return nil
}

// Writer passes on what is written and holds each whole line that begins as Prefix against the schema.
type Writer struct {
	Out    io.Writer
	Schema *jsonschema.Schema
	Prefix string
	Fail   func(error) // told of each line that does not fit

	mu   sync.Mutex
	rest []byte
}

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return w.Out.Write(p)
		}
		if line := w.rest[:end]; bytes.HasPrefix(line, []byte(w.Prefix)) {
			if err := Check(w.Schema, line); err != nil {
				w.Fail(err)
			}
		}
		w.rest = w.rest[end+1:]
	}
}
