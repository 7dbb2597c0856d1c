package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/conveyor"
)

// A process reads and writes what is carried from one execution to the next in the file that WAYBILL_SYNC names, as lines of
// key=value. What it leaves there is what the next execution gets, if this one succeeds: a key that is not there any more is gone,
// and a file that is not touched, or is removed, changes nothing. What lines cannot hold, such as a value with a line break, is
// given as one JSON object of strings; either form may be written. WAYBILL_DEFER names a file too: a duration written there
// ("30s", "0" for at once) has the job come back after that instead of being done.

// maxSyncFile is far more than the largest state takes in either form.
const maxSyncFile = 1 << 20

// writeSync gives a process the present state. Without any there is no file.
func writeSync(name string, state map[string]string) error {
	if len(state) == 0 {
		return nil
	}
	data, err := encodeSync(state)
	if err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	return err
}

func encodeSync(state map[string]string) ([]byte, error) {
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(state)) {
		value := state[key]
		if key != strings.TrimSpace(key) || strings.ContainsAny(key, "=\r\n{[") || strings.ContainsAny(value, "\r\n") {
			return json.Marshal(state)
		}
		fmt.Fprintf(&b, "%s=%s\n", key, value)
	}
	return b.Bytes(), nil
}

// storeSync makes what the process left in the file the state of the next execution.
func storeSync(name string, a attempt) error {
	data, err := readSmall(name, maxSyncFile)
	if err != nil {
		return fmt.Errorf("WAYBILL_SYNC: %w", err)
	}
	if data == nil {
		return nil
	}
	state, err := parseSync(data)
	if err != nil {
		return fmt.Errorf("WAYBILL_SYNC: %w", err)
	}
	if maps.Equal(state, a.Sync()) {
		return nil
	}
	return a.SetSync(state)
}

// parseSync reads lines of key=value, or a JSON object of strings, numbers and booleans.
func parseSync(data []byte) (map[string]string, error) {
	state := map[string]string{}
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		if !utf8.Valid(data) {
			return nil, errors.New("it is not UTF-8 text")
		}
		return state, parseLines(data, state)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, fmt.Errorf("it starts like JSON and is not: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	for key, value := range object {
		switch value := value.(type) {
		case string:
			state[key] = value
		case json.Number:
			state[key] = value.String()
		case bool:
			state[key] = fmt.Sprint(value)
		default:
			return nil, fmt.Errorf("the value of %q is no string, number or boolean: write it as text", key)
		}
	}
	return state, nil
}

// storeDefer has the job come back when the process asked for it.
func storeDefer(name string, a attempt) error {
	data, err := readSmall(name, 1<<10)
	if err != nil {
		return fmt.Errorf("WAYBILL_DEFER: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("WAYBILL_DEFER: %q is not a duration such as 30s or 5m, or 0 for at once", text)
	}
	a.Defer(d)
	return nil
}

// readSmall reads a file that a process may have written; nil when there is none.
func readSmall(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, reason(err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, reason(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it is over %d bytes: %w", limit, conveyor.ErrTooLarge)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}
