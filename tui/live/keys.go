package live

import "github.com/charmbracelet/bubbles/key"

// keyMap holds every key the live view listens to; the help line is made from it, so the two cannot disagree.
type keyMap struct {
	Quit     key.Binding
	Leave    key.Binding
	Suspend  key.Binding
	Up       key.Binding
	Down     key.Binding
	PageUp   key.Binding
	PageDown key.Binding
	Top      key.Binding
	Bottom   key.Binding
	Failures key.Binding
	Done     key.Binding
	Help     key.Binding

	scroll key.Binding // Up and Down as one, for the help line
}

// newKeyMap returns the keys; quit says what leaving means here: "detach", "stop" or "quit".
func newKeyMap(quit string) keyMap {
	bind := func(keys []string, shown, label string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, label))
	}
	return keyMap{
		scroll:   bind([]string{"up", "down"}, "up/down", "scroll"),
		Quit:     bind([]string{"q"}, "q", quit),
		Leave:    bind([]string{"ctrl+c"}, "ctrl+c", "twice: leave at once"),
		Suspend:  bind([]string{"ctrl+z"}, "ctrl+z", "suspend"),
		Up:       bind([]string{"up", "k"}, "up/k", "scroll up"),
		Down:     bind([]string{"down", "j"}, "down/j", "scroll down"),
		PageUp:   bind([]string{"pgup", "b"}, "pgup/b", "page up"),
		PageDown: bind([]string{"pgdown", " "}, "pgdown/space", "page down"),
		Top:      bind([]string{"home", "g"}, "home/g", "first"),
		Bottom:   bind([]string{"end", "G"}, "end/G", "last"),
		Failures: bind([]string{"f"}, "f", "all failures"),
		Done:     bind([]string{"d"}, "d", "done jobs"),
		Help:     bind([]string{"?"}, "?", "help"),
	}
}

// ShortHelp is the help line.
func (k keyMap) ShortHelp() []key.Binding {
	return []key.Binding{k.Quit, k.scroll, k.Failures, k.Done, k.Help}
}

// FullHelp is the help block, in columns.
func (k keyMap) FullHelp() [][]key.Binding {
	return [][]key.Binding{
		{k.Up, k.Down, k.PageUp, k.PageDown},
		{k.Top, k.Bottom, k.Failures, k.Done},
		{k.Quit, k.Leave, k.Suspend, k.Help},
	}
}
