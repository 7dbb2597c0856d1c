package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// disk reads files for expressions and inputs, each at most once in a load: paths are relative to the workflow's
// directory, wherever the process runs.
type disk struct {
	dir string

	mu    sync.Mutex
	sums  map[string]func() ([32]byte, error)
	texts map[string]func() ([]byte, error)
	found map[string]bool // by path: it is a regular file
}

func newDisk(dir string) *disk {
	return &disk{dir: dir, sums: map[string]func() ([32]byte, error){}, texts: map[string]func() ([]byte, error){}, found: map[string]bool{}}
}

// path finds a file that an expression names.
func (d *disk) path(name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(d.dir, name)
}

// explain words an error with the path as the file has it, and not as this checkout does.
func (d *disk) explain(err error) string {
	text := pathError(err)
	if d.dir == "." || d.dir == "" {
		return text
	}
	return strings.Replace(text, filepath.Clean(d.dir)+string(filepath.Separator), "", 1)
}

func (d *disk) isFile(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	is, known := d.found[name]
	if !known {
		info, err := os.Stat(d.path(name))
		is = err == nil && info.Mode().IsRegular()
		d.found[name] = is
	}
	return is
}

// sum is the SHA-256 of a file's content.
func (d *disk) sum(name string) ([32]byte, error) {
	path := d.path(name)
	d.mu.Lock()
	once := d.sums[path]
	if once == nil {
		once = sync.OnceValues(func() ([32]byte, error) { return hashFile(path, name) })
		d.sums[path] = once
	}
	d.mu.Unlock()
	return once()
}

// hashFile hashes the file at path, which the workflow calls name.
func hashFile(path, name string) (sum [32]byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return sum, err
	}
	if !info.Mode().IsRegular() {
		hint := ""
		if info.IsDir() {
			hint = "; name the files in it, for example with fileset()"
		}
		return sum, fmt.Errorf("%s is %s and not a regular file%s", name, fileKind(info.Mode()), hint)
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}

// text is a file's content, bounded as source files are.
func (d *disk) text(name string) ([]byte, error) {
	path := d.path(name)
	d.mu.Lock()
	once := d.texts[path]
	if once == nil {
		once = sync.OnceValues(func() ([]byte, error) {
			data, err := readBounded(path, maxFile)
			var large *tooLargeError
			if errors.As(err, &large) {
				return nil, fmt.Errorf("%s has %d MiB, at most %d MiB are read", path, large.size>>20, large.limit>>20)
			}
			return data, err
		})
		d.texts[path] = once
	}
	d.mu.Unlock()
	return once()
}
