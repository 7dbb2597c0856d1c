package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// node is a job of a story: what it waits for is named by place.
type node struct {
	addr   string
	depth  int
	queue  string
	above  []int32
	status conveyor.Status
}

func followed(t testing.TB, nodes []node) applier.Following {
	var f applier.Following
	for _, n := range nodes {
		n.status.UUID, n.status.Queue, n.status.Opening, n.status.Priority = "uuid-of-"+n.addr, n.queue, 1, 1
		f.Jobs = append(f.Jobs, applier.Followed{Addr: script.Addr(t, n.addr), Depth: n.depth, Type: "exec", Queue: n.queue, Status: n.status, Above: n.above})
	}
	return f
}

var held = conveyor.Status{State: conveyor.StateHeld, Pending: 1}

// shop is a namespace with two workflows, three queues and two workers, some of which are in trouble.
func shop(t testing.TB) []applier.Event {
	sales := followed(t, []node{
		{`job.extract["eu"]`, 0, "etl", nil, script.Ended(conveyor.StateCompleted, script.At(-60), script.At(-31))},
		{`job.extract["us"]`, 0, "etl", nil, conveyor.Status{State: conveyor.StateFailed, Fence: 3, Attempts: 3, Started: script.At(-20), Ended: script.At(-12)}},
		{`job.clean["eu"]`, 1, "etl", []int32{0}, conveyor.Status{State: conveyor.StateRunning, Fence: 1, Owner: "build-7:4711", Started: script.At(-31)}},
		{`job.clean["us"]`, 1, "etl", []int32{1}, conveyor.Status{State: conveyor.StateSkipped, Ended: script.At(-12), Cause: `uuid-of-job.extract["us"]`}},
		{`job.load`, 2, "load", []int32{2, 3}, held},
		{`job.report`, 3, "mail", []int32{4}, held},
		{`job.late`, 0, "mail", nil, conveyor.Status{State: conveyor.StateScheduled, DueAt: script.At(5400)}},
		{`job.fetch`, 0, "load", nil, conveyor.Status{State: conveyor.StateScheduled, Fence: 1, Attempts: 1, Started: script.At(-9), DueAt: script.At(21)}},
	})
	billing := followed(t, []node{
		{`job.collect`, 0, "billing", nil, script.Ended(conveyor.StateCompleted, script.At(-300), script.At(-260))},
		{`job.check`, 1, "billing", []int32{0}, conveyor.Status{State: conveyor.StateOnHold, Fence: 1, Attempts: 1, Started: script.At(-200), Ended: script.At(-190)}},
		{`job.send[0]`, 1, "mail", []int32{0}, conveyor.Status{State: conveyor.StateQueued}},
		{`job.send[1]`, 1, "mail", []int32{0}, conveyor.Status{State: conveyor.StateQueued}},
	})
	failed := applier.JobChanged{Addr: script.Addr(t, `job.extract["us"]`), Status: sales.Jobs[1].Status, At: script.At(-12), Failure: "exit status 1",
		LogTail: []string{"reading input/us.csv", "line 812: bad amount \"12,x\"", "giving up"}}
	return []applier.Event{
		applier.Opened{Store: "redis://127.0.0.1:6379"},
		seen(applier.WorkflowSeen{Name: "billing", Jobs: 4, Serial: 3}, applier.WorkflowSeen{Name: "sales", Jobs: 8, Serial: 7,
			Lock: &applier.Holder{Who: "ada@build-7", Operation: "apply", Since: script.At(-61)}}),
		applier.OfWorkflow{Workflow: "billing", Event: billing},
		applier.OfWorkflow{Workflow: "sales", Event: sales},
		applier.OfWorkflow{Workflow: "sales", Event: failed},
		queues(0, false), queues(10, false), queues(40, false), queues(58, false), queues(59, false),
		workers(59),
	}
}

func seen(list ...applier.WorkflowSeen) applier.WorkflowsSeen {
	return applier.WorkflowsSeen{At: script.Noon, Workflows: list}
}

// queues are those of shop, so many seconds after two minutes before noon.
func queues(second int64, paused bool) applier.QueuesSeen {
	return applier.QueuesSeen{At: script.At(float64(second) - 59), Queues: []applier.QueueSeen{
		{Info: conveyor.QueueInfo{Name: "billing", Depth: [3]int64{0, 0, 0}}},
		{Info: conveyor.QueueInfo{Name: "etl", Depth: [3]int64{1, 11, 2}, Running: 8, Settings: conveyor.QueueSettings{Concurrency: 8, Weight: 2},
			DeclaredBy: []string{"sales"}, ByHand: paused}, Started: second*second + 8, Ended: second * second},
		{Info: conveyor.QueueInfo{Name: "load", Depth: [3]int64{0, 0, 0}, Running: 1}, Started: second / 2, Ended: second / 3},
		{Info: conveyor.QueueInfo{Name: "mail", Depth: [3]int64{0, 2, 0}}},
	}}
}

func workers(second int64) applier.WorkersSeen {
	at := script.At(float64(second) - 59)
	return applier.WorkersSeen{At: at, Workers: []conveyor.WorkerInfo{
		{ID: "build-7:4711", Host: "build-7", PID: 4711, Queues: []string{"etl", "load", "billing"}, Types: []string{"exec", "http", "noop", "sleep"}, Capacity: 10, Load: 9,
			Started: script.At(-4000), LastBeat: at.Add(-1200 * time.Millisecond), Alive: true},
		{ID: "build-8:17", Host: "build-8", PID: 17, Queues: []string{"etl"}, Types: []string{"exec"}, Capacity: 10,
			Started: script.At(-9000), LastBeat: at.Add(-44 * time.Second)},
	}}
}

// bridges are workers and a bridge.
func bridges(second int64) applier.WorkersSeen {
	all := workers(second)
	all.Workers = append(all.Workers, conveyor.WorkerInfo{ID: "bridge-one", Host: "build-9", PID: 3, Queues: []string{"billing"}, Types: []string{"billing"},
		Bridge: "a fleet of the conveyor library", Started: script.At(-600), LastBeat: all.At.Add(-time.Second), Alive: true})
	return all
}

// huge is one workflow of n jobs in chains of ten, and its queue.
func huge(n int) []applier.Event {
	var f applier.Following
	for i := range n {
		s := conveyor.Status{UUID: fmt.Sprintf("u%d", i), State: conveyor.StateHeld, Queue: "bulk", Priority: 1, Opening: 1, Pending: 1}
		var above []int32
		switch depth := i % 10; {
		case depth == 0 && i%70 == 0:
			s.State, s.Started, s.Ended, s.Fence = conveyor.StateFailed, script.At(-20), script.At(-float64(i%19)), 1
		case depth == 0 && i%50 == 0:
			s.State, s.Started, s.Owner, s.Fence = conveyor.StateRunning, script.At(-float64(i%600)), "w1", 1
		case depth == 0:
			s.State, s.Started, s.Ended, s.Fence = conveyor.StateCompleted, script.At(-90), script.At(-float64(i%80)), 1
		default:
			above = []int32{int32(i - 1)}
		}
		f.Jobs = append(f.Jobs, applier.Followed{Addr: config.Addr{Name: "step", Key: config.InstanceKey{Kind: config.KeyInt, Int: i}}, Depth: i % 10, Type: "exec",
			Queue: "bulk", Status: s, Above: above})
	}
	return []applier.Event{applier.Opened{Store: "redis://127.0.0.1:6379"}, seen(applier.WorkflowSeen{Name: "bulk", Jobs: n}),
		applier.OfWorkflow{Workflow: "bulk", Event: f}}
}

// desk answers what the view asks for by hand, and notes what it does.
type desk struct {
	done []string
	fail error
	logs map[string][]conveyor.LogEntry

	cycles []conveyor.Cycle
}

func (d *desk) did(what, name string) error {
	d.done = append(d.done, what+" "+name)
	return d.fail
}

func (d *desk) Retry(_ context.Context, uuid string) error       { return d.did("retry", uuid) }
func (d *desk) Cancel(_ context.Context, uuid string) error      { return d.did("cancel", uuid) }
func (d *desk) Release(_ context.Context, uuid string) error     { return d.did("release", uuid) }
func (d *desk) PauseQueue(_ context.Context, name string) error  { return d.did("pause", name) }
func (d *desk) ResumeQueue(_ context.Context, name string) error { return d.did("resume", name) }

func (d *desk) RunTemplate(_ context.Context, uuid string) error {
	return d.did("run", uuid)
}
func (d *desk) PauseTemplate(_ context.Context, uuid string) error {
	return d.did("pause template", uuid)
}
func (d *desk) ResumeTemplate(_ context.Context, uuid string) error {
	return d.did("resume template", uuid)
}
func (d *desk) ResetCycles(_ context.Context, uuid string) error { return d.did("reset", uuid) }

func (d *desk) Cycles(context.Context, string) ([]conveyor.Cycle, error) { return d.cycles, nil }

func (d *desk) Logs(_ context.Context, uuid string, after conveyor.LogPosition) ([]conveyor.LogEntry, error) {
	if d.logs == nil {
		return nil, errors.New("the store is slow")
	}
	var list []conveyor.LogEntry
	for _, e := range d.logs[uuid] {
		if e.Fence > after.Fence || e.Fence == after.Fence && e.N > after.N {
			list = append(list, e)
		}
	}
	return list, nil
}

func (d *desk) Inspect(_ context.Context, uuid string) (*conveyor.Inspection, error) {
	if uuid != `uuid-of-job.load` {
		return &conveyor.Inspection{Status: conveyor.Status{UUID: uuid}}, nil
	}
	return &conveyor.Inspection{Status: conveyor.Status{UUID: uuid}, Edges: []conveyor.JobEdge{
		{Upstream: conveyor.Status{UUID: `uuid-of-job.clean["eu"]`, State: conveyor.StateRunning}, Kind: wire.Edge_PREDECESSOR, Decision: conveyor.EdgeUndecided},
		{Upstream: conveyor.Status{UUID: `uuid-of-job.clean["us"]`, State: conveyor.StateSkipped}, Kind: wire.Edge_PREDECESSOR, RunIf: wire.Edge_ALWAYS,
			Decision: conveyor.EdgeSuccess},
	}}, nil
}

func (d *desk) Payload(_ context.Context, workflow string, addr config.Addr, uuid string) ([]string, error) {
	if workflow != "sales" || addr.Name != "load" || uuid != "uuid-of-job.load" {
		return nil, nil
	}
	return []string{"(protobuf, shop.v1.Load, 31 bytes)", "{", `  "day" = "2026-11-20"`, `  "note" = "(sensitive value)"`, "  \"long\" = \"\x1b[31m" + strings.Repeat("x", 300) + "\"", "}"}, nil
}

// written is what the failed job of shop has written, in three attempts.
func written() map[string][]conveyor.LogEntry {
	var list []conveyor.LogEntry
	for fence := range int64(3) {
		for n, text := range []string{"reading input/us.csv\n", "812 lines, \x1b[31mred\x1b[0m, tab\there\nline 812: bad amount \"12,x\" in a line that goes on for long enough that it has to be cut or wrapped on every screen of this test, whatever its width is, up to two hundred cells\n",
			"10%\r50%\r100%\n", "giving up\n"} {
			list = append(list, conveyor.LogEntry{Fence: fence + 1, N: int64(n + 1), At: script.At(float64(fence*20 - 60)), Text: []byte(text)})
		}
	}
	return map[string][]conveyor.LogEntry{`uuid-of-job.extract["us"]`: list}
}
