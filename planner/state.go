package planner

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// State is what Redis holds of a workflow at one moment: records, and the live status of each record's job.
type State struct {
	Workflow string
	// Former is the workflow under whose name the store still has all of this, "" for Workflow: what is applied next carries it over.
	Former  string
	Lineage uuid.UUID // zero before the first apply
	Floor   int64     // highest generation ever given up
	Records map[string]*Record
	Live    map[string]Live // by address; an absent entry means lost
	// Earlier holds the status of every job that an EdgeSuccessor of a record names, by uuid: the generations before
	// the recorded ones that may still run. An absent entry means that the job is over.
	Earlier map[string]Live
	// MovedFrom holds, by today's address, the one under which the store still has a record. See Moved.
	MovedFrom map[string]config.Addr
	// Imports holds, by address, what the store has of the jobs that import blocks name. See Imported.
	Imports map[string]*Import
	Queues  map[string]QueueSettings
	// Shared holds the queues that other workflows declare too, by name.
	Shared map[string]SharedQueue
	// Assumed: Live was not read, see Assume.
	Assumed bool
	Outputs map[string]string // as stored by the last apply: canonical JSON by name
	// Now is the store's clock, by which next fire times are told. Zero where no schedule is declared: such a plan is the same
	// whenever it is made.
	Now time.Time
}

// QueueSettings is what Redis holds of a queue this workflow declared.
type QueueSettings struct {
	Concurrency int
	Weight      int
	Paused      bool          // as declared: a pause by hand belongs to whoever paused it, and is no difference
	Fair        bool          `json:",omitempty"`
	KeepFor     time.Duration `json:",omitempty"` // 0 is the engine's default, as for KeepCount
	KeepCount   int           `json:",omitempty"`
}

// SharedQueue is what Redis holds of a queue that other workflows declare, and their names.
type SharedQueue struct {
	Settings   QueueSettings
	DeclaredBy []string
}

// Live is the status of one record's job as far as a plan needs it.
type Live struct {
	Status         Status
	Success        bool  // of a skipped job: the outcome that excluded it
	ChildFailed    bool  // failed only through its children: its own work succeeded
	FailedChildren int   // how many children counted against it since it last opened
	Opening        int64 // current opening
	CancelAsked    bool
	Fence          int64
	Ended          time.Time
	Worked         time.Duration // how long the attempt took that did its own work; 0 before that
	Cause          string        // short, for people: last failure, or what excluded it
	Paused         bool          `json:",omitempty"` // a template whose schedule somebody has paused by hand
}

// Status is the state of a job in the words of DESIGN.md's state table.
type Status uint8

// The live statuses. Lost is the zero value: no status entry.
const (
	Lost Status = iota
	Held
	Template
	Scheduled
	Queued
	Running
	Closing
	Completed
	Failed
	OnHold
	Cancelled
	Skipped
	Obsolete
	Expired
)

var statusNames = [...]string{"lost", "held", "template", "scheduled", "queued", "running", "closing", "completed", "failed",
	"on hold", "cancelled", "skipped", "obsolete", "expired"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status " + strconv.Itoa(int(s))
}

// Waits tells whether the job has not started its next attempt yet and can be changed in place.
func (s Status) Waits() bool { return s == Held || s == Scheduled || s == Queued }

// Active tells whether the job has started and not ended.
func (s Status) Active() bool { return s == Running || s == Closing }

// Ended tells whether the job is over in this opening.
func (s Status) Ended() bool { return s == Completed || s == Failed || s >= Cancelled }

func appendGeneration(b []byte, generation int64) []byte {
	return strconv.AppendInt(append(b, '#'), generation, 10)
}
