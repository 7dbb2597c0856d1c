package gitsource

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// The bounds of a checkout: a configuration with all that lies beside it in its repository.
const (
	maxBytes = 1 << 30
	maxFiles = 200_000
)

// checkout writes the files of a commit into a directory that does not exist yet, as a whole or not at all. It refuses what would lead
// out of it, and lists the submodules, which are left out.
func checkout(commit *object.Commit, dir string) (submodules []string, err error) {
	making := dir + ".new"
	if err := os.RemoveAll(making); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(making, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(making) //nolint:errcheck // the next checkout tries again
	root, err := os.OpenRoot(making)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is written by it
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	w := writer{root: root}
	walk := object.NewTreeWalker(tree, true, nil)
	defer walk.Close()
	for {
		name, entry, err := walk.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = w.write(commit, name, entry)
		}
		if err != nil {
			return nil, fmt.Errorf("commit %s cannot be checked out: %w", commit.Hash.String()[:10], err)
		}
	}
	for _, name := range w.links {
		if _, err := root.Stat(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("commit %s is refused: the symbolic link %s leads out of the repository, or in a circle (%w)", commit.Hash.String()[:10], name, inner(err))
		}
	}
	return w.submodules, os.Rename(making, dir)
}

// inner is an error without the path that it is about.
func inner(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// writer writes the entries of a tree.
type writer struct {
	root       *os.Root
	bytes      int64
	files      int
	links      []string
	submodules []string
}

func (w *writer) write(commit *object.Commit, name string, entry object.TreeEntry) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") || strings.EqualFold(path.Base(name), ".git") {
		return fmt.Errorf("%q is no name of a file", name)
	}
	if w.files++; w.files > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	local := filepath.FromSlash(name)
	switch entry.Mode {
	case filemode.Dir:
		return w.root.Mkdir(local, 0o700)
	case filemode.Submodule:
		w.submodules = append(w.submodules, name)
		return w.root.Mkdir(local, 0o700)
	}
	file, err := commit.File(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if w.bytes += file.Size; w.bytes > maxBytes {
		return fmt.Errorf("its files have more than %d MiB", maxBytes>>20)
	}
	if entry.Mode == filemode.Symlink {
		to, err := file.Contents()
		if err != nil {
			return err
		}
		w.links = append(w.links, name)
		return w.root.Symlink(filepath.FromSlash(to), local)
	}
	from, err := file.Reader()
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer from.Close() //nolint:errcheck // only read
	mode := fs.FileMode(0o600)
	if entry.Mode == filemode.Executable {
		mode = 0o700
	}
	to, err := w.root.OpenFile(local, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
