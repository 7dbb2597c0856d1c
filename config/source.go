package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"
)

// The bounds of what is read. A file beyond them is refused by its size, without reading it.
const (
	maxFile  = 32 << 20
	maxTotal = 64 << 20
	maxFiles = 10_000
)

// source is one file of the workflow.
type source struct {
	name  string // as in diagnostics: the directory as given and the file's name
	bytes []byte
	json  bool
	items []item // of native syntax
	steps *steps // that its expressions may take; nil for no limit
	rules bool   // it is a policy, and no file of a workflow
}

// grammar is what may stand in the file.
func (s *source) grammar() *kind {
	if s.rules {
		return policySchema()
	}
	return schema()
}

// findSources names the directory of the workflow and its files, in alphabetical order.
func (l *library) findSources(paths []string, r *report) (dir string, names []string) {
	if l.from != nil {
		return l.archived(paths[0])
	}
	if len(paths) == 1 {
		info, err := os.Stat(paths[0])
		if err != nil {
			r.error(sumCannotRead, wholeFile(paths[0]), "%s. Name the directory of a workflow, or its *.hcl files.", upperFirst(pathError(err)))
			return paths[0], nil
		}
		if info.IsDir() {
			return paths[0], l.listDirectory(paths[0], r)
		}
	}
	dir = filepath.Dir(paths[0])
	for _, p := range paths {
		switch info, err := os.Stat(p); {
		case err != nil:
			r.error(sumCannotRead, wholeFile(p), "%s. Name the directory of a workflow, or its *.hcl files.", upperFirst(pathError(err)))
		case info.IsDir():
			r.error(sumSeveralDirectories, wholeFile(p), "A workflow is one directory, or some files of one directory. Name one directory, or only files.")
		case !isConfigName(filepath.Base(p)):
			r.error(sumCannotRead, wholeFile(p), "%q is no saved plan, and files of a workflow are named *.hcl or *.hcl.json. Values of variables are given with -var-file=%s.", p, p)
		case filepath.Dir(p) != dir:
			r.error(sumSeveralDirectories, wholeFile(p), "A workflow is one directory, or some files of one directory, and %s is not in %s like the first file.", p, dir)
		case !slices.Contains(names, p):
			names = append(names, p)
		}
	}
	slices.Sort(names)
	return dir, names
}

// archived names the sources of an archive, as if they were in the directory of a path.
func (l *library) archived(from string) (dir string, names []string) {
	if dir = from; isConfigName(filepath.Base(dir)) {
		dir = filepath.Dir(dir)
	}
	for _, name := range l.from.manifest.Sources {
		names = append(names, filepath.Join(dir, filepath.Base(name)))
	}
	return dir, names
}

func (l *library) listDirectory(dir string, r *report) []string {
	entries, err := l.list(dir)
	if err != nil {
		r.error(sumCannotRead, wholeFile(dir), "%s.", upperFirst(pathError(err)))
		return nil
	}
	var names []string
	hint := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case isConfigName(name) && !e.IsDir():
			names = append(names, filepath.Join(dir, name))
		case strings.HasSuffix(name, ".tf"):
			hint = " (" + name + " is a file of Terraform.)"
		}
	}
	switch {
	case len(names) == 0:
		r.error(sumNoFiles, wholeFile(dir), "The directory %s has no *.hcl or *.hcl.json files. Name the directory of a workflow, or write its first job into main.hcl.%s", dir, hint)
	case len(names) > maxFiles:
		r.error(sumFileTooLarge, wholeFile(dir), "The directory %s has %d configuration files; at most %d are read.", dir, len(names), maxFiles)
		return nil
	}
	return names
}

// isConfigName leaves out hidden files and what editors leave behind.
func isConfigName(name string) bool {
	return (strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")) &&
		!strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "#")
}

// readSource reads one file whole, or reports why not. unreadable is what is said of one that cannot be read at all.
func (l *library) readSource(name string, unreadable summary, r *report) []byte {
	data, err := l.readBounded(name, maxFile)
	var large *tooLargeError
	switch {
	case errors.As(err, &large):
		r.error(sumFileTooLarge, wholeFile(name), "The file has %d MiB; at most %d MiB are read. Use for_each for jobs that only differ in a few values, and data files for data.",
			large.size>>20, maxFile>>20)
		return nil
	case err != nil:
		r.error(unreadable, wholeFile(name), "%s.", upperFirst(pathError(err)))
		return nil
	}
	if !checkText(name, data, r) {
		return nil
	}
	return data
}

// checkText reports what no text file holds.
func checkText(name string, data []byte, r *report) bool {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		r.error(sumBadEncoding, rangeAt(name, data, i, 1), "The file holds a NUL byte, so it is no text file, or text in UTF-16. Save it as UTF-8.")
		return false
	}
	if !utf8.Valid(data) {
		at := 0
		for rest := data; len(rest) > 0; {
			c, n := utf8.DecodeRune(rest)
			if c == utf8.RuneError && n == 1 {
				break
			}
			at, rest = at+n, rest[n:]
		}
		r.error(sumBadEncoding, rangeAt(name, data, at, 1), "The file is not valid UTF-8 from here on. Save it as UTF-8.")
		return false
	}
	return true
}

// tooLargeError says that a file has more bytes than are read of it.
type tooLargeError struct {
	path        string
	size, limit int64
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, at most %d are read", e.path, e.size, e.limit)
}

// readBounded reads a regular file of at most limit bytes. Devices and pipes are refused: they may never end.
func (l *library) readBounded(name string, limit int64) ([]byte, error) {
	info, err := l.stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is %s and not a regular file", name, fileKind(info.Mode()))
	}
	if info.Size() > limit {
		return nil, &tooLargeError{name, info.Size(), limit}
	}
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := io.Copy(data, io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > limit { // it grows while it is read, or its size is not known before
		return nil, &tooLargeError{name, int64(data.Len()), limit}
	}
	return data.Bytes(), nil
}

func fileKind(m fs.FileMode) string {
	if m.IsDir() {
		return "a directory"
	}
	return "a device, pipe or socket"
}

// pathError words an error of the file system: what could not be done to which path, and why.
func pathError(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Sprintf("%q does not exist", pe.Path)
		case errors.Is(err, fs.ErrPermission):
			return fmt.Sprintf("%q may not be read by this user", pe.Path)
		}
		return fmt.Sprintf("cannot %s %s: %v", pe.Op, pe.Path, pe.Err)
	}
	return err.Error()
}

// wholeFile is the range of diagnostics about a file or directory and not about a place in it.
func wholeFile(name string) hcl.Range {
	return hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// rangeAt makes the range of length bytes at an offset. Columns count grapheme clusters, as everywhere in hcl.
func rangeAt(name string, src []byte, offset, length int) hcl.Range {
	start := bytes.LastIndexByte(src[:offset], '\n') + 1
	line := 1 + bytes.Count(src[:start], []byte{'\n'})
	column := func(end int) int {
		const longest = 4096 // of a line, until columns are counted in bytes
		if end-start > longest {
			return end - start + 1
		}
		n, err := textseg.TokenCount(src[start:end], textseg.ScanGraphemeClusters)
		if err != nil {
			return end - start + 1
		}
		return n + 1
	}
	end := min(offset+length, len(src))
	return hcl.Range{
		Filename: name,
		Start:    hcl.Pos{Line: line, Column: column(offset), Byte: offset},
		End:      hcl.Pos{Line: line, Column: column(end), Byte: end},
	}
}
