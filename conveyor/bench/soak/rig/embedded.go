package rig

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Embedded is the directory of an embedded store, which one of the processes that use it hosts.
type Embedded struct {
	Dir  string
	tail *tail
}

// NewEmbedded prepares a directory; the first process that opens it makes the store.
func NewEmbedded(dir string) *Embedded {
	e := &Embedded{Dir: dir}
	e.tail = follow(func() string { return filepath.Join(dir, "journal") })
	return e
}

// Close ends the watch over the journal.
func (e *Embedded) Close() { e.tail.close() }

// Host is the process that hosts the store, or did so last; 0 when none ever did. The store's lock file names it.
func (e *Embedded) Host() int {
	text, err := os.ReadFile(filepath.Join(e.Dir, "lock"))
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(string(line))
	if err != nil {
		return 0
	}
	return pid
}

// PowerCut takes from the journal what came in the last second. All processes have to be gone. It tells since when everything is lost.
func (e *Embedded) PowerCut() (time.Time, error) { return e.tail.cut(time.Second) }
