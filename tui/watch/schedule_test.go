package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/tui/internal/script"
	"github.com/waybill-dev/waybill/tui/screen"
)

// recurring is a workflow of templates: a nightly graph in the middle of a cycle, an hourly one that failed last, a gate, one that is
// paused and one on hold; beside it a job that waits for a time.
func recurring(t testing.TB) []applier.Event {
	template := conveyor.Status{State: conveyor.StateTemplate}
	jobs := followed(t, []node{
		{`job.nightly`, 0, "etl", nil, template},
		{`job.load["eu"]`, 1, "etl", []int32{0}, template},
		{`job.load["us"]`, 1, "etl", []int32{0}, template},
		{`job.hourly`, 0, "etl", nil, template},
		{`job.month`, 0, "etl", nil, template},
		{`job.fifty`, 0, "etl", nil, template},
		{`job.gather`, 0, "etl", nil, template},
		{`job.late`, 0, "etl", nil, conveyor.Status{State: conveyor.StateScheduled, DueAt: script.At(5400)}},
	})
	return []applier.Event{
		applier.Opened{Store: "redis://127.0.0.1:6379"},
		seen(applier.WorkflowSeen{Name: "books", Jobs: 8, Serial: 3}),
		applier.OfWorkflow{Workflow: "books", Event: jobs},
		applier.OfWorkflow{Workflow: "books", Event: applier.OccurrencesSeen{Jobs: occurrences(), Total: 6}},
		schedules(t, false),
	}
}

// occurrences are those of two cycles of job.nightly: one is over, one runs.
func occurrences() []conveyor.Status {
	cycle := func(hour float64, states ...conveyor.Status) (list []conveyor.Status) {
		for i, name := range []string{`job.nightly`, `job.load["eu"]`, `job.load["us"]`} {
			s := states[i]
			s.UUID, s.Template, s.Root, s.Queue, s.Opening, s.Priority = fmt.Sprintf("%s at %v", name, hour), "uuid-of-"+name, "uuid-of-job.nightly", "etl", 1, 1
			s.Tick = script.At(hour * 3600)
			list = append(list, s)
		}
		return list
	}
	yesterday := script.Ended(conveyor.StateCompleted, script.At(-24*3600), script.At(-24*3600+30))
	return slices.Concat(
		cycle(-24, yesterday, yesterday, conveyor.Status{State: conveyor.StateFailed, Fence: 1, Attempts: 1, Started: script.At(-24 * 3600), Ended: script.At(-24*3600 + 9)}),
		cycle(0, script.Ended(conveyor.StateCompleted, script.At(0), script.At(3)), script.Running(1, script.At(3)), conveyor.Status{State: conveyor.StateQueued}))
}

func schedules(t testing.TB, paused bool) applier.SchedulesSeen {
	const day, hour = 24 * 3600, 3600
	of := func(name string, tt conveyor.Template, last conveyor.Cycle) applier.ScheduleSeen {
		tt.UUID = "uuid-of-" + name
		tt.Root, tt.Name = tt.UUID, name
		return applier.ScheduleSeen{Workflow: "books", Addr: script.Addr(t, name), Template: tt, Last: last}
	}
	over := func(outcome conveyor.CycleOutcome, at, took float64) conveyor.Cycle {
		return conveyor.Cycle{Tick: script.At(at), Outcome: outcome, Began: script.At(at), Ended: script.At(at + took), Jobs: 3}
	}
	list := []applier.ScheduleSeen{
		of("job.fifty", conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 minute", MaxCycles: 50, Cycles: 50, OnHold: true}, over(conveyor.CycleCompleted, -hour, 2)),
		of("job.gather", conveyor.Template{Kind: conveyor.TemplateGated, Gate: []conveyor.GateLabel{{Label: "de", Flipped: true}, {Label: "fr"}, {Label: "it", Failed: "x"}}},
			conveyor.Cycle{}),
		of("job.hourly", conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", Next: script.At(hour - 20)}, over(conveyor.CycleFailed, -20, 7)),
		of("job.month", conveyor.Template{Kind: conveyor.TemplateScheduled, When: "cron 0 9 1 * * UTC", Paused: true}, over(conveyor.CycleMissed, -3*hour, 0)),
		of("job.nightly", conveyor.Template{Kind: conveyor.TemplateScheduled, When: "cron 0 13 * * * Europe/Berlin", Overlap: wire.Schedule_SKIP, Next: script.At(day), Paused: paused,
			Sync: map[string]string{"cursor": "1812"}, Live: []conveyor.Cycle{{Tick: script.At(0), Began: script.At(0), Jobs: 3}}}, over(conveyor.CycleFailed, -day, 30)),
	}
	if paused {
		list[4].Template.Next = list[4].Last.Began
	}
	return applier.SchedulesSeen{At: script.Noon, Schedules: list, Total: len(list)}
}

// history is what the view is told of job.nightly.
func history() []conveyor.Cycle {
	const day = 24 * 3600
	return []conveyor.Cycle{
		{Tick: script.At(0), Began: script.At(0), Jobs: 3},
		{Tick: script.At(-day), Outcome: conveyor.CycleFailed, Began: script.At(-day), Ended: script.At(-day + 30), Jobs: 3, Failed: 1},
		{Tick: script.At(-2 * day), Outcome: conveyor.CycleSkipped, Began: script.At(-2 * day), Ended: script.At(-2 * day)},
		{Tick: script.At(-3 * day), Outcome: conveyor.CycleCompleted, Began: script.At(-3*day + 0.2), Ended: script.At(-3*day + 100), Jobs: 3},
		{Tick: script.At(-4 * day), Outcome: conveyor.CycleMissed, Began: script.At(-3 * day), Ended: script.At(-3 * day), Missed: 7},
	}
}

// TestScheduleScreens draws schedules, gates and what they made.
func TestScheduleScreens(t *testing.T) {
	t.Parallel()
	at := tickMsg(script.At(20))
	tests := []struct {
		name string
		msgs []any
	}{
		{name: "schedules", msgs: []any{"4"}},
		{name: "schedule-cycles", msgs: []any{"4", "end", "tab", "tab"}},
		{name: "schedule-run", msgs: []any{"4", "down", "down", "r"}},
		{name: "schedule-gate", msgs: []any{"4", "end", "up"}},
		{name: "schedule-jobs", msgs: []any{}},
		{name: "schedule-cycle-jobs", msgs: []any{"4", "down", "down", "c"}},
	}
	for _, tt := range tests {
		for name, size := range map[string]tea.WindowSizeMsg{"80x24": {Width: 80, Height: 24}, "140x40": {Width: 140, Height: 40}, "60x15": {Width: 60, Height: 15}} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				m := play(testModel(&desk{logs: written(), cycles: history()}), append([]any{size, at, recurring(t)}, tt.msgs...)...)
				got := m.View()
				script.CheckSize(t, got, size.Width, size.Height)
				script.CheckHarmless(t, got)
				script.CheckGolden(t, "screen/"+tt.name+"-"+name, got+"\n")
			})
		}
	}
}

// TestScheduleActions asks for actions on schedules and gates: what is done, and what is said.
func TestScheduleActions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		job  string
		keys []any
		done []string
		says string // a part of the notice, or of the question
	}{
		{job: "job.hourly", keys: []any{"r"}, says: "Run job.hourly?"},
		{job: "job.nightly", keys: []any{"r"}, says: "goes on beside it"},
		{job: "job.hourly", keys: []any{"r", "n"}},
		{job: "job.hourly", keys: []any{"r", "y"}, done: []string{"run uuid-of-job.hourly"}, says: "job.hourly begins a cycle."},
		{job: "job.hourly", keys: []any{"p"}, says: "Pause job.hourly?"},
		{job: "job.hourly", keys: []any{"p", "y"}, done: []string{"pause template uuid-of-job.hourly"}, says: "job.hourly is paused."},
		{job: "job.month", keys: []any{"p", "y"}, done: []string{"resume template uuid-of-job.month"}, says: "job.month goes on."},
		{job: "job.gather", keys: []any{"p"}, says: "Cannot pause job.gather: it has a gate"},
		{job: "job.fifty", keys: []any{"u", "y"}, done: []string{"reset uuid-of-job.fifty"}, says: "job.fifty goes on."},
		{job: "job.hourly", keys: []any{"u"}, says: "it is not on hold"},
		{job: "job.hourly", keys: []any{"x"}, says: "it is a template"},
		{job: "job.late", keys: []any{"p"}, says: "No queue is chosen"},
		{job: "job.late", keys: []any{"c"}, says: "nor a job of a cycle"},
	}
	for _, tt := range tests {
		d := &desk{cycles: history()}
		m := play(testModel(d), tea.WindowSizeMsg{Width: 140, Height: 40}, tickMsg(script.At(20)), recurring(t), "4")
		for range 10 {
			if r, ok := m.chosen(); ok && r.job.Name == tt.job {
				break
			}
			play(m, "down")
		}
		play(m, tt.keys...)
		if diff := cmp.Diff(tt.done, d.done); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.job, tt.keys, diff)
		}
		text := m.notice.text
		if m.asked != nil {
			text = strings.Join(m.questionBox(), " ")
		}
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "┃", "")), " "), tt.says) || tt.says == "" && text != "" {
			t.Errorf("%s %v says %q, want %q", tt.job, tt.keys, text, tt.says)
		}
	}
}

// TestOccurrences follows what templates make: it is listed beside the workflow, each by the name of its cycle, and goes with it.
func TestOccurrences(t *testing.T) {
	t.Parallel()
	m := play(testModel(&desk{}), tea.WindowSizeMsg{Width: 140, Height: 40}, tickMsg(script.At(20)), recurring(t))
	names := func() (list []string) {
		if w := m.fleet.byName["books"+cyclesOf]; w != nil {
			for _, j := range w.board.Jobs {
				list = append(list, strings.TrimPrefix(j.Name, "job.")+" "+screen.Mark(j.Status.State))
			}
		}
		return list
	}
	want := []string{"nightly@2026-11-20T12:00:00Z ✓", `load["eu"]@2026-11-20T12:00:00Z ▶`, `load["us"]@2026-11-20T12:00:00Z ·`,
		"nightly@2026-11-19T12:00:00Z ✓", `load["eu"]@2026-11-19T12:00:00Z ✓`, `load["us"]@2026-11-19T12:00:00Z ✗`}
	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("occurrences (-want +got):\n%s", diff)
	}
	of := func(s conveyor.Status) applier.Event {
		return applier.OfWorkflow{Workflow: "books", Event: applier.OccurrenceChanged{JobChanged: applier.JobChanged{Addr: script.Addr(t, "job.nightly"), Status: s}}}
	}
	list := occurrences()
	next := list[3]
	next.UUID, next.Tick, next.State = "next", script.At(24*3600), conveyor.StateRunning
	ends := list[5]
	ends.State, ends.Ended = conveyor.StateCompleted, script.At(30)
	gone := list[0]
	gone.State = conveyor.StateUnknown
	play(m, []applier.Event{of(next), of(ends), of(gone)})
	want = append([]string{"nightly@2026-11-21T12:00:00Z ▶"}, want...)
	want[3] = `load["us"]@2026-11-20T12:00:00Z ✓`
	want = slices.Delete(want, 4, 5)
	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("after changes (-want +got):\n%s", diff)
	}
	if got := m.fleet.counts[conveyor.StateRunning]; got != 2 {
		t.Errorf("%d jobs run, want 2", got)
	}
	play(m, applier.OfWorkflow{Workflow: "books", Event: applier.OccurrencesSeen{}})
	if names() != nil {
		t.Errorf("left: %v", names())
	}
	if got := m.fleet.counts[conveyor.StateCompleted]; got != 0 {
		t.Errorf("%d jobs are counted as completed", got)
	}
}
