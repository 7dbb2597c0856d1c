package protofile

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// ReadSet reads a descriptor set, as protoc -o and buf build write it. The files of protobuf itself may be missing from it; all others that
// are imported have to be in it.
func ReadSet(data []byte) (set *Set, err error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("it has %d MiB, and at most %d MiB are read", len(data)>>20, MaxFile>>20)
	}
	defer func() {
		if p := recover(); p != nil { // a library's; it must not end the program
			set, err = nil, fmt.Errorf("the descriptors in it cannot be used: %v", p)
		}
	}()
	var files descriptorpb.FileDescriptorSet
	if err := (proto.UnmarshalOptions{RecursionLimit: 4 * maxDepth}).Unmarshal(data, &files); err != nil || len(files.GetFile()) == 0 {
		return nil, fmt.Errorf("it is no compiled descriptor set; protoc writes one with --include_imports --descriptor_set_out=FILE, and buf with build -o FILE.binpb")
	}
	r := newRoom()
	has := map[string]bool{}
	for _, f := range files.GetFile() {
		has[f.GetName()] = true
		f.SourceCodeInfo = nil
		if r.files--; r.files < 0 {
			return nil, fmt.Errorf("it has more than %d files", maxFiles)
		}
		if over := r.takeNames(f); over != nil {
			return nil, fmt.Errorf("%s: %s", f.GetName(), over.text)
		}
	}
	addStandard(&files, has)
	registry, err := protodesc.NewFiles(&files)
	if err != nil {
		return nil, fmt.Errorf("the descriptors in it do not fit together: %w", err)
	}
	return newSet(registry), nil
}

// addStandard adds the files of protobuf itself that are imported and not there.
func addStandard(files *descriptorpb.FileDescriptorSet, has map[string]bool) {
	for i := 0; i < len(files.File); i++ {
		for _, name := range files.File[i].GetDependency() {
			if has[name] || !standard(name) {
				continue
			}
			if d, err := protoregistry.GlobalFiles.FindFileByPath(name); err == nil {
				has[name] = true
				files.File = append(files.File, protodesc.ToFileDescriptorProto(d))
			}
		}
	}
}
