package board

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Section groups the states of jobs as a reader looks for them.
type Section uint8

// The sections, in the order of their urgency.
const (
	Failed  Section = iota // failed, cancelled, expired, on hold: somebody has to look
	Running                // a worker is at it
	Waiting                // queued, or scheduled for a time
	Closing                // its own work is done, its children's is not
	Held                   // waits for other jobs
	Done                   // completed, skipped, obsolete
	Sections
)

// SectionOf is the section of jobs in this state.
func SectionOf(s conveyor.State) Section {
	switch s {
	case conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateOnHold:
		return Failed
	case conveyor.StateRunning:
		return Running
	case conveyor.StateClosing:
		return Closing
	case conveyor.StateQueued, conveyor.StateScheduled:
		return Waiting
	case conveyor.StateCompleted, conveyor.StateSkipped, conveyor.StateObsolete:
		return Done
	default:
		return Held
	}
}

// Standing is the section of a job. An occurrence is cancelled when a later cycle takes its place, or somebody gives it up, which is
// no failure.
func Standing(s conveyor.Status) Section {
	if s.Template != "" && s.State == conveyor.StateCancelled {
		return Done
	}
	return SectionOf(s.State)
}

// Job is one job as told so far. The name is cleaned once, for it is drawn often.
type Job struct {
	applier.Followed
	Name     string
	Cycle    string         // of an occurrence: the name of the one that its cycle began with; "" where nobody has told
	Place    int            // in Board.Jobs
	Action   planner.Action // of this apply; NoOp when it changed nothing
	Failure  string         // of the last failed attempt, as told
	Tail     []string       // last lines of its log, as told
	Upstream string         // of a skipped job: the one that excluded it, as told
	// Progress is how far the attempt is that runs, the zero value when it has told nothing.
	Progress conveyor.Progress
	Returns  int  // how often a worker gave it back for later, without an attempt spent, since that was last told
	untold   bool // it had failed when following began, and why has not been told yet
}

// Board folds an event stream into what is known now. Each event carries whole statuses, so the latest one wins and
// a lost one does no harm. It belongs to one goroutine; its fields are for reading.
type Board struct {
	Opened   applier.Opened
	Lock     *applier.LockWaiting // while waiting for it
	Away     *applier.StoreAway   // while the store does not answer
	Submit   applier.Submitting
	Warnings []applier.Warning // each once, those that are over no more
	Done     *applier.Done

	Following bool
	Jobs      []*Job // in start order
	Counts    [conveyor.StateExpired + 1]int
	Sums      [Sections]int

	layout  *layout // of Jobs; nil when one of them has changed since
	byAddr  map[config.Addr]*Job
	applied map[config.Addr]planner.Action // rows written by this run
}

// New returns a Board that knows nothing.
func New() *Board {
	return &Board{byAddr: map[config.Addr]*Job{}, applied: map[config.Addr]planner.Action{}}
}

// Job is the followed job at an address, or nil.
func (b *Board) Job(a config.Addr) *Job { return b.byAddr[a] }

// Applied tells whether this run has written a change of the job at an address.
func (b *Board) Applied(a config.Addr) bool {
	_, mine := b.applied[a]
	return mine
}

// Submitted tells whether this run has submitted or changed the job at an address, and not its record alone.
func (b *Board) Submitted(a config.Addr) bool {
	action, mine := b.applied[a]
	return mine && action != planner.Rerecord
}

// Step is what one event changed of one job.
type Step struct {
	Job  *Job
	Prev conveyor.Status // the zero Status when nothing was known
}

// Observe folds one event and returns the jobs whose status it told, in order. A status that was known already is
// not returned, nor is one that is older than what is known, nor are the jobs of a Roster.
func (b *Board) Observe(e applier.Event) []Step {
	if _, still := e.(applier.StoreAway); !still {
		b.Away = nil // whatever else comes, the store told it, or nobody waits any more
	}
	switch e := e.(type) {
	case applier.Opened:
		b.Opened = e
	case applier.StoreAway:
		b.Away = &e
	case applier.LockWaiting:
		b.Lock = &e
	case applier.Submitting:
		b.Lock, b.Submit = nil, e
	case applier.RowApplied:
		b.Lock = nil
		b.applied[e.Row.Addr] = e.Row.Action
	case applier.RowDiverted:
		b.applied[e.Row.Addr] = e.Row.Action
	case applier.Following:
		return b.follow(NewRoster(e))
	case Roster:
		b.admit(e)
	case applier.JobChanged:
		return b.change(e)
	case applier.JobProgress:
		if j := b.byAddr[e.Addr]; j != nil && j.Status.UUID == e.UUID && j.Status.State == conveyor.StateRunning {
			j.Progress = e.Progress
		}
	case applier.Warning:
		if !slices.Contains(b.Warnings, e) {
			b.Warnings = append(b.Warnings, e)
		}
	case applier.WarningOver:
		b.Warnings = slices.DeleteFunc(b.Warnings, func(w applier.Warning) bool { return w == e.Warning })
	case applier.Done:
		b.Lock, b.Done = nil, &e
	}
	return nil
}

// follow makes the listed jobs those that are followed. It may come again, when the workflow was applied anew meanwhile:
// what is known of a submission that goes on is kept.
func (b *Board) follow(r Roster) []Step {
	known := b.byAddr
	b.admit(r)
	steps := make([]Step, 0, len(b.Jobs))
	for _, j := range b.Jobs {
		j.Action = b.applied[j.Addr]
		prior := known[j.Addr]
		same := prior != nil && prior.Status.UUID == j.Status.UUID
		switch {
		case same && prior.Status == j.Status:
			j.untold = prior.untold
		case j.Status.State == conveyor.StateFailed: // the event that tells why is on its way
		case same:
			steps = append(steps, Step{Job: j, Prev: prior.Status})
		default:
			steps = append(steps, Step{Job: j})
		}
	}
	return steps
}

// admit takes over a roster, and what was told of attempts of the jobs that were followed before.
func (b *Board) admit(r Roster) {
	known := b.Jobs
	b.Lock, b.Done, b.Following = nil, nil, true
	b.Jobs, b.byAddr, b.Counts, b.Sums, b.layout = r.jobs, r.byAddr, r.counts, r.sums, r.layout
	for _, prior := range known {
		if prior.Failure == "" && prior.Tail == nil && prior.Progress == (conveyor.Progress{}) {
			continue
		}
		if j := b.byAddr[prior.Addr]; j != nil && j.Status.UUID == prior.Status.UUID {
			j.Failure, j.Tail, j.Progress = prior.Failure, prior.Tail, prior.Progress
		}
	}
}

func (b *Board) change(e applier.JobChanged) []Step {
	j := b.byAddr[e.Addr]
	if j == nil {
		j = b.add(applier.Followed{Addr: e.Addr, Queue: e.Status.Queue, Status: e.Status})
		j.Failure, j.Tail, j.Upstream = e.Failure, e.LogTail, e.Upstream
		return []Step{{Job: j}}
	}
	prev, again := j.Status, j.untold
	j.untold = false
	if prev.UUID != e.Status.UUID {
		prev, j.Failure, j.Tail = conveyor.Status{}, "", nil
	}
	changed := b.set(j, e.Status)
	j.Upstream = e.Upstream
	if e.Failure != "" || len(e.LogTail) > 0 {
		j.Failure, j.Tail = e.Failure, e.LogTail
	}
	switch {
	case again:
		return []Step{{Job: j}}
	case changed:
		return []Step{{Job: j, Prev: prev}}
	}
	return nil
}

// add puts a new job at the end.
func (b *Board) add(f applier.Followed) *Job {
	j := newJob(f, len(b.Jobs))
	j.Action, j.untold = b.applied[f.Addr], false
	b.Jobs, b.byAddr[f.Addr] = append(b.Jobs, j), j
	b.Counts[j.Status.State]++
	b.Sums[SectionOf(j.Status.State)]++
	b.layout = nil
	return j
}

// set makes s the status of a job, and tells whether it was another.
func (b *Board) set(j *Job, s conveyor.Status) bool {
	s.State = min(s.State, conveyor.StateExpired)
	prev := j.Status
	if s == prev {
		return false
	}
	j.Status, b.layout = s, nil
	if s.Fence != prev.Fence || s.UUID != prev.UUID {
		j.Progress = conveyor.Progress{}
	}
	switch {
	case s.Attempts != prev.Attempts || s.UUID != prev.UUID:
		j.Returns = 0
	case prev.State == conveyor.StateRunning && s.State == conveyor.StateScheduled:
		j.Returns++
	}
	b.Counts[prev.State]--
	b.Counts[s.State]++
	b.Sums[SectionOf(prev.State)]--
	b.Sums[SectionOf(s.State)]++
	return true
}

// Expected is how many followed jobs settle some time: all but templates, which never do.
func (b *Board) Expected() int { return len(b.Jobs) - b.Counts[conveyor.StateTemplate] }

// Settled is how many followed jobs are over or on hold.
func (b *Board) Settled() int { return b.Sums[Done] + b.Sums[Failed] }

// Bad are the followed jobs that did not succeed, in start order.
func (b *Board) Bad() []*Job {
	bad := make([]*Job, 0, b.Sums[Failed])
	for _, j := range b.Jobs {
		if SectionOf(j.Status.State) == Failed {
			bad = append(bad, j)
		}
	}
	return bad
}

// Lasted is how long a job's latest attempt took, or takes at now, with the wait for its children in the opening of that attempt; 0 when it
// never started. A job that reopened did not start again: it took what its own work once took.
func Lasted(s conveyor.Status, now time.Time) time.Duration {
	switch {
	case s.Started.IsZero():
		return 0
	case s.Reopened:
		return s.Worked
	}
	end := now
	if !s.Ended.IsZero() && !s.Ended.Before(s.Started) {
		end = s.Ended
	}
	return max(0, end.Sub(s.Started))
}
