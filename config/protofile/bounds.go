package protofile

import (
	"fmt"

	"google.golang.org/protobuf/types/descriptorpb"
)

// The bounds of what is read. The largest files of public interfaces have about a tenth of it.
const (
	MaxFile   = 4 << 20  // bytes of one file, or of a descriptor set
	maxTotal  = 16 << 20 // of all files
	maxFiles  = 2_000
	maxTokens = 1_000_000 // words and signs of all files: each takes a few hundred bytes once it is parsed
	maxDepth  = 64        // brackets inside of brackets; protobuf itself stops at 32 messages
	maxChain  = 200       // files that import each other in a row
	maxNames  = 32 << 20  // bytes of all full names: names inside of long names take their product
)

// room is what is left of the bounds.
type room struct{ files, bytes, tokens, names int }

func newRoom() *room {
	return &room{files: maxFiles, bytes: maxTotal, tokens: maxTokens, names: maxNames}
}

// overflow says what there is too much of.
type overflow struct {
	at   int // in bytes
	text string
}

// takeText counts a file before it is parsed: its words and signs, and how deep its brackets nest. What is in strings and comments
// does not count.
func (r *room) takeText(text []byte) *overflow {
	if r.files--; r.files < 0 {
		return &overflow{0, fmt.Sprintf("the .proto files are more than %d", maxFiles)}
	}
	if r.bytes -= len(text); r.bytes < 0 {
		return &overflow{0, fmt.Sprintf("the .proto files have more than %d MiB in all", maxTotal>>20)}
	}
	depth := 0
	for i := 0; i < len(text); {
		start := i
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*'):
			i = behindComment(text, i)
			continue
		case c == '"' || c == '\'':
			i = behindString(text, i)
		case wordByte(c):
			for i < len(text) && wordByte(text[i]) {
				i++
			}
		default:
			i++
			switch c {
			case '{', '[', '(', '<':
				if depth++; depth > maxDepth {
					return &overflow{start, fmt.Sprintf("the brackets nest more than %d deep here", maxDepth)}
				}
			case '}', ']', ')', '>':
				depth = max(depth-1, 0)
			}
		}
		if r.tokens--; r.tokens < 0 {
			return &overflow{start, fmt.Sprintf("the .proto files have more than %d words and signs in all", maxTokens)}
		}
	}
	return nil
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func behindComment(text []byte, i int) int {
	if text[i+1] == '/' {
		for i < len(text) && text[i] != '\n' {
			i++
		}
		return i
	}
	for i += 2; i+1 < len(text); i++ {
		if text[i] == '*' && text[i+1] == '/' {
			return i + 2
		}
	}
	return len(text)
}

func behindString(text []byte, i int) int {
	for quote := text[i]; ; {
		if i++; i >= len(text) || text[i] == '\n' {
			return i
		}
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
}

// takeNames counts the full names of what a file defines, before they are made.
func (r *room) takeNames(f *descriptorpb.FileDescriptorProto) *overflow {
	length := len(f.GetPackage())
	r.enums(length, f.GetEnumType())
	r.fields(length, f.GetExtension())
	for _, s := range f.GetService() {
		inner := length + 1 + len(s.GetName())
		r.names -= inner
		for _, m := range s.GetMethod() {
			r.names -= inner + 1 + len(m.GetName())
		}
	}
	if deep := r.messages(length, f.GetMessageType(), 1); deep {
		return &overflow{0, fmt.Sprintf("its messages nest more than %d deep", maxDepth)}
	}
	if r.names < 0 {
		return &overflow{0, fmt.Sprintf("the full names of what the .proto files define have more than %d MiB", maxNames>>20)}
	}
	return nil
}

func (r *room) messages(length int, list []*descriptorpb.DescriptorProto, depth int) (deep bool) {
	if len(list) > 0 && depth > maxDepth {
		return true
	}
	for _, m := range list {
		if r.names < 0 {
			return false
		}
		inner := length + 1 + len(m.GetName())
		r.names -= inner
		r.fields(inner, m.GetField())
		r.fields(inner, m.GetExtension())
		r.enums(inner, m.GetEnumType())
		for _, o := range m.GetOneofDecl() {
			r.names -= inner + 1 + len(o.GetName())
		}
		if deep = r.messages(inner, m.GetNestedType(), depth+1); deep {
			return true
		}
	}
	return false
}

func (r *room) fields(length int, list []*descriptorpb.FieldDescriptorProto) {
	for _, f := range list {
		r.names -= length + 1 + len(f.GetName())
	}
}

func (r *room) enums(length int, list []*descriptorpb.EnumDescriptorProto) {
	for _, e := range list {
		r.names -= length + 1 + len(e.GetName())
		for _, v := range e.GetValue() {
			r.names -= length + 1 + len(v.GetName())
		}
	}
}
