package protofile

import "google.golang.org/protobuf/reflect/protoreflect"

// MessageDescription is a message for programs.
type MessageDescription struct {
	Name   string             `json:"name"`
	File   string             `json:"file"` // by which name others import it
	Fields []FieldDescription `json:"fields"`
}

// FieldDescription is a field of one.
type FieldDescription struct {
	Name     string   `json:"name"`
	JSONName string   `json:"json_name"`
	Number   int32    `json:"number"`
	Type     string   `json:"type"` // as in the .proto file: repeated string
	Required bool     `json:"required,omitempty"`
	Oneof    string   `json:"oneof,omitempty"`
	Values   []string `json:"values,omitempty"` // of an enum
}

// Describe describes a message.
func Describe(m protoreflect.MessageDescriptor) MessageDescription {
	d := MessageDescription{Name: string(m.FullName()), File: m.ParentFile().Path(), Fields: []FieldDescription{}}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		x := FieldDescription{Name: f.TextName(), JSONName: f.JSONName(), Number: int32(f.Number()), Type: TypeName(f), Required: f.Cardinality() == protoreflect.Required}
		if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
			x.Oneof = string(o.Name())
		}
		value := f
		if f.IsMap() {
			value = f.MapValue()
		}
		if e := value.Enum(); e != nil {
			x.Values = enumNames(e)
		}
		d.Fields = append(d.Fields, x)
	}
	return d
}
