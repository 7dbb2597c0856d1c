package config

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/config/protofile"
)

// protoTypes are the types of drawn fields beside the messages and the enum of the drawn file.
var protoTypes = []string{
	"double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes", "Mode",
	"google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue",
	"google.protobuf.Any", "google.protobuf.Empty", "google.protobuf.BoolValue", "google.protobuf.BytesValue", "google.protobuf.DoubleValue", "google.protobuf.FloatValue",
	"google.protobuf.Int32Value", "google.protobuf.Int64Value", "google.protobuf.StringValue", "google.protobuf.UInt32Value", "google.protobuf.UInt64Value",
}

var protoKeys = []string{"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string"}

// drawProto draws a .proto file: messages M0 and on, with fields of every kind, of each other and of themselves.
func drawProto(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\npackage p;\n")
	for _, file := range []string{"any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"} {
		fmt.Fprintf(&b, "import \"google/protobuf/%s.proto\";\n", file)
	}
	b.WriteString("enum Mode { MODE_NONE = 0; MODE_A = 1; MODE_B = -7; }\n")
	messages := rapid.IntRange(1, 4).Draw(t, "messages")
	for m := range messages {
		fmt.Fprintf(&b, "message M%d {\n", m)
		number := 0
		line := func(label, kind string) {
			number += rapid.IntRange(1, 3).Draw(t, "number")
			fmt.Fprintf(&b, "  %s%s a_field_%d = %d;\n", label, kind, number, number)
		}
		kind := func() string {
			if rapid.IntRange(0, 3).Draw(t, "own") == 0 {
				return fmt.Sprintf("M%d", rapid.IntRange(0, messages-1).Draw(t, "message"))
			}
			return rapid.SampledFrom(protoTypes).Draw(t, "type")
		}
		for range rapid.IntRange(1, 8).Draw(t, "fields") {
			switch rapid.SampledFrom([]string{"single", "optional", "repeated", "map", "oneof"}).Draw(t, "field") {
			case "single":
				line("", kind())
			case "optional":
				line("optional ", kind())
			case "repeated":
				line("repeated ", kind())
			case "map":
				line("", fmt.Sprintf("map<%s, %s>", rapid.SampledFrom(protoKeys).Draw(t, "key"), kind()))
			case "oneof":
				fmt.Fprintf(&b, "  oneof choice_%d {\n", number)
				for range rapid.IntRange(1, 3).Draw(t, "of") {
					line("", kind())
				}
				b.WriteString("  }\n")
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// drawn draws messages of a file.
type drawn struct {
	*rapid.T
	set *protofile.Set
}

// text draws what HCL, JSON and we ourselves might mistake for something else. Strings of HCL are in the normal form of Unicode (NFC).
func (d drawn) text() string {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\/$%{}~\n\r\t\x00\x7f@:é漢\u2028😀"))).Draw(d.T, "text")
}

// message fills m; depth bounds how many more messages are inside of it.
func (d drawn) message(m protoreflect.Message, depth int) {
	name := m.Descriptor().FullName()
	field := func(name protoreflect.Name) protoreflect.FieldDescriptor { return m.Descriptor().Fields().ByName(name) }
	set := func(name protoreflect.Name, v protoreflect.Value) { m.Set(field(name), v) }
	switch name {
	case "google.protobuf.Timestamp":
		set("seconds", protoreflect.ValueOfInt64(rapid.Int64Range(-62135596800, 253402300799).Draw(d.T, "seconds")))
		set("nanos", protoreflect.ValueOfInt32(rapid.Int32Range(0, 999_999_999).Draw(d.T, "nanos")))
	case "google.protobuf.Duration":
		sign := rapid.SampledFrom([]int64{-1, 1}).Draw(d.T, "sign")
		set("seconds", protoreflect.ValueOfInt64(sign*rapid.Int64Range(0, 315_576_000_000-1).Draw(d.T, "seconds")))
		set("nanos", protoreflect.ValueOfInt32(int32(sign)*rapid.Int32Range(0, 999_999_999).Draw(d.T, "nanos")))
	case "google.protobuf.FieldMask":
		for range rapid.IntRange(0, 2).Draw(d.T, "paths") {
			m.Mutable(field("paths")).List().Append(protoreflect.ValueOfString(rapid.SampledFrom([]string{"day", "user.last_name", "a_b.c"}).Draw(d.T, "path")))
		}
	case "google.protobuf.Any":
		of := d.set.Names()[0]
		inner := dynamicpb.NewMessage(d.set.Message(of))
		d.message(inner, depth-1)
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(inner)
		if err != nil {
			d.Fatal(err)
		}
		set("type_url", protoreflect.ValueOfString("type.googleapis.com/"+of))
		set("value", protoreflect.ValueOfBytes(data))
	case "google.protobuf.Value":
		kinds := []string{"null", "bool", "number", "string"}
		if depth > 0 {
			kinds = append(kinds, "struct", "list")
		}
		switch rapid.SampledFrom(kinds).Draw(d.T, "value") {
		case "null":
			set("null_value", protoreflect.ValueOfEnum(0))
		case "bool":
			set("bool_value", protoreflect.ValueOfBool(rapid.Bool().Draw(d.T, "bool")))
		case "number":
			set("number_value", protoreflect.ValueOfFloat64(rapid.Float64().Draw(d.T, "number")+0))
		case "string":
			set("string_value", protoreflect.ValueOfString(d.text()))
		case "struct":
			d.message(m.Mutable(field("struct_value")).Message(), depth-1)
		case "list":
			d.message(m.Mutable(field("list_value")).Message(), depth-1)
		}
	default:
		for i := range m.Descriptor().Fields().Len() {
			d.field(m, m.Descriptor().Fields().Get(i), depth)
		}
	}
}

func (d drawn) field(m protoreflect.Message, f protoreflect.FieldDescriptor, depth int) {
	isMessage := f.Message() != nil && !f.IsMap() || f.IsMap() && f.MapValue().Message() != nil
	if o := f.ContainingOneof(); o != nil && m.WhichOneof(o) != nil || isMessage && depth <= 0 || rapid.IntRange(0, 3).Draw(d.T, "left out") == 0 {
		return
	}
	switch n := rapid.IntRange(0, 3); {
	case f.IsMap():
		entries := m.Mutable(f).Map()
		for range n.Draw(d.T, "entries") {
			key := d.scalar(f.MapKey()).MapKey()
			if f.MapValue().Message() == nil {
				entries.Set(key, d.scalar(f.MapValue()))
				continue
			}
			v := entries.NewValue()
			d.message(v.Message(), depth-1)
			entries.Set(key, v)
		}
	case f.IsList():
		list := m.Mutable(f).List()
		for range n.Draw(d.T, "elements") {
			if f.Message() == nil {
				list.Append(d.scalar(f))
				continue
			}
			v := list.NewElement()
			d.message(v.Message(), depth-1)
			list.Append(v)
		}
	case f.Message() != nil:
		d.message(m.Mutable(f).Message(), depth-1)
	default:
		m.Set(f, d.scalar(f))
	}
}

// scalar draws a value. Numbers of HCL have no negative zero, which + 0 makes none.
func (d drawn) scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	odd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)})
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(d.T, "bool"))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(rapid.SampledFrom([]protoreflect.EnumNumber{0, 1, -7}).Draw(d.T, "enum"))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(d.text())
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(d.T, "bytes"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.OneOf(rapid.Float64(), odd).Draw(d.T, "double") + 0)
	case protoreflect.FloatKind:
		if rapid.Bool().Draw(d.T, "odd") {
			return protoreflect.ValueOfFloat32(float32(odd.Draw(d.T, "float")))
		}
		return protoreflect.ValueOfFloat32(rapid.Float32().Draw(d.T, "float") + 0)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(d.T, "int32"))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(d.T, "uint32"))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(d.T, "uint64"))
	}
	return protoreflect.ValueOfInt64(rapid.Int64().Draw(d.T, "int64"))
}

// TestMessagesRoundTrip writes what people see of any message as a payload: the worker gets the same message. The bytes that such a
// payload is compared with may have the fields in another order.
func TestMessagesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "messages")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir) //nolint:errcheck // of a test
		text := drawProto(t)
		set, problems := protofile.Compile([]string{"p.proto"}, nil, func(name string) ([]byte, error) {
			if name != "p.proto" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		})
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, text)
		}
		var hcl strings.Builder
		hcl.WriteString("workflow \"w\" {\n  proto {\n    files = [\"p.proto\"]\n  }\n}\n")
		messages, shown := map[string]*dynamicpb.Message{}, map[string]string{}
		for i, name := range set.Names() {
			m := dynamicpb.NewMessage(set.Message(name))
			drawn{t, set}.message(m, 3)
			data, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			seen, _, err := ShowMessage(set, name, data)
			if err != nil {
				t.Fatalf("%s %v: %v\n%s", name, m, err, text)
			}
			job := fmt.Sprintf("j%d", i)
			messages[job], shown[job] = m, string(seen)
			fmt.Fprintf(&hcl, "job %q {\n  type = %q\n  payload = %s\n}\n", job, name, strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(seen)))
			hcl.WriteString(strings.Replace(protofile.Skeleton(m.Descriptor()), "job \"", fmt.Sprintf("job \"skeleton_%d_", i), 1))
		}
		for name, content := range map[string]string{"main.hcl": hcl.String(), "p.proto": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, diags := Load(Options{Paths: []string{dir}})
		if diags.HasErrors() {
			t.Fatalf("%v\n%s\n%s", diags, hcl.String(), text)
		}
		for _, j := range w.Jobs {
			m := messages[j.Addr.Name]
			if m == nil {
				continue // a skeleton, which has to be valid
			}
			got, err := w.Messages.Read(j.Type, j.Payload)
			if err != nil {
				t.Fatal(err)
			}
			data, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(m, messageOf(t, set, j)) || !w.Messages.Same(j.Type, data, j.Payload) {
				t.Fatalf("%s: sent %v, want %v\n%s", j.Addr, got, m, text)
			}
			if diff := cmp.Diff(shown[j.Addr.Name], string(j.Shown)); diff != "" {
				t.Fatalf("%s is shown otherwise (-as stored +as declared):\n%s", j.Addr, diff)
			}
		}
	})
}

// messageOf is a job's payload by the descriptors of set.
func messageOf(t *rapid.T, set *protofile.Set, j *Job) *dynamicpb.Message {
	m, err := set.Read(j.Type, j.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// FuzzShowMessage shows any bytes of a message, or says that it cannot.
func FuzzShowMessage(f *testing.F) {
	const text = "syntax = \"proto3\"; message A { string s = 1; repeated A a = 2; map<int32, bytes> m = 3; google.protobuf.Any any = 4; google.protobuf.Value v = 5; }"
	set, problems := protofile.Compile([]string{"p.proto"}, nil, func(name string) ([]byte, error) {
		if name != "p.proto" {
			return nil, fs.ErrNotExist
		}
		return []byte(strings.Replace(text, "message", "import \"google/protobuf/any.proto\"; import \"google/protobuf/struct.proto\"; message", 1)), nil
	})
	if len(problems) > 0 {
		f.Fatal(problems)
	}
	f.Add([]byte("\n\x03abc"))
	f.Add([]byte("\x12\x05\n\x03@{u"))
	f.Add([]byte("\n\x1a" + Placeholder("job.load")))
	f.Add([]byte("\"\x02\n\x00*\x02\b\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		shown, message, err := ShowMessage(set, "A", data)
		if err == nil && (message == nil || !json.Valid(shown)) {
			t.Errorf("%q is shown as %q", data, shown)
		}
	})
}
