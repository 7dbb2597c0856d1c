package applier

import (
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// liveStatus translates the engine's states into the planner's words. It is total: a state missing here reads as lost,
// which a test would see.
var liveStatus = map[conveyor.State]planner.Status{
	conveyor.StateUnknown:   planner.Lost,
	conveyor.StateHeld:      planner.Held,
	conveyor.StateTemplate:  planner.Template,
	conveyor.StateScheduled: planner.Scheduled,
	conveyor.StateQueued:    planner.Queued,
	conveyor.StateRunning:   planner.Running,
	conveyor.StateClosing:   planner.Closing,
	conveyor.StateCompleted: planner.Completed,
	conveyor.StateFailed:    planner.Failed,
	conveyor.StateOnHold:    planner.OnHold,
	conveyor.StateCancelled: planner.Cancelled,
	conveyor.StateSkipped:   planner.Skipped,
	conveyor.StateObsolete:  planner.Obsolete,
	conveyor.StateExpired:   planner.Expired,
}

// liveOf is what a plan needs to know of a job's status.
func liveOf(s conveyor.Status) planner.Live {
	return planner.Live{
		Status:         liveStatus[s.State],
		Success:        s.Success,
		ChildFailed:    s.ChildFailed,
		FailedChildren: s.FailedChildren,
		Opening:        s.Opening,
		CancelAsked:    s.CancelRequested,
		Fence:          s.Fence,
		Ended:          s.Ended,
		Worked:         s.Worked,
	}
}

// columns are the rows of the state table: statuses in one of them call for the same action. A batch expects a job to be
// anywhere in the row its action was decided by.
var columns = [][]conveyor.State{
	{conveyor.StateHeld, conveyor.StateScheduled, conveyor.StateQueued},
	{conveyor.StateRunning},
	{conveyor.StateClosing}, // its own work is done: what replaces it need not wait for it
	{conveyor.StateCompleted, conveyor.StateObsolete},
	{conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired},
	{conveyor.StateSkipped},
	{conveyor.StateOnHold},
	{conveyor.StateTemplate},
	{conveyor.StateUnknown},
}

// peers are the states that share a row of the table with s.
func peers(s planner.Status) []conveyor.State {
	for _, column := range columns {
		for _, state := range column {
			if liveStatus[state] == s {
				return column
			}
		}
	}
	return nil
}

// samePlace tells whether two statuses share a row of the table.
func samePlace(a, b planner.Status) bool {
	p := peers(a)
	for _, state := range p {
		if liveStatus[state] == b {
			return true
		}
	}
	return false
}
