// Package graph draws the workflows that a soak submits, and works out how each of their jobs has to end.
//
// Everything follows from a seed: whoever is killed draws the same workflow again. A job's payload is its Script, which tells its
// handler how its attempts end, so that the outcome of the whole graph is known before anything has run.
package graph
