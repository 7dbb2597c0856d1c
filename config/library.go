package config

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// library is where a load reads files: the disk, or the archive of an earlier load. It takes note of what is read, for the archive of
// this one. Names are paths as the operating system takes them.
type library struct {
	from *Archive // nil: the disk
	dir  string   // the workflow's; set when it is found

	mu    sync.Mutex
	texts map[string][]byte   // by path: what was read whole
	sums  map[string][32]byte // what was only hashed
	seen  map[string]bool     // what was only found to be there; whether it is a directory
}

func newLibrary(from *Archive) *library {
	return &library{from: from, texts: map[string][]byte{}, sums: map[string][32]byte{}, seen: map[string]bool{}}
}

// place is where the archive has a path.
func (l *library) place(name string) string {
	if rel, err := filepath.Rel(l.dir, name); err == nil && filepath.IsAbs(l.dir) == filepath.IsAbs(name) {
		if in := path.Join(l.from.manifest.Root, filepath.ToSlash(rel)); in != ".." && !strings.HasPrefix(in, "../") {
			return path.Join(archivedBelow, in)
		}
	}
	return path.Join(archivedElsewhere, strings.TrimPrefix(filepath.ToSlash(filepath.Clean(name)), "/"))
}

func (l *library) stat(name string) (fs.FileInfo, error) {
	if l.from == nil {
		return os.Stat(name)
	}
	info, err := fs.Stat(l.from.files, l.place(name))
	return info, named(err, name)
}

func (l *library) open(name string) (fs.File, error) {
	if l.from == nil {
		return os.Open(name)
	}
	f, err := l.from.files.Open(l.place(name))
	return f, named(err, name)
}

func (l *library) list(name string) ([]fs.DirEntry, error) {
	if l.from == nil {
		return os.ReadDir(name)
	}
	entries, err := fs.ReadDir(l.from.files, l.place(name))
	return entries, named(err, name)
}

// below is the tree of a directory.
func (l *library) below(name string) fs.FS {
	if l.from == nil {
		return os.DirFS(name)
	}
	tree, err := fs.Sub(l.from.files, l.place(name))
	if err != nil {
		return os.DirFS(name) // never: places are valid
	}
	return tree
}

// real is the path without symbolic links.
func (l *library) real(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil || l.from != nil {
		return abs, err
	}
	return filepath.EvalSymlinks(abs)
}

// named says the path that was asked for in place of the one in the archive.
func named(err error, name string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return &fs.PathError{Op: pe.Op, Path: name, Err: pe.Err}
	}
	return err
}

func (l *library) keep(name string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.texts[name] = text
}

func (l *library) keepSum(name string, sum [32]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sums[name] = sum
}

func (l *library) keepName(name string, directory bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[name] = directory
}
