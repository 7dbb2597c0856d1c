// Package cli is the command line: it reads flags and files, opens the store, and connects config, planner, applier and
// tui. Run is its entry point.
//
// It decides how things are said and with which code a process ends; what is done is decided elsewhere. Results go to
// stdout, diagnostics and logs to stderr.
package cli
