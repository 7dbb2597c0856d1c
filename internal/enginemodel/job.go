package enginemodel

import (
	"cmp"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// job is one job with everything that is known of it.
type job struct {
	uuid  string
	wire  *wire.Job // as given last
	queue string
	lane  int
	state conveyor.State
	end   end // of one that is over, or that is closing and whose end is decided
	edges []edge

	fence     int64
	attempts  int
	lost      int
	lostLimit int // 0: none
	opening   int64
	earlier   []end  // how its openings before this one ended
	owner     string // "" with a lease
	holder    string // whom a lease is for
	lease     int64  // ms; of an attempt without a worker
	place     int64  // within queue and lane; 0 before the job was first ready or scheduled
	due       int64  // ms; 0: none
	delay     int64  // ms after the edges
	started   int64
	ended     int64
	worked    int64 // ms that the attempt took that did its own work

	labels      map[string]string
	unique      string // type and key; "" when there is none, or a successor has it
	removeAfter int64  // ms after its end; 0: as its queue says
	removeAt    int64
	limit       int64 // ms that it may wait for its first start; 0: any time
	expires     int64

	failedChildren int
	cancelled      bool // asked for
	withdrawn      bool
	recorded       bool
	holds          bool // on hold instead of failed
	keepsPlace     bool // when its time comes
	forgotten      bool // retention took the bytes it could be retried from
	gone           bool // nothing is left of it once the request is done

	template *template         // of one that is never run itself
	of       string            // of an occurrence: the template it was made from
	root     string            // where its cycle began
	tick     int64             // ms, of its cycle
	sync     map[string]string // state carried from one execution to the next
	synced   bool              // an attempt of this occurrence left such state, which is to reach its template
	runs     int               // executions since its limit of them was last reset

	failure string
	result  []byte
	causes  []string // of a skipped job
}

// end is how a job, or an opening of it, ends. The zero value is no end.
type end struct {
	state   conveyor.State
	child   bool // failed only through a child: its own work succeeded
	success bool // skipped, and what excluded it was a success
}

var (
	completed      = end{state: conveyor.StateCompleted}
	failed         = end{state: conveyor.StateFailed}
	failedChild    = end{state: conveyor.StateFailed, child: true}
	cancelled      = end{state: conveyor.StateCancelled}
	skippedFailure = end{state: conveyor.StateSkipped}
	skippedSuccess = end{state: conveyor.StateSkipped, success: true}
	expired        = end{state: conveyor.StateExpired}
	obsolete       = end{state: conveyor.StateObsolete}
)

// decided tells whether it is an end at all.
func (o end) decided() bool { return o != end{} }

// worked tells whether the job's own work succeeded.
func (o end) worked() bool { return o == completed || o == failedChild }

// toHeirs is what heirs and parents see: success, or failure.
func (o end) toHeirs() mark {
	switch {
	case o == completed, o == skippedSuccess, o.state == conveyor.StateObsolete:
		return success
	}
	return failure
}

// toChildren is what children see: a child needs its parent's own work.
func (o end) toChildren() mark {
	switch {
	case o.worked(), o.state == conveyor.StateObsolete:
		return success
	case o == skippedSuccess:
		return passedOver
	}
	return failure
}

// open tells whether a job's own work is done and its end depends on its children only.
func (j *job) open() bool { return j.state == conveyor.StateClosing && !j.end.decided() }

// waits tells whether a job has neither started nor ended nor will it soon.
func (j *job) waits() bool {
	return j.state == conveyor.StateHeld || j.state == conveyor.StateScheduled || j.state == conveyor.StateQueued
}

func (j *job) live() bool { return !j.state.Ended() }

// pending counts the edges that are not decided.
func (j *job) pending() (n int) {
	for i := range j.edges {
		if j.edges[i].pending() {
			n++
		}
	}
	return n
}

func byPlace(a, b *job) int { return cmp.Compare(a.place, b.place) }

// Statuses are the statuses of jobs, in order. Places are right in their order only. Cause is left empty: see Causes.
func (e *Engine) Statuses(uuids []string) []conveyor.Status {
	out := make([]conveyor.Status, len(uuids))
	for i, uuid := range uuids {
		out[i] = conveyor.Status{UUID: uuid}
		if j := e.jobs[uuid]; j != nil {
			out[i] = j.status()
		}
	}
	return out
}

func (j *job) status() conveyor.Status {
	return conveyor.Status{
		UUID: j.uuid, State: j.state, Queue: j.queue, Priority: j.lane, Fence: j.fence, Attempts: j.attempts, Lost: j.lost,
		Opening: j.opening, Owner: j.owner, Holder: j.holder, Broadcast: isBroadcast(j.wire), DueAt: at(j.due), Started: at(j.started), Ended: at(j.ended),
		Worked: j.workedFor(), Reopened: len(j.earlier) > 0 && j.earlier[len(j.earlier)-1].worked(),
		Success: j.end == skippedSuccess && !j.live(), ChildFailed: j.end == failedChild && !j.live(), FailedChildren: j.failedChildren,
		CancelRequested: j.cancelled, Withdrawn: j.withdrawn, Recorded: j.recorded, Pending: j.pending(), Place: j.place,
		MaxCycles: j.maxRuns(), Cycles: j.runs, Template: j.of, Root: j.root, Tick: at(j.tick),
		Labelled: len(j.labels) > 0, Unique: j.unique, RemoveAfter: time.Duration(j.removeAfter) * time.Millisecond, ExpiresAt: at(j.expires),
	}
}

// workedFor is how long the own work of a job took that is done.
func (j *job) workedFor() time.Duration {
	if j.state == conveyor.StateClosing || j.state == conveyor.StateCompleted || j.end == failedChild {
		return time.Duration(j.worked) * time.Millisecond
	}
	return 0
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Known lists all jobs, in no order.
func (e *Engine) Known() []string {
	var out []string
	for uuid := range e.jobs {
		out = append(out, uuid)
	}
	return out
}

// Failure and Result are what the attempts of a job left last.
func (e *Engine) Failure(uuid string) string {
	if j := e.jobs[uuid]; j != nil {
		return j.failure
	}
	return ""
}

// Result is the result of a job's last successful attempt.
func (e *Engine) Result(uuid string) []byte {
	if j := e.jobs[uuid]; j != nil {
		return j.result
	}
	return nil
}

// maxRuns is how many executions a job has until it is on hold; 0: no limit.
func (j *job) maxRuns() int {
	if isTemplate(j.wire) { // those of a template are its cycles
		return 0
	}
	return int(j.wire.MaxCycles)
}
