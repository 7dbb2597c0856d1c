// Package tui shows a running apply, destroy or watched workflow to people and programs. Its observers render one
// stream of applier.Event: Plain writes Terraform's lines and JSON Terraform's UI envelope, one object a line. The views
// that fill a terminal are packages of their own below it.
//
// Observers only look: they hold no store and no configuration, and whatever they are told by jobs (names, logs,
// failures) is cleaned before it reaches a terminal.
package tui
