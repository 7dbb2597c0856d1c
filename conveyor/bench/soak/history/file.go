package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Writer appends to the history of one process. It is safe for any number of goroutines.
type Writer struct {
	who string

	mu   sync.Mutex
	file *os.File
}

// Create begins the history of a process in a directory of histories.
func Create(dir, who string) (*Writer, error) {
	f, err := os.OpenFile(filepath.Join(dir, who+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin a history: %w", err)
	}
	return &Writer{who: who, file: f}, nil
}

// Add writes a record and returns once the disk has it. It fills in At, if that is 0, and Who.
func (w *Writer) Add(r Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Who = w.who
	if r.At == 0 {
		r.At = time.Now().UnixNano()
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("history of %s: %w", w.who, err)
	}
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("history of %s: %w", w.who, err)
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("history of %s: %w", w.who, err)
	}
	return nil
}

// Close ends the history.
func (w *Writer) Close() error { return w.file.Close() }

// Read reads the histories of a directory whose processes' names begin so, in the order of time. A last line without its end is of a process that was killed while it
// wrote, and did not act on it.
func Read(dir, begins string) ([]Record, error) {
	names, err := filepath.Glob(filepath.Join(dir, begins+"*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []Record
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read a history: %w", err)
		}
		for n, line := range bytes.Split(text, []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			var r Record
			if err := json.Unmarshal(line, &r); err != nil {
				if bytes.HasSuffix(text, line) {
					break
				}
				return nil, fmt.Errorf("read a history: %s:%d: %w", name, n+1, err)
			}
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b Record) int { return int(a.At - b.At) })
	return all, nil
}
