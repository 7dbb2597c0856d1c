package conveyor

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// HistoryLimit is how many cycles of a root are remembered once they are over.
const HistoryLimit = 100

// CycleOutcome is what became of a cycle, or of a tick that made none.
type CycleOutcome uint8

// The outcomes of cycles. CycleLive is the zero value: it is not over.
const (
	CycleLive      CycleOutcome = iota
	CycleCompleted              // all of its occurrences ended, none as a failure
	CycleFailed                 // at least one of them failed, expired or was cancelled by itself
	CycleSkipped                // never began: an earlier one was live and overlap is skip
	CycleMissed                 // never began: nobody ticked at its time, and catchup gave it up
	CycleReplaced               // a later one began and overlap is replace
	CycleCancelled              // its template was deleted
)

var cycleOutcomes = [...]string{"live", "completed", "failed", "skipped", "missed", "replaced", "cancelled"}

func (o CycleOutcome) String() string {
	if int(o) >= len(cycleOutcomes) {
		return "invalid"
	}
	return cycleOutcomes[o]
}

// Cycle is all that one tick of a root makes.
type Cycle struct {
	Tick         time.Time
	Outcome      CycleOutcome
	Began, Ended time.Time // zero while it has not; both the time of the judgement if it never began
	Jobs         int       // occurrences made so far
	Failed       int       // how many of them failed, expired or were cancelled
	Missed       int       // of CycleMissed: how many ticks in a row up to Tick
	Replaced     bool      // a later cycle took its place while it was live: what it makes from then on is cancelled at once
}

// A live cycle stands in the hash of its root as "<began ms>:<made>:<failed>:<flags>", flag r for replaced and w with a cursor
// while its occurrences are being cancelled, see lua/lib/cycle.lua. A line of the
// history is "<tick ms>:<outcome>:<began ms>:<ended ms>:<made>:<failed>:<missed>" with the letters of cycleLetters.
// What is zero may be empty, and what is empty at the end may be left out.

var cycleLetters = map[string]CycleOutcome{"C": CycleCompleted, "F": CycleFailed, "s": CycleSkipped, "m": CycleMissed, "r": CycleReplaced, "X": CycleCancelled}

// decodeCycle reads a live cycle of key.
func decodeCycle(key, tick, text string) (Cycle, error) {
	f := cycleFields{parts: strings.Split(text, ":")}
	c := Cycle{Began: f.time(0), Jobs: f.count(1), Failed: f.count(2)}
	ms, err := strconv.ParseInt(tick, 10, 64)
	c.Tick, c.Replaced = time.UnixMilli(ms).UTC(), strings.Contains(f.text(3), "r")
	if err != nil || f.bad {
		return Cycle{}, fmt.Errorf("%w: cycle %q of %s: %q", ErrCorrupt, tick, key, text)
	}
	return c, nil
}

// decodeHistory reads a line of the history at key.
func decodeHistory(key, line string) (Cycle, error) {
	f := cycleFields{parts: strings.Split(line, ":")}
	outcome, known := cycleLetters[f.text(1)]
	c := Cycle{Tick: f.time(0), Outcome: outcome, Began: f.time(2), Ended: f.time(3), Jobs: f.count(4), Failed: f.count(5),
		Missed: f.count(6), Replaced: outcome == CycleReplaced}
	if !known || f.bad || c.Tick.IsZero() {
		return Cycle{}, fmt.Errorf("%w: line of %s: %q", ErrCorrupt, key, line)
	}
	return c, nil
}

// cancelling tells whether the occurrences of a live cycle are to be cancelled still.
func cancelling(text string) bool {
	f := cycleFields{parts: strings.Split(text, ":")}
	return strings.Contains(f.text(3), "w")
}

// cycleFields are the parts of such a text.
type cycleFields struct {
	parts []string
	bad   bool // one that was asked for is no number
}

func (f *cycleFields) text(i int) string {
	if i >= len(f.parts) {
		return ""
	}
	return f.parts[i]
}

func (f *cycleFields) number(i int) int64 {
	text := f.text(i)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	f.bad = f.bad || err != nil
	return n
}

func (f *cycleFields) count(i int) int { return int(f.number(i)) }

func (f *cycleFields) time(i int) time.Time { return milliTime(f.number(i)) }

// milliTime is zero for 0 ms, which stands for no time.
func milliTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
