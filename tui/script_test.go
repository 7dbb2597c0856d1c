package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

var update = flag.Bool("update", false, "write the golden files anew")

// noon is when every story of these tests begins, by the store's clock.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

func addr(t testing.TB, s string) config.Addr {
	t.Helper()
	a, err := config.ParseAddr(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// checkGolden compares got with a file below testdata, or writes it.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func followed(a config.Addr, depth int, s conveyor.Status) applier.Followed {
	s.UUID = "uuid-of-" + a.String()
	s.Queue = "sales"
	if s.Opening == 0 {
		s.Opening = 1
	}
	return applier.Followed{Addr: a, Depth: depth, Type: "exec", Queue: "sales", Status: s}
}

func changed(a config.Addr, when time.Time, s conveyor.Status) applier.JobChanged {
	return applier.JobChanged{Addr: a, Status: followed(a, 0, s).Status, At: when}
}

func created(addrs ...config.Addr) []applier.Event {
	var events []applier.Event
	for _, a := range addrs {
		events = append(events, applier.RowApplied{Row: &planner.Row{Addr: a, Action: planner.Create, Reason: planner.ReasonNew}, At: noon})
	}
	return events
}

func running(fence int64, since time.Time) conveyor.Status {
	return conveyor.Status{State: conveyor.StateRunning, Fence: fence, Owner: "host-1:4711", Started: since}
}

func givenBack(fence int64, until time.Time) conveyor.Status {
	return conveyor.Status{State: conveyor.StateScheduled, Fence: fence, DueAt: until}
}

func ended(s conveyor.State, from, to time.Time) conveyor.Status {
	return conveyor.Status{State: s, Fence: 1, Started: from, Ended: to}
}

// sales is the story of a small workflow up to the moment that two jobs run, one waits for its time, and the report
// waits for them.
func sales(t testing.TB) []applier.Event {
	eu, us := addr(t, `job.extract["eu"]`), addr(t, `job.extract["us"]`)
	clean, report, late := addr(t, `job.clean["eu"]`), addr(t, "job.report"), addr(t, "job.late")
	events := []applier.Event{
		applier.Opened{Store: "embedded store in examples/sales/.waybill", Embedded: true, Workflow: "sales"},
		applier.Submitting{Done: 0, Total: 5},
	}
	events = append(events, created(report, late, clean, us, eu)...)
	held := conveyor.Status{State: conveyor.StateHeld, Pending: 2}
	return append(events,
		applier.Submitting{Done: 5, Total: 5},
		applier.Following{Jobs: []applier.Followed{
			followed(eu, 0, conveyor.Status{State: conveyor.StateQueued}), followed(us, 0, conveyor.Status{State: conveyor.StateQueued}),
			followed(clean, 1, held), followed(report, 2, held),
			followed(late, 0, conveyor.Status{State: conveyor.StateScheduled, DueAt: at(3600)}),
		}},
		changed(eu, at(1), running(1, at(1))),
		changed(us, at(1), running(1, at(1))),
		changed(eu, at(3.4), conveyor.Status{State: conveyor.StateClosing, Fence: 1, Started: at(1)}),
		changed(clean, at(3.4), conveyor.Status{State: conveyor.StateQueued}),
		changed(clean, at(3.5), running(1, at(3.5))),
	)
}

// broken continues sales: an attempt fails and is tried again, then for good, and the report is skipped.
func broken(t testing.TB) []applier.Event {
	us, report := addr(t, `job.extract["us"]`), addr(t, "job.report")
	tail := []string{"reading input/us.csv", "line 812: \x1b[31mbad amount\x1b[0m \"12,x\"", "giving up"}
	retry := changed(us, at(5), conveyor.Status{State: conveyor.StateScheduled, Fence: 1, Attempts: 1, Started: at(1), DueAt: at(7)})
	retry.Failure, retry.LogTail = "exit status 1", tail
	failed := changed(us, at(9), conveyor.Status{State: conveyor.StateFailed, Fence: 2, Attempts: 2, Started: at(7), Ended: at(9)})
	failed.Failure, failed.LogTail = "exit status 1", tail
	return append(sales(t), retry,
		changed(us, at(7), running(2, at(7))),
		failed,
		changed(report, at(9), conveyor.Status{State: conveyor.StateSkipped, Ended: at(9)}))
}

// finishedWell continues sales to its good end.
func finishedWell(t testing.TB) []applier.Event {
	eu, us := addr(t, `job.extract["eu"]`), addr(t, `job.extract["us"]`)
	clean, report := addr(t, `job.clean["eu"]`), addr(t, "job.report")
	return append(sales(t),
		changed(us, at(4), ended(conveyor.StateCompleted, at(1), at(4))),
		applier.StillRunning{Addr: clean, Elapsed: 10 * time.Second},
		changed(clean, at(15), ended(conveyor.StateCompleted, at(3.5), at(15))),
		changed(eu, at(15), ended(conveyor.StateCompleted, at(1), at(15))),
		changed(report, at(15), conveyor.Status{State: conveyor.StateQueued}),
		changed(report, at(15), running(1, at(15))),
		changed(report, at(15.2), ended(conveyor.StateCompleted, at(15), at(15.2))),
		applier.Done{Result: applier.Result{Added: 5, Outputs: map[string]string{
			"report": `"out/report.md"`, "regions": `["eu","us"]`, "key": `"(sensitive value) 0a1b"`,
		}}})
}

// limited is a run in which a unique key is held, a queue is paused by hand, a worker dies, and a job waits too long.
func limited(t testing.TB) []applier.Event {
	load, again, late, after := addr(t, "job.load"), addr(t, "job.load_again"), addr(t, "job.late"), addr(t, "job.after")
	queued := conveyor.Status{State: conveyor.StateQueued, ExpiresAt: at(30)}
	refused := changed(again, at(0), conveyor.Status{State: conveyor.StateFailed, Ended: at(0)})
	refused.Failure = "unique key noop:orders is held by job.load (uuid-of-job.load)"
	return []applier.Event{
		applier.Opened{Store: "redis://127.0.0.1:6379", Workflow: "limits"},
		applier.Following{Jobs: []applier.Followed{
			followed(load, 0, conveyor.Status{State: conveyor.StateQueued}), followed(again, 0, refused.Status),
			followed(late, 0, queued), followed(after, 1, conveyor.Status{State: conveyor.StateHeld, Pending: 1, ExpiresAt: at(90)}),
		}},
		refused,
		changed(load, at(1), running(1, at(1))),
		applier.Warning{Summary: `Queue "sales" is paused by hand`, Detail: "Its jobs wait until it is resumed: `waybill queue resume sales`."},
		changed(load, at(5), conveyor.Status{State: conveyor.StateQueued, Fence: 1, Lost: 1, Started: at(1)}),
	}
}

// expired ends limited: a job waited too long, and what waits for it is skipped.
func expired(t testing.TB) []applier.Event {
	load, late, after := addr(t, "job.load"), addr(t, "job.late"), addr(t, "job.after")
	return append(limited(t),
		changed(late, at(30), conveyor.Status{State: conveyor.StateExpired, Ended: at(30)}),
		changed(after, at(30), conveyor.Status{State: conveyor.StateSkipped, Ended: at(30)}),
		changed(load, at(31), running(2, at(31))),
		changed(load, at(33), ended(conveyor.StateCompleted, at(31), at(33))),
		applier.Done{Result: applier.Result{Added: 4, Bad: []applier.Followed{{Addr: late}, {Addr: addr(t, "job.load_again")}}}})
}

// endedBadly ends broken.
func endedBadly(t testing.TB) []applier.Event {
	us := addr(t, `job.extract["us"]`)
	return append(broken(t), applier.Done{Result: applier.Result{Added: 5, Bad: []applier.Followed{{Addr: us}}}})
}

// many is a workflow of n jobs of which some of each state are known.
func many(t testing.TB, n int) []applier.Event {
	states := []conveyor.State{conveyor.StateCompleted, conveyor.StateRunning, conveyor.StateQueued, conveyor.StateHeld,
		conveyor.StateFailed, conveyor.StateCompleted, conveyor.StateSkipped}
	var jobs []applier.Followed
	for i := range n {
		s := conveyor.Status{State: states[i%len(states)], Fence: 1, Started: at(float64(i % 7)), Owner: "worker-a"}
		if s.State.Ended() {
			s.Ended = at(float64(i%7) + 2)
		}
		jobs = append(jobs, followed(addr(t, fmt.Sprintf("job.step[%d]", i)), 0, s))
	}
	return []applier.Event{applier.Opened{Store: "redis://127.0.0.1:6379", Workflow: "many"}, applier.Following{Jobs: jobs}}
}
