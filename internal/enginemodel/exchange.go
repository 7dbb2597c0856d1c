package enginemodel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// Exchange acknowledges a batch of attempts and reserves the next. The same number again gets the same answer, of which jobs
// are left out that were lost since; a lower one is outdated.
func (e *Engine) Exchange(r conveyor.ExchangeRequest) (conveyor.ExchangeReply, error) {
	if r.Caller == "" {
		r.Caller = r.Worker
	}
	if last := e.calls[r.Caller]; last != nil {
		if last.number > r.Number {
			return conveyor.ExchangeReply{}, fmt.Errorf("exchange: %w", conveyor.ErrOutdated)
		}
		if last.number == r.Number {
			return e.again(last.reply), nil
		}
	}
	e.dropped, e.turned = 0, false
	e.releaseDue()
	e.takeTodo()
	reply := conveyor.ExchangeReply{Now: time.UnixMilli(e.now)}
	for i, a := range r.Done {
		if j := e.jobs[a.UUID]; j != nil && j.state == conveyor.StateRunning && j.fence == a.Fence {
			e.acknowledge(j, a)
		} else {
			reply.Outdated = append(reply.Outdated, i)
		}
	}
	if r.Worker == "" && r.Want > 0 {
		e.reap() // who reserves without a worker may be alone here, and what others let go comes first
	}
	e.settleAll()
	taken, late := e.reserve(r)
	reply.Expired, reply.Obsolete, reply.More = late, e.dropped, late+e.dropped > 0 || e.turned
	for _, j := range taken {
		reply.Reserved = append(reply.Reserved, conveyor.Reservation{
			Job: j.wire, Fence: j.fence, Attempts: j.attempts, Lost: j.lost, Opening: j.opening, MaxCycles: j.maxRuns(), Cycles: j.runs,
			Sync: maps.Clone(j.sync),
		})
	}
	if r.Worker != "" {
		e.see(r.Worker, func(w *worker) { w.queues = r.Queues })
	}
	reply.Next = time.Duration(e.next()) * time.Millisecond
	e.calls[r.Caller] = &call{number: r.Number, at: e.now, worker: r.Caller == r.Worker, reply: reply}
	return reply, nil
}

// again leaves out of an answer what the caller no longer holds.
func (e *Engine) again(reply conveyor.ExchangeReply) conveyor.ExchangeReply {
	reply.Reserved = slices.Clone(reply.Reserved)
	var held []conveyor.Reservation
	for _, r := range reply.Reserved {
		if j := e.jobs[r.Job.Uuid]; j != nil && j.state == conveyor.StateRunning && j.fence == r.Fence {
			r.Job, r.Sync = j.wire, maps.Clone(j.sync) // an update since then came with other bytes
			held = append(held, r)
		}
	}
	reply.Reserved = held
	return reply
}

// acknowledge ends an attempt. One that succeeds is done, although its cancellation was asked for.
func (e *Engine) acknowledge(j *job, a conveyor.Ack) {
	if a.Verdict == conveyor.VerdictExtend {
		if j.owner == "" {
			j.lease = e.now + milli(a.Delay)
		}
		return
	}
	j.owner, j.holder, j.lease = "", "", 0
	if a.Failure != "" {
		j.failure = a.Failure
	}
	switch a.Verdict {
	case conveyor.VerdictRetry, conveyor.VerdictFailed, conveyor.VerdictHold:
		j.attempts++
	}
	if j.maxRuns() > 0 && a.Verdict != conveyor.VerdictBack && a.Verdict != conveyor.VerdictNoHandler {
		j.runs++
	}
	e.keepSync(j, a)
	wait := milli(a.Delay)
	switch {
	case a.Verdict == conveyor.VerdictDone:
		if a.Result != nil {
			j.result = a.Result
		}
		j.cancelled = false
		j.limit, j.expires = 0, 0
		j.state, j.worked = conveyor.StateClosing, e.now-j.started
		e.settle(j)
	case j.cancelled:
		e.closeAs(j, cancelled)
	case a.Verdict == conveyor.VerdictFailed:
		e.closeAs(j, failed)
	case a.Verdict == conveyor.VerdictHold:
		j.state = conveyor.StateOnHold
	case a.Verdict == conveyor.VerdictBack, a.Verdict == conveyor.VerdictNoHandler && wait <= 0:
		e.restore(j)
	case a.Verdict != conveyor.VerdictNoHandler && j.maxRuns() > 0 && j.runs >= j.maxRuns():
		j.state = conveyor.StateOnHold
	case wait > 0:
		j.keepsPlace = a.Verdict == conveyor.VerdictNoHandler
		e.schedule(j, e.now+wait)
	default:
		e.ready(j)
	}
}

// keepSync: what an attempt that succeeds, or puts the job back, leaves is for the next execution. Of an occurrence whose own work
// is done it is for the next occurrence of its template.
func (e *Engine) keepSync(j *job, a conveyor.Ack) {
	done := a.Verdict == conveyor.VerdictDone
	if a.Sync != nil && (done || a.Verdict == conveyor.VerdictDefer && !j.cancelled) {
		j.sync, j.synced = nil, j.of != ""
		if len(a.Sync) > 0 {
			j.sync = maps.Clone(a.Sync)
		}
	}
	if !done || !j.synced {
		return
	}
	j.synced = false
	if t := e.jobs[j.of]; t != nil && t.template != nil {
		t.template.sync = maps.Clone(j.sync)
	}
}

// reserve starts as many jobs as are wanted: queues in the order given, higher lanes first, by place. One that waited too
// long ends instead.
func (e *Engine) reserve(r conveyor.ExchangeRequest) (taken []*job, expiring int) {
	dropped := 0
	own := inbox(cmp.Or(r.Worker, r.Holder))
	for _, q := range append([]string{own}, r.Queues...) {
		n := r.Want - len(taken) - dropped
		if n == 0 {
			break
		}
		found := e.queued(q)
		if q == own {
			found = found[:min(n, len(found))]
		} else {
			found = found[:e.part(q, r.Worker, n)]
		}
		for _, j := range found {
			if j.expires > 0 && j.expires <= e.now {
				dropped, expiring = dropped+1, expiring+1
				e.closeAs(j, expired)
				continue
			}
			if e.dropObsolete(j) {
				dropped++
				continue
			}
			j.state, j.owner, j.started = conveyor.StateRunning, r.Worker, e.now
			j.holder = r.Holder
			if r.Worker == "" {
				j.lease = e.now + r.Lease.Milliseconds()
				if d := j.wire.ReserveFor.AsDuration(); d > 0 {
					j.lease = e.now + milli(d)
				}
			}
			j.fence++
			if !inInbox(j.queue) {
				j.limit, j.expires = 0, 0
			}
			taken = append(taken, j)
		}
	}
	e.settleAll()
	return taken, expiring
}

func (e *Engine) running(queue string) (n int) {
	for _, j := range e.jobs {
		if j.state == conveyor.StateRunning && j.queue == queue {
			n++
		}
	}
	return n
}

// Fenced is what progress, logs and all else that an attempt writes need: that it has not been superseded.
func (e *Engine) Fenced(uuid string, fence int64) error {
	if j := e.jobs[uuid]; j == nil || j.state != conveyor.StateRunning || j.fence != fence {
		return fmt.Errorf("%s: %w", uuid, conveyor.ErrOutdated)
	}
	return nil
}
