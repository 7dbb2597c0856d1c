package script

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Story is a run as the line writers are shown it.
type Story struct {
	Name    string
	Destroy bool
	Events  []applier.Event
}

// Stories are runs of all kinds.
func Stories(t testing.TB) []Story {
	load, old, gone := Addr(t, "job.load"), Addr(t, "job.old"), Addr(t, "job.gone")
	row := func(a config.Addr, action planner.Action) applier.Event {
		return applier.RowApplied{Row: &planner.Row{Addr: a, Action: action}, At: Noon}
	}
	holder := applier.Holder{Token: "t1", Who: "ada@build-7", Operation: "destroy", Since: At(-61)}
	crashed := conveyor.Status{State: conveyor.StateQueued, Fence: 1, Lost: 1, Started: At(2)}
	hostile := Changed(load, At(4), conveyor.Status{State: conveyor.StateOnHold, Fence: 1, Attempts: 1})
	hostile.Failure = "\x1b]0;title\x07\x1b[2Jcleared\r\nsecond \u202eline"
	hostile.LogTail = []string{"\tindented", "\x9b31mred", strings.Repeat("long ", 3)}
	return []Story{
		{Name: "finished", Events: FinishedWell(t)},
		{Name: "failed", Events: EndedBadly(t)},
		{Name: "limits", Events: Expired(t)},
		{Name: "nothing-to-do", Events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{Followed(load, 0, Ended(conveyor.StateCompleted, At(0), At(1)))}}, applier.Done{}}},
		{Name: "continued", Events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{
				Followed(load, 0, Running(1, At(-5))), Followed(old, 1, Ended(conveyor.StateCompleted, At(-9), At(-6)))}},
			Changed(load, At(2), Ended(conveyor.StateCompleted, At(-5), At(2))), applier.Done{}}},
		{Name: "changes", Events: []applier.Event{
			applier.LockWaiting{Holder: holder, Left: 20 * time.Second}, applier.LockWaiting{Holder: holder, Left: 19 * time.Second},
			applier.LockWaiting{Holder: holder, Left: 9 * time.Second},
			row(load, planner.Replace), row(Addr(t, "job.tuned"), planner.Rerecord), row(Addr(t, "job.moved"), planner.Update),
			applier.Replanned{Plan: &planner.Plan{}, Moved: []config.Addr{load, old}},
			applier.RowDiverted{Row: &planner.Row{Addr: Addr(t, "job.moved"), Action: planner.Replace}, Prev: planner.Update},
			row(Addr(t, "job.parent"), planner.Reopen), row(old, planner.Delete), row(gone, planner.Forget),
			applier.Warning{Summary: "No worker serves queue \"etl\"", Detail: "Start one:\n  waybill worker ."},
			applier.Done{Result: applier.Result{Added: 1, Changed: 3, Destroyed: 2, Detached: true}}}},
		{Name: "troubles", Events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{Followed(load, 0, Running(1, Noon)), Followed(old, 0, conveyor.Status{State: conveyor.StateHeld})}},
			Changed(load, At(2), crashed), Changed(load, At(3), Running(2, At(3))), hostile,
			Changed(old, At(5), conveyor.Status{State: conveyor.StateCancelled}),
			applier.Done{Result: applier.Result{Interrupted: true}}}},
		{Name: "given-back", Events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{Followed(load, 0, conveyor.Status{State: conveyor.StateQueued})}},
			Changed(load, At(0), Running(1, At(0))), Changed(load, At(0), GivenBack(1, At(2))), Changed(load, At(2), Running(2, At(2))),
			Changed(load, At(2), GivenBack(2, At(4))), Changed(load, At(4), Running(3, At(4))),
			Changed(load, At(5), Ended(conveyor.StateCompleted, At(4), At(5))), applier.Done{}}},
		{Name: "outages", Events: []applier.Event{
			applier.Following{Jobs: []applier.Followed{Followed(load, 0, Running(1, Noon))}},
			Away(2), Away(7), applier.StoreBack{After: 9 * time.Second}, Away(2),
			Changed(load, At(20), Ended(conveyor.StateCompleted, Noon, At(20))), Away(3), applier.Done{Err: errors.New("connection refused")}}},
		{Name: "error", Events: []applier.Event{applier.Done{Err: errors.New("connection refused")}}},
		{Name: "destroyed", Destroy: true, Events: []applier.Event{row(load, planner.Delete), applier.Done{Result: applier.Result{Destroyed: 1}}}},
	}
}

// Away is a store that has not answered for so many seconds.
func Away(seconds int) applier.StoreAway {
	d := time.Duration(seconds) * time.Second
	return applier.StoreAway{For: d, Left: 15*time.Second - d, Reason: "dial tcp 127.0.0.1:6379: connection refused\x1b[2J", Then: "Otherwise this ends here."}
}

// Progress is how far a running job of Sales has told to be.
func Progress(t testing.TB) []applier.Event {
	us := Addr(t, `job.extract["us"]`)
	return []applier.Event{applier.JobProgress{Addr: us, UUID: Followed(us, 0, conveyor.Status{}).Status.UUID,
		Progress: conveyor.Progress{Done: 43, Total: 100, Text: "reading rows", At: At(4)}}}
}
