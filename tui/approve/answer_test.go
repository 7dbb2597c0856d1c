package approve

import (
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		keys  []any
		quits bool
		want  Answer
	}{
		{[]any{"y", "e", "s", "enter"}, true, Approved},
		{[]any{"yes", "enter"}, true, Approved},
		{[]any{"y", "yes", "enter"}, true, Approved},
		{[]any{"y", "yes", "backspace", "s", "enter"}, true, Approved},
		{[]any{"y", "enter"}, false, Declined},
		{[]any{"YES", "enter"}, false, Declined},
		{[]any{"y", "esc"}, false, Declined},
		{[]any{"y", "ctrl+u", "enter"}, false, Declined},
		{[]any{"y", "ctrl+u", "no", "enter"}, true, Declined},
		{[]any{"y", "x", "enter", "yes", "enter"}, true, Approved},
		{[]any{"q"}, true, Declined},
		{[]any{"esc"}, true, Declined},
		{[]any{"ctrl+c"}, true, Interrupted},
		{[]any{"y", "yes", "ctrl+c"}, true, Interrupted},
		{[]any{"/", "yes", "enter"}, false, Declined},
		{[]any{"w", "esc"}, false, Declined},
		{[]any{"?", "q"}, false, Declined},
		{[]any{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yes\r"), Paste: true}, "enter"}, false, Declined},
		{[]any{"down", "enter", "w"}, false, Declined},
	}
	for _, tt := range tests {
		m := started(testOptions(sales(t)))
		var cmd tea.Cmd
		for _, k := range tt.keys {
			msg, ok := k.(tea.Msg)
			if s, named := k.(string); named {
				msg, ok = keyMsg(s), true
			}
			if !ok {
				t.Fatalf("%v is no message", k)
			}
			var next tea.Model
			next, cmd = m.Update(msg)
			m = next.(model)
		}
		quits := false
		if cmd != nil {
			_, quits = cmd().(tea.QuitMsg)
		}
		if quits != tt.quits || m.answer != tt.want {
			t.Errorf("%v: quits %t with answer %d, want %t with %d", tt.keys, quits, m.answer, tt.quits, tt.want)
		}
	}
}

// TestHelpNamesBoundKeys checks that every key that a label shows is bound to that label's action.
func TestHelpNamesBoundKeys(t *testing.T) {
	t.Parallel()
	names := map[string]string{"space": " "}
	keys := newKeyMap()
	for _, column := range append(keys.full(), keys.short()) {
		for _, b := range column {
			shown := []string{b.Help().Key}
			switch {
			case strings.Contains(shown[0], " "):
				shown = strings.Fields(shown[0])
			case len(shown[0]) > 1:
				shown = strings.Split(shown[0], "/")
			}
			for _, s := range shown {
				if name, ok := names[s]; ok {
					s = name
				}
				if !key.Matches(keyMsg(s), b) {
					t.Errorf("the help for %q shows %q, which is not bound to it (%v)", b.Help().Desc, s, b.Keys())
				}
			}
		}
	}
}
