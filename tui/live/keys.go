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
	Toggle   key.Binding
	Open     key.Binding
	Close    key.Binding
	All      key.Binding
	Next     key.Binding
	Previous key.Binding
	Follow   key.Binding
	Help     key.Binding

	move key.Binding // Up and Down as one, for the help line
}

// newKeyMap returns the keys; quit says what leaving means here: "detach", "stop" or "quit".
func newKeyMap(quit string) keyMap {
	bind := func(keys []string, shown, label string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, label))
	}
	return keyMap{
		move:     bind([]string{"up", "down"}, "up/down", "move"),
		Quit:     bind([]string{"q"}, "q", quit),
		Leave:    bind([]string{"ctrl+c"}, "ctrl+c", "twice: at once"),
		Suspend:  bind([]string{"ctrl+z"}, "ctrl+z", "suspend"),
		Up:       bind([]string{"up", "k"}, "up/k", "up"),
		Down:     bind([]string{"down", "j"}, "down/j", "down"),
		PageUp:   bind([]string{"pgup", "b"}, "pgup/b", "page up"),
		PageDown: bind([]string{"pgdown", "ctrl+f"}, "pgdown", "page down"),
		Top:      bind([]string{"home", "g"}, "home/g", "first"),
		Bottom:   bind([]string{"end", "G"}, "end/G", "last"),
		Toggle:   bind([]string{" ", "enter"}, "space", "open, close"),
		Open:     bind([]string{"right", "l"}, "right/l", "open"),
		Close:    bind([]string{"left", "h"}, "left/h", "close, up"),
		All:      bind([]string{"a"}, "a", "all, folded"),
		Next:     bind([]string{"n"}, "n", "next failure"),
		Previous: bind([]string{"N"}, "N", "the one before"),
		Follow:   bind([]string{"f", "esc"}, "f/esc", "follow"),
		Help:     bind([]string{"?"}, "?", "help"),
	}
}

// ShortHelp is the help line.
func (k keyMap) ShortHelp() []key.Binding {
	space := k.Toggle
	space.SetHelp("space", "open")
	follow := k.Follow
	follow.SetHelp("f", "follow")
	return []key.Binding{k.Quit, k.move, space, k.Next, follow, k.Help}
}

// FullHelp is the help block, in columns.
func (k keyMap) FullHelp() [][]key.Binding {
	return [][]key.Binding{
		{k.Up, k.Down, k.PageUp, k.PageDown, k.Top, k.Bottom},
		{k.Toggle, k.Open, k.Close, k.All, k.Next, k.Previous},
		{k.Follow, k.Quit, k.Leave, k.Suspend, k.Help},
	}
}

// rows is the height of the help block.
func (k keyMap) rows() int {
	n := 0
	for _, column := range k.FullHelp() {
		n = max(n, len(column))
	}
	return n
}
