package protofile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/options"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Reader reads a file, by its path with forward slashes from the workflow's directory, or an absolute one.
type Reader func(path string) ([]byte, error)

// Compile reads the named files and what they import. An import is looked for below each of the import paths in turn, and below the
// workflow's directory at last; the files of protobuf itself need none. With problems there is no Set.
func Compile(files, importPaths []string, read Reader) (set *Set, found []Problem) {
	c := &compiler{
		read: read, roots: roots(importPaths), room: newRoom(), symbols: &linker.Symbols{},
		units: map[string]*unit{}, files: &protoregistry.Files{}, problems: problems{paths: map[string]string{}},
	}
	defer func() {
		if p := recover(); p != nil { // a library's; it must not end the program
			c.add(Problem{Kind: Defect, Text: fmt.Sprint(p)})
			set, found = nil, c.list
		}
	}()
	for i, file := range files {
		c.named = i
		name, ok := c.importName(file)
		if !ok {
			c.add(Problem{Kind: Outside, Import: file})
			continue
		}
		if u := c.compile(name, nil); u.missing != nil {
			c.add(Problem{Kind: Unreadable, Import: file, Cause: u.missing})
		}
	}
	if len(c.list) > 0 {
		return nil, c.list
	}
	return newSet(c.files), nil
}

func roots(importPaths []string) []string {
	var list []string
	for _, p := range append(slices.Clone(importPaths), ".") {
		if p = path.Clean(p); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

type compiler struct {
	problems
	read    Reader
	roots   []string
	room    *room
	symbols *linker.Symbols
	units   map[string]*unit // by the name that they are imported by
	files   *protoregistry.Files
}

// unit is one file. It is open while what it imports is compiled.
type unit struct {
	open    bool
	missing error // it cannot be read
	linked  linker.File
}

// importName is the name by which other files import a file that the workflow names.
func (c *compiler) importName(file string) (string, bool) {
	file = path.Clean(file)
	for _, root := range c.roots {
		if root == "." && !path.IsAbs(file) && file != ".." && !strings.HasPrefix(file, "../") {
			return file, true
		}
		if name, below := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); below {
			return name, true
		}
	}
	return "", false
}

// compile makes a file and, before it, what it imports. way are the files that lead here.
func (c *compiler) compile(name string, way []string) *unit {
	if u := c.units[name]; u != nil {
		return u
	}
	u := &unit{open: true}
	c.units[name] = u
	defer func() { u.open = false }()
	text, at, err := c.find(name)
	if err != nil {
		if u.linked = standardFile(name); u.linked == nil || !errors.Is(err, fs.ErrNotExist) {
			u.missing = err
		}
		return u
	}
	c.paths[name] = at
	parsed := c.parse(name, at, text)
	if parsed == nil {
		return u
	}
	deps, ok := c.imports(parsed, append(way, name))
	if !ok {
		return u
	}
	if linked := c.link(parsed, deps); linked != nil {
		u.linked = linked
		if err := c.files.RegisterFile(linked); err != nil {
			c.add(Problem{Kind: Wrong, Path: at, Text: err.Error()})
		}
	}
	return u
}

// find reads an import, and says where it was.
func (c *compiler) find(name string) (text []byte, at string, err error) {
	for _, root := range c.roots {
		at = path.Join(root, name)
		if text, err = c.read(at); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return text, at, err
		}
	}
	return nil, "", err
}

func standardFile(name string) linker.File {
	if !standard(name) {
		return nil
	}
	d, err := protoregistry.GlobalFiles.FindFileByPath(name)
	if err != nil {
		return nil
	}
	f, err := linker.NewFileRecursive(d)
	if err != nil {
		return nil
	}
	return f
}

// parse gives nil for what is reported.
func (c *compiler) parse(name, at string, text []byte) parser.Result {
	if over := c.room.takeText(text); over != nil {
		c.add(Problem{Kind: TooLarge, Path: at, Start: over.at, End: over.at, Text: over.text})
		return nil
	}
	if i := invalidUTF8(text); i >= 0 { // the compiler's reader may fail
		c.add(Problem{Kind: Wrong, Path: at, Start: i, End: i + 1, Text: "the file is not valid UTF-8 from here on; save it as UTF-8"})
		return nil
	}
	before := len(c.list)
	handler := reporter.NewHandler(&c.problems) // one that has seen an error of another file would stop at once
	tree, err := parser.Parse(name, bytes.NewReader(text), handler)
	if err != nil || len(c.list) > before {
		c.untold(before, at, err)
		return nil
	}
	parsed, err := parser.ResultFromAST(tree, true, handler)
	if err != nil || len(c.list) > before {
		c.untold(before, at, err)
		return nil
	}
	if over := c.room.takeNames(parsed.FileDescriptorProto()); over != nil {
		c.add(Problem{Kind: TooLarge, Path: at, Start: over.at, End: over.at, Text: over.text})
		return nil
	}
	return parsed
}

// untold reports an error that came without a report.
func (c *compiler) untold(before int, at string, err error) {
	if err != nil && len(c.list) == before {
		c.add(Problem{Kind: Wrong, Path: at, Text: c.worded(err)})
	}
}

// invalidUTF8 is where the first byte is that is no part of a character, or -1.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// imports compiles what a file imports, all of it even if something is wrong.
func (c *compiler) imports(parsed parser.Result, way []string) (deps linker.Files, ok bool) {
	at, ok := c.paths[way[len(way)-1]], true
	for _, name := range parsed.FileDescriptorProto().GetDependency() {
		start, end := importPlace(parsed, name)
		x := Problem{Path: at, Start: start, End: end, Import: name}
		if len(way) >= maxChain {
			x.Kind, x.Text = TooLarge, fmt.Sprintf("more than %d files import each other in a row", maxChain)
			c.add(x)
			return nil, false
		}
		u := c.compile(name, way)
		switch {
		case u.open:
			x.Kind, x.Text = Cyclic, c.way(way, name)
			c.add(x)
			ok = false
		case u.missing != nil:
			x.Kind, x.Cause = Unreadable, u.missing
			c.add(x)
			ok = false
		case u.linked == nil:
			ok = false // which is reported where it is wrong
		default:
			deps = append(deps, u.linked)
		}
	}
	return deps, ok
}

// way shows how a file comes to import itself.
func (c *compiler) way(way []string, to string) string {
	var b strings.Builder
	for _, name := range way[slices.Index(way, to):] {
		b.WriteString(c.paths[name] + " -> ")
	}
	return b.String() + c.paths[to]
}

func importPlace(parsed parser.Result, name string) (start, end int) {
	for _, d := range parsed.AST().Decls {
		if n, ok := d.(*ast.ImportNode); ok && n.Name.AsString() == name {
			at := parsed.AST().NodeInfo(n.Name)
			return at.Start().Offset, at.End().Offset
		}
	}
	return 0, 0
}

// link gives nil for what is reported.
func (c *compiler) link(parsed parser.Result, deps linker.Files) linker.File {
	before := len(c.list)
	at := c.paths[parsed.FileDescriptorProto().GetName()]
	handler := reporter.NewHandler(&c.problems)
	file, err := linker.Link(parsed, deps, c.symbols, handler)
	if err == nil {
		if _, err = options.InterpretOptions(file, handler); err == nil {
			err = file.ValidateOptions(handler, c.symbols)
		}
	}
	if err != nil || len(c.list) > before {
		c.untold(before, at, err)
		return nil
	}
	file.RemoveAST()
	return file
}
