package watch

import (
	"io"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/internal/script"
	"github.com/waybill-dev/waybill/tui/screen"
)

func testModel(d Actions) *model {
	o := Options{Now: func() time.Time { return script.Noon }, Zone: time.UTC, Namespace: "shop", Actions: d}.withDefaults()
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	m := newModel(o, r, func() tea.Msg { return nil })
	m.after = func(d time.Duration, msg func() tea.Msg) tea.Cmd {
		if d == tickEvery || d == 0 { // the tests say what time it is
			return nil
		}
		return msg
	}
	return m
}

// play feeds messages to a model, and what its commands bring: an applier.Event stands for a frame with that event, a
// string for a key.
func play(m *model, msgs ...any) *model {
	for _, msg := range msgs {
		switch v := msg.(type) {
		case applier.Event:
			msg = screen.Events{Events: []applier.Event{v}}
		case []applier.Event:
			msg = screen.Events{Events: slices.Clone(v)}
		case string:
			msg = keyMsg(v)
		}
		msg = prepared(func() tea.Msg { return msg })()
		_, cmd := m.Update(msg)
		run(m, cmd)
	}
	return m
}

// run does what a command does, and feeds back what comes of it.
func run(m *model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			run(m, c)
		}
	default:
		_, next := m.Update(msg)
		run(m, next)
	}
}

func keyMsg(s string) tea.KeyMsg {
	named := map[string]tea.KeyType{"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "enter": tea.KeyEnter,
		"esc": tea.KeyEsc, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace, " ": tea.KeySpace, "space": tea.KeySpace}
	if k, ok := named[s]; ok {
		msg := tea.KeyMsg{Type: k}
		if k == tea.KeySpace {
			msg.Runes = []rune{' '}
		}
		return msg
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

// typed are the letters of a text as keys.
func typed(text string) []any {
	var keys []any
	for _, r := range text {
		keys = append(keys, string(r))
	}
	return keys
}

func flat(parts ...any) []any {
	var all []any
	for _, p := range parts {
		if list, ok := p.([]any); ok {
			all = append(all, list...)
		} else {
			all = append(all, p)
		}
	}
	return all
}

func TestScreens(t *testing.T) {
	t.Parallel()
	noon := tickMsg(script.Noon)
	tests := []struct {
		name string
		desk *desk
		msgs []any
	}{
		{name: "starting"},
		{name: "empty", msgs: []any{applier.Opened{Store: "redis://127.0.0.1:6379"}, seen(), noon}},
		{name: "jobs", msgs: []any{shop(t)}},
		{name: "list-failed", msgs: []any{shop(t), "t", "t", "n"}},
		{name: "list-by-state", msgs: []any{shop(t), "t", "t", "s"}},
		{name: "layers", msgs: []any{shop(t), "5", "down", "enter", "t", "right"}},
		{name: "log", msgs: []any{shop(t), "n", "n", "tab", "tab", "w"}},
		{name: "log-scrolled", msgs: []any{shop(t), "n", "n", "tab", "tab", "up", "up", "right"}},
		{name: "log-alone", msgs: []any{shop(t), "n", "n", "tab", "tab", "z"}},
		{name: "detail", msgs: flat(any(shop(t)), "/", typed("load"), "enter", "end", "enter", "z")},
		{name: "confirm", msgs: []any{shop(t), "n", "n", "r"}},
		{name: "retried", msgs: []any{shop(t), "n", "n", "r", "y"}},
		{name: "moved-on", msgs: []any{shop(t), "n", "n", "r", moved(t)}},
		{name: "filter", msgs: flat(any(shop(t)), "/", typed("state:fail"))},
		{name: "filter-none", msgs: flat(any(shop(t)), "/", typed("nosuch"), "enter")},
		{name: "help", msgs: []any{shop(t), "?"}},
		{name: "away", msgs: []any{shop(t), script.Away(7)}},
		{name: "queues", msgs: []any{shop(t), "2", "down"}},
		{name: "queue-paused", msgs: []any{shop(t), queues(59, true), "2", "down", "p"}},
		{name: "no-worker", msgs: []any{shop(t), "2", "end"}},
		{name: "workers", msgs: []any{shop(t), "3"}},
		{name: "bridge", msgs: []any{shop(t), bridges(59), "3", "home"}},
		{name: "scheduled", msgs: []any{shop(t), "4"}},
		{name: "workflows", msgs: []any{shop(t), "5", "down"}},
		{name: "many", msgs: []any{huge(10_000), "end"}},
	}
	sizes := []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 140, Height: 40}, {Width: 60, Height: 15}, {Width: 220, Height: 50}}
	names := []string{"80x24", "140x40", "60x15", "220x50"}
	for _, tt := range tests {
		for i, size := range sizes {
			t.Run(tt.name+"/"+names[i], func(t *testing.T) {
				t.Parallel()
				d := tt.desk
				if d == nil {
					d = &desk{logs: written()}
				}
				m := play(testModel(d), append([]any{size, noon}, tt.msgs...)...)
				got := m.View()
				script.CheckSize(t, got, size.Width, size.Height)
				script.CheckHarmless(t, got)
				if size.Width == 220 && tt.name != "jobs" && tt.name != "layers" { // the others show nothing more
					return
				}
				script.CheckGolden(t, "screen/"+tt.name+"-"+names[i], got+"\n")
			})
		}
	}
}

// moved tells that the failed job of shop runs again.
func moved(t *testing.T) applier.Event {
	s := script.Running(4, script.At(1))
	s.Opening, s.Queue, s.UUID = 1, "etl", `uuid-of-job.extract["us"]`
	return applier.OfWorkflow{Workflow: "sales", Event: applier.JobChanged{Addr: script.Addr(t, `job.extract["us"]`), Status: s, At: script.At(1)}}
}
