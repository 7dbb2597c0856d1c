package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config/protofile"
)

// protos are the messages that payloads are checked against.
type protos struct {
	set    *protofile.Set // nil: the workflow has none, or they are broken
	broken bool           // they are, and that is reported: nothing is known of any type
}

// readProtos compiles what the proto block names. Only a load that needs messages does so.
func (l *loader) readProtos(s *scope, b *block) {
	l.protos.broken = true
	c := b.inner
	files, importPaths, compiled := c.attr("files"), c.attr("import_paths"), c.attr("descriptor_set")
	switch {
	case files != nil && compiled != nil:
		l.r.error(sumConflict, compiled.nameRange, "A proto block has one of files and descriptor_set. Remove one of them.")
	case importPaths != nil && compiled != nil:
		l.r.error(sumConflict, importPaths.nameRange, "A descriptor set holds all that it imports, so it takes no import_paths. Remove them.")
	case files == nil && compiled == nil:
		l.r.error(sumMissingArgument, b.header, "A proto block needs the argument \"files\", a list of .proto files, or \"descriptor_set\", the name of a compiled one.")
	case compiled != nil:
		if name, ok := s.text(compiled); ok {
			l.readDescriptorSet(name, compiled)
		}
	default:
		names, ok := s.paths(files)
		var roots []string
		if importPaths != nil {
			var good bool
			roots, good = s.paths(importPaths)
			ok = ok && good
		}
		if ok {
			l.compileProtos(names, roots, files)
		}
	}
}

// paths reads a list of paths, with forward slashes.
func (s *scope) paths(a *attribute) (list []string, ok bool) {
	val, ok := s.plain(a, cty.List(cty.String))
	if !ok {
		return nil, false
	}
	for i, v := range val.AsValueSlice() {
		if v.IsNull() || !v.IsKnown() || v.AsString() == "" {
			s.r.error(sumWrongType, elementAt(a.expr, i).Range(), "%s has an empty name or a null. Remove it.", upperFirst(a.name))
			return nil, false
		}
		list = append(list, filepath.ToSlash(v.AsString()))
	}
	return list, true
}

func (l *loader) readDescriptorSet(name string, a *attribute) {
	data, err := l.disk.text(filepath.ToSlash(name))
	if err != nil {
		l.r.error(sumBadProto, a.expr.Range(), "%s. Descriptor_set is a path from the workflow's directory.", upperFirst(l.disk.explain(err)))
		return
	}
	set, err := protofile.ReadSet(data)
	if err != nil {
		l.r.error(sumBadProto, a.expr.Range(), "%q cannot be used: %v.", clip(name), err)
		return
	}
	l.protos = protos{set: set}
}

func (l *loader) compileProtos(names, roots []string, a *attribute) {
	set, problems := protofile.Compile(names, roots, func(name string) ([]byte, error) {
		data, err := l.disk.text(name)
		if err != nil {
			return nil, err
		}
		if len(data) > protofile.MaxFile {
			return nil, fmt.Errorf("%s has %d MiB, and of a .proto file at most %d MiB are read", name, len(data)>>20, protofile.MaxFile>>20)
		}
		l.files[l.disk.path(name)] = &hcl.File{Bytes: data}
		return data, nil
	})
	for _, p := range problems {
		l.protoProblem(p, names, a)
	}
	if len(problems) == 0 {
		l.protos = protos{set: set}
	}
}

// protoProblem reports what is wrong with a .proto file, at its place there.
func (l *loader) protoProblem(p protofile.Problem, names []string, a *attribute) {
	at := a.expr.Range()
	if p.Named < len(names) {
		at = elementAt(a.expr, p.Named).Range()
	}
	if p.Path != "" {
		at = wholeFile(l.disk.path(p.Path))
		if file := l.files[at.Filename]; file != nil {
			start := min(p.Start, len(file.Bytes))
			at = rangeAt(at.Filename, file.Bytes, start, max(0, min(p.End, len(file.Bytes))-start))
		}
	}
	switch p.Kind {
	case protofile.Unreadable:
		if p.Path == "" {
			l.r.error(sumBadProto, at, "%s. Files are paths from the workflow's directory.", upperFirst(l.disk.explain(p.Cause)))
			return
		}
		l.r.error(sumBadProto, at, "The import %q cannot be read: %s. Imports are looked for below each of import_paths and below the workflow's directory.", clip(p.Import), l.disk.explain(p.Cause))
	case protofile.Outside:
		l.r.error(sumBadProto, at, "%q is neither below the workflow's directory nor below one of import_paths, so nobody can tell by which name other files import it. Name the directory that its imports start from in import_paths.", clip(p.Import))
	case protofile.Cyclic:
		l.r.error(sumBadProto, at, "The file imports itself: %s. Move what they share into a file of its own.", clipTo(p.Text, 1_000))
	case protofile.TooLarge:
		l.r.error(sumFileTooLarge, at, "This is more than is read: %s. Name only the files that jobs need.", p.Text)
	case protofile.Defect:
		l.r.error(sumBadProto, at, "The file cannot be compiled: %s. Please report this, it is a defect of Waybill or of a library it uses.", clipTo(p.Text, 1_000))
	default:
		l.r.error(sumBadProto, at, "%s.", strings.TrimSuffix(upperFirst(clipTo(p.Text, 1_000)), "."))
	}
}

// messageOf is the message that a type of jobs names; nil where it names none. It reports a type that looks like one and is not.
func (s *scope) messageOf(name string, at hcl.Range) protoMessage {
	if s.l.protos.set == nil {
		return nil
	}
	if m := s.l.protos.set.Message(name); m != nil {
		return m
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || !s.l.protos.set.HasPackage(name[:dot]) {
		return nil
	}
	s.r.error(sumUnknownMessage, at, "The package %s of the workflow's .proto files has no message %q.%s", clip(name[:dot]), clip(name[dot+1:]), didYouMeanOf(name, s.l.protos.set.Names()...))
	return nil
}
