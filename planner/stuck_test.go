package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/planner"
)

func TestNeverStarts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		jobs []string
		want []string // summary @ line of the subject: steps
	}{
		{name: "nothing", jobs: nil},
		{name: "child and heir", jobs: []string{"a", "b ^a", "c a", "d ^c b"}},
		{
			name: "own predecessor", jobs: []string{"a a"},
			want: []string{"Job waits for itself @11: "},
		},
		{
			name: "own parent", jobs: []string{"a ^a"},
			want: []string{"Job waits for itself @11: "},
		},
		{
			name: "cycle of predecessors", jobs: []string{"a c", "b a", "c b", "d c"},
			want: []string{"Cycle between jobs @11: a waits for c to be complete | c waits for b to be complete | b waits for a to be complete"},
		},
		{
			name: "cycle of parents is told once", jobs: []string{"a ^b", "b ^a"},
			want: []string{"Cycle between jobs @11: a starts after its parent b | b starts after its parent a"},
		},
		{
			name: "two cycles", jobs: []string{"a b", "b a", "c d", "d c"},
			want: []string{
				"Cycle between jobs @11: a waits for b to be complete | b waits for a to be complete",
				"Cycle between jobs @11: c waits for d to be complete | d waits for c to be complete",
			},
		},
		{
			name: "two cycles through one job", jobs: []string{"a b c", "b a", "c a"},
			want: []string{
				"Cycle between jobs @11: a waits for b to be complete | b waits for a to be complete",
				"Cycle between jobs @12: a waits for c to be complete | c waits for a to be complete",
			},
		},
		{
			name: "heir of its parent", jobs: []string{"a", "b ^a a"},
			want: []string{"Predecessor is an ancestor of the job @12: b waits for a to be complete | a is complete only after its child b"},
		},
		{
			name: "heir of its grandparent", jobs: []string{"a", "b ^a", "c ^b a"},
			want: []string{"Predecessor is an ancestor of the job @12: c waits for a to be complete | a is complete only after its child b | " +
				"b is complete only after its child c"},
		},
		{
			name: "two heirs of their parent", jobs: []string{"a", "b ^a a", "c ^a *a"},
			want: []string{
				"Predecessor is an ancestor of the job @12: b waits for a to be complete | a is complete only after its child b",
				"Predecessor is an ancestor of the job @12: c waits for a to be complete | a is complete only after its child c",
			},
		},
		{
			name: "child of an heir of its parent", jobs: []string{"a", "b a", "c ^a ^b"},
			want: []string{"Job can never start @11: b waits for a to be complete | a is complete only after its child c | " +
				"c starts after its parent b"},
		},
		{
			name: "heir of an heir of its parent", jobs: []string{"a", "b a", "c ^a b"},
			want: []string{"Job can never start @11: b waits for a to be complete | a is complete only after its child c | " +
				"c waits for b to be complete"},
		},
		{
			name: "heir of what waits below it", jobs: []string{"a d", "b ^a", "c ^b", "d c"},
			want: []string{"Cycle between jobs @11: a waits for d to be complete | d waits for c to be complete | " +
				"c starts after its parent b | b starts after its parent a"},
		},
		{
			name: "condition against itself", jobs: []string{"a", "b", "c a,b !b"},
			want: []string{"Job can never start @12: "},
		},
		{name: "one of two may fail", jobs: []string{"a", "b", "c a !a,b"}},
		{name: "failure and always", jobs: []string{"a", "c *a !a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, diags := planner.NewGraph(workflowOf(test.jobs...))
			var got []string
			for _, d := range diags {
				got = append(got, fmt.Sprintf("%s @%d: %s", d.Summary, d.Subject.Start.Line, steps(d)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

// steps are the indented lines of a diagnostic.
func steps(d *hcl.Diagnostic) string {
	var all []string
	for line := range strings.SplitSeq(d.Detail, "\n") {
		if path, ok := strings.CutPrefix(line, "  "); ok {
			all = append(all, strings.ReplaceAll(path, "job.", ""))
		}
	}
	return strings.Join(all, " | ")
}

func TestLongCycleIsTold(t *testing.T) {
	t.Parallel()
	const n = 20000
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("j%05d j%05d", i, (i+n-1)%n)
	}
	_, diags := planner.NewGraph(workflowOf(lines...))
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "... 19988 more ...") || len(diags[0].Detail) > 2000 {
		t.Errorf("got %d diagnostics: %.3000s", len(diags), diags.Error())
	}
}

func TestManyCyclesAreBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("a%03d b%03d", i, i), fmt.Sprintf("b%03d a%03d", i, i))
	}
	_, diags := planner.NewGraph(workflowOf(lines...))
	if len(diags) != 10 || !strings.Contains(diags[9].Detail, "There are more such waits") {
		t.Errorf("got %d diagnostics: %s", len(diags), diags.Error())
	}
}

func TestUndeclared(t *testing.T) {
	t.Parallel()
	_, diags := planner.NewGraph(workflowOf("a x", "b ^y a,z"))
	if len(diags) != 3 {
		t.Fatalf("got %d diagnostics: %s", len(diags), diags)
	}
	for i, name := range []string{"job.x", "job.y", "job.z"} {
		if !strings.Contains(diags[i].Detail, name) || diags[i].Subject == nil {
			t.Errorf("%s is not named, or without range: %s", name, diags[i].Detail)
		}
	}
}

// edge choices between an ordered pair of jobs, as jobOf writes them.
var choices = []string{"", "^%s", "%s", "!%s", "*%s", "^%[1]s *%[1]s", "?%s", "!%[1]s *%[1]s"}

// TestNeverStartsExactly compares the verdict with the engine played on every graph of up to three jobs: what is refused
// leaves a job waiting for ever, and what is accepted lets every job end, whatever the outcome of each.
func TestNeverStartsExactly(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		pairs := n * n
		total := 1
		for range pairs {
			total *= edgesOf(n)
		}
		for number := range total {
			checkVerdict(t, graphOf(number, n))
		}
	}
}

// edgesOf keeps the number of graphs of three jobs below a hundred thousand: lenient parents and mixed conditions wait as
// the others do, and are left to smaller and to drawn graphs.
func edgesOf(n int) int {
	if n < 3 {
		return len(choices)
	}
	return 3
}

func graphOf(number, n int) []string {
	names := []string{"a", "b", "c", "d"}[:n]
	var lines []string
	for _, from := range names {
		line := from
		for _, to := range names {
			if edge := choices[number%edgesOf(n)]; edge != "" {
				line += " " + fmt.Sprintf(edge, to)
			}
			number /= edgesOf(n)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestNeverStartsSampled does the same for drawn graphs of four jobs.
func TestNeverStartsSampled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for i, from := range []string{"a", "b", "c", "d"} {
			line := from
			for k, to := range []string{"a", "b", "c", "d"} {
				if i == k {
					continue
				}
				// Half of the draws favour what can start: edges to jobs before this one.
				if edge := rapid.SampledFrom(choices).Draw(t, "edge"); edge != "" && (k < i || rapid.IntRange(0, 7).Draw(t, "back") == 0) {
					line += " " + fmt.Sprintf(edge, to)
				}
			}
			lines = append(lines, line)
		}
		checkVerdict(t, lines)
	})
}

// checkVerdict compares NewGraph with the engine. Conditions that contradict each other are another verdict: they skip a
// job, and keep none waiting.
func checkVerdict(t fataler, lines []string) {
	w := workflowOf(lines...)
	_, diags := planner.NewGraph(w)
	refused := slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return !strings.Contains(d.Detail, "starts only if") })
	if hangs := hangs(lines, true, func(string) bool { return true }); hangs != refused {
		t.Fatalf("%q: refused %t, waits for ever %t: %s", lines, refused, hangs, diags)
	}
	if refused {
		return
	}
	for outcomes := range 1 << len(lines) {
		if hangs(lines, false, func(name string) bool { return outcomes>>(name[len(name)-1]-'a')&1 == 0 }) {
			t.Fatalf("%q: accepted, but a job waits for ever under outcomes %b", lines, outcomes)
		}
	}
	if diags.HasErrors() && !neverRuns(lines) {
		t.Fatalf("%q: refused for its conditions, but every job starts under some outcomes: %s", lines, diags)
	}
}

// hangs plays a workflow to its end and tells whether a job is left waiting. With through, no outcome excludes anything.
func hangs(lines []string, through bool, outcome func(name string) bool) bool {
	e := play(lines, through, outcome)
	return e.stuck() != nil
}

func play(lines []string, through bool, outcome func(name string) bool) *engine {
	e := newEngine()
	for _, line := range lines {
		j := jobOf(line)
		name := j.Addr.String()
		rec := &planner.Record{UUID: planner.UUIDOf(lineage, name, 1), Generation: 1, Opening: 1}
		for _, p := range j.Parents {
			kind := planner.EdgeParent
			if p.IgnoreFailure {
				kind = planner.EdgeParentLenient
			}
			rec.Edges = append(rec.Edges, planner.Edge{Kind: kind, Addr: p.Job, UUID: planner.UUIDOf(lineage, p.Job.String(), 1).String(), Opening: 1})
		}
		for k, p := range j.Predecessors {
			kind := planner.EdgeSuccess + planner.EdgeKind(p.RunIf)
			if through {
				kind = planner.EdgeAlways
			}
			for _, a := range p.Jobs {
				rec.Edges = append(rec.Edges, planner.Edge{Kind: kind, Group: k + 1, Addr: a, UUID: planner.UUIDOf(lineage, a.String(), 1).String(), Opening: 1})
			}
		}
		e.state.Records[name] = rec
		id := rec.UUID.String()
		e.jobs[id] = &played{name: name, id: id, edges: rec.Edges, live: planner.Live{Status: planner.Held, Opening: 1}}
	}
	if err := e.run(outcome); err != nil {
		panic(err)
	}
	return e
}

// neverRuns tells whether some job is skipped whatever the outcomes.
func neverRuns(lines []string) bool {
	ran := map[string]bool{}
	for outcomes := range 1 << len(lines) {
		e := play(lines, false, func(name string) bool { return outcomes>>(name[len(name)-1]-'a')&1 == 0 })
		for _, job := range e.jobs {
			ran[job.name] = ran[job.name] || job.started
		}
	}
	return slices.Contains(slices.Collect(maps.Values(ran)), false)
}
