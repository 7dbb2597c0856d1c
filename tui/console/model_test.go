package console

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
)

// play types words, with names of keys in angle brackets, and gives the model and what was evaluated.
func play(t *testing.T, keys ...string) (model, []string) {
	t.Helper()
	var asked []string
	m := newModel(Options{Evaluate: func(text string) Answer {
		asked = append(asked, text)
		return Answer{Text: "= " + text, More: strings.HasSuffix(text, "["), Leave: text == "exit"}
	}})
	special := map[string]tea.KeyType{"<enter>": tea.KeyEnter, "<up>": tea.KeyUp, "<down>": tea.KeyDown, "<ctrl+c>": tea.KeyCtrlC, "<ctrl+d>": tea.KeyCtrlD}
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		if kind, ok := special[k]; ok {
			msg = tea.KeyMsg{Type: kind}
		}
		next, _ := m.Update(msg)
		m = next.(model)
		if m.busy {
			next, _ = m.Update(answered(m.evaluate(strings.Join(m.lines, "\n"))))
			m = next.(model)
		}
	}
	return m, asked
}

func TestConsole(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		keys  []string
		asked []string
		line  string
		left  bool
	}{
		{name: "an expression", keys: []string{"1 + 1", "<enter>"}, asked: []string{"1 + 1"}},
		{name: "nothing", keys: []string{" ", "<enter>"}, line: " "},
		{name: "several lines", keys: []string{"[", "<enter>", "1]", "<enter>"}, asked: []string{"[", "[\n1]"}},
		{name: "a line taken back", keys: []string{"[", "<enter>", "2", "<ctrl+c>", "3", "<enter>"}, asked: []string{"[", "3"}},
		{name: "history", keys: []string{"a", "<enter>", "b", "<enter>", "c", "<up>", "<up>"}, asked: []string{"a", "b"}, line: "a"},
		{name: "back to what was written", keys: []string{"a", "<enter>", "c", "<up>", "<down>", "<down>"}, asked: []string{"a"}, line: "c"},
		{name: "exit", keys: []string{"exit", "<enter>"}, asked: []string{"exit"}, left: true},
		{name: "the end", keys: []string{"<ctrl+d>"}, left: true},
		{name: "no end within a line", keys: []string{"x", "<ctrl+d>"}, line: "x"},
		{name: "ctrl+c clears, then leaves", keys: []string{"x", "<ctrl+c>", "<ctrl+c>"}, left: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m, asked := play(t, row.keys...)
			if d := cmp.Diff(row.asked, asked); d != "" {
				t.Error(d)
			}
			if m.line.Value() != row.line || m.left != row.left {
				t.Errorf("line %q, left %t; want %q, %t", m.line.Value(), m.left, row.line, row.left)
			}
		})
	}
}
