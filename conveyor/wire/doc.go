// Package wire is the format in which jobs travel and rest: the protobuf message Job, and nothing that knows what
// to do with one. job.proto is the source; `go generate` makes job.pb.go from it without protoc.
package wire

//go:generate go run ./gen . job.proto
