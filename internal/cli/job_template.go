package cli

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/tui/board"
)

// nextShown is how many of a schedule's next times job show lists.
const nextShown = 3

// kindText says what makes a template emit.
func (c *cyclic) kindText() string {
	switch c.Kind {
	case conveyor.TemplateScheduled:
		return "scheduled, " + board.Recurrence(c.When)
	case conveyor.TemplateGated:
		return "gated: " + board.GateText(c.Gate)
	}
	return "runs in the cycles of " + c.over
}

// templateState is the state of a template in a list.
func templateState(t conveyor.Template) string {
	if s := board.Stopped(t); s != "" {
		return "template, " + s
	}
	return "template"
}

// lines are what there is to say of a template, each with its name.
func (c *cyclic) lines() [][2]string {
	out := [][2]string{{"template", c.kindText()}}
	add := func(name, format string, args ...any) {
		out = append(out, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if c.Root != c.UUID {
		return out
	}
	if s := board.Stopped(c.Template); s != "" {
		add("stopped", "%s", c.upcoming())
	}
	if c.Kind == conveyor.TemplateScheduled {
		if since := board.Overdue(c.Template, c.now); !since.IsZero() {
			add("overdue", "since %s, %s: no worker has been there", board.At(since, c.now, c.zone), distance(c.now, since))
		}
		name := "next"
		for _, tick := range board.NextTimes(c.Template, c.now, nextShown) {
			add(name, "%s, %s", distance(c.now, tick), board.At(tick, c.now, c.zone))
			name = ""
		}
		if text := board.BacklogText(c.Template); text != "" {
			add("backfill", "%s", text)
		}
		add("catchup", "%s", catchups[c.Catchup])
		add("overlap", "%s", strings.ToLower(c.Overlap.String()))
	}
	for i, g := range c.Gate {
		name, state := "", "still to come"
		if i == 0 {
			name = "gate"
		}
		switch {
		case g.Flipped:
			state = "came"
		case g.Failed != "":
			state = "still to come, the last job with it failed: " + g.Failed
		}
		add(name, "%s: %s", g.Label, state)
	}
	if c.MaxCycles > 0 {
		add("cycles", "%d of %d (max_cycles)", c.Cycles, c.MaxCycles)
	}
	return out
}

// catchups say what becomes of times at which nobody was there.
var catchups = map[wire.Schedule_Catchup]string{
	wire.Schedule_LAST: "last: of the times that were missed, the latest is run",
	wire.Schedule_NONE: "none: times that were missed are left out",
	wire.Schedule_ALL:  "all: every time that was missed is run, up to 100",
}

// shownTemplate is what job show -json says of a template beside what it says of any job.
type shownTemplate struct {
	Kind      string            `json:"kind"` // scheduled, gated, downstream
	Root      string            `json:"root,omitempty"`
	Schedule  string            `json:"schedule,omitempty"`
	Timezone  string            `json:"timezone,omitempty"`
	Catchup   string            `json:"catchup,omitempty"`
	Overlap   string            `json:"overlap,omitempty"`
	Enabled   *bool             `json:"enabled,omitempty"`
	Paused    bool              `json:"paused,omitempty"`
	OnHold    bool              `json:"on_hold,omitempty"`
	MaxCycles int               `json:"max_cycles,omitempty"`
	Cycles    int               `json:"cycles,omitempty"` // that count against max_cycles
	Next      []string          `json:"next,omitempty"`
	Overdue   string            `json:"overdue_since,omitempty"` // the first time that has come and nobody was there for
	Backlog   int               `json:"backlog,omitempty"`       // times of a backfill that wait until no cycle runs
	Gate      []shownGate       `json:"gate,omitempty"`
	Sync      map[string]string `json:"sync,omitempty"`
	Latest    []shownCycle      `json:"latest_cycles,omitempty"`
}

type shownGate struct {
	Label   string `json:"label"`
	Flipped bool   `json:"flipped"`
	Failed  string `json:"failed,omitempty"` // uuid of the last job with this label, if it failed
}

func (c *cyclic) shown() *shownTemplate {
	t := &shownTemplate{Kind: c.Kind.String(), Root: c.rootName(), Sync: c.Sync}
	if c.Root != c.UUID {
		return t
	}
	t.Paused, t.OnHold, t.MaxCycles, t.Cycles = c.Paused, c.OnHold, c.MaxCycles, c.Cycles
	for _, g := range c.Gate {
		t.Gate = append(t.Gate, shownGate{g.Label, g.Flipped, g.Failed})
	}
	if c.Kind == conveyor.TemplateScheduled {
		enabled := !c.Disabled
		t.Schedule, t.Timezone, t.Enabled = c.When, c.zone.String(), &enabled
		t.Catchup, t.Overlap = strings.ToLower(c.Catchup.String()), strings.ToLower(c.Overlap.String())
		for _, tick := range board.NextTimes(c.Template, c.now, nextShown) {
			t.Next = append(t.Next, tickText(tick))
		}
		t.Overdue, t.Backlog = tickText(board.Overdue(c.Template, c.now)), c.Backlog
	}
	return t
}
