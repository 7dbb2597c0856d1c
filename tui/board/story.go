package board

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Story tells one change of a job in words after its address, for lines that stay; "" when the change is not worth a
// line. now is the moment of the change.
func Story(s Step, now time.Time) string {
	was, is := s.Prev, s.Job.Status
	switch is.State {
	case conveyor.StateRunning:
		if was.State == conveyor.StateRunning && was.Fence == is.Fence {
			if is.CancelRequested && !was.CancelRequested {
				return "Told to stop..."
			}
			return ""
		}
		if s.Job.Returns > 0 { // it may well be given back again
			return ""
		}
		return "Running..." + attemptNote(is)
	case conveyor.StateClosing:
		if was.State != conveyor.StateRunning || s.Job.Failure != "" {
			return ""
		}
		return "Own work done, waiting for its children..."
	case conveyor.StateQueued:
		switch {
		case is.Lost > was.Lost && was.State == conveyor.StateRunning:
			return fmt.Sprintf("Its worker%s died after %s, queued again", named(was.Owner), Took(Lasted(was, now)))
		case was.State == conveyor.StateRunning && is.Attempts > was.Attempts:
			return fmt.Sprintf("Attempt %d failed, queued again", is.Attempts)
		case was.State == conveyor.StateRunning:
			return "Handed back by its worker, queued again"
		}
		return ""
	case conveyor.StateScheduled:
		switch {
		case is.Attempts > was.Attempts && was.State == conveyor.StateRunning:
			return fmt.Sprintf("Attempt %d failed, trying again in %s", is.Attempts, Took(is.DueAt.Sub(now)))
		case s.Job.Returns == 1:
			return fmt.Sprintf("Given back by its worker, offered again in %s", Took(is.DueAt.Sub(now)))
		case s.Job.Returns > 1, was.State == conveyor.StateScheduled:
			return ""
		case is.DueAt.Sub(now) < time.Second:
			return ""
		}
		return "Waiting until " + is.DueAt.UTC().Format(time.RFC3339)
	case conveyor.StateSkipped:
		if up := screen.Clean(s.Job.Upstream); up != "" && !is.Success {
			return "Skipped: " + up + " did not succeed"
		}
		return Ending(is, now)
	default:
		return Ending(is, now)
	}
}

// named is a name in a sentence, "" for none.
func named(owner string) string {
	if owner == "" {
		return ""
	}
	return " " + screen.Clean(owner)
}

// attemptNote names every attempt but the first.
func attemptNote(s conveyor.Status) string {
	if s.Fence < 2 {
		return ""
	}
	return fmt.Sprintf(" (start %d)", s.Fence)
}

// Ending tells how a job ended; "" while it has not.
func Ending(s conveyor.Status, now time.Time) string {
	after := ""
	if !s.Started.IsZero() && !s.Reopened {
		after = " after " + Took(Lasted(s, now))
	}
	switch s.State {
	case conveyor.StateCompleted:
		if s.Reopened {
			return "Completed again"
		}
		return "Completed" + after
	case conveyor.StateFailed:
		switch {
		case s.ChildFailed:
			return "Failed: " + Count(s.FailedChildren, "child failed", "children failed")
		case s.Attempts > 1:
			return fmt.Sprintf("Failed%s (attempt %d)", after, s.Attempts)
		}
		return "Failed" + after
	case conveyor.StateOnHold:
		return "On hold"
	case conveyor.StateCancelled:
		return "Cancelled" + after
	case conveyor.StateSkipped:
		if s.Success {
			return "Skipped: nothing it waits for failed"
		}
		return "Skipped: what it waits for did not succeed"
	case conveyor.StateObsolete:
		return "Obsolete"
	case conveyor.StateExpired:
		return "Expired: it waited too long"
	default:
		return ""
	}
}

// LastLines is the end of a log.
func LastLines(lines []string, n int) []string {
	return lines[max(0, len(lines)-n):]
}
