package conveyor

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// What becomes of ticks that nobody met at their time.
const (
	catchupMost  = 100              // occurrences that catchup all makes up for; earlier ticks are missed
	catchupLate  = time.Minute      // how late catchup none still takes a tick
	countMost    = 10_000           // missed ticks are counted up to this
	scheduleWait = 10 * time.Minute // until a schedule is tried again whose text this program cannot read
)

// dueSchedule is a root whose next tick has come, or was not computed yet, as tick.lua tells it.
type dueSchedule struct {
	uuid, when, catchup, since string
}

// judged is what becomes of the ticks of a schedule in a time.
type judged struct {
	emit   []time.Time
	missed int       // ticks given up
	last   time.Time // of those
	until  time.Time // up to when the schedule is judged then
	next   time.Time
}

// judge computes the ticks after the time judged last up to now. Of those that came, catchup last emits the latest, all the latest
// hundred, none the latest if it is not late. A clock that was set back judges nothing anew.
func (d dueSchedule) judge(s *schedule.Schedule, now time.Time) judged {
	since := time.UnixMilli(integer(d.since))
	j := judged{until: now}
	if since.After(now) {
		j.until = since
	}
	j.next = s.Next(j.until)
	keep := 1
	if d.catchup == "a" {
		keep = catchupMost
	}
	tick := s.Prev(j.until)
	if d.catchup == "n" && j.until.Sub(tick) > catchupLate {
		keep = 0
	}
	for ; tick.After(since) && len(j.emit) < keep; tick = s.Prev(tick.Add(-time.Millisecond)) {
		j.emit = append([]time.Time{tick}, j.emit...)
	}
	for j.last = tick; tick.After(since) && j.missed < countMost; tick = s.Prev(tick.Add(-time.Millisecond)) {
		j.missed++
	}
	return j
}

// tickSchedule judges the ticks of one schedule that came and stores what follows, unless somebody else did so meanwhile.
func (c *Client) tickSchedule(ctx context.Context, out *TickReply, d dueSchedule) error {
	args := []any{d.uuid, d.when, d.since}
	s, err := schedule.ParseText(d.when)
	if err != nil {
		// Written by a newer program, perhaps: that one goes on with it.
		c.logger.Warn("a schedule cannot be read and was left alone", "template", d.uuid, "schedule", d.when, "error", err)
		args = append(args, d.since, out.Now.Add(scheduleWait).UnixMilli(), 0, "")
	} else {
		j := d.judge(s, out.Now)
		next, last := "", ""
		if !j.next.IsZero() {
			next = strconv.FormatInt(j.next.UnixMilli(), 10)
			if until := j.next.Sub(out.Now); out.Cycle == 0 || until < out.Cycle {
				out.Cycle = until
			}
		}
		if j.missed > 0 {
			last = strconv.FormatInt(j.last.UnixMilli(), 10)
		}
		args = append(args, j.until.UnixMilli(), next, j.missed, last)
		for _, tick := range j.emit {
			args = append(args, tick.UnixMilli())
		}
	}
	reply, err := c.run(ctx, scheduleScript, args...)
	if err != nil {
		return fmt.Errorf("schedule of %s: %w", d.uuid, err)
	}
	p := texts(reply)
	if len(p) < 2 {
		return fmt.Errorf("schedule of %s: unreadable reply", d.uuid)
	}
	out.Emitted += int(integer(p[1]))
	out.Damaged = append(out.Damaged, p[2:]...)
	c.warnDamaged(p[2:])
	return nil
}
