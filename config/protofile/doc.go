// Package protofile makes descriptors of .proto files, or of a compiled set of them, for jobs whose payload is a protobuf message. It
// reads through the function that it is given, and knows no HCL. What is wrong is a Problem with a place in the .proto file, and all
// problems are told at once. Whatever the files hold, reading them takes bounded time and memory.
package protofile
