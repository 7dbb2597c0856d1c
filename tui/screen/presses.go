package screen

import tea "github.com/charmbracelet/bubbletea"

// Presses are the keys of a message, one by one: letters that were typed faster than they were read come as one message. What
// was pasted stays one text, which is no press of a key.
func Presses(msg tea.KeyMsg) []tea.KeyMsg {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 || msg.Paste {
		return []tea.KeyMsg{msg}
	}
	presses := make([]tea.KeyMsg, len(msg.Runes))
	for i, r := range msg.Runes {
		presses[i] = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
	}
	return presses
}
