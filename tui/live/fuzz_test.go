package live

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/tui/internal/script"
)

// FuzzMessages draws after every message: no message makes the view panic, grow out of the terminal, or let a control
// character through.
func FuzzMessages(f *testing.F) {
	script.Seeds(f)
	keys := []string{"q", "ctrl+c", "up", "down", "pgup", "pgdown", "home", "end", "left", "right", " ",
		"enter", "n", "N", "f", "a", "?", "ctrl+z", "x"}
	f.Fuzz(func(t *testing.T, data []byte) {
		tape := script.Tape(data)
		m := testModel(Options{Destroy: tape.Next()%2 == 1, OwnWorker: tape.Next()%2 == 1})
		for len(tape) > 0 {
			switch tape.Next() % 6 {
			case 0:
				m = play(m, tea.WindowSizeMsg{Width: tape.Next(), Height: tape.Next() % 64})
			case 1:
				m = play(m, keys[tape.Next()%len(keys)])
			case 2:
				m = play(m, tickMsg(script.Noon.Add(time.Duration(tape.Next())*time.Second)))
			case 3:
				buttons := []tea.MouseButton{tea.MouseButtonWheelUp, tea.MouseButtonWheelDown, tea.MouseButtonLeft}
				m = play(m, tea.MouseMsg{X: tape.Next(), Y: tape.Next() % 64, Button: buttons[tape.Next()%3]})
			default:
				m = play(m, tape.Event())
			}
			drawn := m.View()
			script.CheckSize(t, drawn, m.width, m.height)
			script.CheckHarmless(t, drawn)
		}
		if n := len(m.board.Jobs); m.board.Following && sum(m.board.Counts[:]) != n {
			t.Errorf("counts add up to %d of %d jobs", sum(m.board.Counts[:]), n)
		}
	})
}

func sum(numbers []int) int {
	n := 0
	for _, x := range numbers {
		n += x
	}
	return n
}
