package applier

import (
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// WatchOptions say what Watch tells. The zero value is the whole namespace.
type WatchOptions struct {
	Workflow string // only the jobs of this one; queues and workers are told as they are. "": all

	turn time.Duration // tests: time between two turns; default turnEvery
}

// OfWorkflow is an event of one workflow of a watched namespace: Following, JobChanged, OccurrencesSeen, OccurrenceChanged, JobProgress, StillRunning, Warning or WarningOver.
type OfWorkflow struct {
	Workflow string
	Event    Event
}

// WorkflowsSeen lists the workflows of a watched namespace by name, each time that the list or something in it has changed: at
// once when one appears or is gone, else once a second at most. A workflow without a job that nobody has locked is not listed.
type WorkflowsSeen struct {
	At        time.Time // the store's clock
	Workflows []WorkflowSeen
}

// WorkflowSeen is one workflow at a glance.
type WorkflowSeen struct {
	// Name is "" for the jobs that belong to no workflow: added by hand, by a program, by another job, or left by an earlier apply.
	Name   string
	Former string // the name that its state was carried over from, with moved_from; "" for none
	Jobs   int
	Counts StateCounts
	// Occurrences counts what the engine made from the workflow's templates and holds still; Jobs and Counts are without them.
	Occurrences StateCounts
	Serial      int64   // rises with each change of its state
	Lock        *Holder // who applies or destroys it now; nil: nobody
	Problem     string  // why its state cannot be read; "" otherwise. Its jobs are then counted as nobody's
}

// StateCounts are numbers of jobs, indexed by conveyor.State.
type StateCounts [conveyor.StateExpired + 1]int

// QueuesSeen lists the queues of a watched namespace by name: once a second at most, when something in it has changed, and
// every five seconds. Rates are made of two of them.
type QueuesSeen struct {
	At     time.Time // the store's clock
	Queues []QueueSeen
}

// QueueSeen is one queue at a glance.
type QueueSeen struct {
	Info conveyor.QueueInfo
	// Started and Ended count starts of jobs and jobs that ended, whatever their outcome, since the watch began. They leave out what
	// happened while the event log was lost to the watch.
	Started, Ended int64
}

// WorkersSeen lists the registered workers of a watched namespace by id: once a second at most, when something in it has
// changed, and every five seconds.
type WorkersSeen struct {
	At      time.Time // the store's clock
	Workers []conveyor.WorkerInfo
}

// LooseSeen lists the jobs that belong to no workflow, those that changed last first: once a second at most, when something in
// it has changed.
type LooseSeen struct {
	At    time.Time         // the store's clock
	Jobs  []conveyor.Status // the first thousand
	Names map[string]string // by uuid, of those of which something is known: what they were called when they belonged to one
	Total int
}

func (OfWorkflow) event()    {}
func (WorkflowsSeen) event() {}
func (QueuesSeen) event()    {}
func (WorkersSeen) event()   {}
func (LooseSeen) event()     {}
