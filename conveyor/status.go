package conveyor

import "time"

// State is where a job stands in its life. The chart is in ENGINE.md section 3 and in ARCHITECTURE.md.
type State uint8

// The states. StateUnknown is the zero value: the job has no status entry.
const (
	StateUnknown State = iota
	StateHeld
	StateTemplate
	StateScheduled
	StateQueued
	StateRunning
	StateClosing // own work done or outcome decided; children or lists not worked off yet
	StateCompleted
	StateFailed
	StateOnHold
	StateCancelled
	StateSkipped
	StateObsolete
	StateExpired
)

var stateNames = [...]string{"unknown", "held", "template", "scheduled", "queued", "running", "closing", "completed", "failed",
	"on hold", "cancelled", "skipped", "obsolete", "expired"}

func (s State) String() string {
	if int(s) >= len(stateNames) {
		return "invalid"
	}
	return stateNames[s]
}

// Ended tells whether the job is over in this opening.
func (s State) Ended() bool { return s >= StateCompleted && s != StateOnHold }

// Status is a job's whole status at one moment, decoded from its status entry.
type Status struct {
	UUID     string
	State    State
	Queue    string
	Priority int
	Fence    int64 // number of starts so far
	Attempts int   // executions that ended in error, timeout or panic
	Lost     int   // leases lost by a worker's own death
	Opening  int64 // first is 1
	Owner    string
	Holder   string    // of a job reserved without a worker: whom its lease is for, if the reservation said so
	DueAt    time.Time // of a scheduled job, and of a held one with run_at
	Started  time.Time // of the latest attempt
	Ended    time.Time
	Worked   time.Duration // how long the attempt took that did the job's own work, its children not counted; 0 before that

	ExpiresAt   time.Time     // of a job that may wait for its first start only so long, until it starts
	RemoveAfter time.Duration // how long it is kept once it ended; 0: as its queue's settings say

	Broadcast bool   // it went to all workers that were alive at its add, and is done once each has a job of its own
	Labelled  bool   // it has labels: see Client.List
	Unique    string // "<type>:<key>" of a job with a unique key; held while the job is live

	Template  string    // of an occurrence: the template that it was emitted from
	Tick      time.Time // of an occurrence: its cycle, in UTC
	Root      string    // of an occurrence: the template whose cycle it belongs to
	MaxCycles int       // how many executions a job has until it is on hold; 0 is no limit
	Cycles    int       // of those: how many it had since the limit was last reset

	Success         bool // of a skipped job: the outcome that excluded it
	ChildFailed     bool // failed(child): its own work succeeded
	Reopened        bool // its own work was done in an earlier opening and stands; in this one it only waits for its children
	FailedChildren  int
	CancelRequested bool
	Withdrawn       bool
	Recorded        bool      // a companion write belongs to it: retention leaves the entry
	Pending         int       // edges not decided yet
	Place           int64     // order within queue and lane; 0 before the job was first ready
	Cause           string    // of a skipped job: the upstream that excluded it
	HeldSince       time.Time // of a held job: when it began to wait for an upstream not seen yet, to the minute
}
