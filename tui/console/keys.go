package console

import "github.com/charmbracelet/bubbles/key"

// keyMap holds the keys besides those of the line's editor.
type keyMap struct {
	Enter, Prior, Next, Clear, Leave key.Binding
}

func newKeyMap() keyMap {
	bind := func(shown, label string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, label))
	}
	return keyMap{
		Enter: bind("enter", "evaluate", "enter"), Prior: bind("up", "prior line", "up", "ctrl+p"), Next: bind("down", "next line", "down", "ctrl+n"),
		Clear: bind("ctrl+c", "clear", "ctrl+c"), Leave: bind("ctrl+d", "leave", "ctrl+d"),
	}
}
