package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// tape turns fuzzed bytes into decisions; an empty tape decides for zero.
type tape []byte

func (t *tape) next() int {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return int(b)
}

// text takes up to 40 bytes of the tape as they are.
func (t *tape) text() string {
	n := min(t.next()%41, len(*t))
	s := string((*t)[:n])
	*t = (*t)[n:]
	return s
}

func (t *tape) addr() config.Addr {
	a := config.Addr{Name: []string{"load", "extract", "x"}[t.next()%3]}
	switch t.next() % 4 {
	case 0:
		a.Key = config.InstanceKey{Kind: config.KeyInt, Int: t.next() % 8}
	case 1:
		a.Key = config.InstanceKey{Kind: config.KeyString, Str: t.text()}
	case 2:
		a.Module = t.text()
	}
	return a
}

func (t *tape) time() time.Time {
	if n := t.next(); n > 20 {
		return noon.Add(time.Duration(n-128) * time.Minute)
	}
	return time.Time{}
}

func (t *tape) status() conveyor.Status {
	return conveyor.Status{State: conveyor.State(t.next() % 20), Fence: int64(t.next()), Attempts: t.next() % 5, Lost: t.next() % 3, Owner: t.text(),
		Queue: t.text(), Started: t.time(), Ended: t.time(), DueAt: t.time(), ChildFailed: t.next()%2 == 1, Pending: t.next() % 4,
		CancelRequested: t.next()%9 == 1}
}

func (t *tape) event() applier.Event {
	switch t.next() % 10 {
	case 0:
		return applier.Opened{Store: t.text(), Workflow: t.text()}
	case 1:
		return applier.LockWaiting{Holder: applier.Holder{Who: t.text(), Operation: t.text(), Token: t.text()}, Left: time.Duration(t.next()) * time.Second}
	case 2:
		return applier.Submitting{Done: t.next(), Total: t.next()}
	case 3:
		return applier.RowApplied{Row: &planner.Row{Addr: t.addr(), Action: planner.Action(t.next() % 9)}}
	case 4:
		return applier.RowDiverted{Row: &planner.Row{Addr: t.addr(), Action: planner.Replace}}
	case 5:
		f := applier.Following{}
		for range t.next() % 30 {
			f.Jobs = append(f.Jobs, applier.Followed{Addr: t.addr(), Depth: t.next(), Queue: t.text(), Status: t.status()})
		}
		return f
	case 6:
		return applier.Warning{Summary: t.text(), Detail: t.text()}
	case 7:
		return applier.StillRunning{Addr: t.addr(), Elapsed: time.Duration(t.next()-100) * time.Second}
	case 8:
		return applier.Done{Result: applier.Result{Added: t.next(), Interrupted: t.next()%2 == 0, Outputs: map[string]string{"x": t.text()}}}
	default:
		return applier.JobChanged{Addr: t.addr(), Status: t.status(), At: t.time(), Failure: t.text(), LogTail: []string{t.text(), t.text()}}
	}
}

// FuzzMessages draws after every message: no message makes the view panic, grow out of the terminal, or let a control
// character through; nor does any the writers of lines.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x00\x05redis\x05sales\x05\x08abcdefgh"))
	f.Add([]byte{255, 10, 3, 250, 5, 29, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte("\x09\x01\x01\x10\x1b[2J\x9b31m\xe2\x80\xae\xf0\x9f\x91\xa9\xe2\x80\x8d"))
	keys := []string{"q", "ctrl+c", "up", "down", "pgup", "pgdown", "home", "end", "f", "d", "?", "ctrl+z", "x"}
	f.Fuzz(func(t *testing.T, data []byte) {
		tp := tape(data)
		m := testModel(LiveOptions{Watch: tp.next()%2 == 1, OwnWorker: tp.next()%2 == 1})
		var lines, objects bytes.Buffer
		plain := NewPlain(PlainOptions{Out: &lines, Err: &lines, Now: func() time.Time { return noon }})
		envelope := NewJSON(JSONOptions{Out: &objects, Now: func() time.Time { return noon }})
		for len(tp) > 0 {
			switch tp.next() % 5 {
			case 0:
				m = play(m, tea.WindowSizeMsg{Width: tp.next(), Height: tp.next() % 64})
			case 1:
				m = play(m, keys[tp.next()%len(keys)])
			case 2:
				m = play(m, tickMsg(noon.Add(time.Duration(tp.next())*time.Second)))
			default:
				e := tp.event()
				m = play(m, e)
				plain.Observe(e)
				envelope.Observe(e)
			}
			screen := m.View()
			checkSize(t, screen, m.width, m.height)
			checkHarmless(t, screen)
		}
		checkHarmless(t, lines.String())
		if strings.TrimSpace(objects.String()) != "" {
			checkLines(t, objects.String())
		}
		if n := len(m.board.jobs); m.board.following && sum(m.board.counts[:]) != n {
			t.Errorf("counts add up to %d of %d jobs", sum(m.board.counts[:]), n)
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
