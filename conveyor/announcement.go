package conveyor

// The built-in events of a job. They follow from its status as the event log tells it, so a gap in the log delays them and
// loses none of the ends.
const (
	EventStarted   = "started"   // an attempt began
	EventProgress  = "progress"  // an attempt told how far it is
	EventRetry     = "retry"     // an attempt failed and another will follow; or a failed or held job was given another try by hand
	EventSuccess   = "success"   // the job is completed, all its children included
	EventFailure   = "failure"   // the job failed, or is on hold after its last attempt
	EventCancelled = "cancelled" //
	EventSkipped   = "skipped"   // its edges excluded it
	EventExpired   = "expired"   // it waited longer than its retention
	EventObsolete  = "obsolete"  //
	EventRemoved   = "removed"   // nothing is left of it
)

// AnyEvent is the name under which a listener hears all.
const AnyEvent = "*"

var builtIn = map[string]bool{
	EventStarted: true, EventProgress: true, EventRetry: true, EventSuccess: true, EventFailure: true, EventCancelled: true,
	EventSkipped: true, EventExpired: true, EventObsolete: true, EventRemoved: true,
}

// ends are the built-in events of the states that end a job.
var ends = map[State]string{
	StateCompleted: EventSuccess, StateFailed: EventFailure, StateCancelled: EventCancelled, StateSkipped: EventSkipped,
	StateObsolete: EventObsolete, StateExpired: EventExpired,
}

// announcements are the built-in events between two statuses of a job, in their order. One script may do several
// things to a job: acknowledge a failed attempt and start the next.
func announcements(prior, next Status) []string {
	if next.State == StateUnknown {
		if prior.State == StateUnknown {
			return nil
		}
		return []string{EventRemoved}
	}
	var names []string
	if retried(prior, next) {
		names = append(names, EventRetry)
	}
	if next.Fence > prior.Fence {
		names = append(names, EventStarted)
	}
	if prior.State != next.State || prior.Opening != next.Opening || prior.Fence != next.Fence {
		if next.State == StateOnHold {
			names = append(names, EventFailure)
		} else if name := ends[next.State]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// retried tells whether an attempt failed with another to follow, or somebody had a job that failed or is on hold tried again.
func retried(prior, next Status) bool {
	switch {
	case prior.State == StateUnknown:
		return next.Attempts > 1 || next.Attempts == 1 && !failedLast(next)
	case next.Opening > prior.Opening:
		return prior.State == StateFailed && !prior.ChildFailed
	case prior.State == StateOnHold:
		return next.Fence > prior.Fence || next.State.live() && next.State != StateOnHold
	}
	failed := next.Attempts - prior.Attempts
	return failed > 1 || failed == 1 && !failedLast(next)
}

// failedLast tells whether a failed attempt can have been the job's last.
func failedLast(s Status) bool {
	return s.State == StateFailed && !s.ChildFailed || s.State == StateOnHold || s.State == StateCancelled
}
