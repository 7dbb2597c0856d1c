// Package sqltest gives tests the databases that the outbox is kept in: PostgreSQL, MariaDB and SQLite.
//
// Each runs a test on all of them; every call of Open is a fresh, empty database. The servers are real: they are started by
// the first test of a binary that asks, serve a unix socket in a short temporary directory, open no TCP port and end with
// the binary. Start gives one server to one test, which may kill it. SQLite is a file in the test's directory.
//
// A missing server fails the test and never skips it: a green run always means that the database was asked.
//
// The servers' time zones are half an hour off UTC on purpose, so that a query that mixes local and universal time is noticed.
// They do not sync their files: a kill of the server loses nothing, a loss of power would.
//
// The package never connects to a server it did not start.
package sqltest
