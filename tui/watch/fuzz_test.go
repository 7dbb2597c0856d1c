package watch

import (
	"math/rand/v2"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// fleetEvent is any event of a namespace.
func fleetEvent(tp *script.Tape) applier.Event {
	names := []string{"", "sales", "b\x1b[2Jad", "x"}
	name := names[tp.Next()%len(names)]
	switch tp.Next() % 8 {
	case 0:
		var list []applier.WorkflowSeen
		for i, n := range names {
			if tp.Next()%3 > 0 {
				list = append(list, applier.WorkflowSeen{Name: n, Jobs: tp.Next(), Serial: int64(i), Problem: names[tp.Next()%len(names)]})
			}
		}
		return applier.WorkflowsSeen{At: script.Noon, Workflows: list}
	case 1:
		at := script.At(float64(tp.Next() * tp.Next()))
		info := conveyor.QueueInfo{Name: names[tp.Next()%len(names)], Depth: [3]int64{int64(tp.Next()), int64(tp.Next()), 3}, Running: int64(tp.Next()),
			Settings: conveyor.QueueSettings{Concurrency: tp.Next() - 20, Paused: tp.Next()%2 == 1}, ByHand: tp.Next()%2 == 1}
		return applier.QueuesSeen{At: at, Queues: []applier.QueueSeen{{Info: info, Started: int64(tp.Next()), Ended: int64(tp.Next())}, {Info: conveyor.QueueInfo{Name: "q"}}}}
	case 2:
		return applier.WorkersSeen{At: script.Noon, Workers: []conveyor.WorkerInfo{{ID: name, Host: "h\r\n", Queues: []string{"q"}, Load: tp.Next() - 9,
			Capacity: tp.Next() - 9, LastBeat: script.At(float64(tp.Next())), Alive: tp.Next()%2 == 1}}}
	case 3:
		loose := applier.LooseSeen{At: script.Noon, Total: tp.Next()}
		for range tp.Next() % 9 {
			loose.Jobs = append(loose.Jobs, conveyor.Status{UUID: string(rune('a' + tp.Next()%26)), State: conveyor.State(tp.Next() % 16)})
		}
		return loose
	case 4:
		return tp.Event()
	default:
		e := tp.Event()
		if f, ok := e.(applier.Following); ok {
			for i := range f.Jobs {
				for range tp.Next() % 3 {
					f.Jobs[i].Above = append(f.Jobs[i].Above, int32(tp.Next()%40)-4)
				}
			}
			e = f
		}
		return applier.OfWorkflow{Workflow: name, Event: e}
	}
}

// FuzzMessages draws after every message: no message and no size makes the view panic, grow out of the terminal, or let a
// control character through.
func FuzzMessages(f *testing.F) {
	script.Seeds(f)
	f.Add([]byte("\x02\x05\x09\x05\x1c\x01\x02\x03\x04\x05\x06\x07\x08\x00\x0e\x00\x00\x01\x02\x03\x04\x05\x06\x00\x07\x01\x02\x03\x04\x05\x06"))
	for seed := range byte(24) {
		random := make([]byte, 1500)
		rand.NewChaCha8([32]byte{seed}).Read(random) //nolint:errcheck // never fails
		f.Add(random)
	}
	keys := []string{"q", "ctrl+c", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "tab", "shift+tab", "enter", "esc", "space", "1", "2", "3",
		"4", "5", "/", "s", "t", "z", "n", "r", "x", "u", "p", "f", "w", "m", "y", "?", "a", ":", "-", "backspace", "é", "ctrl+z"}
	f.Fuzz(func(t *testing.T, data []byte) {
		tp := script.Tape(data)
		m := testModel(&desk{logs: written()})
		if tp.Next()%2 == 1 {
			play(m, tickMsg(script.Noon), shop(t))
		}
		for range 300 {
			if len(tp) == 0 {
				break
			}
			switch tp.Next() % 8 {
			case 0:
				play(m, tea.WindowSizeMsg{Width: tp.Next(), Height: tp.Next() % 64})
			case 1, 2, 3:
				play(m, keys[tp.Next()%len(keys)])
			case 4:
				play(m, tickMsg(script.Noon.Add(time.Duration(tp.Next())*time.Second)))
			case 5:
				button := []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonWheelUp, tea.MouseButtonWheelDown, tea.MouseButtonRight}[tp.Next()%4]
				play(m, tea.MouseMsg{X: tp.Next(), Y: tp.Next() % 64, Button: button, Action: tea.MouseActionPress})
			default:
				play(m, fleetEvent(&tp))
			}
			screen := m.View()
			script.CheckSize(t, screen, m.width, m.height)
			script.CheckHarmless(t, screen)
		}
	})
}
