package config

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// An archive is a zip file: the manifest, and the files below two directories.
const (
	archiveFormat     = 1
	manifestName      = "manifest.json"
	archivedBelow     = "files"    // and their path from the deepest directory that all of them are in
	archivedElsewhere = "absolute" // and their absolute path
)

// maxArchived bounds the files of an archive, in bytes before they are compressed.
const maxArchived = 64 << 20

// ErrTooLarge says that a configuration is too large for an archive. The message says how large it is.
var ErrTooLarge = errors.New("too large to be kept")

// ErrArchive says that an archive is none that this version can read.
var ErrArchive = errors.New("unreadable archive of a configuration")

// Archive is a configuration as it was loaded once: all that was read of the disk, and the values of the variables that are not
// sensitive. Loading it again, see Options.Archive, finds the same jobs whatever is on the disk by then.
type Archive struct {
	manifest manifest
	files    fs.FS
	values   map[string]cty.Value
}

type manifest struct {
	Format  int      `json:"format"`
	Root    string   `json:"root"`    // path of the workflow's directory below the directory that all files are in
	Sources []string `json:"sources"` // names of the workflow's own files
	// Hashed are files that are hashed and not read: their sums by place. In the archive they are empty.
	Hashed map[string]string          `json:"hashed,omitempty"`
	Values map[string]json.RawMessage `json:"values,omitempty"` // of variables, with their types
}

// Archive writes what was read to load the workflow. It holds whatever stands in the files, also what is marked as sensitive there: who
// stores it seals it. Values given to sensitive variables are not in it. The same configuration is the same bytes, wherever its
// directory is. A workflow that was made in another way than by Load has none.
func (w *Workflow) Archive() ([]byte, error) {
	if w.library == nil {
		return nil, fmt.Errorf("%w: the workflow was not loaded from files", ErrArchive)
	}
	l := w.library
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.plot()
	if err != nil {
		return nil, err
	}
	m := manifest{Format: archiveFormat, Root: p.root, Sources: w.sources, Hashed: map[string]string{}, Values: w.values}
	texts, size := map[string][]byte{}, 0
	for name, text := range l.texts {
		texts[p.place(name)] = text
		size += len(text)
	}
	if size > maxArchived {
		return nil, fmt.Errorf("%w: its files have %d MiB, and up to %d MiB are kept", ErrTooLarge, size>>20, maxArchived>>20)
	}
	for name, sum := range l.sums {
		if place := p.place(name); texts[place] == nil {
			texts[place], m.Hashed[place] = nil, hex.EncodeToString(sum[:])
		}
	}
	for name, directory := range l.seen {
		switch place := p.place(name); {
		case directory:
			texts[place+"/"] = nil
		case texts[place] == nil:
			texts[place] = nil
		}
	}
	return zipped(m, texts)
}

func zipped(m manifest, texts map[string][]byte) ([]byte, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the archive of a configuration: %w", err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	add := func(name string, text []byte) error {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	}
	err = add(manifestName, head)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		err = errors.Join(err, add(name, texts[name]))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("write the archive of a configuration: %w", err)
	}
	return b.Bytes(), nil
}

// plot is where the files of a load lie in its archive.
type plot struct {
	dir  string // of the workflow, absolute
	base string // the directory that all files are in which are named from there
	root string // dir from base
}

// plot finds the deepest directory that holds the workflow and all files that it names by a path from its own. It is its own in most
// cases; above it names of directories are in the archive too.
func (l *library) plot() (plot, error) {
	dir, err := filepath.Abs(l.dir)
	if err != nil {
		return plot{}, err
	}
	above := 0
	for _, names := range []func(func(string) bool){maps.Keys(l.texts), maps.Keys(l.sums), maps.Keys(l.seen)} {
		for name := range names {
			if filepath.IsAbs(name) && !filepath.IsAbs(l.dir) {
				continue
			}
			rel, err := filepath.Rel(l.dir, name)
			if err != nil {
				continue
			}
			up := 0
			for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
				if part == ".." {
					up++
				}
			}
			if up <= maxAbove {
				above = max(above, up)
			}
		}
	}
	p := plot{dir: dir, base: dir, root: "."}
	for range above {
		p.root = path.Join(filepath.Base(p.base), p.root)
		p.base = filepath.Dir(p.base)
	}
	return p, nil
}

// maxAbove is how many directories up from the workflow's a file may be named from there. What is further away counts as elsewhere.
const maxAbove = 8

func (p plot) place(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	if rel, err := filepath.Rel(p.base, abs); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path.Join(archivedBelow, filepath.ToSlash(rel))
	}
	return path.Join(archivedElsewhere, strings.TrimPrefix(filepath.ToSlash(abs), "/"))
}

// OpenArchive reads what Workflow.Archive has written.
func OpenArchive(data []byte) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	head, err := fs.ReadFile(z, manifestName)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	a := &Archive{files: z, values: map[string]cty.Value{}}
	if err := json.Unmarshal(head, &a.manifest); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	if a.manifest.Format != archiveFormat {
		return nil, fmt.Errorf("%w: it has format %d, and this version of waybill reads format %d", ErrArchive, a.manifest.Format, archiveFormat)
	}
	if !fs.ValidPath(a.manifest.Root) || len(a.manifest.Sources) == 0 {
		return nil, fmt.Errorf("%w: it names no files", ErrArchive)
	}
	for name, raw := range a.manifest.Values {
		if a.values[name], err = ctyjson.Unmarshal(raw, cty.DynamicPseudoType); err != nil {
			return nil, fmt.Errorf("%w: variable %q: %w", ErrArchive, name, err)
		}
	}
	return a, nil
}

// sum is that of a file which was hashed and not read.
func (a *Archive) sum(place string) (sum [32]byte, ok bool) {
	text, ok := a.manifest.Hashed[place]
	if !ok {
		return sum, false
	}
	raw, err := hex.DecodeString(text)
	return [32]byte(append(raw, make([]byte, 32)...)), err == nil && len(raw) == 32
}

// archivedValues are the values of all variables that are not sensitive.
func (l *loader) archivedValues() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for name, v := range l.root.variables {
		if v.broken || v.missing || v.sensitive || !v.value.IsWhollyKnown() {
			continue
		}
		if raw, err := ctyjson.Marshal(v.value, cty.DynamicPseudoType); err == nil {
			values[name] = raw
		}
	}
	return values
}
