package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// MaxBackfill is how many ticks one Backfill makes up for.
const MaxBackfill = 1000

// backfillSlice is how many ticks one script takes: each makes an occurrence.
const backfillSlice = 50

// What is refused of templates.
var (
	ErrNotTemplate  = errors.New("it is no template: it has no schedule and no gate")
	ErrDownstream   = errors.New("it is downstream of a scheduled or gated job, and runs with its cycles: name that one")
	ErrNotScheduled = errors.New("it has a gate and no schedule")
	ErrBackfill     = errors.New("no ticks that could be made up for")
)

// RunTemplate begins a cycle of a scheduled or gated template now, whatever its schedule, its overlap, a pause or its limit of
// cycles, and returns the tick of that cycle: the store's time, or just after its latest tick. The cycle counts towards the limit.
// The errors of this and of the calls below are ErrNotFound, ErrNotTemplate for other jobs, and ErrDownstream.
func (c *Client) RunTemplate(ctx context.Context, uuid string) (time.Time, error) {
	ms, err := c.template(ctx, "run", uuid, onceName())
	return milliTime(ms), err
}

// onceName names one call, so that the script knows it when it comes again since its reply was lost.
func onceName() string { return "run-" + uuid.NewString() }

// PauseTemplate has the ticks of a schedule pass unused until ResumeTemplate; cycles that are live go on. Pausing what is paused
// changes nothing. It is ErrNotScheduled for a gate.
func (c *Client) PauseTemplate(ctx context.Context, uuid string) error {
	_, err := c.template(ctx, "pause", uuid)
	return err
}

// ResumeTemplate puts a schedule that was paused by hand into force again: ticks from now on count, those that passed are no
// missed ones. Resuming what is not paused changes nothing.
func (c *Client) ResumeTemplate(ctx context.Context, uuid string) error {
	_, err := c.template(ctx, "resume", uuid)
	return err
}

// ResetCycles has a template with MaxCycles count its cycles from 0 again. If it was on hold, ticks from now on count.
func (c *Client) ResetCycles(ctx context.Context, uuid string) error {
	_, err := c.template(ctx, "reset", uuid)
	return err
}

// Backfill begins a cycle for each tick of a schedule from from to to, both included, that has none yet, oldest first. If
// cycles of the template may overlap all begin at once; otherwise each waits until none is live. Whether the schedule is paused
// or on hold makes no difference. It returns the ticks; with dryRun that is all it does. Neither to may be ahead of the store's time,
// nor the ticks more than MaxBackfill. An error may leave a part of them begun: repeating the call goes on.
func (c *Client) Backfill(ctx context.Context, uuid string, from, to time.Time, dryRun bool) ([]time.Time, error) {
	ticks, err := c.ticksBetween(ctx, uuid, from, to)
	if err != nil {
		return nil, fmt.Errorf("backfill %s: %w", uuid, err)
	}
	if dryRun {
		return ticks, nil
	}
	for at := 0; at < len(ticks); at += backfillSlice {
		var args []any
		for _, tick := range ticks[at:min(at+backfillSlice, len(ticks))] {
			args = append(args, tick.UnixMilli())
		}
		if _, err := c.template(ctx, "backfill", uuid, args...); err != nil {
			return nil, err
		}
	}
	return ticks, nil
}

// Backlog returns the ticks of a schedule that were asked for with Backfill and wait until no cycle of it is live, oldest first. It is
// empty of what is no schedule. It only reads.
func (c *Client) Backlog(ctx context.Context, uuid string) ([]time.Time, error) {
	if !validName(uuid) {
		return nil, fmt.Errorf("backlog: %w: %q", ErrUUID, uuid)
	}
	key := c.keys.backlog(uuid)
	texts, err := c.rdb.ZRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, read(ctx, "backlog of "+uuid, err)
	}
	ticks := make([]time.Time, len(texts))
	for i, text := range texts {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: tick %q", ErrCorrupt, key, text)
		}
		ticks[i] = milliTime(ms)
	}
	return ticks, nil
}

// CancelBackfill gives up the ticks that wait in the backlog of a schedule, and tells how many these were. Cycles that have begun go
// on; a Backfill may ask for the same ticks again.
func (c *Client) CancelBackfill(ctx context.Context, uuid string) (int, error) {
	n, err := c.template(ctx, "forgo", uuid)
	return int(n), err
}

// ticksBetween are the ticks that a Backfill makes up for.
func (c *Client) ticksBetween(ctx context.Context, uuid string, from, to time.Time) ([]time.Time, error) {
	found, err := c.Templates(ctx, []string{uuid})
	if err != nil {
		return nil, err
	}
	now, err := c.Now(ctx)
	if err != nil {
		return nil, err
	}
	switch t := found[0]; {
	case t.Status.State == StateUnknown:
		return nil, ErrNotFound
	case t.Kind == 0:
		return nil, ErrNotTemplate
	case t.Kind == TemplateDownstream:
		return nil, fmt.Errorf("%w: %s", ErrDownstream, t.Root)
	case t.Kind == TemplateGated:
		return nil, ErrNotScheduled
	case to.Before(from):
		return nil, fmt.Errorf("%w: %s is before %s", ErrBackfill, to.Format(time.RFC3339), from.Format(time.RFC3339))
	case to.After(now):
		return nil, fmt.Errorf("%w: %s is ahead of the store's time, %s: ticks that have not come run by themselves", ErrBackfill,
			to.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	s, err := schedule.ParseText(found[0].When)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, c.keys.template(uuid), err)
	}
	ticks := s.Between(from.Add(-1), to, MaxBackfill+1)
	if len(ticks) > MaxBackfill {
		return nil, fmt.Errorf("%w: %s has more than %d ticks from %s to %s: make up for the first part up to %s, then for the rest", ErrTooLarge,
			found[0].When, MaxBackfill, from.Format(time.RFC3339), to.Format(time.RFC3339), ticks[MaxBackfill-1].Format(time.RFC3339))
	}
	return ticks, nil
}

// template calls template.lua and returns the number that it replies.
func (c *Client) template(ctx context.Context, what, uuid string, args ...any) (int64, error) {
	if !validName(uuid) {
		return 0, fmt.Errorf("%s: %w: %q", what, ErrUUID, uuid)
	}
	reply, err := c.run(ctx, templateScript, append([]any{uuid, what}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("%s %s: %w", what, uuid, err)
	}
	p := texts(reply)
	if len(p) < 2 {
		return 0, fmt.Errorf("%s %s: unreadable reply", what, uuid)
	}
	if refused, known := map[string]error{"none": ErrNotFound, "job": ErrNotTemplate, "below": ErrDownstream, "gate": ErrNotScheduled}[p[0]]; known {
		return 0, fmt.Errorf("%s %s: %w", what, uuid, refused)
	}
	c.warnDamaged(p[2:])
	return integer(p[1]), nil
}
