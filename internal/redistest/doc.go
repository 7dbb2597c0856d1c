// Package redistest runs real Redis servers for tests.
//
// Start gives one server to one test; Shared gives one server to all tests of a binary, which then keep apart
// by namespaces of their own (Namespace). Both serve a unix socket in a short temporary directory and open no
// TCP port. StartTCP is for what needs a redis:// address. StartCluster runs a Cluster and StartSentinels a
// primary with a replica that Sentinels watch, on ports of the loopback interface; each has a shared form.
// SharedValkey is a valkey-server, where one is installed. Miniredis is the pure Go server the embedded store
// is built on, without its journal, for quick tests of scripts.
//
// A missing redis-server fails the test and never skips it: a green run always means that Redis was asked.
//
// The package never connects to a server it did not start.
package redistest
