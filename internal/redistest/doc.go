// Package redistest runs a real redis-server for tests.
//
// Start gives one server to one test; Shared gives one server to all tests of a binary, which then keep apart
// by namespaces of their own (Namespace). Both serve a unix socket in a short temporary directory and open no
// TCP port. StartTCP is for what needs a redis:// address. Miniredis is the pure Go server the embedded store
// is built on, without its journal, for quick tests of scripts.
//
// A missing redis-server fails the test and never skips it: a green run always means that Redis was asked.
//
// The package never connects to a server it did not start.
package redistest
