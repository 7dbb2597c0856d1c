// Package conveyorstand stands in for workers and clients of the conveyor library, for tests of the bridge to them. It is written from
// the names of their keys and the order of their steps alone, and has their known faults: several commands where one script would be
// needed, so that a kill between two of them leaves what it leaves; edges deleted on failure; a pump that several run at once.
//
// Each command is a step that [Fleet.Step] can end the process at. Time is [Fleet.Now].
package conveyorstand
