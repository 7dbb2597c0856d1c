// Package enginemodel is the job engine as a specification that can be run: plain structs, slices and maps, one method per
// request, no Redis, no index, no budget of changes per script. It predicts for each request of a conveyor.Client the
// answer, the error and the whole status of every job afterwards. Tests make the same requests of it and of the stores
// and want no difference.
//
// [New] makes one, at a time that only [Engine.Pass] moves. It is written from the engine's rules and never from its
// scripts; whoever changes a rule changes it here in the words of the rule, and lets the tests find what the scripts
// make of it. It holds few jobs: no script may come near its budget, since what an engine then leaves for later is done
// here at once.
package enginemodel
