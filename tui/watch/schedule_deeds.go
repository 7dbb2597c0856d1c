package watch

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// What can be done to a schedule or a gate.
var (
	runNow = &deed{verb: "Run", past: "begins a cycle", can: isTemplate,
		do: func(a Actions, ctx context.Context, uuid string) error { return a.RunTemplate(ctx, uuid) }}
	pauseTemplate = &deed{verb: "Pause", past: "is paused", can: isTemplate,
		do: func(a Actions, ctx context.Context, uuid string) error { return a.PauseTemplate(ctx, uuid) }}
	resumeTemplate = &deed{verb: "Resume", past: "goes on", can: isTemplate,
		do: func(a Actions, ctx context.Context, uuid string) error { return a.ResumeTemplate(ctx, uuid) }}
	resetCycles = &deed{verb: "Release", past: "goes on", can: isTemplate,
		do: func(a Actions, ctx context.Context, uuid string) error { return a.ResetCycles(ctx, uuid) }}
)

func isTemplate(s conveyor.Status) bool { return s.State == conveyor.StateTemplate }

// askTemplate puts the question for an action on a template, in the place of d, which is for jobs that are run.
func (m *model) askTemplate(d *deed, r row) {
	seen := m.scheduleOf(r.job)
	if seen == nil {
		name := "what it is downstream of"
		if root := m.rootOf(r); root != nil {
			name = root.Name
		}
		m.say(true, "%s has no schedule or gate of its own: it runs in the cycles of %s. Choose that.", r.job.Name, name)
		return
	}
	t := &seen.Template
	follows := ""
	switch {
	case d == retry:
		d, follows = runNow, "A cycle of it begins now: one occurrence of it and of each job downstream of it. Its schedule goes on as before."
		if n := len(t.Live); n > 0 {
			follows += fmt.Sprintf(" %s still running, and goes on beside it.", board.Count(n, "cycle is", "cycles are"))
		}
	case d == release && !t.OnHold:
		m.say(true, "Cannot release %s: it is not on hold.", r.job.Name)
		return
	case d == release:
		d, follows = resetCycles, fmt.Sprintf("It has had its %s, and begins to count anew.", board.Count(t.MaxCycles, "cycle", "cycles"))
	case d == cancel:
		m.say(true, "Cannot cancel %s: it is a template. Remove it from the files of its workflow and apply, or pause it with %s.", r.job.Name, m.keys.Pause.Help().Key)
		return
	case t.Kind == conveyor.TemplateGated:
		m.say(true, "Cannot pause %s: it has a gate and no schedule. It runs when the jobs that open the gate succeed.", r.job.Name)
		return
	case t.Paused:
		d, follows = resumeTemplate, "Its cycles begin again. Those whose time passed meanwhile are not caught up."
	default:
		d, follows = pauseTemplate, "No cycle of it begins until it is resumed. What runs goes on."
	}
	m.asked = &question{deed: d, name: r.job.Name, target: r.job.Status.UUID, row: r, status: r.job.Status, follows: follows}
}

// chosenSchedule is the schedule or gate that the cursor is on.
func (m *model) chosenSchedule() (row, bool) {
	r, ok := m.chosen()
	return r, ok && m.scheduleOf(r.job) != nil
}

// cyclesOfChosen lists the jobs of the cycles of the chosen template, or of the cycle that the chosen job belongs to.
func (m *model) cyclesOfChosen() tea.Cmd {
	r, ok := m.chosen()
	text := ""
	switch {
	case !ok:
	case m.scheduleOf(r.job) != nil:
		text = "cycle:" + r.job.Name
	case r.job.Cycle != "":
		text = "cycle:" + r.job.Cycle
	case isTemplate(r.job.Status) && m.rootOf(r) != nil:
		text = "cycle:" + m.rootOf(r).Name
	}
	if text == "" {
		m.say(false, "No schedule or gate is chosen, nor a job of a cycle.")
		return nil
	}
	return m.look(parseFilter(text), m.jobs.scope, m.jobs.scoped)
}
