package approve

import "github.com/charmbracelet/bubbles/key"

// keyMap holds every key that the list listens to; the help is made from it, so the two cannot disagree.
type keyMap struct {
	Approve, Decline, Leave, Suspend, Help key.Binding
	Up, Down, PageUp, PageDown, Top, End   key.Binding
	Turn, Open, Close, OpenAll, CloseAll   key.Binding
	NextChange, PriorChange                key.Binding
	NextTab, PriorTab                      key.Binding
	Tabs                                   [tabs]key.Binding
	Search, Next, Prior, Why, Forecast     key.Binding

	tab, byAction key.Binding // for help
}

func newKeyMap() keyMap {
	bind := func(shown, label string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, label))
	}
	return keyMap{
		Approve: bind("y", "approve", "y"), Decline: bind("q/esc", "cancel", "q", "esc"), Leave: bind("ctrl+c", "cancel", "ctrl+c"),
		Suspend: bind("ctrl+z", "suspend", "ctrl+z"), Help: bind("?", "help", "?"),
		Up: bind("up/k", "up", "up", "k"), Down: bind("down/j", "down", "down", "j"),
		PageUp: bind("pgup/b", "page up", "pgup", "b"), PageDown: bind("pgdown/space", "page down", "pgdown", " "),
		Top: bind("home/g", "first", "home", "g"), End: bind("end/G", "last", "end", "G"),
		Turn: bind("enter", "open", "enter"), Open: bind("right/l", "open", "right", "l"), Close: bind("left/h", "close", "left", "h"),
		OpenAll: bind("e", "open all", "e"), CloseAll: bind("c", "close all", "c"),
		NextChange: bind("]", "next change", "]"), PriorChange: bind("[", "prior change", "["),
		NextTab: bind("tab", "filter", "tab"), PriorTab: bind("shift+tab", "filter back", "shift+tab"),
		Tabs: [tabs]key.Binding{bind("a", "all", "a"), bind("+", "created", "+"), bind("~", "updated", "~"), bind("r", "replaced", "r"),
			bind("-", "destroyed", "-"), bind(".", "forgotten", ".")},
		Search: bind("/", "search", "/"), Next: bind("n", "next match", "n"), Prior: bind("N", "prior match", "N"),
		Why: bind("w", "why", "w"), Forecast: bind("f", "forecast", "f"),

		tab: bind("tab", "filter", "tab"), byAction: bind("a + ~ r - .", "by action", "a", "+", "~", "r", "-", "."),
	}
}

// short is the line of keys that is always there, what matters most first.
func (k keyMap) short() []key.Binding {
	return []key.Binding{k.Approve, k.Decline, k.Turn, k.tab, k.Search, k.Why, k.Help}
}

// full is the help, in columns, the last of which goes when there is little room.
func (k keyMap) full() [][]key.Binding {
	return [][]key.Binding{
		{k.Approve, k.Decline, k.Turn, k.Open, k.Close, k.OpenAll, k.CloseAll, k.Why, k.Suspend},
		{k.Search, k.Next, k.Prior, k.NextTab, k.PriorTab, k.byAction, k.NextChange, k.PriorChange, k.Forecast, k.Help},
		{k.Up, k.Down, k.PageUp, k.PageDown, k.Top, k.End},
	}
}
