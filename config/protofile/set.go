package protofile

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/apipb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/sourcecontextpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/typepb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Set is the messages of a workflow's .proto files and of all that these import. It does not change once made.
type Set struct {
	files *protoregistry.Files
	types *dynamicpb.Types
}

// newSet adds the files of protobuf itself, of which any may be meant by the type in an Any.
func newSet(files *protoregistry.Files) *Set {
	for _, d := range standardFiles {
		if _, err := files.FindFileByPath(d.Path()); err != nil {
			_ = files.RegisterFile(d) // refused where the workflow has a copy under another path, which holds then
		}
	}
	return &Set{files: files, types: dynamicpb.NewTypes(files)}
}

var standardFiles = []protoreflect.FileDescriptor{
	sourcecontextpb.File_google_protobuf_source_context_proto, anypb.File_google_protobuf_any_proto, durationpb.File_google_protobuf_duration_proto,
	emptypb.File_google_protobuf_empty_proto, fieldmaskpb.File_google_protobuf_field_mask_proto, structpb.File_google_protobuf_struct_proto,
	timestamppb.File_google_protobuf_timestamp_proto, wrapperspb.File_google_protobuf_wrappers_proto, typepb.File_google_protobuf_type_proto,
	apipb.File_google_protobuf_api_proto,
}

// Message finds a message by its full name, such as shop.v1.Load; nil where there is none. An entry of a map is none.
func (s *Set) Message(name string) protoreflect.MessageDescriptor {
	if s == nil {
		return nil
	}
	d, err := s.files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	if m, ok := d.(protoreflect.MessageDescriptor); ok && !m.IsMapEntry() {
		return m
	}
	return nil
}

// Extension finds a field that one message adds to another one.
func (s *Set) Extension(of protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	x, err := s.types.FindExtensionByName(protoreflect.FullName(name))
	if err != nil || x.TypeDescriptor().ContainingMessage().FullName() != of.FullName() {
		return nil
	}
	return x.TypeDescriptor()
}

// Read decodes the bytes of a message.
func (s *Set) Read(name string, data []byte) (*dynamicpb.Message, error) {
	d := s.Message(name)
	if d == nil {
		return nil, fmt.Errorf("there is no message %q", name)
	}
	m := dynamicpb.NewMessage(d)
	return m, proto.UnmarshalOptions{Resolver: s.types}.Unmarshal(data, m)
}

// Same tells whether two texts are bytes of a message with the same fields: the same message is many bytes, since neither the order of
// fields nor that of a map's entries is fixed.
func (s *Set) Same(name string, a, b []byte) bool {
	x, err := s.Read(name, a)
	if err != nil {
		return false
	}
	y, err := s.Read(name, b)
	return err == nil && proto.Equal(x, y)
}

// Types finds messages and extensions for the decoding of what names them.
func (s *Set) Types() *dynamicpb.Types { return s.types }

// Names are the full names of all messages but those of protobuf itself, in alphabetical order.
func (s *Set) Names() []string {
	var names []string
	if s == nil {
		return nil
	}
	s.files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if !standard(f.Path()) {
			names = appendMessages(names, f.Messages())
		}
		return true
	})
	slices.Sort(names)
	return names
}

func appendMessages(names []string, list protoreflect.MessageDescriptors) []string {
	for i := range list.Len() {
		if m := list.Get(i); !m.IsMapEntry() {
			names = appendMessages(append(names, string(m.FullName())), m.Messages())
		}
	}
	return names
}

// HasPackage tells whether a file of the set, other than those of protobuf itself, is of a package. The package without a name is none.
func (s *Set) HasPackage(name string) bool {
	has := false
	if s == nil || name == "" {
		return false
	}
	s.files.RangeFilesByPackage(protoreflect.FullName(name), func(f protoreflect.FileDescriptor) bool {
		has = !standard(f.Path())
		return !has
	})
	return has
}

// TypeName is a field's type as .proto files have it: string, repeated shop.v1.Item, map<string, int32>.
func TypeName(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return fmt.Sprintf("map<%s, %s>", ElementName(f.MapKey()), ElementName(f.MapValue()))
	case f.IsList():
		return "repeated " + ElementName(f)
	}
	return ElementName(f)
}

// ElementName is the type of a field, or of each of its elements.
func ElementName(f protoreflect.FieldDescriptor) string {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return string(f.Message().FullName())
	case protoreflect.EnumKind:
		return string(f.Enum().FullName())
	}
	return f.Kind().String()
}

// standard tells whether a file is one of protobuf itself.
func standard(path string) bool { return strings.HasPrefix(path, "google/protobuf/") }
