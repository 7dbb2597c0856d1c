package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
)

// disk reads files for expressions and inputs, each at most once in a load: paths are relative to the workflow's
// directory, wherever the process runs.
type disk struct {
	dir     string
	library *library

	mu    sync.Mutex
	sums  map[string]func() ([32]byte, error)
	texts map[string]func() ([]byte, error)
	found map[string]bool // by path: it is a regular file
	roots map[string]bool // by path: directories whose files were listed, and files that were asked for
}

func newDisk(dir string, l *library) *disk {
	return &disk{dir: dir, library: l, sums: map[string]func() ([32]byte, error){}, texts: map[string]func() ([]byte, error){}, found: map[string]bool{},
		roots: map[string]bool{}}
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
		info, err := d.library.stat(d.path(name))
		is = err == nil && info.Mode().IsRegular()
		if is {
			d.library.keepName(d.path(name), false)
		}
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
		once = sync.OnceValues(func() ([32]byte, error) { return d.library.hashFile(path, name) })
		d.sums[path] = once
	}
	d.mu.Unlock()
	return once()
}

// HashFile is the SHA-256 of a file's content, as inputs have it.
func HashFile(name string) ([32]byte, error) { return newLibrary(nil).hashFile(name, name) }

// hashFile hashes the file at path, which the workflow calls name.
func (l *library) hashFile(path, name string) (sum [32]byte, err error) {
	info, err := l.stat(path)
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
	if l.from != nil {
		if sum, ok := l.from.sum(l.place(path)); ok {
			l.keepSum(path, sum)
			return sum, nil
		}
	}
	f, err := l.open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	sum = [32]byte(h.Sum(nil))
	l.keepSum(path, sum)
	return sum, nil
}

// text is a file's content, bounded as source files are.
func (d *disk) text(name string) ([]byte, error) {
	path := d.path(name)
	d.mu.Lock()
	once := d.texts[path]
	if once == nil {
		once = sync.OnceValues(func() ([]byte, error) {
			data, err := d.library.readBounded(path, maxFile)
			if err == nil {
				d.library.keep(path, data)
			}
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

// list takes note of a path that an expression asks for without reading it.
func (d *disk) list(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roots[path] = true
}

// looked are the paths of all that was looked at, in no order.
func (d *disk) looked() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.sums {
		names = append(names, name)
	}
	for name := range d.texts {
		names = append(names, name)
	}
	for name := range d.found {
		names = append(names, d.path(name))
	}
	for name := range d.roots {
		names = append(names, name)
	}
	return names
}
