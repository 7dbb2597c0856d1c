package approve

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// hostile is a plan whose names, values and failures are texts of somebody who wants to write on the terminal.
func hostile(t testing.TB, evil string) *planner.Plan {
	t.Helper()
	w := &config.Workflow{Name: evil}
	for _, name := range []string{"x", "y"} {
		for i, j := range blockJobs(name, 3, "") {
			j.Addr.Key = config.InstanceKey{Kind: config.KeyString, Str: string(rune('a'+i)) + evil}
			j.Queue, j.Triggers = "q"+evil, []byte(`{"t":"\u001b[2J one\n\ttwo\n"}`)
			if name == "y" {
				j.Predecessors = []config.Predecessor{{Jobs: []config.Addr{w.Jobs[i].Addr}}}
			}
			w.Jobs = append(w.Jobs, j)
		}
	}
	w.Queues = []*config.Queue{{Name: "q" + evil}}
	w.Outputs = []*config.Output{{Name: "o" + evil, Value: cty.StringVal(evil)}}
	s := stateOf(t, w)
	for i, r := range w.Jobs {
		if i%2 == 0 {
			s.Live[r.Addr.String()] = planner.Live{Status: planner.Failed, Opening: 1, Cause: "exit 1: " + evil}
		}
	}
	s.Outputs, s.Queues = nil, nil
	return planOf(t, w, s, planner.Options{})
}

var allKeys = append(slices.Sorted(func(yield func(string) bool) {
	for k := range namedKeys {
		if k != "ctrl+c" && !yield(k) {
			return
		}
	}
}), "q", "y", "w", "e", "c", "a", "+", "~", "r", "-", ".", "/", "n", "N", "?", "g", "G", "]", "[", "h", "l", "j", "k", " ", "b", "x", "job", "yes", "é東")

// FuzzMessages draws after every message: no message makes the view panic, grow out of the terminal, lose its place, or let
// a control character through; and nothing but yes approves.
func FuzzMessages(f *testing.F) {
	script.Seeds(f)
	f.Add([]byte("\x02\x1b]0;x\x07\x9b31m\xe2\x80\xae\x01\x05\x01\x06\x01\x07\x00\x05\x05"))
	plans := [...]*planner.Plan{hostile(f, "\x1b[31m\u202e\x07\n東\x9b"), sales(f), many(f, 60)}
	f.Fuzz(func(t *testing.T, data []byte) { playTape(t, plans[:], data) })
}

// TestRandomMessages plays long tapes.
func TestRandomMessages(t *testing.T) {
	t.Parallel()
	plans := [...]*planner.Plan{hostile(t, "\x1b[31m\u202e\x07\n東\x9b"), sales(t), many(t, 60)}
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 4))
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		playTape(t, plans[:], data)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func playTape(t *testing.T, plans []*planner.Plan, data []byte) {
	tp := script.Tape(data)
	o := testOptions(plans[tp.Next()%len(plans)])
	if tp.Next()%2 == 1 {
		o.Again = "again\x1b[2J"
		o.Warnings = []Warning{{Summary: "w\x1b[1m", Detail: "one\ntwo\x07" + string(data[:min(40, len(data))])}}
	}
	m := started(o)
	for len(tp) > 0 && m.answer == Declined {
		switch tp.Next() % 12 {
		case 0:
			m = play(m, tea.WindowSizeMsg{Width: tp.Next(), Height: tp.Next() % 64})
		case 1:
			buttons := []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonWheelDown, tea.MouseButtonWheelUp}
			m = play(m, tea.MouseMsg{X: tp.Next(), Y: tp.Next() % 64, Button: buttons[tp.Next()%3]})
		case 2:
			m = play(m, stepMsg{generation: tp.Next() % 4, scanned: tp.Next() % 20, hits: []hit{{0, onItself}, {1, 3}}})
		default:
			m = play(m, allKeys[tp.Next()%len(allKeys)])
		}
		if m.answer == Approved {
			if strings.TrimSpace(m.prompt.answer.text) != "yes" {
				t.Fatalf("approved by %q", m.prompt.answer.text)
			}
			return
		}
		screen := m.View()
		script.CheckSize(t, screen, m.width, m.height)
		script.CheckHarmless(t, screen)
		checkList(t, &m.list)
	}
}

// checkList holds the list to what it promises.
func checkList(t *testing.T, l *list) {
	t.Helper()
	if len(l.entries) == 0 {
		t.Fatal("the list is empty")
	}
	if l.inside(l.cursor) != l.cursor || l.inside(l.top) != l.top {
		t.Fatalf("cursor %v or top %v is outside of %d entries", l.cursor, l.top, len(l.entries))
	}
	if l.cursor.before(l.top) || l.move(l.top, l.height-1).before(l.cursor) {
		t.Fatalf("the cursor %v is not on the screen that begins at %v", l.cursor, l.top)
	}
}
