package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
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

// toll is what a function takes in a pass of a for beyond other functions, in the weight of steps.
type toll struct {
	call  int64 // each call
	bytes int64 // how many bytes of text among its arguments weigh one; 0 for usualBytes
	deep  bool  // it looks at all that is inside of its arguments, else at their elements
	each  int64 // what an element weighs; 0 for usualElement
}

// usualBytes is how many bytes a function looks at in the time of one weight. An element weighs more than
// one: a tuple, which is what for and brackets make, is first made a list.
const (
	usualBytes   = 128
	usualElement = 2
)

// tolls are those of the functions that take more than others, measured.
var tolls = map[string]toll{
	"csvdecode": {call: 100, bytes: 4}, "jsondecode": {call: 260, bytes: 3}, "yamldecode": {call: 320, bytes: 2},
	"jsonencode": {deep: true, each: 12}, "yamlencode": {call: 60, deep: true, each: 16}, "flatten": {deep: true, each: 4}, "merge": {call: 12},
	"join": {each: 16}, "sort": {each: 20}, "compact": {each: 12}, "distinct": {each: 12}, "formatlist": {each: 8},
	"zipmap": {each: 10}, "index": {each: 6}, "matchkeys": {each: 200}, "contains": {each: 4}, "tolist": {each: 4}, "toset": {each: 6}, "tomap": {each: 4},
	"setintersection": {each: 40}, "setsubtract": {each: 40}, "setunion": {each: 40}, "sum": {each: 6}, "alltrue": {each: 6}, "anytrue": {each: 6}, "chunklist": {each: 4},
	"setproduct": {call: 24, deep: true}, "transpose": {call: 24, deep: true},
	"regex": {call: 60, bytes: 8}, "regexall": {call: 60, bytes: 8}, "replace": {call: 30, bytes: 4},
	"formatdate": {call: 12}, "timeadd": {call: 12}, "timecmp": {call: 12}, "templatefile": {call: 300}, "fileset": {call: 300},
}

// argument is what a function is given in a pass of a for: large text and collections take it time at each call.
type argument struct {
	*hclsyntax.ParenthesesExpr // so that who walks through the tree comes to what is inside
	steps                      *steps
	toll                       toll
}

func (a *argument) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	val, diags := a.Expression.Value(ctx)
	a.steps.use(a.toll.weigh(val))
	return val, diags
}

// weigh is the weight of one argument.
func (t toll) weigh(val cty.Value) int64 {
	bytes, each := t.bytes, t.each
	if bytes == 0 {
		bytes = usualBytes
	}
	if each == 0 {
		each = usualElement
	}
	return each*int64(elements(val, t.deep)) + int64(textOf(val))/bytes
}

// countArguments makes the functions in a for count what they are given. try and can evaluate their arguments by themselves.
func (s *steps) countArguments(e *hclsyntax.ForExpr) {
	for _, part := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if part == nil {
			continue
		}
		hclsyntax.VisitAll(part, func(n hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // it finds nothing
			call, is := n.(*hclsyntax.FunctionCallExpr)
			if !is || call.Name == "try" || call.Name == "can" {
				return nil
			}
			for i, arg := range call.Args {
				if _, counted := arg.(*argument); !counted {
					call.Args[i] = &argument{&hclsyntax.ParenthesesExpr{Expression: arg, SrcRange: arg.Range()}, s, tolls[call.Name]}
				}
			}
			return nil
		})
	}
}
