package protofile

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// files are what a test reads.
type files map[string]string

func (f files) read(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func compiled(t *testing.T, f files, names ...string) *Set {
	t.Helper()
	set, problems := Compile(names, []string{"in"}, f.read)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return set
}

func TestCompile(t *testing.T) {
	t.Parallel()
	set := compiled(t, files{
		"a.proto":    `syntax = "proto3"; package p; import "b.proto"; import "google/protobuf/timestamp.proto"; message A { B b = 1; message C {} map<string, C> c = 2; google.protobuf.Timestamp t = 3; }`,
		"in/b.proto": `syntax = "proto3"; package p; message B {}`,
	}, "a.proto")
	if diff := cmp.Diff([]string{"p.A", "p.A.C", "p.B"}, set.Names()); diff != "" {
		t.Error(diff)
	}
	if set.Message("p.A.CEntry") != nil || set.Message("p.X") != nil || set.Message("p.A") == nil || !set.HasPackage("p") || set.HasPackage("") || set.HasPackage("google.protobuf") {
		t.Error("the set finds what it must not, or does not find what it has")
	}
	var none *Set
	if none.Message("p.A") != nil || none.Names() != nil || none.HasPackage("p") {
		t.Error("no set has something")
	}
}

// TestImportPaths looks for an import below each of the paths in turn, and for a file under the name that others import it by.
func TestImportPaths(t *testing.T) {
	t.Parallel()
	f := files{"in/shop/a.proto": `syntax = "proto3"; import "shop/b.proto"; message A { B b = 1; }`, "in/shop/b.proto": `syntax = "proto3"; message B {}`,
		"shop/b.proto": `syntax = "proto3"; message Other {}`}
	set := compiled(t, f, "in/shop/a.proto", "in/shop/b.proto")
	if diff := cmp.Diff([]string{"A", "B"}, set.Names()); diff != "" {
		t.Error(diff)
	}
}

// TestHostile gives what takes a compiler long, or much memory, in small files: each is refused.
func TestHostile(t *testing.T) {
	t.Parallel()
	many := func(text string, n int) string { return strings.Repeat(text, n) }
	wide := func() string { // long names of much: their product
		var b strings.Builder
		fmt.Fprintf(&b, "syntax = \"proto3\"; message %s {\n", many("a", 1<<20))
		for i := range 1000 {
			fmt.Fprintf(&b, "int32 f%d = %d;\n", i, i+1)
		}
		return b.String() + "}"
	}
	chain := files{}
	for i := range maxChain + 10 {
		chain[fmt.Sprintf("c%d.proto", i)] = fmt.Sprintf(`syntax = "proto3"; import "c%d.proto";`, i+1)
	}
	chain["a.proto"] = `syntax = "proto3"; import "c0.proto";`
	tests := []struct {
		name string
		text string
		want string
	}{
		{"messages in messages", many("message M {", 100_000), "nest more than 64 deep"},
		{"lists in options", `syntax = "proto3"; option (a) = ` + many("{ a: [", 100_000), "nest more than 64 deep"},
		{"many words", many("a ", maxTokens+1), "words and signs"},
		{"many fields", "message M {" + many("int32 a = 1;", maxTokens/5+1), "words and signs"},
		{"long names", wide(), "full names"},
		{"long comment", "/*" + many("x", MaxFile-10), "syntax error"},
		{"a string without end", `syntax = "` + many("x", 1<<20), "unexpected"},
		{"NUL bytes", "syntax = \"proto3\";\x00", "invalid"},
		{"no text", "\xff\xfe\x00", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, problems := Compile([]string{"a.proto"}, nil, files{"a.proto": tt.text}.read)
			if set != nil || len(problems) == 0 || !strings.Contains(fmt.Sprint(problems), tt.want) {
				t.Errorf("got %v and %.300v, want %q", set, problems, tt.want)
			}
		})
	}
	t.Run("a chain of imports", func(t *testing.T) {
		t.Parallel()
		if set, problems := Compile([]string{"a.proto"}, nil, chain.read); set != nil || !strings.Contains(fmt.Sprint(problems), "in a row") {
			t.Errorf("got %v and %.300v", set, problems)
		}
	})
}

// TestReadSet reads a set that lacks the files of protobuf itself, and refuses what is none or does not fit together.
func TestReadSet(t *testing.T) {
	t.Parallel()
	text := &descriptorpb.FileDescriptorProto{Name: proto.String("a.proto"), Package: proto.String("p"), Syntax: proto.String("proto3"),
		Dependency:  []string{"google/protobuf/timestamp.proto"},
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("A")}}}
	marshal := func(f ...*descriptorpb.FileDescriptorProto) []byte {
		data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: f})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	set, err := ReadSet(marshal(text))
	if err != nil || set.Message("p.A") == nil || set.Message("google.protobuf.Timestamp") == nil {
		t.Error(err)
	}
	if set, err = ReadSet(marshal(text, protodesc.ToFileDescriptorProto(timestamppb.File_google_protobuf_timestamp_proto))); err != nil || set.Message("p.A") == nil {
		t.Error(err)
	}
	deep := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for range maxDepth {
		deep = &descriptorpb.DescriptorProto{Name: proto.String("M"), NestedType: []*descriptorpb.DescriptorProto{deep}}
	}
	lost := proto.Clone(text).(*descriptorpb.FileDescriptorProto)
	lost.Dependency = []string{"lost.proto"}
	circle := proto.Clone(text).(*descriptorpb.FileDescriptorProto)
	circle.Dependency = []string{"a.proto"}
	for name, data := range map[string][]byte{
		"text": []byte("hello"), "empty": nil, "a lost import": marshal(lost), "a circle": marshal(circle), "the same file twice": marshal(text, text),
		"deep":  marshal(&descriptorpb.FileDescriptorProto{Name: proto.String("d.proto"), MessageType: []*descriptorpb.DescriptorProto{deep}}),
		"large": make([]byte, MaxFile+1),
	} {
		if set, err := ReadSet(data); err == nil || set != nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestNotUTF8 reads a file in Latin-1: the first character that is none is the mistake.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	text := "syntax = \"proto3\"; // gr\xfc\xdfe\nmessage A {}"
	_, problems := Compile([]string{"a.proto"}, nil, files{"a.proto": text}.read)
	at := strings.IndexByte(text, '\xfc')
	want := []Problem{{Kind: Wrong, Path: "a.proto", Start: at, End: at + 1, Text: "the file is not valid UTF-8 from here on; save it as UTF-8"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}

// FuzzCompile looks for texts that end the program.
func FuzzCompile(f *testing.F) {
	f.Add(`syntax = "proto3"; message A { int32 a = 1; }`)
	f.Add(`syntax = "proto2"; message A { extensions 1 to max; optional group B = 1 {} }`)
	f.Add(`edition = "2023"; option features.field_presence = IMPLICIT; enum E { A = 0; }`)
	f.Fuzz(func(t *testing.T, text string) {
		set, problems := Compile([]string{"a.proto"}, nil, files{"a.proto": text}.read)
		for _, p := range problems {
			if p.Kind == Defect {
				t.Error(p.Text)
			}
			if p.Start < 0 || p.Start > len(text) {
				t.Errorf("%q is at %d of %d", p.Text, p.Start, len(text))
			}
		}
		for _, name := range set.Names() {
			if Skeleton(set.Message(name)) == "" {
				t.Errorf("%s has no skeleton", name)
			}
		}
	})
}

// TestLacksImport names the file of protobuf itself that a type needs.
func TestLacksImport(t *testing.T) {
	t.Parallel()
	_, problems := Compile([]string{"a.proto"}, nil, files{"a.proto": `syntax = "proto3"; message A { google.protobuf.Timestamp at = 1; Lost b = 2; }`}.read)
	got := ""
	for _, p := range problems {
		got += p.Text + "\n"
	}
	want := "field A.at: unknown type google.protobuf.Timestamp. Import \"google/protobuf/timestamp.proto\"\nfield A.b: unknown type Lost\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
