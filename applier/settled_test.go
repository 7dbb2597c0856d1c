package applier

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

func TestSettled(t *testing.T) {
	t.Parallel()
	type job struct {
		name    string
		state   conveyor.State
		fence   int64
		opening int64 // 0 is 1
		parent  string
		after   string
		wants   int64 // opening that the edge names; 0 is 1
	}
	tests := map[string]struct {
		jobs []job
		want bool
	}{
		"all ended":               {[]job{{name: "a", state: conveyor.StateCompleted}, {name: "b", state: conveyor.StateSkipped}}, true},
		"on hold and lost":        {[]job{{name: "a", state: conveyor.StateOnHold}, {name: "b"}}, true},
		"one is queued":           {[]job{{name: "a", state: conveyor.StateCompleted}, {name: "b", state: conveyor.StateQueued}}, false},
		"one runs":                {[]job{{name: "a", state: conveyor.StateRunning, fence: 1}}, false},
		"waits for its time":      {[]job{{name: "a", state: conveyor.StateScheduled}}, true},
		"backoff is not its time": {[]job{{name: "a", state: conveyor.StateScheduled, fence: 1}}, false},
		"heir of one that waits for its time": {
			[]job{{name: "a", state: conveyor.StateScheduled}, {name: "b", state: conveyor.StateHeld, after: "a"}}, true},
		"heir of one on hold": {[]job{{name: "a", state: conveyor.StateOnHold}, {name: "b", state: conveyor.StateHeld, after: "a"}}, true},
		"heir of one that runs": {
			[]job{{name: "a", state: conveyor.StateRunning, fence: 1}, {name: "b", state: conveyor.StateHeld, after: "a"}}, false},
		"chain under one that waits for its time": {
			[]job{{name: "a", state: conveyor.StateScheduled}, {name: "b", state: conveyor.StateHeld, after: "a"}, {name: "c", state: conveyor.StateHeld, after: "b"}}, true},
		"held with nothing to wait for is about to move": {
			[]job{{name: "a", state: conveyor.StateCompleted}, {name: "b", state: conveyor.StateHeld, after: "a"}}, false},
		"closing parent of a child that waits for its time": {
			[]job{{name: "a", state: conveyor.StateClosing, fence: 1}, {name: "b", state: conveyor.StateScheduled, parent: "a"}}, true},
		"closing parent of a child that is queued": {
			[]job{{name: "a", state: conveyor.StateClosing, fence: 1}, {name: "b", state: conveyor.StateQueued, parent: "a"}}, false},
		"closing parent without recorded children": {[]job{{name: "a", state: conveyor.StateClosing, fence: 1}}, false},
		"heir of a closing parent of a child on hold": {
			[]job{{name: "a", state: conveyor.StateClosing, fence: 1}, {name: "b", state: conveyor.StateOnHold, parent: "a"}, {name: "c", state: conveyor.StateHeld, after: "a"}}, true},
		"child held elsewhere by one that waits for its time": {
			[]job{{name: "p", state: conveyor.StateClosing}, {name: "a", state: conveyor.StateScheduled}, {name: "b", state: conveyor.StateHeld, parent: "p", after: "a"}}, true},
		"waits for an opening that has not come": {
			[]job{{name: "a", state: conveyor.StateCompleted}, {name: "b", state: conveyor.StateHeld, after: "a", wants: 2}}, false},
		"orphan": {[]job{{name: "b", state: conveyor.StateHeld, after: "nobody"}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := func(name string) string { return uuid.NewSHA1(uuid.Nil, []byte(name)).String() }
			s := &planner.State{Records: map[string]*planner.Record{}}
			for _, j := range test.jobs {
				r := &planner.Record{UUID: uuid.MustParse(id(j.name))}
				if j.parent != "" {
					r.Edges = append(r.Edges, planner.Edge{Kind: planner.EdgeParent, UUID: id(j.parent), Opening: max(1, j.wants)})
				}
				if j.after != "" {
					r.Edges = append(r.Edges, planner.Edge{Kind: planner.EdgeSuccess, UUID: id(j.after), Opening: max(1, j.wants)})
				}
				s.Records["job."+j.name] = r
			}
			w := watchRecords(s)
			for _, j := range test.jobs {
				w.byUUID[id(j.name)].status = conveyor.Status{UUID: id(j.name), State: j.state, Fence: j.fence, Opening: max(1, j.opening)}
			}
			if got := w.settled(); got != test.want {
				t.Errorf("settled is %t, want %t", got, test.want)
			}
		})
	}
}

func TestWatchedOrder(t *testing.T) {
	t.Parallel()
	id := func(name string) uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte(name)) }
	after := func(names ...string) []planner.Edge {
		var edges []planner.Edge
		for _, n := range names {
			edges = append(edges, planner.Edge{Kind: planner.EdgeSuccess, UUID: id(n).String(), Opening: 1})
		}
		return edges
	}
	w := watchRecords(&planner.State{Records: map[string]*planner.Record{
		"job.z":     {UUID: id("z")},
		"job.a":     {UUID: id("a"), Edges: after("z")},
		"job.m[10]": {UUID: id("m10")},
		"job.m[9]":  {UUID: id("m9")},
		"job.y":     {UUID: id("y"), Edges: after("a", "elsewhere")},
	}})
	type line struct {
		Addr  string
		Depth int
	}
	var got []line
	for _, j := range w.order {
		got = append(got, line{j.addr.String(), j.depth})
	}
	want := []line{{"job.z", 0}, {"job.a", 1}, {"job.y", 2}, {"job.m[9]", 0}, {"job.m[10]", 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
