package config

import (
	"errors"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// anyParam takes a value of any type.
func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType}
}

// lengthFunc counts the characters of a string or the elements of a collection.
func lengthFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			if ty != cty.String && ty != cty.DynamicPseudoType && !ty.IsTupleType() && !ty.IsObjectType() && !ty.IsCollectionType() {
				return cty.NilType, function.NewArgErrorf(0, "the argument must be a string, a list, a map, a set or an object")
			}
			return cty.Number, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			val, marks := args[0].Unmark()
			switch ty := val.Type(); {
			case ty == cty.String && hasPlaceholder(val.AsString()):
				return cty.NilVal, function.NewArgErrorf(0, "it holds the uuid of a job, which is known only after apply")
			case ty == cty.String:
				n, err := stdlib.Strlen(val)
				return n.WithMarks(marks), err
			case ty.IsObjectType():
				return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithMarks(marks), nil
			}
			return val.Length().WithMarks(marks), nil
		},
	})
}

// sumFunc adds the numbers of a collection.
func sumFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("list")},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !iterable(args[0]) || args[0].LengthInt() == 0 {
				return cty.NilVal, function.NewArgErrorf(0, "a list or set with at least one number is required")
			}
			total := cty.Zero
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				n, err := convert.Convert(v, cty.Number)
				if err != nil || n.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "every element must be a number")
				}
				if !n.IsKnown() {
					return cty.UnknownVal(cty.Number), nil
				}
				if total, err = stdlib.Add(total, n); err != nil {
					return cty.NilVal, err
				}
			}
			return total, nil
		},
	})
}

// iterable tells whether a value is a list, set or tuple whose elements can be visited.
func iterable(v cty.Value) bool {
	ty := v.Type()
	return (ty.IsListType() || ty.IsSetType() || ty.IsTupleType()) && v.CanIterateElements()
}

// oneFunc gives the only element, or null for an empty collection.
func oneFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("list")},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			switch {
			case ty.IsListType() || ty.IsSetType():
				return ty.ElementType(), nil
			case ty.IsTupleType() && ty.Length() == 0:
				return cty.DynamicPseudoType, nil
			case ty.IsTupleType() && ty.Length() == 1:
				return ty.TupleElementType(0), nil
			}
			return cty.NilType, function.NewArgErrorf(0, "a list, set or tuple of no or one element is required")
		},
		Impl: func(args []cty.Value, ret cty.Type) (cty.Value, error) {
			switch args[0].LengthInt() {
			case 0:
				return cty.NullVal(ret), nil
			case 1:
				it := args[0].ElementIterator()
				it.Next()
				_, v := it.Element()
				return v, nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "there is more than one element")
		},
	})
}

// coalesceFunc gives the first argument that is neither null nor an empty string; all are converted to one type.
func coalesceFunc() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "vals", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowDynamicType: true},
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, v := range args {
				types[i] = v.Type()
			}
			if ty, _ := convert.UnifyUnsafe(types); ty != cty.NilType {
				return ty, nil
			}
			return cty.NilType, errors.New("all arguments must have the same type")
		},
		Impl: func(args []cty.Value, ret cty.Type) (cty.Value, error) {
			for _, v := range args {
				v, err := convert.Convert(v, ret)
				switch {
				case err != nil:
					return cty.NilVal, err
				case !v.IsKnown():
					return cty.UnknownVal(ret), nil
				case v.IsNull() || ret == cty.String && v.AsString() == "":
					continue
				}
				return v, nil
			}
			return cty.NilVal, errors.New("every argument is null or an empty string")
		},
	})
}

// indexFunc finds the index of a value in a list.
func indexFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("list"), anyParam("value")},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !iterable(args[0]) || args[0].Type().IsSetType() {
				return cty.NilVal, function.NewArgErrorf(0, "a list is required")
			}
			for it := args[0].ElementIterator(); it.Next(); {
				i, v := it.Element()
				equal, err := stdlib.Equal(v, args[1])
				if err != nil {
					return cty.NilVal, err
				}
				if !equal.IsKnown() {
					return cty.UnknownVal(cty.Number), nil
				}
				if equal.True() {
					return i, nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(1, "it is not in the list")
		},
	})
}

// matchkeysFunc picks the values whose key, at the same index, is in a set to search.
func matchkeysFunc() function.Function {
	list := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{
		Params: []function.Parameter{param("values", list), param("keys", list), param("searchset", list)},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, ret cty.Type) (cty.Value, error) {
			values, keys := args[0].AsValueSlice(), args[1].AsValueSlice()
			if len(values) != len(keys) {
				return cty.NilVal, function.NewArgErrorf(1, "values and keys must have the same length")
			}
			var found []cty.Value
			for i, key := range keys {
				in, err := stdlib.Contains(args[2], key)
				if err != nil {
					return cty.NilVal, err
				}
				if in.IsKnown() && in.True() {
					found = append(found, values[i])
				}
			}
			if len(found) == 0 {
				return cty.ListValEmpty(ret.ElementType()), nil
			}
			return cty.ListVal(found), nil
		},
	})
}

// distinctFunc leaves out what a list had before. Elements of one type are alike where their JSON is: comparing each with all others takes
// hours for a million.
func distinctFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("list", cty.List(cty.DynamicPseudoType))},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, ret cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(ret), nil
			}
			seen := map[string]bool{}
			var list []cty.Value
			for it := args[0].ElementIterator(); it.Next(); {
				_, elem := it.Element()
				text, err := ctyjson.Marshal(elem, elem.Type())
				if err != nil {
					return cty.NilVal, err
				}
				if !seen[string(text)] {
					seen[string(text)] = true
					list = append(list, elem)
				}
			}
			if len(list) == 0 {
				return cty.ListValEmpty(ret.ElementType()), nil
			}
			return cty.ListVal(list), nil
		},
	})
}

// transposeFunc swaps the keys and values of a map of lists of strings.
func transposeFunc() function.Function {
	ty := cty.Map(cty.List(cty.String))
	return function.New(&function.Spec{
		Params: []function.Parameter{param("values", ty)},
		Type:   function.StaticReturnType(ty),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			swapped := map[string][]cty.Value{}
			for it := args[0].ElementIterator(); it.Next(); {
				key, list := it.Element()
				if list.IsNull() || !list.IsWhollyKnown() {
					continue
				}
				for _, v := range list.AsValueSlice() {
					if !v.IsNull() {
						swapped[v.AsString()] = append(swapped[v.AsString()], key)
					}
				}
			}
			if len(swapped) == 0 {
				return cty.MapValEmpty(cty.List(cty.String)), nil
			}
			vals := make(map[string]cty.Value, len(swapped))
			for _, k := range slices.Sorted(maps.Keys(swapped)) {
				vals[k] = cty.ListVal(swapped[k])
			}
			return cty.MapVal(vals), nil
		},
	})
}

func allTrueFunc() function.Function { return foldBools(true) }
func anyTrueFunc() function.Function { return foldBools(false) }

// foldBools makes a function that is all of a list of booleans, or one of it.
func foldBools(all bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("list", cty.List(cty.Bool))},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				if !v.IsKnown() {
					return cty.UnknownVal(cty.Bool), nil
				}
				if (!v.IsNull() && v.True()) != all {
					return cty.BoolVal(!all), nil
				}
			}
			return cty.BoolVal(all), nil
		},
	})
}

// boundedProduct refuses products that would fill the memory.
func boundedProduct() function.Function {
	return checked(stdlib.SetProductFunc, func(args []cty.Value) error {
		size := 1
		for _, a := range args {
			a, _ = a.Unmark()
			if a.IsNull() || !a.IsKnown() || !a.CanIterateElements() {
				continue
			}
			if size *= a.LengthInt(); size > maxInstances {
				return function.NewArgErrorf(0, "the product has more than %d elements", maxInstances)
			}
		}
		return nil
	})
}

// markedParam takes a value with its marks.
func markedParam() []function.Parameter {
	return []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true}}
}

func sameType(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

func sensitiveFunc() function.Function {
	return function.New(&function.Spec{Params: markedParam(), Type: sameType, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(sensitive), nil
	}})
}

func nonsensitiveFunc() function.Function {
	return function.New(&function.Spec{Params: markedParam(), Type: sameType, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		plain, _ := args[0].UnmarkDeep()
		return plain, nil
	}})
}

func isSensitiveFunc() function.Function {
	return function.New(&function.Spec{Params: markedParam(), Type: function.StaticReturnType(cty.Bool), Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return cty.BoolVal(args[0].HasMark(sensitive)), nil
	}})
}
