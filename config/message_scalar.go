package config

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybill-dev/waybill/config/protofile"
)

// scalar makes a value of a field that is no message, and what people see of it.
func (p *messageReader) scalar(f protoreflect.FieldDescriptor, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	if !val.IsNull() && val.Type() == cty.String && f.Kind() != protoreflect.StringKind && p.unsettled(f, val.AsString(), at) {
		return protoreflect.Value{}, cty.NilVal
	}
	switch f.Kind() {
	case protoreflect.StringKind:
		return p.text(f, val, at)
	case protoreflect.BytesKind:
		return p.bytes(f, val, at)
	case protoreflect.BoolKind:
		if val.IsNull() || val.Type() != cty.Bool {
			return p.mismatch(f, val, at, "Write true or false.")
		}
		return protoreflect.ValueOfBool(val.True()), val
	case protoreflect.EnumKind:
		return p.enum(f, val, at)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return p.float(f, val, at)
	}
	return p.integer(f, val, at)
}

func (p *messageReader) mismatch(f protoreflect.FieldDescriptor, val cty.Value, at spot, hint string) (protoreflect.Value, cty.Value) {
	p.error(sumBadField, at, "%s is of type %s, and this is %s. %s", upperFirst(at.path), protofile.ElementName(f), given(val, at.secret), hint)
	return protoreflect.Value{}, cty.NilVal
}

// unsettled reports what is not known when the bytes are made. It can stand in strings alone, where it is put in later.
func (p *messageReader) unsettled(f protoreflect.FieldDescriptor, text string, at spot) bool {
	var when string
	switch {
	case hasReading(text):
		when = "a result or a secret of the worker is known only when the job starts"
	case hasPlaceholder(text):
		when = "a job's uuid is known only when it is submitted"
	default:
		return false
	}
	p.error(sumBadField, at, "%s is of type %s, and %s. Such values may stand in fields of type string.", upperFirst(at.path), protofile.ElementName(f), when)
	return true
}

func (p *messageReader) text(f protoreflect.FieldDescriptor, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	if val.IsNull() || val.Type() != cty.String {
		return p.mismatch(f, val, at, "Put it in quotes, or into tostring().")
	}
	text := val.AsString()
	if hasReading(text) {
		if p.late == (hcl.Range{}) {
			p.late = placeOfReading(text, at.at)
		}
		text = textReading(text)
	}
	return protoreflect.ValueOfString(p.holdPlaceholders(text)), cty.StringVal(text)
}

func (p *messageReader) bytes(f protoreflect.FieldDescriptor, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	const hint = "Bytes are written in base64, such as with base64encode() or filebase64()."
	if val.IsNull() || val.Type() != cty.String {
		return p.mismatch(f, val, at, hint)
	}
	// As the JSON form of protobuf takes them: of either alphabet, with padding or without.
	text := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(val.AsString(), "="))
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return p.mismatch(f, val, at, hint)
	}
	return protoreflect.ValueOfBytes(data), cty.StringVal(base64.StdEncoding.EncodeToString(data))
}

// enum takes the name or the number of a value.
func (p *messageReader) enum(f protoreflect.FieldDescriptor, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	values := f.Enum().Values()
	var v protoreflect.EnumValueDescriptor
	hint := "Write the name of one of its values."
	switch {
	case f.Enum().FullName() == "google.protobuf.NullValue" && val.IsNull():
		return protoreflect.ValueOfEnum(0), val
	case val.IsNull():
	case val.Type() == cty.String:
		if v = values.ByName(protoreflect.Name(val.AsString())); v == nil {
			hint = oneOfValues(values, val.AsString(), at.secret)
		}
	case val.Type() == cty.Number:
		if n, accuracy := val.AsBigFloat().Int64(); accuracy == big.Exact && n >= math.MinInt32 && n <= math.MaxInt32 {
			v = values.ByNumber(protoreflect.EnumNumber(n))
		}
		if v == nil {
			hint = oneOfValues(values, "", at.secret)
		}
	}
	if v == nil {
		return p.mismatch(f, val, at, hint)
	}
	if !at.secret {
		p.fields[p.noted+"."+string(v.Name())] = strconv.Itoa(int(v.Number()))
	}
	return protoreflect.ValueOfEnum(v.Number()), cty.StringVal(string(v.Name()))
}

// oneOfValues names what an enum may be, or the value that was probably meant.
func oneOfValues(values protoreflect.EnumValueDescriptors, given string, secret bool) string {
	const listed = 12
	var names []string
	for i := range values.Len() {
		names = append(names, string(values.Get(i).Name()))
	}
	if hint := didYouMeanOf(given, names...); hint != "" && !secret {
		return hint[1:]
	}
	if len(names) > listed {
		return "It is one of " + strings.Join(names[:listed], ", ") + " and " + strconv.Itoa(len(names)-listed) + " more."
	}
	return "It is one of " + strings.Join(names, ", ") + "."
}

// float takes a number, or a text as the JSON form of protobuf has what is no number.
func (p *messageReader) float(f protoreflect.FieldDescriptor, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	var n float64
	switch {
	case !val.IsNull() && val.Type() == cty.Number:
		n, _ = val.AsBigFloat().Float64()
	case !val.IsNull() && val.Type() == cty.String && val.AsString() == "NaN":
		n = math.NaN()
	case !val.IsNull() && val.Type() == cty.String && strings.TrimPrefix(val.AsString(), "-") == "Infinity":
		n = math.Inf(1)
		if val.AsString()[0] == '-' {
			n = math.Inf(-1)
		}
	default:
		return p.mismatch(f, val, at, "Write a number, or \"NaN\", \"Infinity\" or \"-Infinity\".")
	}
	single := f.Kind() == protoreflect.FloatKind
	// Infinite is what does not fit after rounding: the largest float is written as 3.4028235e+38, which is more than it by itself.
	if val.Type() == cty.Number && (math.IsInf(n, 0) || single && math.IsInf(float64(float32(n)), 0)) {
		return p.mismatch(f, val, at, "That is more than the type holds.")
	}
	if single {
		return protoreflect.ValueOfFloat32(float32(n)), val
	}
	return protoreflect.ValueOfFloat64(n), val
}

// integer takes a whole number, or its digits as a text: the JSON form of protobuf has the large ones so.
func (p *messageReader) integer(f protoreflect.FieldDescriptor, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	var n *big.Float
	switch {
	case !val.IsNull() && val.Type() == cty.Number:
		n = val.AsBigFloat()
	case !val.IsNull() && val.Type() == cty.String && wholeDigits(val.AsString()):
		n, _ = new(big.Float).SetPrec(128).SetString(val.AsString())
	default:
		return p.mismatch(f, val, at, "Write a whole number.")
	}
	if n == nil || !n.IsInt() {
		return p.mismatch(f, val, at, "Write a whole number.")
	}
	low, high := bounds(f.Kind())
	if n.Cmp(low) < 0 || n.Cmp(high) > 0 {
		return p.mismatch(f, val, at, "It holds whole numbers from "+low.Text('f', 0)+" to "+high.Text('f', 0)+".")
	}
	shown := cty.NumberVal(n)
	if len(strings.TrimPrefix(n.Text('f', 0), "-")) > 15 { // more than every reader of JSON takes for a number
		shown = cty.StringVal(n.Text('f', 0))
	}
	signed, _ := n.Int64()
	unsigned, _ := n.Uint64()
	switch f.Kind() {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(signed)), shown
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(unsigned)), shown
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(unsigned), shown
	}
	return protoreflect.ValueOfInt64(signed), shown
}

// wholeDigits tells whether a text is a whole number of at most 20 digits.
func wholeDigits(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && len(digits) <= 20 && strings.Trim(digits, "0123456789") == ""
}

func bounds(k protoreflect.Kind) (low, high *big.Float) {
	whole := func(n int64) *big.Float { return new(big.Float).SetInt64(n) }
	switch k {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return whole(math.MinInt32), whole(math.MaxInt32)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return whole(0), whole(math.MaxUint32)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return whole(0), new(big.Float).SetUint64(math.MaxUint64)
	}
	return whole(math.MinInt64), whole(math.MaxInt64)
}

// mapKey reads the key of a map as the JSON form of protobuf has it.
func mapKey(f protoreflect.FieldDescriptor, text string) (protoreflect.MapKey, bool) {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text).MapKey(), !hasReading(text) && !hasPlaceholder(text)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(text == "true").MapKey(), text == "true" || text == "false"
	}
	bits := 64
	switch f.Kind() {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind, protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		bits = 32
	}
	switch f.Kind() {
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		n, err := strconv.ParseUint(text, 10, bits)
		if bits == 32 {
			return protoreflect.ValueOfUint32(uint32(n)).MapKey(), err == nil
		}
		return protoreflect.ValueOfUint64(n).MapKey(), err == nil
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if bits == 32 {
		return protoreflect.ValueOfInt32(int32(n)).MapKey(), err == nil
	}
	return protoreflect.ValueOfInt64(n).MapKey(), err == nil
}
