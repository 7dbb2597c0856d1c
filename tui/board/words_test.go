package board

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-1: "0s", 40 * time.Millisecond: "0s", 2 * time.Second: "2s", 1540 * time.Millisecond: "1.5s",
		9990 * time.Millisecond: "10s", 75900 * time.Millisecond: "1m15s"} {
		if got := Took(d); got != want {
			t.Errorf("Took(%v) = %s, want %s", d, got, want)
		}
	}
	if got := fmt.Sprintln(Clock(75*time.Second), Clock(3723*time.Second)); got != "01:15 1:02:03\n" {
		t.Errorf("clock: %s", got)
	}
}

// A job that reopens does not start again: it is not said to have taken the time since it once started.
func TestEndingOfAReopenedJob(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	once := conveyor.Status{State: conveyor.StateCompleted, Started: noon, Ended: noon.Add(3 * time.Second), Worked: time.Second}
	again := once
	again.Opening, again.Reopened, again.Ended = 2, true, noon.Add(time.Hour)
	failed, cancelled := again, again
	failed.State, failed.ChildFailed, failed.FailedChildren = conveyor.StateFailed, true, 1
	cancelled.State = conveyor.StateCancelled
	for _, row := range []struct {
		s    conveyor.Status
		want string
		took time.Duration
	}{
		{once, "Completed after 3s", 3 * time.Second},
		{again, "Completed again", time.Second},
		{failed, "Failed: 1 child failed", time.Second},
		{cancelled, "Cancelled", time.Second},
	} {
		if got := Ending(row.s, row.s.Ended); got != row.want || Lasted(row.s, row.s.Ended) != row.took {
			t.Errorf("got %s, %v, want %s, %v", got, Lasted(row.s, row.s.Ended), row.want, row.took)
		}
	}
}
