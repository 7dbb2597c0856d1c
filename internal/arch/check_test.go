package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// check returns what is wrong with the module in fsys, in the order of its files. It parses and never loads, so build
// tags and platforms hide nothing.
func check(fsys fs.FS) ([]string, error) {
	var violations []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.Contains(name, "/") && !mayStandAtTop(name, d.IsDir()) {
			violations = append(violations,
				name+": the top level is fixed: put it below one of its folders, or see topLevel in internal/arch")
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		if d.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		found, err := checkFile(fsys, name)
		violations = append(violations, found...)
		return err
	})
	return violations, err
}

func mayStandAtTop(name string, dir bool) bool {
	if !dir {
		return slices.Contains(topLevel, name)
	}
	return slices.ContainsFunc(units, func(u unit) bool { return u.folder == name || strings.HasPrefix(u.folder, name+"/") })
}

func checkFile(fsys fs.FS, name string) ([]string, error) {
	u, ok := unitOf(path.Dir(name))
	if !ok {
		return []string{name + ": this folder belongs to no package that was decided on: see units in internal/arch"}, nil
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	isTest := strings.HasSuffix(name, "_test.go")
	allowed := reach(u.imports)
	if isTest {
		for to := range reach(u.tests) {
			allowed[to] = true
		}
	}
	var violations []string
	report := func(verb, what, why string) {
		violations = append(violations, fmt.Sprintf("%s: %s must not %s %s: %s", name, u.folder, verb, what, why))
	}
	var imports []string
	names := map[string]string{} // of packages in this file -> import path
	for _, spec := range file.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, to)
		names[path.Base(to)] = to
		if spec.Name != nil {
			names[spec.Name.Name] = to
		}
		if own, ok := strings.CutPrefix(to, module); ok && (own == "" || own[0] == '/') {
			folder := strings.TrimPrefix(own, "/")
			target, ok := unitOf(folder)
			if !ok {
				report("import", folder, "it has no row among the units")
			} else if target.folder != u.folder && !allowed[target.folder] {
				report("import", folder, "no arrow leads there")
			}
		}
	}
	if isTest {
		return violations, nil
	}
	for _, b := range bans {
		if b.folder != u.folder {
			continue
		}
		for _, to := range imports {
			if slices.ContainsFunc(b.imports, func(pattern string) bool { return matches(pattern, to) }) {
				report("import", to, b.reason)
			}
		}
		for _, call := range uses(file, names, b.calls) {
			report("call", call, b.reason)
		}
	}
	return violations, nil
}

// matches tells whether an import path is the pattern or, where that ends in "/...", below it.
func matches(pattern, importPath string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return importPath == tree || strings.HasPrefix(importPath, tree+"/")
	}
	return importPath == pattern
}

// uses returns which of the banned functions a file mentions, each once.
func uses(file *ast.File, names map[string]string, banned []string) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok {
			call := names[x.Name] + "." + sel.Sel.Name
			if slices.Contains(banned, call) && !slices.Contains(found, call) {
				found = append(found, call)
			}
		}
		return true
	})
	return found
}

// unitOf returns the unit of a folder: the row with the longest path that contains it. The top level contains only itself.
func unitOf(folder string) (unit, bool) {
	for folder != "." && folder != "" {
		for _, u := range units {
			if u.folder == folder {
				return u, true
			}
		}
		parent := path.Dir(folder)
		if parent == "." {
			return unit{}, false
		}
		folder = parent
	}
	return units[0], true
}

// reach returns the units at the end of some path of arrows that begins with one of the given units.
func reach(from []string) map[string]bool {
	reached := map[string]bool{}
	for len(from) > 0 {
		next := from[0]
		from = from[1:]
		if reached[next] {
			continue
		}
		reached[next] = true
		for _, u := range units {
			if u.folder == next {
				from = append(from, u.imports...)
			}
		}
	}
	return reached
}
