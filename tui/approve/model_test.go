package approve

import (
	"io"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

func testOptions(p *planner.Plan) Options {
	return Options{Plan: p, Store: "redis://127.0.0.1:6379", Question: "Do you want to perform these actions?"}
}

func testModel(o Options) model {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	return newModel(o, r)
}

// started is a model to which Init's command has answered.
func started(o Options) model {
	m := testModel(o)
	next, _ := m.Update(m.Init()())
	return next.(model)
}

// play feeds messages to a model, and what its searches find; a string stands for a key, or for several typed at once.
func play(m model, msgs ...any) model {
	for _, msg := range msgs {
		if s, ok := msg.(string); ok {
			msg = keyMsg(s)
		}
		next, cmd := m.Update(msg)
		m = settled(next.(model), cmd)
	}
	return m
}

// settled runs the steps of searches to their end.
func settled(m model, cmd tea.Cmd) model {
	if cmd == nil {
		return m
	}
	switch msg := cmd().(type) {
	case stepMsg, blockMsg:
		next, cmd := m.Update(msg)
		return settled(next.(model), cmd)
	case tea.BatchMsg:
		for _, c := range msg {
			m = settled(m, c)
		}
	}
	return m
}

var namedKeys = map[string]tea.KeyType{"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "ctrl+u": tea.KeyCtrlU, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "enter": tea.KeyEnter,
	"esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "backspace": tea.KeyBackspace}

func keyMsg(s string) tea.KeyMsg {
	if k, ok := namedKeys[s]; ok {
		return tea.KeyMsg{Type: k}
	}
	if s == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

func TestScreens(t *testing.T) {
	t.Parallel()
	warned := []Warning{
		{Summary: `No worker serves queue "etl"`, Detail: "5 jobs of this plan go to queue \"etl\", and no live worker serves it. They wait until one does:\n\n  waybill worker examples/sales"},
		{Summary: "Queue is declared by another workflow", Detail: "Workflow \"stock\" of this namespace declares queue \"slow\" too."},
	}
	tests := []struct {
		name string
		plan func(testing.TB) *planner.Plan
		set  func(*Options)
		msgs []any
	}{
		{name: "list"},
		{name: "warned", set: func(o *Options) { o.Warnings = warned }, msgs: []any{"enter"}},
		{name: "open", msgs: []any{"down", "down", "down", "down", "down", "enter", "down", "down"}},
		{name: "open-all", msgs: []any{"e", "]", "]"}},
		{name: "close-all", msgs: []any{"e", "]", "]", "c"}},
		{name: "group-opened", msgs: []any{"G", "up", "up", "up", "enter", "down"}},
		{name: "replaced", msgs: []any{"r"}},
		{name: "destroyed", msgs: []any{"-", "enter"}},
		{name: "nothing-there", plan: salesDestroyed, msgs: []any{"+"}},
		{name: "searching", msgs: []any{"/", "l", "o", "a", "d"}},
		{name: "found", msgs: []any{"/", "disk", "enter", "n"}},
		{name: "found-inside", msgs: []any{"/", "50000", "enter"}},
		{name: "not-found", msgs: []any{"/", "nowhere", "enter"}},
		{name: "why", msgs: []any{"/", "report", "enter", "w", "down"}},
		{name: "help", msgs: []any{"?"}},
		{name: "forecast", msgs: []any{"f"}},
		{name: "prompt", msgs: []any{"y", "e", "s"}},
		{name: "prompt-wrong", msgs: []any{"y", "o", "enter"}},
		{name: "again", set: func(o *Options) { o.Again = "The state has changed since this plan was made, and so has the plan." }},
		{name: "destroy", plan: salesDestroyed, set: func(o *Options) {
			o.Question = `Do you really want to destroy the jobs of workflow "sales"?`
			o.Explanation = "There is no undo."
		}, msgs: []any{"y"}},
		{name: "many", plan: func(t testing.TB) *planner.Plan { return many(t, 2000) }, msgs: []any{"pgdown", "down"}},
	}
	sizes := []struct {
		name string
		size tea.WindowSizeMsg
	}{
		{"80x24", tea.WindowSizeMsg{Width: 80, Height: 24}}, {"140x40", tea.WindowSizeMsg{Width: 140, Height: 40}},
		{"60x15", tea.WindowSizeMsg{Width: 60, Height: 15}},
	}
	for _, tt := range tests {
		for _, s := range sizes {
			t.Run(tt.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				plan := tt.plan
				if plan == nil {
					plan = sales
				}
				o := testOptions(plan(t))
				if tt.set != nil {
					tt.set(&o)
				}
				got := play(started(o), append([]any{s.size}, tt.msgs...)...).View()
				script.CheckSize(t, got, s.size.Width, s.size.Height)
				script.CheckHarmless(t, got)
				script.CheckGolden(t, "screen/"+tt.name+"-"+s.name, got+"\n")
			})
		}
	}
}
