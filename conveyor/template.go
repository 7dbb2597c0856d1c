package conveyor

import (
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TemplateKind says what makes a template emit.
type TemplateKind uint8

// The kinds of templates. Those that are scheduled or gated are roots: each of their cycles begins with an occurrence of theirs.
const (
	TemplateScheduled  TemplateKind = iota + 1 // each tick of its schedule
	TemplateGated                              // the last of its labels that is flipped
	TemplateDownstream                         // the occurrence of an upstream in the same cycle
)

var templateKinds = [...]string{"unknown", "scheduled", "gated", "downstream"}

func (k TemplateKind) String() string {
	if int(k) >= len(templateKinds) {
		return "invalid"
	}
	return templateKinds[k]
}

// Template is a job that is never run itself: it emits one occurrence per cycle. Root is its own uuid if it is scheduled or
// gated, and the root that it is downstream of otherwise. What concerns schedules is zero of the other kinds.
type Template struct {
	UUID, Root string
	Name       string // for people, as it was given
	Kind       TemplateKind
	Status     Status

	When     string // the schedule's canonical text, see package schedule
	Catchup  wire.Schedule_Catchup
	Overlap  wire.Schedule_Overlap
	Disabled bool      // as declared
	Paused   bool      // by hand
	Since    time.Time // ticks up to this one are judged; what came before it was added or resumed does not count
	Next     time.Time // the next tick; in the past while nobody ticks; zero while it is disabled, paused or on hold

	MaxCycles int  // how many cycles it emits; 0 is no limit
	Cycles    int  // how many of those it has emitted, counted from the last reset
	OnHold    bool // Cycles has reached MaxCycles: it emits again after a reset

	Sync    map[string]string // what the next occurrence gets
	Gate    []GateLabel       // of a gated one: the labels it waits for, sorted
	Live    []Cycle           // of a root: the cycles that are not over, oldest first
	Backlog int               // of a scheduled one: ticks of a Backfill that wait until no cycle is live, see Client.Backlog
}

// GateLabel is one of the labels that a gate waits for. It is flipped by a job that carries it as trigger and succeeds.
type GateLabel struct {
	Label   string
	Flipped bool
	Failed  string // uuid of the trigger that came last, if it failed: the gate goes on waiting
}

// emits tells whether a schedule of this template is in force.
func (t *Template) emits() bool { return !t.Disabled && !t.Paused && !t.OnHold }
