package board

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

// Operation is what a run is called in its last words.
type Operation struct {
	Destroy bool
	Watch   bool // nothing was submitted
}

// Complete is the sentence that scripts look for after a run that ended well.
func Complete(r applier.Result, destroy bool) string {
	if destroy {
		return fmt.Sprintf("Destroy complete! Jobs: %d destroyed.", r.Destroyed)
	}
	return fmt.Sprintf("Apply complete! Jobs: %s%d added, %d changed, %d destroyed.", imported(r), r.Added, r.Changed, r.Destroyed)
}

// imported is the part of a sentence about jobs that got a record, which most runs have nothing to say of.
func imported(r applier.Result) string {
	if r.Imported == 0 {
		return ""
	}
	return fmt.Sprintf("%d imported, ", r.Imported)
}

// Closing is the last sentence of a run, "" when an error says it instead. good tells whether all went well.
func (b *Board) Closing(op Operation) (line string, good bool) {
	if b.Done == nil || b.Done.Err != nil {
		return "", false
	}
	r := b.Done.Result
	switch {
	case r.Interrupted:
		bad := ""
		if n := len(r.Bad); n > 0 {
			bad = fmt.Sprintf(", %d of them not well", n)
		}
		jobs := b.Expected()
		if jobs == 0 {
			return "Interrupted.", false
		}
		return fmt.Sprintf("Interrupted: %d of %s settled%s.", b.Settled(), Count(jobs, "job", "jobs"), bad), false
	case len(r.Bad) > 0:
		verb := "Apply"
		switch {
		case op.Watch:
			return "Not every job succeeded: " + b.Tally() + ".", false
		case op.Destroy:
			verb = "Destroy"
		}
		return fmt.Sprintf("%s ended, not every job succeeded: %s. Jobs: %s%d added, %d changed, %d destroyed.",
			verb, b.Tally(), imported(r), r.Added, r.Changed, r.Destroyed), false
	case op.Watch:
		if b.Counts[conveyor.StateScheduled]+b.Counts[conveyor.StateHeld]+b.Counts[conveyor.StateTemplate] > 0 {
			return "All jobs are settled or wait for their time: " + b.Tally() + ".", true
		}
		return "All jobs are settled: " + b.Tally() + ".", true
	}
	return Complete(r, op.Destroy), true
}

// Tally lists how many jobs are in which state, the best first, leaving out empty ones.
func (b *Board) Tally() string {
	var parts []string
	for _, s := range Tallied {
		if n := b.Counts[s]; n > 1 && s == conveyor.StateTemplate {
			parts = append(parts, fmt.Sprintf("%d templates", n))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, StateWord(s)))
		}
	}
	if len(parts) == 0 {
		return "no jobs"
	}
	return strings.Join(parts, ", ")
}

// Tallied is the order of states in counts.
var Tallied = [...]conveyor.State{
	conveyor.StateCompleted, conveyor.StateFailed, conveyor.StateOnHold, conveyor.StateCancelled, conveyor.StateExpired,
	conveyor.StateSkipped, conveyor.StateObsolete, conveyor.StateRunning, conveyor.StateClosing, conveyor.StateQueued,
	conveyor.StateScheduled, conveyor.StateHeld, conveyor.StateTemplate, conveyor.StateUnknown,
}

// StateWord is a state as counts name it.
func StateWord(s conveyor.State) string {
	switch s {
	case conveyor.StateHeld:
		return "waiting"
	case conveyor.StateUnknown:
		return "lost"
	default:
		return s.String()
	}
}
