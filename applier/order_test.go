package applier

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func TestInOrder(t *testing.T) {
	t.Parallel()
	row := func(name string, component int, a planner.Action, above ...string) *planner.Row {
		r := &planner.Row{Addr: addr(t, "job."+name), Component: component, Action: a}
		for _, up := range above {
			if key, is := strings.CutPrefix(up, "!"); is { // its unique key
				r.Job = &config.Job{Unique: key}
				r.Prior = &planner.Record{Definition: []byte(`{"unique":"` + key + `"}`)}
				continue
			}
			if root, is := strings.CutPrefix(up, "~"); is { // whose cycles it runs in
				r.Root = addr(t, "job."+root)
				continue
			}
			if up == "gate" {
				r.Job = &config.Job{Gate: &config.Gate{}}
				continue
			}
			r.Edges = append(r.Edges, planner.Target{Addr: addr(t, "job."+up)})
		}
		return r
	}
	tests := map[string]struct {
		rows []*planner.Row
		want []string
	}{
		"roots last, in start order": {
			rows: []*planner.Row{
				row("a", 0, planner.Create), row("a1", 0, planner.Create, "a"), row("a2", 0, planner.Create, "a1"),
				row("b", 1, planner.Create), row("b1", 1, planner.Create, "b"), row("c", 2, planner.Create),
			},
			want: []string{"a2", "a1", "b1", "a", "b", "c"},
		},
		"what has only finished work above starts as a root does": {
			rows: []*planner.Row{
				row("a", 0, planner.NoOp), row("a1", 0, planner.Replace, "a"), row("a2", 0, planner.Replace, "a"), row("a3", 0, planner.Replace, "a1", "a2"),
			},
			want: []string{"a3", "a1", "a2"},
		},
		"parents reopen after their new children, the lower first, before their component's roots": {
			rows: []*planner.Row{
				row("top", 0, planner.Reopen), row("mid", 0, planner.Reopen, "top"), row("leaf", 0, planner.Replace, "mid"), row("heir", 0, planner.Replace, "top"),
				row("root", 1, planner.Create), row("first", 0, planner.Create),
			},
			want: []string{"leaf", "heir", "mid", "top", "root", "first"},
		},
		"cancels and forgets at the end, backwards": {
			rows: []*planner.Row{
				row("a", 0, planner.Create), row("b", 1, planner.Rerecord),
				row("x", 2, planner.Delete), row("y", 2, planner.Delete, "x"), row("z", 3, planner.Forget),
			},
			want: []string{"b", "a", "z", "y", "x"},
		},
		"a unique key is given up before it is taken": {
			rows: []*planner.Row{row("a", 0, planner.Create, "!k"), row("x", 1, planner.Delete, "!k"), row("y", 1, planner.Delete, "!l")},
			want: []string{"x", "a", "y"},
		},
		"what waits for a changed job is written before it": {
			rows: []*planner.Row{row("a", 0, planner.Update), row("b", 0, planner.Create, "a")},
			want: []string{"b", "a"},
		},
		"gates before what may trigger them, other templates after what they may wait for": {
			rows: []*planner.Row{
				row("a", 0, planner.Create), row("b", 0, planner.Create, "a"), row("r", 0, planner.Create, "a", "~r"), row("s", 0, planner.Update, "r", "~r"),
				row("g", 1, planner.Create, "~g", "gate"), row("h", 1, planner.Replace, "g", "~g"), row("x", 2, planner.Delete),
			},
			want: []string{"h", "g", "b", "a", "s", "r", "x"},
		},
		"below a gate that stays": {
			rows: []*planner.Row{row("a", 0, planner.Create), row("g", 1, planner.NoOp, "~g", "gate"), row("h", 1, planner.Create, "g", "~g")},
			want: []string{"h", "a"},
		},
		"nothing to do": {rows: []*planner.Row{row("a", 0, planner.NoOp)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range inOrder(&planner.Plan{Rows: test.rows}) {
				got = append(got, r.Addr.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}
