// Package script tells stories for the tests of the renderings: event streams of runs that go well and badly, random ones,
// and what every rendering of them must hold.
package script

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Noon is when every story of these tests begins, by the store's clock.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// At is so many seconds after Noon.
func At(seconds float64) time.Time { return Noon.Add(time.Duration(seconds * float64(time.Second))) }

// Addr parses an address.
func Addr(t testing.TB, s string) config.Addr {
	t.Helper()
	a, err := config.ParseAddr(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Followed is a job on queue sales, in an attempt at this status.
func Followed(a config.Addr, depth int, s conveyor.Status) applier.Followed {
	s.UUID = "uuid-of-" + a.String()
	s.Queue = "sales"
	if s.Opening == 0 {
		s.Opening = 1
	}
	return applier.Followed{Addr: a, Depth: depth, Type: "exec", Queue: "sales", Status: s}
}

// under is a job that stands under those at some places.
func under(f applier.Followed, above ...int32) applier.Followed {
	f.Above = above
	return f
}

// Changed is a job that came into this status.
func Changed(a config.Addr, when time.Time, s conveyor.Status) applier.JobChanged {
	return applier.JobChanged{Addr: a, Status: Followed(a, 0, s).Status, At: when}
}

// Created are rows that were written.
func Created(addrs ...config.Addr) []applier.Event {
	var events []applier.Event
	for _, a := range addrs {
		events = append(events, applier.RowApplied{Row: &planner.Row{Addr: a, Action: planner.Create, Reason: planner.ReasonNew}, At: Noon})
	}
	return events
}

// Running is a status under a worker.
func Running(fence int64, since time.Time) conveyor.Status {
	return conveyor.Status{State: conveyor.StateRunning, Fence: fence, Owner: "host-1:4711", Started: since}
}

// GivenBack is the status of a job that its worker wants to see later.
func GivenBack(fence int64, until time.Time) conveyor.Status {
	return conveyor.Status{State: conveyor.StateScheduled, Fence: fence, DueAt: until}
}

// Ended is the status of a job that ran once.
func Ended(s conveyor.State, from, to time.Time) conveyor.Status {
	return conveyor.Status{State: s, Fence: 1, Started: from, Ended: to}
}

// Sales is the story of a small workflow up to the moment that two jobs run, one waits for its time, and the report
// waits for them.
func Sales(t testing.TB) []applier.Event {
	eu, us := Addr(t, `job.extract["eu"]`), Addr(t, `job.extract["us"]`)
	clean, report, late := Addr(t, `job.clean["eu"]`), Addr(t, "job.report"), Addr(t, "job.late")
	events := []applier.Event{
		applier.Opened{Store: "embedded store in examples/sales/.waybill", Embedded: true, Workflow: "sales"},
		applier.Submitting{Done: 0, Total: 5},
	}
	events = append(events, Created(report, late, clean, us, eu)...)
	held := conveyor.Status{State: conveyor.StateHeld, Pending: 2}
	return append(events,
		applier.Submitting{Done: 5, Total: 5},
		applier.Following{Jobs: []applier.Followed{
			Followed(eu, 0, conveyor.Status{State: conveyor.StateQueued}), Followed(us, 0, conveyor.Status{State: conveyor.StateQueued}),
			under(Followed(clean, 1, held), 0), under(Followed(report, 2, held), 0, 1),
			Followed(late, 0, conveyor.Status{State: conveyor.StateScheduled, DueAt: At(3600)}),
		}},
		Changed(eu, At(1), Running(1, At(1))),
		Changed(us, At(1), Running(1, At(1))),
		Changed(eu, At(3.4), conveyor.Status{State: conveyor.StateClosing, Fence: 1, Started: At(1)}),
		Changed(clean, At(3.4), conveyor.Status{State: conveyor.StateQueued}),
		Changed(clean, At(3.5), Running(1, At(3.5))),
	)
}

// Broken continues Sales: an attempt fails and is tried again, then for good, and the report is skipped.
func Broken(t testing.TB) []applier.Event {
	us, report := Addr(t, `job.extract["us"]`), Addr(t, "job.report")
	tail := []string{"reading input/us.csv", "line 812: \x1b[31mbad amount\x1b[0m \"12,x\"", "giving up"}
	retry := Changed(us, At(5), conveyor.Status{State: conveyor.StateScheduled, Fence: 1, Attempts: 1, Started: At(1), DueAt: At(7)})
	retry.Failure, retry.LogTail = "exit status 1", tail
	failed := Changed(us, At(9), conveyor.Status{State: conveyor.StateFailed, Fence: 2, Attempts: 2, Started: At(7), Ended: At(9)})
	failed.Failure, failed.LogTail = "exit status 1", tail
	return append(Sales(t), retry,
		Changed(us, At(7), Running(2, At(7))),
		failed,
		Changed(report, At(9), conveyor.Status{State: conveyor.StateSkipped, Ended: At(9)}))
}

// FinishedWell continues Sales to its good end.
func FinishedWell(t testing.TB) []applier.Event {
	eu, us := Addr(t, `job.extract["eu"]`), Addr(t, `job.extract["us"]`)
	clean, report := Addr(t, `job.clean["eu"]`), Addr(t, "job.report")
	return append(Sales(t),
		Changed(us, At(4), Ended(conveyor.StateCompleted, At(1), At(4))),
		applier.StillRunning{Addr: clean, Elapsed: 10 * time.Second},
		Changed(clean, At(15), Ended(conveyor.StateCompleted, At(3.5), At(15))),
		Changed(eu, At(15), Ended(conveyor.StateCompleted, At(1), At(15))),
		Changed(report, At(15), conveyor.Status{State: conveyor.StateQueued}),
		Changed(report, At(15), Running(1, At(15))),
		Changed(report, At(15.2), Ended(conveyor.StateCompleted, At(15), At(15.2))),
		applier.Done{Result: applier.Result{Added: 5, Outputs: map[string]string{
			"report": `"out/report.md"`, "regions": `["eu","us"]`, "key": `"(sensitive value) 0a1b"`,
		}}})
}

// Limited is a run in which a unique key is held, a queue is paused by hand, a worker dies, and a job waits too long.
func Limited(t testing.TB) []applier.Event {
	load, again, late, after := Addr(t, "job.load"), Addr(t, "job.load_again"), Addr(t, "job.late"), Addr(t, "job.after")
	queued := conveyor.Status{State: conveyor.StateQueued, ExpiresAt: At(30)}
	refused := Changed(again, At(0), conveyor.Status{State: conveyor.StateFailed, Ended: At(0)})
	refused.Failure = "unique key noop:orders is held by job.load (uuid-of-job.load)"
	return []applier.Event{
		applier.Opened{Store: "redis://127.0.0.1:6379", Workflow: "limits"},
		applier.Following{Jobs: []applier.Followed{
			Followed(load, 0, conveyor.Status{State: conveyor.StateQueued}), Followed(again, 0, refused.Status),
			Followed(late, 0, queued), under(Followed(after, 1, conveyor.Status{State: conveyor.StateHeld, Pending: 1, ExpiresAt: At(90)}), 2),
		}},
		refused,
		Changed(load, At(1), Running(1, At(1))),
		applier.Warning{Summary: `Queue "sales" is paused by hand`, Detail: "Its jobs wait until it is resumed: `waybill queue resume sales`."},
		Changed(load, At(5), conveyor.Status{State: conveyor.StateQueued, Fence: 1, Lost: 1, Started: At(1)}),
	}
}

// Expired ends Limited: a job waited too long, and what waits for it is skipped.
func Expired(t testing.TB) []applier.Event {
	load, late, after := Addr(t, "job.load"), Addr(t, "job.late"), Addr(t, "job.after")
	return append(Limited(t),
		Changed(late, At(30), conveyor.Status{State: conveyor.StateExpired, Ended: At(30)}),
		Changed(after, At(30), conveyor.Status{State: conveyor.StateSkipped, Ended: At(30)}),
		Changed(load, At(31), Running(2, At(31))),
		Changed(load, At(33), Ended(conveyor.StateCompleted, At(31), At(33))),
		applier.Done{Result: applier.Result{Added: 4, Bad: []applier.Followed{{Addr: late}, {Addr: Addr(t, "job.load_again")}}}})
}

// EndedBadly ends Broken.
func EndedBadly(t testing.TB) []applier.Event {
	us := Addr(t, `job.extract["us"]`)
	return append(Broken(t), applier.Done{Result: applier.Result{Added: 5, Bad: []applier.Followed{{Addr: us}}}})
}

// Shops is a workflow of n jobs, at least twelve, at work: an extract for each of n/10 shops, eight children that clean a part
// each, a load after it, and a report after all loads. Three shops in ten are done, some failed, a few are at work.
func Shops(t testing.TB, n int) []applier.Event {
	shops := n / 10
	extracts, rest := make([]applier.Followed, shops), []applier.Followed{}
	loads := make([]applier.Followed, shops)
	for i := range shops {
		own, below, last := shop(i, shops)
		key := fmt.Sprintf("[%d]", i)
		extracts[i] = Followed(Addr(t, "job.extract"+key), 0, own)
		for part := range n/shops - 2 {
			if part == 7 && below.State == conveyor.StateRunning {
				below = conveyor.Status{State: conveyor.StateQueued}
			}
			rest = append(rest, under(Followed(Addr(t, fmt.Sprintf("job.clean[%d]", i*8+part)), 1, below), int32(i)))
		}
		loads[i] = under(Followed(Addr(t, "job.load"+key), 1, last), int32(i))
	}
	jobs := append(append(extracts, rest...), loads...)
	report := Followed(Addr(t, "job.report"), 2, conveyor.Status{State: conveyor.StateHeld, Pending: shops})
	for i := range loads {
		report.Above = append(report.Above, int32(len(extracts)+len(rest)+i))
	}
	return []applier.Event{applier.Opened{Store: "redis://127.0.0.1:6379", Workflow: "shops"}, applier.Following{Jobs: append(jobs, report)}}
}

// shop is how the jobs of one shop stand: its extract, the parts below it, and its load.
func shop(i, shops int) (own, below, last conveyor.Status) {
	start := At(float64(i % 7))
	done := Ended(conveyor.StateCompleted, start, start.Add(2*time.Second))
	held := conveyor.Status{State: conveyor.StateHeld, Pending: 1}
	closing := conveyor.Status{State: conveyor.StateClosing, Fence: 1, Started: start}
	switch {
	case i%(shops/4+2) == 5 && i < shops*3/10:
		return done, done, Ended(conveyor.StateFailed, start, start.Add(time.Second))
	case i < shops*3/10:
		return done, done, done
	case i < shops*3/10+2:
		return closing, Running(1, start), held
	case i < shops*3/10+4:
		return Running(1, start), held, held
	default:
		return conveyor.Status{State: conveyor.StateQueued}, held, held
	}
}
