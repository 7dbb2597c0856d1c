package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// latestTick stands for the tick of the latest cycle in the address of an occurrence.
const latestTick = "latest"

// splitTick divides the address of an occurrence, as job.x["k"]@2026-11-20T02:00:00Z, into that of its template and the tick. A key may
// hold an @ of its own.
func splitTick(job string) (template, tick string, ok bool) {
	from := strings.LastIndexByte(job, ']') + 1
	at := strings.IndexByte(job[from:], '@')
	if at < 0 {
		return job, "", false
	}
	return job[:from+at], job[from+at+1:], true
}

// tickText is a tick as addresses and JSON have it.
func tickText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strings.TrimPrefix(conveyor.OccurrenceName("", t), "@")
}

// momentForms are the ways to write a moment without its zone, which then is that of the schedule.
var momentForms = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// parseMoment reads a moment: an RFC 3339 time, or one without its zone. A date alone is the day that begins then.
func parseMoment(text string, zone *time.Location) (at time.Time, day bool, err error) {
	if at, err = time.Parse(time.RFC3339Nano, text); err == nil {
		return at, false, nil
	}
	for _, form := range momentForms {
		if at, err = time.ParseInLocation(form, text, zone); err == nil {
			return at, false, nil
		}
	}
	at, err = time.ParseInLocation(time.DateOnly, text, zone)
	return at, true, err
}

// findOccurrence is the uuid of the occurrence of a template at a tick.
func (r roll) findOccurrence(ctx context.Context, s *store, template, tick string) (string, error) {
	c, err := r.findCyclic(ctx, s, template)
	if err != nil {
		return "", err
	}
	cycles, err := c.cycles(ctx, s, 0)
	if err != nil {
		return "", err
	}
	cycle, err := c.choose(cycles, tick)
	if err != nil {
		return "", err
	}
	uuid := conveyor.OccurrenceUUID(c.UUID, c.Root, cycle.Tick)
	statuses, err := s.client.Statuses(ctx, []string{uuid})
	if err != nil {
		return "", err
	}
	if statuses[0].State == conveyor.StateUnknown {
		return "", fail("No such job", "%s", c.absent(cycle))
	}
	r.meet(statuses...)
	return uuid, nil
}

// choose is the cycle that a tick in an address means. An exact time that no cycle has is taken as it is: it may be an old one.
func (c *cyclic) choose(cycles []conveyor.Cycle, tick string) (conveyor.Cycle, error) {
	cycles = slices.DeleteFunc(slices.Clone(cycles), func(x conveyor.Cycle) bool { return x.Jobs == 0 && x.Outcome != conveyor.CycleLive })
	if tick == latestTick {
		if len(cycles) == 0 {
			return conveyor.Cycle{}, fail("No such job", "%s has had no cycle yet. %s", c.name, c.upcoming())
		}
		return cycles[0], nil
	}
	at, day, err := parseMoment(tick, c.zone)
	if err != nil {
		return conveyor.Cycle{}, fail("Invalid address", "%q in %s@%s is no tick: write a time such as %s, a day that has one cycle only, or latest.",
			tick, c.name, tick, tickText(c.now.Truncate(time.Minute)))
	}
	until := at
	if day {
		until = at.AddDate(0, 0, 1).Add(-1)
	}
	var within []conveyor.Cycle
	for _, x := range cycles {
		if !x.Tick.Before(at) && !x.Tick.After(until) {
			within = append(within, x)
		}
	}
	switch {
	case len(within) == 1:
		return within[0], nil
	case len(within) > 1:
		return conveyor.Cycle{}, fail("Invalid address", "%s had %s on %s: name one of them, such as %s.", c.name,
			countOf(int64(len(within)), "cycle", "cycles"), tick, conveyor.OccurrenceName(c.name, within[0].Tick))
	case day:
		return conveyor.Cycle{}, fail("No such job", "%s had no cycle on %s, %s. Run %q for those it had.", c.name, tick, c.zone, "waybill job history")
	}
	return conveyor.Cycle{Tick: at}, nil
}

// absent says why an occurrence is not there.
func (c *cyclic) absent(cycle conveyor.Cycle) string {
	name := conveyor.OccurrenceName(c.name, cycle.Tick)
	hint := fmt.Sprintf("Run %q for its cycles.", "waybill job history "+shellWord(c.name))
	switch {
	case cycle.Outcome != conveyor.CycleLive || !cycle.Began.IsZero():
		return fmt.Sprintf("Nothing is left of %s, or its cycle never came to it: the cycle was %s. %s", name, board.OutcomeText(cycle), hint)
	case cycle.Tick.After(c.now):
		return fmt.Sprintf("%s is yet to come: occurrences are made at their time. %s", name, c.upcoming())
	}
	return fmt.Sprintf("There is no %s, or nothing is left of it. %s", name, hint)
}

// upcoming says in a sentence when a template's next cycle is.
func (c *cyclic) upcoming() string {
	t := c.root
	switch {
	case t.OnHold:
		return fmt.Sprintf("It is on hold after %s: %q lets it go on.", countOf(int64(t.Cycles), "cycle", "cycles"), "waybill job release")
	case t.Disabled:
		return "Its schedule is declared off (enabled = false)."
	case t.Paused:
		return fmt.Sprintf("It is paused: %q lets it go on.", "waybill job resume")
	case t.Kind == conveyor.TemplateGated:
		return "Its next cycle begins when its gate opens: " + board.GateText(t.Gate) + "."
	}
	if since := board.Overdue(t, c.now); !since.IsZero() {
		return "It was due " + board.At(since, c.now, c.zone) + ", and begins a cycle as soon as a worker is there."
	}
	return "Its next cycle is " + board.At(t.Next, c.now, c.zone) + "."
}
