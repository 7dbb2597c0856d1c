package tui

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// section groups the states of jobs as a reader looks for them.
type section uint8

// The sections, in the order a screen shows them.
const (
	sectionFailed  section = iota // failed, cancelled, expired, on hold: somebody has to look
	sectionRunning                // a worker is at it
	sectionWaiting                // queued, or scheduled for a time
	sectionClosing                // its own work is done, its children's is not
	sectionHeld                   // waits for other jobs
	sectionDone                   // completed, skipped, obsolete
	sections
)

func sectionOf(s conveyor.State) section {
	switch s {
	case conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateOnHold:
		return sectionFailed
	case conveyor.StateRunning:
		return sectionRunning
	case conveyor.StateClosing:
		return sectionClosing
	case conveyor.StateQueued, conveyor.StateScheduled:
		return sectionWaiting
	case conveyor.StateCompleted, conveyor.StateSkipped, conveyor.StateObsolete:
		return sectionDone
	default:
		return sectionHeld
	}
}

// job is one job as told so far. The name is cleaned once, for it is drawn often.
type job struct {
	applier.Followed
	name    string
	place   int            // in board.jobs
	action  planner.Action // of this apply; NoOp when it changed nothing
	failure string         // of the last failed attempt, as told
	tail    []string       // last lines of its log, as told
	returns int            // how often a worker gave it back for later, without an attempt spent, since that was last told
	untold  bool           // it had failed when following began, and why has not been told yet
}

// board folds an event stream into what is known now. Each event carries whole statuses, so the latest one wins and
// a lost one does no harm. It belongs to one goroutine.
type board struct {
	opened   applier.Opened
	lock     *applier.LockWaiting // while waiting for it
	away     *applier.StoreAway   // while the store does not answer
	submit   applier.Submitting
	warnings []applier.Warning // each once
	done     *applier.Done

	following bool
	jobs      []*job // in start order
	byAddr    map[config.Addr]*job
	applied   map[config.Addr]planner.Action // rows written by this run
	counts    [conveyor.StateExpired + 1]int
	members   [sections][]int // places in jobs, ascending
}

func newBoard() *board {
	return &board{byAddr: map[config.Addr]*job{}, applied: map[config.Addr]planner.Action{}}
}

// step is what one event changed of one job.
type step struct {
	job  *job
	prev conveyor.Status // the zero Status when nothing was known
}

// observe folds one event and returns the jobs whose status it told, in order. A status that was known already is
// not returned, nor is one that is older than what is known.
func (b *board) observe(e applier.Event) []step {
	if _, still := e.(applier.StoreAway); !still {
		b.away = nil // whatever else comes, the store told it, or nobody waits any more
	}
	switch e := e.(type) {
	case applier.Opened:
		b.opened = e
	case applier.StoreAway:
		b.away = &e
	case applier.LockWaiting:
		b.lock = &e
	case applier.Submitting:
		b.lock, b.submit = nil, e
	case applier.RowApplied:
		b.lock = nil
		b.applied[e.Row.Addr] = e.Row.Action
	case applier.RowDiverted:
		b.applied[e.Row.Addr] = e.Row.Action
	case applier.Following:
		return b.follow(e)
	case applier.JobChanged:
		return b.change(e)
	case applier.Warning:
		if !slices.Contains(b.warnings, e) {
			b.warnings = append(b.warnings, e)
		}
	case applier.Done:
		b.lock, b.done = nil, &e
	}
	return nil
}

// follow makes the listed jobs those that are followed. It may come again, when the workflow was applied anew meanwhile:
// what is known of a submission that goes on is kept.
func (b *board) follow(e applier.Following) []step {
	known := b.byAddr
	b.lock, b.done, b.following = nil, nil, true
	b.jobs, b.byAddr = make([]*job, 0, len(e.Jobs)), make(map[config.Addr]*job, len(e.Jobs))
	b.counts, b.members = [conveyor.StateExpired + 1]int{}, [sections][]int{}
	steps := make([]step, 0, len(e.Jobs))
	for _, f := range e.Jobs {
		if b.byAddr[f.Addr] != nil {
			continue
		}
		j := b.add(f)
		prior := known[f.Addr]
		same := prior != nil && prior.Status.UUID == j.Status.UUID
		if same {
			j.failure, j.tail, j.untold = prior.failure, prior.tail, prior.untold
		}
		switch {
		case same && prior.Status == j.Status:
		case j.Status.State == conveyor.StateFailed:
			j.untold = true // the event that tells why is on its way
		case same:
			steps = append(steps, step{job: j, prev: prior.Status})
		default:
			steps = append(steps, step{job: j})
		}
	}
	return steps
}

func (b *board) change(e applier.JobChanged) []step {
	j := b.byAddr[e.Addr]
	if j == nil {
		j = b.add(applier.Followed{Addr: e.Addr, Queue: e.Status.Queue, Status: e.Status})
		j.failure, j.tail = e.Failure, e.LogTail
		return []step{{job: j}}
	}
	prev, again := j.Status, j.untold
	j.untold = false
	if prev.UUID != e.Status.UUID {
		prev, j.failure, j.tail = conveyor.Status{}, "", nil
	}
	changed := b.set(j, e.Status)
	if e.Failure != "" || len(e.LogTail) > 0 {
		j.failure, j.tail = e.Failure, e.LogTail
	}
	switch {
	case again:
		return []step{{job: j}}
	case changed:
		return []step{{job: j, prev: prev}}
	}
	return nil
}

// add puts a new job at the end.
func (b *board) add(f applier.Followed) *job {
	f.Status.State = min(f.Status.State, conveyor.StateExpired)
	j := &job{Followed: f, name: clean(f.Addr.String()), place: len(b.jobs), action: b.applied[f.Addr]}
	b.jobs, b.byAddr[f.Addr] = append(b.jobs, j), j
	b.counts[f.Status.State]++
	sec := sectionOf(f.Status.State)
	b.members[sec] = append(b.members[sec], j.place)
	return j
}

// set makes s the status of a job, and tells whether it was another.
func (b *board) set(j *job, s conveyor.Status) bool {
	s.State = min(s.State, conveyor.StateExpired)
	prev := j.Status
	if s == prev {
		return false
	}
	j.Status = s
	switch {
	case s.Attempts != prev.Attempts || s.UUID != prev.UUID:
		j.returns = 0
	case prev.State == conveyor.StateRunning && s.State == conveyor.StateScheduled:
		j.returns++
	}
	b.counts[prev.State]--
	b.counts[s.State]++
	if from, to := sectionOf(prev.State), sectionOf(s.State); from != to {
		at, found := slices.BinarySearch(b.members[from], j.place)
		if found {
			b.members[from] = slices.Delete(b.members[from], at, at+1)
		}
		at, _ = slices.BinarySearch(b.members[to], j.place)
		b.members[to] = slices.Insert(b.members[to], at, j.place)
	}
	return true
}

// settled is how many followed jobs are over or on hold.
func (b *board) settled() int { return len(b.members[sectionDone]) + len(b.members[sectionFailed]) }

// lasted is how long a job's latest attempt took, or takes at now; 0 when it never started.
func lasted(s conveyor.Status, now time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	end := now
	if !s.Ended.IsZero() && !s.Ended.Before(s.Started) {
		end = s.Ended
	}
	return max(0, end.Sub(s.Started))
}
