// Package history is what the processes of a soak saw and did, each in a file of its own: a record is on the disk before its process
// acts on it, so a kill at any instant loses none.
package history

import "github.com/waybill-dev/waybill/conveyor"

// Kind is what a Record tells.
type Kind string

// The kinds, by who writes them.
const (
	Up      Kind = "up"      // any process: it began; Who is unique to this run of it
	Down    Kind = "down"    // any process: it ended in order
	Stalled Kind = "stalled" // any process: it did not get the processor from At to Until
	Trouble Kind = "trouble" // any process: Text is an error that it went on from

	Start Kind = "start" // worker: a handler begins; before its work
	End   Kind = "end"   // worker: a handler ends; before the engine hears of it. Result says how
	Child Kind = "child" // worker: UUID is about to be added under attempt Fence of Job; Parent is that job's uuid

	Planned Kind = "planned" // applier: Graph is about to be applied
	Applied Kind = "applied" // applier: Graph is in the store, acknowledged; Jobs are the uuids by name
	Lost    Kind = "lost"    // applier: the store has lost Jobs of Graph, which were acknowledged; Text is what else a plan would change
	Settled Kind = "settled" // applier: all jobs of Graph are over; States say how

	Fault  Kind = "fault"  // conductor: Name was done to Whom, from At to Until
	Silent Kind = "silent" // conductor: the store did not answer from At to Until
	Verify Kind = "verify" // conductor: Verify was asked, or a job started out of turn; Violations is what was found
	Turns  Kind = "turns"  // conductor: the order of Count starts was followed in the event log
)

// Result is how a handler ended.
type Result string

// The results. Stopped is told to stop: the lease is lost, or the worker ends.
const (
	Well    Result = "well"
	Error   Result = "error"
	Stopped Result = "stopped"
)

// State is how a job stood when its graph had settled.
type State struct {
	UUID        string         `json:"uuid"`
	State       conveyor.State `json:"state"`
	ChildFailed bool           `json:"child_failed,omitempty"`
	Success     bool           `json:"success,omitempty"`
	Fence       int64          `json:"fence"`
	Attempts    int            `json:"attempts"`
	Lost        int            `json:"lost"`
	Cycles      int            `json:"cycles,omitempty"` // of a gate: those that are over
}

// Record is one line of a history.
type Record struct {
	At   int64  `json:"at"` // ns since 1970, by the clock that all processes of the machine share
	Who  string `json:"who"`
	Kind Kind   `json:"kind"`

	Graph  string `json:"graph,omitempty"`
	Job    string `json:"job,omitempty"` // name within the graph
	UUID   string `json:"uuid,omitempty"`
	Parent string `json:"parent,omitempty"`
	Fence  int64  `json:"fence,omitempty"`
	Tick   int64  `json:"tick,omitempty"` // ms since 1970, of an occurrence
	Result Result `json:"result,omitempty"`

	Jobs   map[string]string `json:"jobs,omitempty"`
	States map[string]State  `json:"states,omitempty"`

	Name       string   `json:"name,omitempty"`
	Whom       string   `json:"whom,omitempty"` // a process; "" for the store, and so for all
	Until      int64    `json:"until,omitempty"`
	Loses      int64    `json:"loses,omitempty"` // a fault: what was acknowledged since then may be lost; ns since 1970
	Count      int      `json:"count,omitempty"`
	Text       string   `json:"text,omitempty"`
	Violations []string `json:"violations,omitempty"`
}
