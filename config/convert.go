package config

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// convertAny converts as convert.Convert does, in linear time also where a list, set or map of any type is wanted, or of strings, numbers or
// bools: cty compares the type of each element with that of each other one, which takes minutes for 100,000 elements.
func convertAny(val cty.Value, want cty.Type) (cty.Value, error) {
	if !comparesTypes(want) || val.IsNull() || !val.IsKnown() || containsMarked(val) {
		return convert.Convert(val, want)
	}
	switch ty := val.Type(); {
	case ty.IsTupleType() && !want.IsMapType() && ty.Length() > 0:
		elems := val.AsValueSlice()
		if !convertElements(elems, want.ElementType()) {
			break
		}
		if want.IsSetType() {
			return cty.SetVal(elems), nil
		}
		return cty.ListVal(elems), nil
	case ty.IsObjectType() && want.IsMapType() && len(ty.AttributeTypes()) > 0:
		attrs := val.AsValueMap()
		keys := make([]string, 0, len(attrs))
		elems := make([]cty.Value, 0, len(attrs))
		for key, elem := range attrs {
			keys, elems = append(keys, key), append(elems, elem)
		}
		if !convertElements(elems, want.ElementType()) {
			break
		}
		for i, key := range keys {
			attrs[key] = elems[i]
		}
		return cty.MapVal(attrs), nil
	}
	return convert.Convert(val, want)
}

// comparesTypes tells whether cty compares the types of all elements when it converts to a type.
func comparesTypes(want cty.Type) bool {
	return want.IsCollectionType() && (want.ElementType() == cty.DynamicPseudoType || want.ElementType().IsPrimitiveType())
}

// convertElements converts values to one type, which is found by itself where any will do.
func convertElements(elems []cty.Value, want cty.Type) bool {
	if want == cty.DynamicPseudoType {
		return unifyElements(elems)
	}
	for i, e := range elems {
		got, err := convert.Convert(e, want)
		if err != nil {
			return false
		}
		elems[i] = got
	}
	return true
}

// unifyElements converts values to the one type that fits all, if there is one and few types to choose from.
func unifyElements(elems []cty.Value) bool {
	const few = 16
	var types []cty.Type
	for _, e := range elems {
		if ty := e.Type(); !slices.ContainsFunc(types, ty.Equals) {
			if types = append(types, ty); len(types) > few {
				return false
			}
		}
	}
	target, _ := convert.UnifyUnsafe(types)
	if target == cty.NilType || target.HasDynamicTypes() {
		return false
	}
	return convertElements(elems, target)
}

// toFunc converts to a collection whose elements have the type they have, as Terraform's tolist, toset and tomap.
func toFunc(want cty.Type) function.Function {
	slow := stdlib.MakeToFunc(want)
	spec := &function.Spec{
		Params: slices.Clone(slow.Params()),
		Type: func(args []cty.Value) (cty.Type, error) {
			if got, err := convertAny(args[0], want); err == nil && got.IsKnown() && !got.IsNull() {
				return got.Type(), nil
			}
			return slow.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if got, err := convertAny(args[0], want); err == nil && got.IsKnown() && !got.IsNull() {
				return got, nil
			}
			return slow.Call(args)
		},
	}
	return function.New(spec)
}

// swift makes a function that converts its collections in linear time.
func swift(f function.Function) function.Function {
	spec := &function.Spec{Description: f.Description()}
	some := false
	loosen := func(p function.Parameter) function.Parameter {
		if comparesTypes(p.Type) {
			some = true
			p.Type = cty.DynamicPseudoType
		}
		return p
	}
	for _, p := range f.Params() {
		spec.Params = append(spec.Params, loosen(p))
	}
	if v := f.VarParam(); v != nil {
		p := loosen(*v)
		spec.VarParam = &p
	}
	if !some {
		return f
	}
	tighten := func(args []cty.Value) ([]cty.Value, error) {
		args = slices.Clone(args)
		for i := range args {
			p := f.VarParam()
			if i < len(f.Params()) {
				p = &f.Params()[i]
			}
			if !comparesTypes(p.Type) {
				continue
			}
			got, err := convertAny(args[i], p.Type)
			if err != nil {
				return nil, function.NewArgError(i, err)
			}
			args[i] = got
		}
		return args, nil
	}
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		args, err := tighten(args)
		if err != nil {
			return cty.NilType, err
		}
		return f.ReturnTypeForValues(args)
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		args, err := tighten(args)
		if err != nil {
			return cty.NilVal, err
		}
		return f.Call(args)
	}
	return function.New(spec)
}

// containsMarked tells whether a value or a part of it is sensitive. The elements of a set have no marks of their own, and
// visiting them would sort them.
func containsMarked(v cty.Value) bool {
	if v.IsMarked() {
		return true
	}
	ty := v.Type()
	if v.IsNull() || !v.IsKnown() || ty.IsPrimitiveType() || ty.IsSetType() || ty.IsCapsuleType() || !v.CanIterateElements() {
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, elem := it.Element(); containsMarked(elem) {
			return true
		}
	}
	return false
}
