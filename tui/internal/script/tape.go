package script

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Tape turns fuzzed bytes into decisions; an empty tape decides for zero.
type Tape []byte

// Next is the next decision.
func (t *Tape) Next() int {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return int(b)
}

// Seeds are where fuzzing starts.
func Seeds(f *testing.F) {
	f.Add([]byte("\x00\x05redis\x05sales\x05\x08abcdefgh"))
	f.Add([]byte{255, 10, 3, 250, 5, 29, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte("\x09\x01\x01\x10\x1b[2J\x9b31m\xe2\x80\xae\xf0\x9f\x91\xa9\xe2\x80\x8d"))
}

// text takes up to 40 bytes of the tape as they are.
func (t *Tape) text() string {
	n := min(t.Next()%41, len(*t))
	s := string((*t)[:n])
	*t = (*t)[n:]
	return s
}

func (t *Tape) addr() config.Addr {
	a := config.Addr{Name: []string{"load", "extract", "x"}[t.Next()%3]}
	switch t.Next() % 4 {
	case 0:
		a.Key = config.InstanceKey{Kind: config.KeyInt, Int: t.Next() % 8}
	case 1:
		a.Key = config.InstanceKey{Kind: config.KeyString, Str: t.text()}
	case 2:
		a.Module = t.text()
	}
	return a
}

func (t *Tape) time() time.Time {
	if n := t.Next(); n > 20 {
		return Noon.Add(time.Duration(n-128) * time.Minute)
	}
	return time.Time{}
}

func (t *Tape) status() conveyor.Status {
	return conveyor.Status{State: conveyor.State(t.Next() % 20), Fence: int64(t.Next()), Attempts: t.Next() % 5, Lost: t.Next() % 3, Owner: t.text(),
		Queue: t.text(), Started: t.time(), Ended: t.time(), DueAt: t.time(), ChildFailed: t.Next()%2 == 1, Pending: t.Next() % 4,
		CancelRequested: t.Next()%9 == 1}
}

// Event is any event.
func (t *Tape) Event() applier.Event {
	switch t.Next() % 11 {
	case 0:
		return applier.Opened{Store: t.text(), Workflow: t.text()}
	case 1:
		return applier.LockWaiting{Holder: applier.Holder{Who: t.text(), Operation: t.text(), Token: t.text()}, Left: time.Duration(t.Next()) * time.Second}
	case 2:
		return applier.Submitting{Done: t.Next(), Total: t.Next()}
	case 3:
		return applier.RowApplied{Row: &planner.Row{Addr: t.addr(), Action: planner.Action(t.Next() % 9)}}
	case 4:
		return applier.RowDiverted{Row: &planner.Row{Addr: t.addr(), Action: planner.Replace}}
	case 5:
		f := applier.Following{}
		for range t.Next() % 30 {
			j := applier.Followed{Addr: t.addr(), Depth: t.Next(), Queue: t.text(), Status: t.status()}
			for range t.Next() % 3 {
				j.Above = append(j.Above, int32(t.Next()%32)-1)
			}
			f.Jobs = append(f.Jobs, j)
		}
		return f
	case 6:
		return applier.Warning{Summary: t.text(), Detail: t.text()}
	case 7:
		return applier.StillRunning{Addr: t.addr(), Elapsed: time.Duration(t.Next()-100) * time.Second}
	case 8:
		return applier.Done{Result: applier.Result{Added: t.Next(), Interrupted: t.Next()%2 == 0, Outputs: map[string]string{"x": t.text()}}}
	case 9:
		return applier.JobProgress{Addr: t.addr(), Progress: conveyor.Progress{Done: int64(t.Next()) - 9, Total: int64(t.Next()) - 9, Text: t.text()}}
	default:
		return applier.JobChanged{Addr: t.addr(), Status: t.status(), At: t.time(), Failure: t.text(), LogTail: []string{t.text(), t.text()}}
	}
}
