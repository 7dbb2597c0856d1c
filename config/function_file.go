package config

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// fileFunctions are the functions that read files. Paths are relative to the workflow's directory.
func (l *loader) fileFunctions() map[string]function.Function {
	d := l.disk
	return map[string]function.Function{
		"file": d.reader(func(name string, data []byte) (string, error) {
			if !utf8.Valid(data) {
				return "", fmt.Errorf("%s is no text in UTF-8; use filebase64() for other data", name)
			}
			return string(data), nil
		}),
		"filebase64": d.reader(func(_ string, data []byte) (string, error) { return base64.StdEncoding.EncodeToString(data), nil }),
		"filemd5":    d.reader(func(_ string, data []byte) (string, error) { return md5Hex(data), nil }),
		"filesha1":   d.reader(func(_ string, data []byte) (string, error) { return sha1Hex(data), nil }),
		"filesha512": d.reader(func(_ string, data []byte) (string, error) { return sha512Hex(data), nil }),
		"filesha256": textFunc("path", func(name string) (string, error) {
			sum, err := d.sum(name)
			if err != nil {
				return "", errors.New(d.explain(err))
			}
			return hex.EncodeToString(sum[:]), nil
		}),
		"fileexists":   d.existsFunc(),
		"fileset":      d.filesetFunc(),
		"templatefile": l.templatefileFunc(),
	}
}

// reader makes a function from the content of the file it is given.
func (d *disk) reader(f func(name string, data []byte) (string, error)) function.Function {
	return textFunc("path", func(name string) (string, error) {
		data, err := d.text(name)
		if err != nil {
			return "", errors.New(d.explain(err))
		}
		return f(name, data)
	})
}

func (d *disk) existsFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("path", cty.String)},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			d.list(d.path(args[0].AsString()))
			name := d.path(args[0].AsString())
			info, err := d.library.stat(name)
			switch {
			case errors.Is(err, os.ErrNotExist):
				return cty.False, nil
			case err != nil:
				return cty.NilVal, function.NewArgErrorf(0, "%s", d.explain(err))
			case !info.Mode().IsRegular():
				return cty.NilVal, function.NewArgErrorf(0, "%s is %s and not a regular file", args[0].AsString(), fileKind(info.Mode()))
			}
			d.library.keepName(name, false)
			return cty.True, nil
		},
	})
}

// filesetFunc lists the files below a directory whose path from there matches a pattern.
func (d *disk) filesetFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("path", cty.String), param("pattern", cty.String)},
		Type:   function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			root := path.Clean(args[0].AsString())
			g, err := parseGlob(args[1].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(1, err)
			}
			d.list(d.path(root))
			names, err := g.files(d.library.below(d.path(root)))
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(0, "%s", d.explain(err))
			}
			d.library.keepName(d.path(root), true)
			if len(names) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			vals := make([]cty.Value, len(names))
			for i, n := range names {
				vals[i] = cty.StringVal(n)
				d.library.keepName(filepath.Join(d.path(root), filepath.FromSlash(n)), false)
			}
			return cty.SetVal(vals), nil
		},
	})
}

// templatefileFunc renders a file as a template with values of its own.
func (l *loader) templatefileFunc() function.Function {
	table := sync.OnceValue(l.templateFunctions)
	return function.New(&function.Spec{
		Params: []function.Parameter{param("path", cty.String), anyParam("vars")},
		Type:   func(args []cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			expr, err := l.template(name)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if ty := args[1].Type(); !ty.IsObjectType() && !ty.IsMapType() {
				return cty.NilVal, function.NewArgErrorf(1, "an object with the values of the template is required")
			}
			ctx := &hcl.EvalContext{Variables: args[1].AsValueMap(), Functions: table()}
			for _, t := range expr.Variables() {
				if _, ok := ctx.Variables[t.RootName()]; !ok {
					return cty.NilVal, function.NewArgErrorf(1, "the template %s uses %q in line %d, which is not among them", name, t.RootName(), t.SourceRange().Start.Line)
				}
			}
			val, diags := expr.Value(ctx)
			if diags.HasErrors() {
				return cty.NilVal, templateError(name, diags)
			}
			return val, nil
		},
	})
}

// template parses a template file.
func (l *loader) template(name string) (hclsyntax.Expression, error) {
	data, err := l.disk.text(name)
	if err != nil {
		return nil, errors.New(l.disk.explain(err))
	}
	if len(data) > maxItem {
		return nil, fmt.Errorf("%s has more than 1 MiB, which is too much for a template", name)
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, fmt.Errorf("%s is no text in UTF-8", name)
	}
	if f := scanTemplate(data); f != nil {
		return nil, fmt.Errorf("%s, line %d: %s", name, rangeAt(name, data, f.at, f.length).Start.Line, f.detail)
	}
	expr, diags := hclsyntax.ParseTemplate(data, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, templateError(name, diags)
	}
	l.steps.count(expr, data)
	return expr, nil
}

func templateError(name string, diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			return fmt.Errorf("%s, line %d: %s: %s", name, subject(d).Start.Line, d.Summary, d.Detail)
		}
	}
	return diags
}

// templateFunctions are all functions but templatefile, which could call itself.
func (l *loader) templateFunctions() map[string]function.Function {
	table := make(map[string]function.Function, len(l.functions))
	for name, f := range l.functions {
		if name != "templatefile" {
			table[name] = f
		}
	}
	return table
}

// boundedDecode refuses text that nests too deeply for a recursive decoder. Brackets in strings are counted too, since the
// bound is far from what data has.
func boundedDecode(format string, f function.Function) function.Function {
	return checked(f, func(args []cty.Value) error {
		src, _ := args[0].Unmark()
		if !src.IsKnown() || src.IsNull() {
			return nil
		}
		text := src.AsString()
		if depth(text, '[', ']')+depth(text, '{', '}') > maxNesting || format == "YAML" && deepIndent(text) {
			return function.NewArgErrorf(0, "this nests more than %d deep, which is no usual %s", maxNesting, format)
		}
		if format == "YAML" {
			if err := checkAliases(text); err != nil {
				return function.NewArgError(0, err)
			}
		}
		return nil
	})
}

func depth(s string, open, close byte) int {
	level, deepest := 0, 0
	for i := range len(s) {
		switch s[i] {
		case open:
			level++
			deepest = max(deepest, level)
		case close:
			level = max(level-1, 0)
		}
	}
	return deepest
}

// deepIndent finds what nests in YAML without brackets: indentation, and dashes on one line.
func deepIndent(s string) bool {
	for line := range strings.Lines(s) {
		if indent := len(line) - len(strings.TrimLeft(line, " -?")); indent > 2*maxNesting {
			return true
		}
	}
	return false
}

func sortedUnique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
