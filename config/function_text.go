package config

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// param is a parameter of a function of ours: not null, not unknown, marks handled by cty.
func param(name string, ty cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: ty}
}

// textFunc makes a function from one string to one string.
func textFunc(name string, f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param(name, cty.String)},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := f(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.StringVal(s), nil
		},
	})
}

func pathFunc(f func(string) string) function.Function {
	return textFunc("path", func(s string) (string, error) { return f(strings.ReplaceAll(s, `\`, "/")), nil })
}

// textTest makes a function that compares two strings.
func textTest(second string, f func(string, string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("str", cty.String), param(second, cty.String)},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

func digestFunc(hash func([]byte) string) function.Function {
	return textFunc("str", func(s string) (string, error) { return hash([]byte(s)), nil })
}

func md5Hex(b []byte) string    { s := md5.Sum(b); return hex.EncodeToString(s[:]) }
func sha1Hex(b []byte) string   { s := sha1.Sum(b); return hex.EncodeToString(s[:]) }
func sha256Hex(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
func sha512Hex(b []byte) string { s := sha512.Sum512(b); return hex.EncodeToString(s[:]) }

func base64EncodeFunc() function.Function {
	return textFunc("str", func(s string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(s)), nil })
}

func base64DecodeFunc() function.Function {
	return textFunc("str", func(s string) (string, error) {
		data, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return "", fmt.Errorf("this is not in standard base64 with padding")
		}
		if !utf8.Valid(data) {
			return "", fmt.Errorf("the decoded bytes are no text in UTF-8; give bytes to a job as payload_base64")
		}
		return string(data), nil
	})
}

func urlencodeFunc() function.Function {
	return textFunc("str", func(s string) (string, error) {
		// The placeholder of a uuid stands for letters, digits and dashes: it stays readable.
		encoded := url.QueryEscape(s)
		if !hasPlaceholder(s) {
			return encoded, nil
		}
		return escapedPlaceholder().ReplaceAllString(encoded, "@{uuid:$1}"), nil
	})
}

func escapedPlaceholder() *regexp.Regexp {
	return regexp.MustCompile(`%40%7Buuid%3A([A-Za-z0-9_-]+)%7D`)
}

// replaceFunc replaces text, or matches of a regular expression when the pattern is written /pattern/.
func replaceFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("str", cty.String), param("substr", cty.String), param("replace", cty.String)},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if p := args[1].AsString(); len(p) > 1 && p[0] == '/' && p[len(p)-1] == '/' {
				re, err := regexp.Compile(p[1 : len(p)-1])
				if err != nil {
					return cty.NilVal, function.NewArgError(1, err)
				}
				return cty.StringVal(re.ReplaceAllString(args[0].AsString(), args[2].AsString())), nil
			}
			return stdlib.Replace(args[0], args[1], args[2])
		},
	})
}

// dnsNamespaces are the name spaces that have names of their own in uuidv5.
var dnsNamespaces = map[string]uuid.UUID{"dns": uuid.NameSpaceDNS, "url": uuid.NameSpaceURL, "oid": uuid.NameSpaceOID, "x500": uuid.NameSpaceX500}

func uuidv5Func() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("namespace", cty.String), param("name", cty.String)},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			space, ok := dnsNamespaces[args[0].AsString()]
			if !ok {
				var err error
				if space, err = uuid.Parse(args[0].AsString()); err != nil {
					return cty.NilVal, function.NewArgErrorf(0, `the namespace is a uuid or one of "dns", "url", "oid", "x500"`)
				}
			}
			return cty.StringVal(uuid.NewSHA1(space, []byte(args[1].AsString())).String()), nil
		},
	})
}

func timecmpFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("timestamp_a", cty.String), param("timestamp_b", cty.String)},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var times [2]time.Time
			for i := range times {
				t, err := time.Parse(time.RFC3339, args[i].AsString())
				if err != nil {
					return cty.NilVal, function.NewArgErrorf(i, "this is no time of RFC 3339, such as 2026-11-21T06:00:00Z")
				}
				times[i] = t
			}
			return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
		},
	})
}

// boundedFormat refuses widths that would make a string of any size from a few characters.
func boundedFormat(f function.Function) function.Function {
	wide := regexp.MustCompile(`[0-9]{6,}`)
	return checked(f, func(args []cty.Value) error {
		if format, _ := args[0].Unmark(); format.IsKnown() && !format.IsNull() && wide.MatchString(format.AsString()) {
			return function.NewArgErrorf(0, "a width or precision of more than 99999 is not supported")
		}
		return nil
	})
}

// bounded makes a function whose arguments have at most 64 MiB when they are written out, as its result does. A list may hold one
// large text many times over and take no room for it.
func bounded(f function.Function) function.Function {
	return checked(f, func(args []cty.Value) error {
		budget := 64 << 20
		for i, arg := range args {
			if !weigh(arg, &budget) {
				return function.NewArgErrorf(i, "with this the result would have more than 64 MiB")
			}
		}
		return nil
	})
}

// checked makes a function that first checks its arguments.
func checked(f function.Function, check func([]cty.Value) error) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Params:      append([]function.Parameter(nil), f.Params()...),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := check(args); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	}
	if v := f.VarParam(); v != nil {
		spec.VarParam = v
	}
	return function.New(spec)
}
