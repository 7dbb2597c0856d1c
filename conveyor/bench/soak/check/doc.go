// Package check reads the histories of a soak and tells what the engine must not have done.
//
// A graph's outcome is known before it runs (package graph), so each job has to have ended in that way; nobody may have run it who was
// not asked to, before its time, before what it waits for, or once more without a lease that really ended. What a store may lose is
// what its durability setting says, and no more: a graph that such a loss can have touched may run again, and its losses are counted.
package check
