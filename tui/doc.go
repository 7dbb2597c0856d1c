// Package tui shows a running apply, destroy or watched workflow to people and programs. Its observers render one
// stream of applier.Event: Live draws a full-screen view on a terminal, Plain writes Terraform's lines, and JSON
// writes Terraform's UI envelope, one object a line.
//
// Observers only look: they hold no store and no configuration, and whatever they are told by jobs (names, logs,
// failures) is cleaned before it reaches a terminal.
package tui
