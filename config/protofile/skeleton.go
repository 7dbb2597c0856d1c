package protofile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Skeleton is a job about a message, in HCL: every field with a value of its type, and behind it what it may be. Of the fields of a
// oneof the first is given, and the others stand in comments, as does a message that was written out already. It is valid as it is.
func Skeleton(m protoreflect.MessageDescriptor) string {
	s := &skeleton{seen: map[protoreflect.FullName]bool{}}
	fmt.Fprintf(&s.b, "job %q {\n  type = %q\n", jobName(string(m.Name())), m.FullName())
	if known, ok := knownForms[m.FullName()]; ok {
		fmt.Fprintf(&s.b, "  payload = %s\n}\n", known)
		return s.b.String()
	}
	if m.Fields().Len() == 0 {
		s.b.WriteString("  payload = {}\n}\n")
		return s.b.String()
	}
	s.b.WriteString("  payload = {\n")
	s.message(m, "    ")
	s.b.WriteString("  }\n}\n")
	return s.b.String()
}

// jobName makes the name of a job of that of a message: load_orders of LoadOrders.
func jobName(message string) string {
	var b strings.Builder
	for i, r := range message {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && message[i-1] >= 'a' && message[i-1] <= 'z' {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// skeleton is what is written. seen are the messages that are written out somewhere.
type skeleton struct {
	b    strings.Builder
	seen map[protoreflect.FullName]bool
	open []protoreflect.FullName
}

// knownForms are values of the messages that have a form of their own.
var knownForms = map[protoreflect.FullName]string{
	"google.protobuf.Timestamp": `"1970-01-01T00:00:00Z"`, "google.protobuf.Duration": `"0s"`, "google.protobuf.FieldMask": `""`, "google.protobuf.Struct": `{}`,
	"google.protobuf.Value": `null`, "google.protobuf.ListValue": `[]`, "google.protobuf.Any": `{}`, "google.protobuf.BoolValue": `false`, "google.protobuf.BytesValue": `""`,
	"google.protobuf.DoubleValue": `0`, "google.protobuf.FloatValue": `0`, "google.protobuf.Int32Value": `0`, "google.protobuf.Int64Value": `0`,
	"google.protobuf.StringValue": `""`, "google.protobuf.UInt32Value": `0`, "google.protobuf.UInt64Value": `0`,
}

// message writes the fields of a message, one below the other.
func (s *skeleton) message(m protoreflect.MessageDescriptor, indent string) {
	s.seen[m.FullName()] = true
	s.open = append(s.open, m.FullName())
	defer func() { s.open = s.open[:len(s.open)-1] }()
	pad := 0
	for i := range m.Fields().Len() {
		pad = max(pad, utf8.RuneCountInString(m.Fields().Get(i).TextName()))
	}
	for i := range m.Fields().Len() {
		s.field(m.Fields().Get(i), indent, pad)
	}
}

func (s *skeleton) field(f protoreflect.FieldDescriptor, indent string, pad int) {
	note := "# " + TypeName(f)
	if f.Cardinality() == protoreflect.Required {
		note += ", required"
	}
	value := f
	if f.IsMap() {
		value = f.MapValue()
	}
	if e := value.Enum(); e != nil && e.Values().Len() > 0 {
		note += ": " + strings.Join(enumNames(e), ", ")
	}
	gives := true
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		note += fmt.Sprintf(", one of %s", o.Name())
		gives = o.Fields().Get(0) == f
	}
	name := fmt.Sprintf("%s%-*s = ", indent, pad, f.TextName())
	head, tail := brackets(f)
	message := value.Message()
	known, isKnown := "", false
	if message != nil {
		known, isKnown = knownForms[message.FullName()]
	}
	switch {
	case message != nil && !isKnown && s.cut(f, message):
		fmt.Fprintf(&s.b, "%s# %s%s{}%s %s, as above\n", indent, strings.TrimPrefix(name, indent), head, tail, note)
	case !gives:
		fmt.Fprintf(&s.b, "%s# %s%s%s%s %s\n", indent, strings.TrimPrefix(name, indent), head, s.sample(value, known), tail, note)
	case message != nil && !isKnown && message.Fields().Len() > 0:
		fmt.Fprintf(&s.b, "%s%s{ %s\n", name, head, note)
		s.message(message, indent+"  ")
		fmt.Fprintf(&s.b, "%s}%s\n", indent, tail)
	default:
		fmt.Fprintf(&s.b, "%s%s%s%s %s\n", name, head, s.sample(value, known), tail, note)
	}
}

// cut tells whether a message is not written out here, since it is elsewhere.
func (s *skeleton) cut(f protoreflect.FieldDescriptor, m protoreflect.MessageDescriptor) bool {
	for _, name := range s.open {
		if name == m.FullName() {
			return true
		}
	}
	return s.seen[m.FullName()] && f.Cardinality() != protoreflect.Required && m.Fields().Len() > 0
}

// brackets are what stands around an element.
func brackets(f protoreflect.FieldDescriptor) (head, tail string) {
	switch {
	case f.IsMap():
		key := map[protoreflect.Kind]string{protoreflect.StringKind: `"key"`, protoreflect.BoolKind: `"true"`}[f.MapKey().Kind()]
		if key == "" {
			key = `"0"`
		}
		return "{ " + key + " = ", " }"
	case f.IsList():
		return "[", "]"
	}
	return "", ""
}

// sample is a value of a type.
func (s *skeleton) sample(f protoreflect.FieldDescriptor, known string) string {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		if known != "" {
			return known
		}
		return "{}"
	case protoreflect.StringKind, protoreflect.BytesKind:
		return `""`
	case protoreflect.BoolKind:
		return "false"
	case protoreflect.EnumKind:
		if f.Enum().Values().Len() > 0 {
			return fmt.Sprintf("%q", f.Enum().Values().Get(0).Name())
		}
	}
	return "0"
}

func enumNames(e protoreflect.EnumDescriptor) []string {
	names := make([]string, e.Values().Len())
	for i := range names {
		names[i] = string(e.Values().Get(i).Name())
	}
	return names
}
