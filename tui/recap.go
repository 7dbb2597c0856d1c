package tui

import (
	"fmt"
	"io"
	"time"

	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// failureLines is how many last lines of a failed job's log are kept in lines that stay.
const failureLines = 10

// maxRecap is how many failed jobs are told below a view; the rest is in `waybill logs`.
const maxRecap = 10

// WriteRecap writes what stays of a run that was seen in a view: the failures, the last sentence and the outputs.
func WriteRecap(w io.Writer, b *board.Board, op board.Operation, ink Ink, now time.Time) {
	failed := b.Bad()
	for i, j := range failed {
		if i == maxRecap {
			fmt.Fprintf(w, "... and %s\n", board.Count(len(failed)-i, "other job that did not succeed", "other jobs that did not succeed"))
			break
		}
		fmt.Fprintf(w, "%s %s\n", ink.Bold(j.Name+":"), ink.Red(board.Ending(j.Status, j.Status.Ended)))
		writeFailure(w, j, ink)
	}
	if len(b.Jobs) > 0 && b.Done != nil && b.Done.Err == nil {
		fmt.Fprintf(w, "\n%s\n", ink.Faint(b.Tally()+"."))
	}
	writeClosing(w, b, op, ink, now)
}

// writeFailure writes why a job failed below its line: the failure's text, then the last lines of its log.
func writeFailure(w io.Writer, j *board.Job, ink Ink) {
	for _, line := range screen.Lines(j.Failure, failureLines) {
		fmt.Fprintf(w, "  %s\n", ink.Red(line))
	}
	for _, line := range board.LastLines(j.Tail, failureLines) {
		fmt.Fprintf(w, "  %s %s\n", ink.Faint("|"), screen.Clean(line))
	}
}

// maxUpcoming is how many schedules and gates are told below a run.
const maxUpcoming = 10

// writeClosing writes a run's last sentence, when its schedules run next, and its outputs.
func writeClosing(w io.Writer, b *board.Board, op board.Operation, ink Ink, now time.Time) {
	line, good := b.Closing(op)
	if line == "" {
		return
	}
	if good {
		line = ink.Green(line)
	}
	fmt.Fprintf(w, "\n%s\n", ink.Bold(line))
	schedules := b.Done.Result.Schedules
	for i, s := range schedules[:min(len(schedules), maxUpcoming)] {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s.\n", board.NextRun(s, now))
	}
	if more := len(schedules) - maxUpcoming; more > 0 {
		fmt.Fprintf(w, "... and %s: \"waybill job list -state template\".\n", board.Count(more, "other", "others"))
	}
	if outputs := b.Done.Result.Outputs; len(outputs) > 0 && !op.Watch {
		fmt.Fprintf(w, "\n%s\n\n", ink.Bold(ink.Green("Outputs:")))
		WriteOutputs(w, outputs) //nolint:errcheck // an observer has nobody to tell
	}
}
