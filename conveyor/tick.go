package conveyor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Retention of what has no record, as long as its queue's settings (KeepFor, KeepCount) or the job's remove_after say nothing
// else. The scripts have the same numbers in lua/lib/retention.lua.
const (
	Retention      = 7 * 24 * time.Hour // of ended jobs, with logs, results and the bytes of failed ones
	RetentionCount = 100_000            // ended jobs of one queue; the oldest go first
	callsKeptFor   = time.Hour          // numbers and replies of callers that are no workers
)

// TickReply tells what a Tick did.
type TickReply struct {
	Changes  int           // jobs changed
	More     bool          // work is left: tick again at once
	Dead     []string      // workers found silent and removed
	Lost     int           // jobs taken from them, and from leases that ended
	Expired  int           // jobs that waited too long
	Obsolete int           // jobs that became ready while a root of them is alive
	Emitted  int           // cycles that schedules began
	Damaged  []string      // keys that were met and could not be worked with
	Next     time.Duration // until the next due time or deadline of a job or worker; 0: none known
	Cycle    time.Duration // until the next tick of a schedule; 0: none known
	Now      time.Time
}

// Tick does what any connected process may do for all: release due jobs, finish what is listed to do, reap dead workers and
// expired leases, sweep retention, at most 200 changes a call; then it begins the cycles of schedules that are due, each in a call of
// its own.
func (c *Client) Tick(ctx context.Context) (TickReply, error) {
	reply, err := c.run(ctx, tickScript, DeadAfter.Milliseconds(), callsKeptFor.Milliseconds())
	if err != nil {
		return TickReply{}, err
	}
	p := texts(reply)
	unreadable := errors.New("tick: unreadable reply")
	if len(p) < 10 || len(p) < 10+int(integer(p[8])) {
		return TickReply{}, unreadable
	}
	dead := 9 + int(integer(p[8]))
	rest := dead + 1 + 4*int(integer(p[dead]))
	if len(p) < rest {
		return TickReply{}, unreadable
	}
	c.warnDamaged(p[rest:])
	out := TickReply{
		Changes: int(integer(p[0])), More: p[1] == "1", Next: time.Duration(integer(p[2])) * time.Millisecond,
		Now: time.UnixMilli(integer(p[3])), Dead: p[9:dead], Damaged: p[rest:],
		Lost: int(integer(p[4])), Expired: int(integer(p[5])), Obsolete: int(integer(p[6])),
		Cycle: time.Duration(integer(p[7])) * time.Millisecond,
	}
	c.happened(JobLost, out.Lost)
	c.happened(JobExpired, out.Expired)
	c.happened(JobObsolete, out.Obsolete)
	c.happened(WorkerDied, len(out.Dead))
	for due := p[dead+1 : rest]; len(due) > 0; due = due[4:] {
		if err := c.tickSchedule(ctx, &out, dueSchedule{due[0], due[1], due[2], due[3]}); err != nil {
			return out, fmt.Errorf("tick: %w", err)
		}
	}
	return out, nil
}
