// Package planner compares a workflow with its state. It is pure: the same input gives the same plan, byte by byte,
// and nothing here reads a clock, a file or Redis.
//
// Make is the entry: it builds the graph (NewGraph, which also refuses jobs that can never start), looks every address
// up in the state table and returns a Plan. Render shows a plan to people, Messages to programs, WritePlan keeps it in
// a file. At apply, under the lock, Settle turns its rows into the records to write.
//
// The package also owns the format of a record (AppendTo, DecodeRecord), since what a record holds is what plans compare.
package planner
