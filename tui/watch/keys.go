package watch

import "github.com/charmbracelet/bubbles/key"

// keyMap holds every key that the view listens to; the help is made from it, so the two cannot disagree.
type keyMap struct {
	Quit, Leave, Suspend, Help           key.Binding
	Next, Previous, Open, Back, Zoom     key.Binding
	Up, Down, Left, Right                key.Binding
	PageUp, PageDown, Top, Bottom        key.Binding
	Filter, Sort, Arrange, Fold, Failure key.Binding
	Retry, Cancel, Release, Pause        key.Binding
	Cycles                               key.Binding
	Follow, Wrap, Mouse                  key.Binding
	Yes, No                              key.Binding
	Tabs                                 [tabs]key.Binding

	move, panes key.Binding // several as one, for the line of keys
}

func newKeyMap() keyMap {
	bind := func(keys []string, shown, label string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, label))
	}
	k := keyMap{
		Quit:     bind([]string{"q"}, "q", "quit"),
		Leave:    bind([]string{"ctrl+c"}, "ctrl+c", "quit"),
		Suspend:  bind([]string{"ctrl+z"}, "ctrl+z", "suspend"),
		Help:     bind([]string{"?"}, "?", "help"),
		Next:     bind([]string{"tab"}, "tab", "next pane"),
		Previous: bind([]string{"shift+tab"}, "shift+tab", "previous pane"),
		Open:     bind([]string{"enter"}, "enter", "open"),
		Back:     bind([]string{"esc", "backspace", "alt+esc"}, "esc", "back, clear"),
		Zoom:     bind([]string{"z"}, "z", "this pane alone"),
		Up:       bind([]string{"up", "k"}, "up/k", "up"),
		Down:     bind([]string{"down", "j"}, "down/j", "down"),
		Left:     bind([]string{"left", "h"}, "left/h", "left, fold"),
		Right:    bind([]string{"right", "l"}, "right/l", "right, unfold"),
		PageUp:   bind([]string{"pgup", "b"}, "pgup/b", "page up"),
		PageDown: bind([]string{"pgdown"}, "pgdown", "page down"),
		Top:      bind([]string{"home", "g"}, "home/g", "first"),
		Bottom:   bind([]string{"end", "G"}, "end/G", "last"),
		Filter:   bind([]string{"/"}, "/", "filter"),
		Sort:     bind([]string{"s"}, "s", "sort"),
		Arrange:  bind([]string{"t"}, "t", "tree, layers, list"),
		Fold:     bind([]string{" "}, "space", "fold, unfold"),
		Failure:  bind([]string{"n"}, "n", "next that failed"),
		Retry:    bind([]string{"r"}, "r", "retry; run a schedule"),
		Cancel:   bind([]string{"x"}, "x", "cancel"),
		Release:  bind([]string{"u"}, "u", "release a hold"),
		Pause:    bind([]string{"p"}, "p", "pause, resume: queue, schedule"),
		Cycles:   bind([]string{"c"}, "c", "jobs of its cycles"),
		Follow:   bind([]string{"f"}, "f", "follow the log"),
		Wrap:     bind([]string{"w"}, "w", "wrap long lines"),
		Mouse:    bind([]string{"m"}, "m", "mouse on, off"),
		Yes:      bind([]string{"y", "Y"}, "y", "yes"),
		No:       bind([]string{"n", "N", "esc", "q"}, "n/esc", "no"),
		move:     bind([]string{"up", "down"}, "up/down", "move"),
		panes:    bind([]string{"tab"}, "tab", "panes"),
	}
	for t := range tabs {
		digit := string(rune('1' + t))
		k.Tabs[t] = bind([]string{digit}, digit, tabNames[t])
	}
	return k
}

// helpColumns is the whole help, by subject.
func (k keyMap) helpColumns() []helpColumn {
	return []helpColumn{
		{"Move", []key.Binding{k.Up, k.Down, k.Left, k.Right, k.PageUp, k.PageDown, k.Top, k.Bottom, k.Next, k.Previous, k.Open, k.Back, k.Zoom}},
		{"Look", []key.Binding{k.Filter, k.Sort, k.Arrange, k.Fold, k.Failure, k.Cycles, k.Follow, k.Wrap}},
		{"Act", []key.Binding{k.Retry, k.Cancel, k.Release, k.Pause}},
		{"View", append(k.Tabs[:len(k.Tabs):len(k.Tabs)], k.Help, k.Mouse, k.Suspend, k.Quit)},
	}
}

type helpColumn struct {
	name string
	keys []key.Binding
}
