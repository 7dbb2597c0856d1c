package planner

import (
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// Plan is the difference between a workflow and its state: one row per address that is declared or recorded.
// It holds no uuid of a job that is not submitted yet; those are settled under the lock at apply.
type Plan struct {
	Workflow string
	Former   string    // the name under which the store has the state until this plan is applied, "" for Workflow; see State.Former
	Lineage  uuid.UUID // of the state it was made from; zero before the first apply
	Destroy  bool      // made by destroy
	// RefreshOnly: made for what changed outside of Waybill alone. All its rows that do something forget records.
	RefreshOnly bool
	// Assumed: made without reading how the jobs stand, which are taken to have completed. See State.Assume.
	Assumed bool
	// Asked is what the plan was asked for besides the difference, so that a saved one can be made again in the same way.
	Asked Request
	// Forecast is how what is left to run is expected to go; nil when nothing is.
	Forecast *Forecast
	// Rows are in start order: upstream first, component by component, ties by address. Rows of addresses that are not
	// declared any more follow, upstream first by their recorded edges. Apply walks them backwards.
	Rows    []*Row
	Queues  []QueueChange
	Outputs []OutputChange
	// Protected are the jobs that no plan made in place of this one may end either.
	Protected []config.Protected
	// Source is where the configuration came from, and Archive that configuration (config.Workflow.Archive), which a plan carries
	// to the apply of it. Both are for the history; nothing is decided by them.
	Source  Source
	Archive []byte
}

// Request is the part of Options that names addresses.
type Request struct {
	Targets []config.Addr `json:"targets,omitempty"`
	Exclude []config.Addr `json:"exclude,omitempty"`
	Replace []config.Addr `json:"replace,omitempty"`
	Rerun   bool          `json:"rerun,omitempty"`
	Rekey   bool          `json:"rekey,omitempty"`
}

// Options are o as the plan was made with.
func (p *Plan) Options(o Options) Options {
	o.Destroy, o.RefreshOnly = p.Destroy, p.RefreshOnly
	o.Targets, o.Exclude, o.Replace, o.Rerun, o.Rekey = p.Asked.Targets, p.Asked.Exclude, p.Asked.Replace, p.Asked.Rerun, p.Asked.Rekey
	return o
}

// Row is one address of a Plan. Prior is nil for what has no record; Job is nil for what is not declared any more.
type Row struct {
	Addr   config.Addr
	Action Action
	Reason Reason  // never empty: every action and every non-action can be explained
	Causes []Cause // for rows that follow from others: the chain's next links, in address order
	Prior  *Record // with the version that apply checks
	// MovedFrom is the address under which the store still has Prior, the zero address for this one. A row with an action
	// moves the record; one without leaves it there.
	MovedFrom config.Addr
	Live      Live        // as it was when the plan was made
	Job       *config.Job // what is declared

	Work, Handling Digest // of Job
	KeyID          string // key of a keyed work digest
	// Definition is what Next records as shown to people (see Record.Definition), and Edges what Job waits for, by
	// address, in canonical order. Both are nil in rows without action, which write nothing.
	Definition []byte
	Edges      []Target
	// Successor: the new generation is submitted as an heir (always) of Prior's job, which is still running.
	Successor bool
	// CancelFirst: Prior's job is cancelled by the same step (it waits or is on hold, or on_change = cancel).
	CancelFirst bool
	// Leave: of an Update that on_change = ignore holds back. Job and record stay as they are, but for the edges to parents
	// that the job is no longer declared under: these go.
	Leave bool
	// Ignored are the members of the job, by name, that differ and that ignore_changes leaves alone: they are no reason for the row.
	Ignored []string
	// KeepsWork: of a row that writes the record of work that stands, although what is declared differs from it in what is ignored.
	// The record goes on saying what that work was.
	KeepsWork bool
	// Unclear: the work may differ in nothing but what ignore_changes leaves alone. The record does not tell which of the sensitive
	// values changed.
	Unclear bool
	// Hidden is what Next records of sensitive values, see Record.Hidden.
	Hidden []Digest
	// Unseen: of an imported job that has begun or is over, and of whose work the store has nothing that can be compared. It is taken
	// to be what is declared.
	Unseen bool
	// Earlier is the uuid of a generation before Prior's that may still run, "" for none: Prior's job waits for it as its
	// successor. What takes Prior's place waits for it too; what deletes Prior's job cancels it too, and Next, if it is
	// set, is the deposed record of this job.
	Earlier   string
	Component int // rows of one connected component share a number, counted in start order

	// Root is the scheduled job or gate in whose cycles Job runs: the address itself, or one upstream of it. Zero for a job that
	// runs once, and without a Job.
	Root config.Addr
	// Fires are the next times at which a scheduled Job emits an occurrence, in UTC: maxFires of them after State.Now. Nil when that
	// is zero, when the schedule is disabled, and for all other jobs.
	Fires []time.Time
	// Renamed is, of a row that goes, the only new job that does the same work, see findRenames; the zero address for none.
	Renamed config.Addr
	// Openers are, for each label that a gate waits for, the declared jobs whose success triggers it, by address.
	Openers [][]config.Addr

	// Next is the record that this row writes: nil before Settle, for rows without action, and for rows that remove
	// the record. A row that deletes a running job has a Next that is Deposed.
	Next *Record
	// HoldOpen names parents that must not have ended when the row is written, set by Settle: its job joins them as a
	// child without reopening them. If one has ended meanwhile, the plan has to be made again, and then reopens it.
	HoldOpen []string
}

// Target is an edge by name. The submission it means is settled at apply: the upstream's record then.
type Target struct {
	Kind  EdgeKind
	Group int
	Addr  config.Addr // zero for a job outside the files
	UUID  string      // of a job outside the files
}

// Cause is one link of a chain of reasons.
type Cause struct {
	Addr   config.Addr
	Reason Reason
}

// Action is what apply does with a row.
type Action uint8

// The actions, with the symbols that plans show.
const (
	NoOp     Action = iota
	Create          // + a first generation, or the next one of a lost job
	Update          // ~ in place: a job that has not ended, and its record; a running one follows it from its next attempt
	Rerecord        // ~ record only: finished work keeps its result
	Reopen          // ~ returns to closing and completes after the new child
	Replace         // -/+ a new generation
	Delete          // - cancel and forget; a running job's record is marked deposed
	Forget          // . the job is lost or settled and only the record goes
)

// QueueChange is a queue whose settings differ from what Redis holds. Next is nil when it is not declared any more.
type QueueChange struct {
	Name        string
	Prior, Next *QueueSettings
}

// OutputChange is an output whose value differs from the stored one; values are canonical JSON, "" for none.
type OutputChange struct {
	Name        string
	Prior, Next string
	Sensitive   bool
}
