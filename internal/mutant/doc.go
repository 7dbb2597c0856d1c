// Package mutant finds small mistakes that could be made in a Lua file, for tests that try whether anything notices them.
//
// Find reads the file as Lua 5.1 does, without running it, and returns its mutants: the same text without one statement,
// with one condition decided in advance, or without one operand of a condition. Each mutant is a text that compiles.
// Mark returns the file so that a run tells which mutants it would have noticed at all: no other run needs to be tried.
package mutant
