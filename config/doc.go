// Package config reads workflows: it turns the *.hcl and *.hcl.json files of a directory, and the values of their variables,
// into a Workflow with nothing left to evaluate, or into diagnostics that name every mistake with its place, its reason and
// what to do.
//
// [Load] is the entry point; [Format] lays out files. The package opens no connection, reads no clock and
// draws no random number: the same files and values give the same Workflow, on any machine and in any checkout.
//
// A load goes through these steps, each in a file of its own name:
//
//   - source: find and read the files, within bounds;
//   - scan: cut them into top-level blocks, and refuse what would hurt the parsers;
//   - declare: parse all but plain jobs, and register names;
//   - assignment, variable: give variables their values, weakest source first;
//   - order: evaluate locals, count and for_each in the order in which they need each other;
//   - job: parse, check and evaluate job blocks, several at a time, each for all of its instances, and drop its syntax tree.
//
// Sensitive values are marked (see scope), and with them all that is made from them. A payload is written twice at
// once, as the worker gets it and as people see it (see canonical).
package config
