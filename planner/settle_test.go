package planner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func settled(t *testing.T, w *config.Workflow, s *planner.State, o planner.Options) *planner.Plan {
	t.Helper()
	p := mustMake(t, w, s, o)
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSettleFirst(t *testing.T) {
	t.Parallel()
	s := noState()
	s.Floor = 6
	p := settled(t, workflowOf("a", "b ^a @outside", "c !a,b *b"), s, planner.Options{})
	c := row(t, p, "c").Next
	if c.Generation != 7 || c.Version != 1 || c.Opening != 1 {
		t.Errorf("generation %d, version %d, opening %d; want 7, 1, 1", c.Generation, c.Version, c.Opening)
	}
	id := func(name string) string { return planner.UUIDOf(lineage, "job."+name, 7).String() }
	want := []planner.Edge{
		{Kind: planner.EdgeFailure, Addr: addr("job.a"), UUID: id("a"), Opening: 1},
		{Kind: planner.EdgeFailure, Addr: addr("job.b"), UUID: id("b"), Opening: 1},
		{Kind: planner.EdgeAlways, Group: 1, Addr: addr("job.b"), UUID: id("b"), Opening: 1},
	}
	if diff := cmp.Diff(want, c.Edges); diff != "" {
		t.Errorf("edges of c (-want +got):\n%s", diff)
	}
	want = []planner.Edge{
		{Kind: planner.EdgeParent, Addr: addr("job.a"), UUID: id("a"), Opening: 1},
		{Kind: planner.EdgeSuccess, UUID: "outside", Opening: 1},
	}
	if diff := cmp.Diff(want, row(t, p, "b").Next.Edges); diff != "" {
		t.Errorf("edges of b (-want +got):\n%s", diff)
	}
}

func TestSettleReopening(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b ^a", "c ^a", "d a")
	s := stateOf(t, w)
	p := settled(t, edited(w, "b", newWork), s, planner.Options{})
	expect(t, p, "~ a child_runs_again", "-/+ b work_changed", "-/+ d upstream_runs_again")
	a := row(t, p, "a")
	if a.Next.Opening != 2 || a.Next.UUID != a.Prior.UUID || a.Next.Generation != 1 || a.Next.Version != 2 {
		t.Errorf("a becomes %+v", a.Next)
	}
	for _, name := range []string{"b", "d"} {
		if e := row(t, p, name).Next.Edges[0]; e.UUID != a.Next.UUID.String() || e.Opening != 2 {
			t.Errorf("%s waits for %s, opening %d; want opening 2 of %s", name, e.UUID, e.Opening, a.Next.UUID)
		}
	}
}

// TestHoldOpen checks which parents a row relies on not to end before it is written.
func TestHoldOpen(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b ^a", "c ^a")
	for _, test := range []struct {
		name string
		a, b planner.Status
		want int
	}{
		{"parent closing, child ended", planner.Closing, planner.Completed, 1},
		{"parent closing, child runs", planner.Closing, planner.Running, 1},
		{"parent running", planner.Running, planner.Completed, 1},
		{"parent complete: reopened instead", planner.Completed, planner.Completed, 0},
		{"parent closing, child waits in its list already", planner.Closing, planner.Queued, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, w)
			s.Live["job.a"] = planner.Live{Status: test.a, Opening: 1}
			s.Live["job.b"] = planner.Live{Status: test.b, Opening: 1}
			p := settled(t, edited(w, "b", newWork), s, planner.Options{})
			if got := row(t, p, "b").HoldOpen; len(got) != test.want || test.want == 1 && got[0] != s.Records["job.a"].UUID.String() {
				t.Errorf("holds open %v, want %d", got, test.want)
			}
		})
	}
}

// TestEarlierGeneration follows a job that is edited twice, and then removed, while its first generation runs.
func TestEarlierGeneration(t *testing.T) {
	t.Parallel()
	e, w := newEngine(), workflowOf("a")
	submit(t, e, w, planner.Options{}, -1)
	first := e.state.Records["job.a"].UUID.String()
	for range 2 {
		if err := e.moves()[0].do(true); err != nil {
			t.Fatal(err)
		}
	}
	w = edited(w, "a", newWork)
	submit(t, e, w, planner.Options{}, -1)
	w = edited(w, "a", newHandling)
	p := submit(t, e, w, planner.Options{}, -1)
	r := row(t, p, "a")
	if r.Action != planner.Update || r.Earlier != first || len(r.Next.Edges) != 1 || r.Next.Edges[0].UUID != first {
		t.Fatalf("a second edit makes a row to %s, earlier %q, edges %v", r.Action, r.Earlier, r.Next.Edges)
	}
	requested := settled(t, w, e.now(), planner.Options{Replace: []config.Addr{addr("job.a")}})
	if r := row(t, requested, "a"); !r.CancelFirst || r.Successor || r.Next.Edges[0].UUID != first || r.Next.Generation != 3 {
		t.Errorf("replaced while it waits: cancel first %t, successor %t, next %+v", r.CancelFirst, r.Successor, r.Next)
	}
	s := e.now()
	s.Live["job.a"] = planner.Live{}
	if r := row(t, settled(t, w, s, planner.Options{}), "a"); r.Action != planner.Create || len(r.Next.Edges) != 1 {
		t.Errorf("lost while it waits: %s with edges %v", r.Action, r.Next.Edges)
	}
	p = submit(t, e, &config.Workflow{Name: "test"}, planner.Options{}, -1)
	if next := row(t, p, "a").Next; next == nil || !next.Deposed || next.UUID.String() != first || next.Generation != 2 {
		t.Fatalf("removing it leaves %+v, want the deposed record of the first generation", next)
	}
	p = submit(t, e, w, planner.Options{}, -1)
	if r := row(t, p, "a"); r.Reason != planner.ReasonDeposed || !r.Successor || r.Next.Generation != 3 {
		t.Errorf("declaring it again: %s, successor %t, generation %d", r.Reason, r.Successor, r.Next.Generation)
	}
	finishAll(t, e)
	settledDown(t, e, w)
}

// TestMovedRecord checks that a record which came from another address gets no generation that its new one may have used.
func TestMovedRecord(t *testing.T) {
	t.Parallel()
	w := workflowOf("b")
	s := stateOf(t, w)
	s.Floor = 8
	s.Records["job.b"].UUID = planner.UUIDOf(lineage, "job.a", 1)
	p := settled(t, edited(w, "b", newWork), s, planner.Options{})
	if got := row(t, p, "b").Next.Generation; got != 9 {
		t.Errorf("generation %d, want 9", got)
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b", "c")
	tests := []struct {
		name  string
		move  func(s *planner.State)
		want  []string
		fails string
	}{
		{name: "nothing", move: func(*planner.State) {}},
		{name: "a row without action", move: func(s *planner.State) { moved(s, "job.c") }},
		{name: "a row", move: func(s *planner.State) { moved(s, "job.a") }, want: []string{"job.a"}, fails: "job.a"},
		{name: "gone", move: func(s *planner.State) { delete(s.Records, "job.b") }, want: []string{"job.b"}, fails: "job.b"},
		{
			name: "destroyed and made again", want: []string{"job.a"}, fails: "job.a",
			move: func(s *planner.State) {
				again := *s.Records["job.a"]
				again.UUID = planner.UUIDOf(lineage, "job.a", 2)
				s.Records["job.a"] = &again
			},
		},
		{name: "floor", move: func(s *planner.State) { s.Floor = 100 }},
		{name: "another state", move: func(s *planner.State) { s.Lineage = uuid.Max }, fails: "made anew"},
		{name: "no lineage", move: func(s *planner.State) { s.Lineage = uuid.Nil }, fails: "no lineage"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, w)
			p := mustMake(t, edited(edited(w, "a", newWork), "b", newHandling), s, planner.Options{})
			test.move(s)
			var got []string
			for _, a := range p.Stale(s) {
				got = append(got, a.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("stale (-want +got):\n%s", diff)
			}
			err := planner.Settle(p, s)
			if test.fails == "" && err != nil || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("settle: %v, want %q", err, test.fails)
			}
			if test.want != nil && !errors.Is(err, planner.ErrStale) {
				t.Errorf("settle: %v, want ErrStale", err)
			}
		})
	}
}

func moved(s *planner.State, name string) {
	next := *s.Records[name]
	next.Version++
	s.Records[name] = &next
}
