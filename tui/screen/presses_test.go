package screen

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
)

func TestPresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		msg  tea.KeyMsg
		want []string
	}{
		{"one letter", tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("j")}, []string{"j"}},
		{"letters at once", tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jéy")}, []string{"j", "é", "y"}},
		{"with alt", tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ab"), Alt: true}, []string{"alt+a", "alt+b"}},
		{"pasted", tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yes"), Paste: true}, []string{"[yes]"}},
		{"no letter", tea.KeyMsg{Type: tea.KeyDown}, []string{"down"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, k := range Presses(tt.msg) {
				got = append(got, k.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
