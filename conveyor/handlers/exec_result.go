package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/conveyor"
)

// storeResult makes what the process wrote to WAYBILL_OUTPUT the job's result. Nothing written is no result.
func storeResult(name string, a attempt) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read WAYBILL_OUTPUT: %w", reason(err))
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, conveyor.MaxResult+1))
	if err != nil {
		return fmt.Errorf("read WAYBILL_OUTPUT: %w", reason(err))
	}
	if len(data) > conveyor.MaxResult {
		return fmt.Errorf("WAYBILL_OUTPUT is over the limit of %d bytes: write large data elsewhere and its place here", conveyor.MaxResult)
	}
	result, err := parseResult(data)
	if err != nil {
		return fmt.Errorf("WAYBILL_OUTPUT: %w", err)
	}
	if result == nil {
		return nil
	}
	return a.SetResult(result)
}

// parseResult turns JSON, or lines of key=value, into compact JSON. The lines make an object of strings; of a key that
// comes twice the last value counts; empty lines do not.
func parseResult(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8 text")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err == nil {
		return compact.Bytes(), nil
	} else if data := bytes.TrimSpace(data); data[0] == '{' || data[0] == '[' {
		return nil, fmt.Errorf("it starts like JSON and is not: %w", err)
	}
	values := map[string]string{}
	if err := parseLines(data, values); err != nil {
		return nil, fmt.Errorf("%w, and the whole is no JSON", err)
	}
	return json.Marshal(values)
}

// parseLines reads key=value lines.
func parseLines(data []byte, values map[string]string) error {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return fmt.Errorf("line %d is neither empty nor key=value", n)
		}
		values[key] = value
	}
	return nil
}
