package board

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// NextRun says when a schedule or a gate runs next, or what keeps it from that: "Next run of job.nightly: tomorrow 02:00
// Europe/Berlin".
func NextRun(s applier.ScheduleSeen, now time.Time) string {
	name := ScheduleName(s)
	switch t := s.Template; {
	case t.OnHold:
		return fmt.Sprintf("%s is on hold after %s (max_cycles): \"waybill job release\" lets it go on", name, Count(t.Cycles, "cycle", "cycles"))
	case t.Disabled:
		return name + " is off (enabled = false)"
	case t.Paused:
		return name + " is paused: \"waybill job resume\" lets it go on"
	case t.Kind == conveyor.TemplateGated:
		return name + " runs when its gate opens: " + GateText(t.Gate)
	default:
		if since := Overdue(t, now); !since.IsZero() {
			return name + " was due " + At(since, now, Zone(t.When)) + ": a worker has to be there"
		}
		return "Next run of " + name + ": " + At(t.Next, now, Zone(t.When))
	}
}

// BacklogText says that times of a backfill wait; "" when none do.
func BacklogText(t conveyor.Template) string {
	if t.Backlog == 0 {
		return ""
	}
	return Count(t.Backlog, "time waits", "times wait") + " until no cycle runs, then the next begins"
}

// ScheduleName is the address of a schedule or a gate; of a template of nobody its name or uuid.
func ScheduleName(s applier.ScheduleSeen) string {
	switch {
	case s.Addr.Name != "":
		return screen.Clean(s.Addr.String())
	case s.Template.Name != "":
		return screen.Clean(s.Template.Name)
	}
	return screen.Clean(s.Template.UUID)
}

// GateText tells the labels of a gate that are still to come, and those that came: "it waits for etl; sales came".
func GateText(gate []conveyor.GateLabel) string {
	var open, waits []string
	for _, g := range gate {
		label := screen.Clean(g.Label)
		switch {
		case g.Flipped:
			open = append(open, label)
		case g.Failed != "":
			waits = append(waits, label+" (the last job with it failed)")
		default:
			waits = append(waits, label)
		}
	}
	text := "it waits for " + strings.Join(waits, ", ")
	if len(open) > 0 {
		text += "; " + strings.Join(open, ", ") + " came"
	}
	return text
}

// OutcomeText is what became of a cycle, in a word or two.
func OutcomeText(c conveyor.Cycle) string {
	switch {
	case c.Outcome == conveyor.CycleLive && c.Replaced:
		return "being replaced"
	case c.Outcome == conveyor.CycleLive:
		return "running"
	case c.Outcome == conveyor.CycleMissed && c.Missed > 1:
		return fmt.Sprintf("%d missed", c.Missed)
	}
	return c.Outcome.String()
}

// Stopped says in a word or two why no cycle of a template begins: "off" (declared so), "paused" (by hand), "on hold" (it has had
// all it may have); "" when they do.
func Stopped(t conveyor.Template) string {
	switch {
	case t.OnHold:
		return "on hold"
	case t.Disabled:
		return "off"
	case t.Paused:
		return "paused"
	}
	return ""
}

// SyncText is what one occurrence hands on to the next, in the order of its names: `cursor = "17", page = "2"`.
func SyncText(sync map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(sync)) {
		parts = append(parts, fmt.Sprintf("%s = %q", name, sync[name]))
	}
	return strings.Join(parts, ", ")
}
