package tui

import (
	"fmt"
	"io"
	"strings"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

// operation is what a run is called in its last words.
type operation struct {
	destroy bool
	watch   bool // nothing was submitted
}

// Complete is the sentence that scripts look for after a run that ended well.
func Complete(r applier.Result, destroy bool) string {
	if destroy {
		return fmt.Sprintf("Destroy complete! Jobs: %d destroyed.", r.Destroyed)
	}
	return fmt.Sprintf("Apply complete! Jobs: %d added, %d changed, %d destroyed.", r.Added, r.Changed, r.Destroyed)
}

// closing is the last sentence of a run, "" when an error says it instead. good tells whether all went well.
func (b *board) closing(op operation) (line string, good bool) {
	if b.done == nil || b.done.Err != nil {
		return "", false
	}
	r := b.done.Result
	switch {
	case len(r.Bad) > 0:
		verb := "Apply"
		switch {
		case op.watch:
			return "Not every job succeeded: " + b.tally() + ".", false
		case op.destroy:
			verb = "Destroy"
		}
		return fmt.Sprintf("%s ended, not every job succeeded: %s. Jobs: %d added, %d changed, %d destroyed.",
			verb, b.tally(), r.Added, r.Changed, r.Destroyed), false
	case r.Interrupted:
		return fmt.Sprintf("Interrupted: %d of %s settled.", b.settled(), count(len(b.jobs), "job", "jobs")), false
	case op.watch:
		return "All jobs are settled: " + b.tally() + ".", true
	}
	return Complete(r, op.destroy), true
}

// tally lists how many jobs are in which state, the best first, leaving out empty ones.
func (b *board) tally() string {
	var parts []string
	for _, s := range tallied {
		if n := b.counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, stateWord(s)))
		}
	}
	if len(parts) == 0 {
		return "no jobs"
	}
	return strings.Join(parts, ", ")
}

// tallied is the order of states in counts.
var tallied = [...]conveyor.State{
	conveyor.StateCompleted, conveyor.StateFailed, conveyor.StateOnHold, conveyor.StateCancelled, conveyor.StateExpired,
	conveyor.StateSkipped, conveyor.StateObsolete, conveyor.StateRunning, conveyor.StateClosing, conveyor.StateQueued,
	conveyor.StateScheduled, conveyor.StateHeld, conveyor.StateTemplate, conveyor.StateUnknown,
}

// stateWord is a state as counts name it.
func stateWord(s conveyor.State) string {
	switch s {
	case conveyor.StateHeld:
		return "waiting"
	case conveyor.StateUnknown:
		return "lost"
	default:
		return s.String()
	}
}

// failureLines is how many last lines of a failed job's log are kept in lines that stay.
const failureLines = 10

// writeFailure writes why a job failed below its line: the failure's text, then the last lines of its log.
func writeFailure(w io.Writer, j *job, ink Ink) {
	for _, line := range cleanLines(j.failure, failureLines) {
		fmt.Fprintf(w, "  %s\n", ink.Red(line))
	}
	for _, line := range lastLines(j.tail, failureLines) {
		fmt.Fprintf(w, "  %s %s\n", ink.Faint("|"), clean(line))
	}
}

// lastLines is the end of a list.
func lastLines(lines []string, n int) []string {
	return lines[max(0, len(lines)-n):]
}
