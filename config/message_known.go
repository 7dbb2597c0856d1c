package config

import (
	"math"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// knownReader fills a message that has a form of its own in JSON. The value has no mark.
type knownReader func(p *messageReader, m protoreflect.Message, val cty.Value, at spot) cty.Value

// wellKnown are the messages of protobuf itself that are not written as objects of their fields.
var wellKnown map[protoreflect.FullName]knownReader

func init() {
	wellKnown = map[protoreflect.FullName]knownReader{
		"google.protobuf.Timestamp":   textForm("a time of RFC 3339, such as \"2026-11-20T06:00:00Z\"", asWritten),
		"google.protobuf.Duration":    textForm("a duration, such as \"1.5s\" or \"1h30m\"", durationForm),
		"google.protobuf.FieldMask":   textForm("names of fields in lowerCamelCase with commas between them, such as \"day,user.lastName\"", asWritten),
		"google.protobuf.Struct":      (*messageReader).structForm,
		"google.protobuf.Value":       (*messageReader).valueForm,
		"google.protobuf.ListValue":   (*messageReader).listForm,
		"google.protobuf.Any":         (*messageReader).anyForm,
		"google.protobuf.BoolValue":   (*messageReader).wrapperForm,
		"google.protobuf.BytesValue":  (*messageReader).wrapperForm,
		"google.protobuf.DoubleValue": (*messageReader).wrapperForm,
		"google.protobuf.FloatValue":  (*messageReader).wrapperForm,
		"google.protobuf.Int32Value":  (*messageReader).wrapperForm,
		"google.protobuf.Int64Value":  (*messageReader).wrapperForm,
		"google.protobuf.StringValue": (*messageReader).wrapperForm,
		"google.protobuf.UInt32Value": (*messageReader).wrapperForm,
		"google.protobuf.UInt64Value": (*messageReader).wrapperForm,
	}
}

// keepsNull tells whether null is a value of a field, or of its elements, and not the lack of one.
func keepsNull(f protoreflect.FieldDescriptor) bool {
	switch {
	case f.Message() != nil:
		return f.Message().FullName() == "google.protobuf.Value" && !f.IsMap()
	case f.Enum() != nil:
		return f.Enum().FullName() == "google.protobuf.NullValue"
	}
	return false
}

func asWritten(text string) string { return text }

// durationForm takes the durations of the language besides those of JSON, which are in seconds.
func durationForm(text string) string {
	if d, err := time.ParseDuration(text); err == nil && strings.ContainsAny(text, "hmuµn") {
		data, err := protojson.Marshal(durationpb.New(d))
		if err == nil {
			return strings.Trim(string(data), `"`)
		}
	}
	return text
}

// textForm is the form of a message that is a text of some kind. What it is, protojson knows.
func textForm(what string, normal func(string) string) knownReader {
	return func(p *messageReader, m protoreflect.Message, val cty.Value, at spot) cty.Value {
		if !val.IsNull() && val.Type() == cty.String && !hasReading(val.AsString()) && !hasPlaceholder(val.AsString()) {
			text := normal(val.AsString())
			if err := protojson.Unmarshal(appendString(nil, text), m.Interface()); err == nil {
				return cty.StringVal(text)
			}
		}
		p.error(sumBadField, at, "%s is a %s, which is written as %s, and this is %s.", upperFirst(at.path), m.Descriptor().FullName(), what, given(val, at.secret))
		return cty.NilVal
	}
}

// wrapperForm is that of a scalar which can be missing: the scalar.
func (p *messageReader) wrapperForm(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	f := m.Descriptor().Fields().ByNumber(1)
	v, shown := p.scalar(f, val, at)
	if v.IsValid() {
		m.Set(f, v)
	}
	return shown
}

func (p *messageReader) structForm(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	if ty := val.Type(); val.IsNull() || !ty.IsObjectType() && !ty.IsMapType() {
		p.error(sumBadField, at, "%s is a google.protobuf.Struct, which is written as an object, and this is %s.", upperFirst(at.path), given(val, at.secret))
		return cty.NilVal
	}
	f := m.Descriptor().Fields().ByNumber(1)
	entries, members := m.Mutable(f).Map(), val.AsValueMap()
	at.depth += 2 // an entry, and the struct in a value
	shown := map[string]cty.Value{}
	for name, elem := range members {
		in := at.member(name)
		if hasReading(name) || hasPlaceholder(name) {
			in.at = in.key
			p.error(sumBadField, in, "A key of %s is not known yet, and keys cannot be put in later. Only values can.", at.path)
			continue
		}
		v := entries.NewValue()
		if s := p.message(v.Message(), elem, in); s != cty.NilVal {
			entries.Set(protoreflect.ValueOfString(name).MapKey(), v)
			shown[name] = s
		}
	}
	return cty.ObjectVal(shown)
}

func (p *messageReader) listForm(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	if ty := val.Type(); val.IsNull() || !ty.IsListType() && !ty.IsTupleType() && !ty.IsSetType() {
		p.error(sumBadField, at, "%s is a google.protobuf.ListValue, which is written as a list, and this is %s.", upperFirst(at.path), given(val, at.secret))
		return cty.NilVal
	}
	list := m.Mutable(m.Descriptor().Fields().ByNumber(1)).List()
	at.depth++ // the list in a value
	shown := []cty.Value{}
	for it := val.ElementIterator(); it.Next(); {
		_, elem := it.Element()
		v := list.NewElement()
		if s := p.message(v.Message(), elem, at.element(len(shown))); s != cty.NilVal {
			list.Append(v)
			shown = append(shown, s)
		}
	}
	return cty.TupleVal(shown)
}

// valueForm takes any value.
func (p *messageReader) valueForm(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	field := func(name protoreflect.Name) protoreflect.FieldDescriptor { return m.Descriptor().Fields().ByName(name) }
	ty := val.Type()
	switch {
	case !val.IsKnown():
		p.failed = true
		return cty.NilVal
	case val.IsNull():
		m.Set(field("null_value"), protoreflect.ValueOfEnum(0))
		return val
	case ty == cty.Bool:
		m.Set(field("bool_value"), protoreflect.ValueOfBool(val.True()))
		return val
	case ty == cty.Number:
		n, _ := val.AsBigFloat().Float64()
		if math.IsInf(n, 0) {
			p.error(sumBadField, at, "%s is a google.protobuf.Value, whose numbers are of type double, and %s is more than that holds.", upperFirst(at.path), given(val, at.secret))
			return cty.NilVal
		}
		m.Set(field("number_value"), protoreflect.ValueOfFloat64(n))
		return val
	case ty == cty.String:
		v, shown := p.text(field("string_value"), val, at)
		m.Set(field("string_value"), v)
		return shown
	case ty.IsObjectType() || ty.IsMapType():
		return p.structForm(m.Mutable(field("struct_value")).Message(), val, at)
	}
	return p.listForm(m.Mutable(field("list_value")).Message(), val, at)
}

// anyForm is a message of any type, which the member @type names.
func (p *messageReader) anyForm(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	const form = "written as an object with \"@type\", such as { \"@type\" = \"type.googleapis.com/shop.v1.Load\", day = var.day }"
	ty := val.Type()
	if val.IsNull() || !ty.IsObjectType() && !ty.IsMapType() {
		p.error(sumBadField, at, "%s is a google.protobuf.Any, %s, and this is %s.", upperFirst(at.path), form, given(val, at.secret))
		return cty.NilVal
	}
	members := val.AsValueMap()
	if len(members) == 0 {
		return val
	}
	in := at.member("@type")
	url := p.unmarked(members["@type"], &in)
	if url == cty.NilVal || url.IsNull() || url.Type() != cty.String {
		p.error(sumBadField, at, "%s is a google.protobuf.Any, %s.", upperFirst(at.path), form)
		return cty.NilVal
	}
	name := url.AsString()[strings.LastIndexByte(url.AsString(), '/')+1:]
	d := p.set.Message(name)
	if d == nil || !strings.Contains(url.AsString(), "/") {
		hint := ""
		if !in.secret {
			hint = didYouMeanOf(name, p.set.Names()...)
		}
		p.error(sumUnknownMessage, in, "%s is the URL of a message of the workflow's .proto files, such as \"type.googleapis.com/shop.v1.Load\", and this is %s.%s", upperFirst(in.path), given(url, in.secret), hint)
		return cty.NilVal
	}
	inner := dynamicpb.NewMessage(d)
	delete(members, "@type")
	shown := map[string]cty.Value{}
	if wellKnown[d.FullName()] != nil {
		value, has := members["value"]
		if !has || len(members) > 1 {
			p.error(sumBadField, at, "%s is a google.protobuf.Any with a %s in it, which is written as its \"value\" and nothing else beside \"@type\".", upperFirst(at.path), d.FullName())
			return cty.NilVal
		}
		got := p.message(inner, value, at.member("value"))
		shown["value"] = got
		if got == cty.NilVal {
			return cty.NilVal
		}
	} else if got := p.object(inner, members, at); got != cty.NilVal {
		shown = got.AsValueMap()
		if shown == nil {
			shown = map[string]cty.Value{}
		}
	}
	shown["@type"] = url
	data, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(inner)
	if err != nil {
		p.failed = true
		return cty.NilVal
	}
	m.Set(m.Descriptor().Fields().ByName("type_url"), protoreflect.ValueOfString(url.AsString()))
	m.Set(m.Descriptor().Fields().ByName("value"), protoreflect.ValueOfBytes(data))
	return cty.ObjectVal(shown)
}
