package approve

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// TestClicks presses the left button on every cell of the tabs, and on every line of the list.
func TestClicks(t *testing.T) {
	t.Parallel()
	for _, height := range []int{10, 30} {
		m := play(started(testOptions(sales(t))), tea.WindowSizeMsg{Width: 90, Height: height})
		lines := strings.Split(m.View(), "\n")
		which, texts, _ := m.tabTexts()
		for i, choice := range which {
			text := strings.Trim(texts[i], " []")
			x := len([]rune(lines[1][:strings.Index(lines[1], text)]))
			if got := play(m, click(x, 1)).list.tab; got != choice {
				t.Errorf("height %d: a click on %q at %d chooses %d, want %d", height, text, x, got, choice)
			}
		}
		head := len(m.headLines())
		for y := range m.list.height {
			want := m.list.move(place{}, y)
			if got := play(m, click(5, head+y)).list.cursor; got != want && y < len(m.list.entries) {
				t.Errorf("height %d: a click on line %d goes to %v, want %v", height, y, got, want)
			}
		}
		m = play(m, click(5, head+3), click(5, head+3))
		if number, ok := m.list.current(); !ok || !m.list.opened.open(number) {
			t.Errorf("height %d: a second click does not open the change", height)
		}
		m = play(m, "e", "home", tea.MouseMsg{Button: tea.MouseButtonWheelDown}, tea.MouseMsg{Button: tea.MouseButtonWheelDown}, tea.MouseMsg{Button: tea.MouseButtonWheelUp})
		if want := m.list.move(place{}, wheelLines); m.list.top != want {
			t.Errorf("height %d: the wheel goes to %v, want %v", height, m.list.top, want)
		}
	}
}

func click(x, y int) tea.MouseMsg {
	return tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
}
