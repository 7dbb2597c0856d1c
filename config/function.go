package config

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functionTable is the table of functions, under the names they have in Terraform. Those that read files are bound to the
// workflow's directory.
func (l *loader) functionTable() map[string]function.Function {
	table := maps.Clone(pureFunctions())
	for name, f := range l.fileFunctions() {
		table[name] = f
	}
	for name, deep := range growing {
		table[name] = l.steps.sized(table[name], deep)
	}
	guardPlaceholders(table, "file", "filebase64", "filemd5", "filesha1", "filesha256", "filesha512", "fileexists", "fileset")
	return table
}

// pureFunctions are those whose result depends on their arguments alone, made on first use.
var pureFunctions = sync.OnceValue(func() map[string]function.Function {
	table := maps.Clone(declaredFunctions())
	for name, f := range table {
		table[name] = swift(f)
	}
	return table
})

// declaredFunctions are the same, with the types of parameters that people know them by.
var declaredFunctions = sync.OnceValue(func() map[string]function.Function {
	table := map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc, "log": stdlib.LogFunc,
		"max": stdlib.MaxFunc, "min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc,
		"signum": stdlib.SignumFunc, "sum": sumFunc(),

		"chomp": stdlib.ChompFunc, "format": bounded(boundedFormat(stdlib.FormatFunc)), "formatlist": boundedFormat(stdlib.FormatListFunc),
		"indent": stdlib.IndentFunc, "join": bounded(stdlib.JoinFunc), "lower": stdlib.LowerFunc, "regex": stdlib.RegexFunc,
		"regexall": stdlib.RegexAllFunc, "replace": replaceFunc(), "split": stdlib.SplitFunc, "strrev": stdlib.ReverseFunc,
		"substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc,
		"trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc,
		"startswith": textTest("prefix", strings.HasPrefix), "endswith": textTest("suffix", strings.HasSuffix),
		"strcontains": textTest("substr", strings.Contains),

		"chunklist": stdlib.ChunklistFunc, "coalesce": coalesceFunc(), "coalescelist": stdlib.CoalesceListFunc,
		"compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "distinct": distinctFunc(),
		"element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "index": indexFunc(), "keys": stdlib.KeysFunc,
		"length": lengthFunc(), "lookup": stdlib.LookupFunc, "matchkeys": matchkeysFunc(), "merge": stdlib.MergeFunc,
		"one": oneFunc(), "range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc, "setintersection": stdlib.SetIntersectionFunc,
		"setproduct": boundedProduct(), "setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc,
		"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "transpose": transposeFunc(), "values": stdlib.ValuesFunc,
		"zipmap": stdlib.ZipmapFunc, "alltrue": allTrueFunc(), "anytrue": anyTrueFunc(),

		"tobool": stdlib.MakeToFunc(cty.Bool), "tolist": toFunc(cty.List(cty.DynamicPseudoType)),
		"tomap": toFunc(cty.Map(cty.DynamicPseudoType)), "tonumber": stdlib.MakeToFunc(cty.Number),
		"toset": toFunc(cty.Set(cty.DynamicPseudoType)), "tostring": settling(stdlib.MakeToFunc(cty.String), textReading),
		"try": tryfunc.TryFunc, "can": tryfunc.CanFunc,
		"sensitive": sensitiveFunc(), "nonsensitive": nonsensitiveFunc(), "issensitive": isSensitiveFunc(),

		"formatdate": stdlib.FormatDateFunc, "timeadd": stdlib.TimeAddFunc, "timecmp": timecmpFunc(),

		"base64decode": base64DecodeFunc(), "base64encode": base64EncodeFunc(), "csvdecode": stdlib.CSVDecodeFunc,
		"jsondecode": boundedDecode("JSON", stdlib.JSONDecodeFunc), "jsonencode": settling(bounded(stdlib.JSONEncodeFunc), encodedReadings), "urlencode": urlencodeFunc(),
		"yamldecode": boundedDecode("YAML", ctyyaml.YAMLDecodeFunc), "yamlencode": bounded(ctyyaml.YAMLEncodeFunc),

		"md5": digestFunc(md5Hex), "sha1": digestFunc(sha1Hex), "sha256": digestFunc(sha256Hex), "sha512": digestFunc(sha512Hex),
		"secret_env": secretFunc("secret_env", "name"), "secret_file": secretFunc("secret_file", "path"),
		"uuidv5": uuidv5Func(), "basename": pathFunc(path.Base), "dirname": pathFunc(path.Dir),
	}
	guardPlaceholders(table, slices.Collect(maps.Keys(table))...)
	for name, why := range refused {
		table[name] = refusedFunc(name, why)
	}
	return table
})

// impure says what to do instead of asking for the time.
const impure = "it would give another value in each plan, so every plan would show changes. "

// refused are functions of Terraform that are left out on purpose, and why.
var refused = map[string]string{
	"timestamp":     impure + `To start a job some time after those it waits for, write run_at { after = "10m" }; to start at a fixed time, run_at { time = "..." }; a day to work on is a variable.`,
	"plantimestamp": impure + `To start a job some time after those it waits for, write run_at { after = "10m" }; a day to work on is a variable.`,
	"uuid":          impure + `The uuid of a job is job.NAME.uuid; uuidv5() makes one from a name; a delay is run_at { after = "10m" }.`,
	"bcrypt":        impure + `sha256() gives the same digest each time; a delay is run_at { after = "10m" }.`,
	"abspath":       "it would make plans differ between machines. Paths are relative to the workflow's directory.",
	"pathexpand":    "it would make plans differ between users. Paths are relative to the workflow's directory.",
}

// refusedError is the error of a function that is left out.
type refusedError struct{ name, why string }

func (e *refusedError) Error() string {
	return "There is no function " + e.name + ": " + e.why
}

func refusedFunc(name, why string) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowMarked: true, AllowDynamicType: true},
		Type:     func([]cty.Value) (cty.Type, error) { return cty.NilType, &refusedError{name, why} },
	})
}

// passing are the functions through which the placeholder of a uuid may go, since they neither look into strings nor
// change them.
var passing = []string{
	"chunklist", "coalesce", "coalescelist", "compact", "concat", "element", "flatten", "format", "formatlist", "join", "jsonencode", "keys",
	"length", "lookup", "merge", "nonsensitive", "one", "range", "reverse", "sensitive", "issensitive", "setproduct", "setunion", "slice", "templatefile",
	"tolist", "tomap", "toset", "tostring", "transpose", "try", "can", "urlencode", "values", "yamlencode", "zipmap",
}

// settling makes a function that says of the results in its text how they stand there.
func settling(f function.Function, settle func(string) string) function.Function {
	spec := &function.Spec{Description: f.Description(), Params: f.Params(), VarParam: f.VarParam(),
		Type: f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			val, err := f.Call(args)
			if err != nil {
				return val, err
			}
			plain, marks := val.Unmark()
			if plain.IsNull() || !plain.IsKnown() || !hasReading(plain.AsString()) {
				return val, nil
			}
			return cty.StringVal(settle(plain.AsString())).WithMarks(marks), nil
		},
	}
	return function.New(spec)
}

// guardPlaceholders makes the named functions refuse placeholders, but for those that pass them on: the result would be
// made from something that is not the uuid.
func guardPlaceholders(table map[string]function.Function, names ...string) {
	for _, name := range names {
		if !slices.Contains(passing, name) {
			table[name] = guarded(table[name])
		}
	}
}

func guarded(f function.Function) function.Function {
	return checked(f, func(args []cty.Value) error {
		for i, arg := range args {
			if holdsPlaceholder(arg) {
				return function.NewArgErrorf(i, "it holds the uuid of a job, which is known only after apply")
			}
		}
		return nil
	})
}

// holdsPlaceholder looks for placeholders in a value, however deep.
func holdsPlaceholder(v cty.Value) bool {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() || v.Type().IsCapsuleType() {
		return false
	}
	if v.Type() == cty.String {
		return hasPlaceholder(v.AsString())
	}
	if v.Type().IsPrimitiveType() || !v.CanIterateElements() {
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, elem := it.Element(); holdsPlaceholder(elem) {
			return true
		}
	}
	return false
}
