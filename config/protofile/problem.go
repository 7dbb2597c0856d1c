package protofile

import (
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Kind says what is wrong.
type Kind uint8

// The kinds of problems.
const (
	Unreadable Kind = iota // a file that is named, or imported, cannot be read; Cause says why
	Outside                // a file that is named is in none of the import paths
	Cyclic                 // a file imports itself, directly or through others; Text is the way
	Wrong                  // what the compiler says; Text is its message
	TooLarge               // more than is read; Text says of what, and how much is
	Defect                 // the compiler failed; Text says how
)

// Problem is one mistake in the files.
type Problem struct {
	Kind Kind
	// Path is the file that it is in, as it was read; "" when it is about a file that is named by the workflow, see Named.
	Path       string
	Start, End int    // in bytes
	Named      int    // index among the files that the workflow names
	Import     string // the import that is about, if any
	Text       string
	Cause      error
}

// maxProblems bounds what is told of one workflow's files.
const maxProblems = 200

// problems collects them. It is the reporter of the compiler too.
type problems struct {
	list  []Problem
	paths map[string]string // of files on disk, by the name that they are imported by
	named int
}

func (p *problems) add(x Problem) {
	if len(p.list) < maxProblems {
		x.Named = p.named
		p.list = append(p.list, x)
	}
}

// Error takes what the compiler reports, which goes on then.
func (p *problems) Error(err reporter.ErrorWithPos) error {
	at := err.GetPosition()
	x := Problem{Kind: Wrong, Path: p.paths[at.Filename], Start: at.Offset, End: at.Offset, Text: p.worded(err.Unwrap())}
	if span, ok := err.(ast.SourceSpan); ok {
		x.End = span.End().Offset
	}
	p.add(x)
	return nil
}

// Warning leaves out what is no mistake.
func (p *problems) Warning(reporter.ErrorWithPos) {}

// worded is what the compiler says, with paths of files as the workflow has them, and with the import that a type of protobuf itself
// lacks.
func (p *problems) worded(err error) string {
	text := err.Error()
	for name, path := range p.paths {
		text = strings.ReplaceAll(text, fmt.Sprintf("%q", name), fmt.Sprintf("%q", path))
	}
	if _, name, ok := strings.Cut(text, "unknown type "); ok {
		if d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name)); err == nil && standard(d.ParentFile().Path()) {
			text += fmt.Sprintf(". Import %q", d.ParentFile().Path())
		}
	}
	return text
}
