package applier

import (
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Event is one fact about a running apply or destroy, or about a workflow that is watched. Events are values; the
// set of kinds is closed. An observer gets them in order, one at a time; the applier never waits for it.
type Event interface{ event() }

// Opened says which store is used. It is the first event.
type Opened struct {
	Store    string // for people: "embedded store in examples/sales/.waybill", "redis://127.0.0.1:6379"
	Embedded bool
	Workflow string
}

// LockWaiting says that somebody else holds the workflow's lock. It repeats while waiting.
type LockWaiting struct {
	Holder Holder
	Left   time.Duration // until lock-timeout
}

// Replanned says that state had moved since the plan was made and that the plan was made anew, under the lock. A plan
// without changes means that another apply did all there was to do.
type Replanned struct {
	Plan  *planner.Plan
	Moved []config.Addr // whose records are not the ones the earlier plan saw; none when all of state was made anew
}

// Submitting tells how many of a plan's changed rows are written.
type Submitting struct {
	Done, Total int
}

// RowApplied says that a row's change is in Redis.
type RowApplied struct {
	Row *planner.Row
	At  time.Time
}

// RowDiverted says that a row's job had left the status the plan saw, and what is done instead.
type RowDiverted struct {
	Row  *planner.Row
	Prev planner.Action
}

// Following starts the second half of an apply: Jobs are all that must settle, in start order, with their status now. It
// comes again, and replaces the list, when another apply changes the workflow meanwhile.
type Following struct {
	Jobs []Followed
	At   Position // what comes after it is told
}

// Followed is one job an apply waits for.
type Followed struct {
	Addr   config.Addr
	Depth  int // longest path of edges above it, for indenting
	Type   string
	Queue  string
	Status conveyor.Status
	// Above are the places in Following.Jobs of the recorded jobs it waits for, each lower than its own unless records hold a
	// cycle. The first is where a tree shows the job: under its parent, the first of several; without one under the predecessor
	// that is deepest down. The others follow in order. Only Following fills it in.
	Above []int32
}

// JobChanged is a job's whole status after a change; a later one heals a lost one.
type JobChanged struct {
	Addr   config.Addr
	Status conveyor.Status
	// Seq is the number of the engine's event, and Part which of its jobs this is, from 1: together they name the change for
	// ever. Part 0 is a status that was read, since the event is not in the log any more: as it stood after event Seq.
	Seq  int64
	Part int
	Last bool // no other job of the list has a greater Part in this event
	At   time.Time
	// Failure is the last failure's text and LogTail the last lines of the log, filled in for failed attempts.
	Failure string
	LogTail []string
	// Upstream is the address of the recorded job whose outcome excluded a skipped one; "" otherwise.
	Upstream string
}

// Position is the place of this change in the event stream.
func (e JobChanged) Position() Position { return Position{Seq: e.Seq, Part: e.Part} }

// JobProgress is how far a running job is, at most once a second for each job.
type JobProgress struct {
	Addr     config.Addr
	UUID     string
	Progress conveyor.Progress
}

// StillRunning is told for a running job every ten seconds.
type StillRunning struct {
	Addr    config.Addr
	Elapsed time.Duration
}

// Warning is something that will keep an apply waiting or surprise its user: nobody serves a queue, a key is missing.
type Warning struct {
	Summary, Detail string
}

// WarningOver says that what a Warning told is so no more: the queue was resumed, a worker came, or nothing waits for it now.
// Whoever shows how things stand shows it no longer.
type WarningOver struct{ Warning Warning }

// StoreAway says that the store does not answer, and that it is asked again. It repeats while that lasts.
type StoreAway struct {
	For    time.Duration // since the first call without an answer
	Left   time.Duration // until it is given up; 0 where that never happens
	Reason string        // why the latest call failed
	Then   string        // what it means when the store stays away, in a sentence
}

// StoreBack says that a store which was told to be away answers again.
type StoreBack struct{ After time.Duration }

// Done is the last event.
type Done struct {
	Result Result
	Err    error
}

func (Opened) event()       {}
func (LockWaiting) event()  {}
func (Replanned) event()    {}
func (Submitting) event()   {}
func (RowApplied) event()   {}
func (RowDiverted) event()  {}
func (Following) event()    {}
func (JobChanged) event()   {}
func (JobProgress) event()  {}
func (StillRunning) event() {}
func (Warning) event()      {}
func (WarningOver) event()  {}
func (StoreAway) event()    {}
func (StoreBack) event()    {}
func (Done) event()         {}

// Observer receives events. Observe is called from one goroutine.
type Observer interface {
	Observe(Event)
}

// Holder describes who holds a workflow's lock.
type Holder struct {
	Token     string // what force-unlock asks for
	Who       string // user@host
	Operation string // apply, destroy, ...
	Since     time.Time
	Expires   time.Time
}

// Result is the outcome of an apply.
type Result struct {
	Added, Changed, Destroyed int
	Imported                  int
	Detached                  bool
	Interrupted               bool
	// Bad lists the declared jobs that failed, were cancelled, expired or are on hold.
	Bad []Followed
	// Scheduled is how many jobs wait for their time, which somebody has to be there for to run them.
	Scheduled int
	// Schedules are the declared schedules and gates, by address, as they stood when the run was followed to its end; the first
	// maxSchedules.
	Schedules []ScheduleSeen
	Outputs   map[string]string // canonical JSON by name
	// From is where the run begins in the event stream: all that its jobs did comes after it. Nil when it wrote nothing.
	From *Position
}
