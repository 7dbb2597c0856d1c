package config

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// growing are the functions that make collections, and whether the collections inside of what they make are new as well. In a for
// inside of another one, each short to write, what they make would fill the memory.
var growing = map[string]bool{
	"chunklist": true, "coalescelist": false, "compact": false, "concat": false, "csvdecode": true, "distinct": false, "fileset": false,
	"flatten": false, "formatlist": false, "jsondecode": true, "keys": false, "matchkeys": false, "merge": false, "range": false,
	"regexall": true, "reverse": false, "setintersection": false, "setproduct": true, "setsubtract": false, "setunion": false,
	"slice": false, "sort": false, "split": false, "tolist": false, "tomap": false, "toset": false, "transpose": true, "values": false,
	"yamldecode": true, "zipmap": false,
}

// A collection's elements from the hundredth to the ten thousandth count three times: each function that it passes through next
// looks at all of them. One that is larger still is no matter of many calls, and has bounds of its own where it is used.
const (
	smallCollection = 100
	largeCollection = 10_000
)

// sized makes a function count the elements of what it makes.
func (s *steps) sized(f function.Function, deep bool) function.Function {
	return function.New(&function.Spec{
		Description: f.Description(), Params: f.Params(), VarParam: f.VarParam(),
		Type: f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			val, err := f.Call(args)
			if err == nil {
				n := elements(val, deep)
				s.use(int64(n + 2*max(0, min(n, largeCollection)-smallCollection)))
			}
			return val, err
		},
	})
}

// elements is how many elements a collection has, those of its elements among them if deep.
func elements(val cty.Value, deep bool) int {
	val, _ = val.Unmark()
	if val.IsNull() || !val.IsKnown() || !val.CanIterateElements() {
		return 0
	}
	n := val.LengthInt()
	if !deep {
		return n
	}
	for it := val.ElementIterator(); it.Next(); {
		_, elem := it.Element()
		n += elements(elem, true)
	}
	return n
}
