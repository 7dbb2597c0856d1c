package enginemodel_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/enginemodel"
	"github.com/waybill-dev/waybill/planner"
)

// long asks for all graphs where a run of the tests takes one in many.
var long = flag.Bool("long", false, "take all graphs, which takes minutes")

// orders are all ways to submit n jobs.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, o := range orders(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(o), at, n-1))
		}
	}
	return out
}

// sampled calls visit for one number in step, beginning anywhere, or for every one when -long asks for it; on two threads.
func sampled(t *testing.T, total, step int, visit func(n int) error) {
	t.Helper()
	from := rand.IntN(step)
	if *long {
		from, step = 0, 1
	}
	t.Logf("%d of %d, from %d", (total-from+step-1)/step, total, from)
	var wg sync.WaitGroup
	for half := range 2 {
		wg.Go(func() {
			for n := from + half*step; n < total; n += 2 * step {
				if err := visit(n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestGraphs plays graphs of up to four jobs under all fates: every job ends or provably never can, as the rules for edges
// say; no job starts twice, or before what it waits for.
func TestGraphs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		size, step int
		numbers    func(size int) int
		numbered   func(size, n int) enginemodel.Graph
	}{
		{"two", 2, 1, enginemodel.AnyNumbers, enginemodel.AnyNumbered},
		{"three", 3, 5, enginemodel.Numbers, enginemodel.Numbered},
		{"three with circles", 3, 997, enginemodel.AnyNumbers, enginemodel.AnyNumbered},
		{"four", 4, 997, enginemodel.Numbers, enginemodel.Numbered},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			all := orders(row.size)
			sampled(t, row.numbers(row.size), row.step, func(n int) error {
				g := row.numbered(row.size, n)
				for k := range enginemodel.FateNumbers(row.size) {
					fates := enginemodel.FateNumbered(row.size, k)
					got, err := g.Run(fates, all[(n+k)%len(all)])
					if err != nil {
						return fmt.Errorf("%s: %w", g.Describe(fates), err)
					}
					if diff := cmp.Diff(g.Rules(fates), got); diff != "" {
						return fmt.Errorf("%s: outcomes (-rules +model):\n%s", g.Describe(fates), diff)
					}
				}
				return nil
			})
		})
	}
}

// TestPlannerVerdict compares what the planner says of graphs of three jobs, circles included, with what the engine does:
// a graph that is accepted lets every job end, whatever the fates; one that is refused leaves a job waiting for ever under some
// of them, or has a job that never starts under any, when its conditions contradict each other.
func TestPlannerVerdict(t *testing.T) {
	t.Parallel()
	sampled(t, enginemodel.AnyNumbers(3), 23, func(n int) error {
		g := enginemodel.AnyNumbered(3, n)
		_, diags := planner.NewGraph(workflow(g))
		contradicts := func(d *hcl.Diagnostic) bool { return strings.Contains(d.Detail, "starts only if") }
		refused := slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return !contradicts(d) })
		hangs, started := false, make([]bool, len(g))
		for k := range enginemodel.FateNumbers(3) {
			fates := enginemodel.FateNumbered(3, k)
			got := g.Rules(fates)
			for i, o := range got {
				hangs = hangs || o == enginemodel.Open
				started[i] = started[i] || o == enginemodel.Completed || o == enginemodel.FailedByChild || o == enginemodel.Failed
			}
		}
		switch {
		case hangs != refused:
			return fmt.Errorf("%s: refused %t, but a job waits for ever: %t: %s", g.Describe(nil), refused, hangs, diags)
		case !refused && slices.ContainsFunc(diags, contradicts) && !slices.Contains(started, false):
			return fmt.Errorf("%s: refused for its conditions, but every job can start: %s", g.Describe(nil), diags)
		}
		return nil
	})
}

// workflow declares the jobs of a graph.
func workflow(g enginemodel.Graph) *config.Workflow {
	name := func(i int) config.Addr {
		a, err := config.ParseAddr(fmt.Sprintf("job.j%d", i))
		if err != nil {
			panic(err)
		}
		return a
	}
	w := &config.Workflow{Name: "test"}
	for i := range g {
		j := &config.Job{Addr: name(i), Type: "noop", Queue: "q", Priority: 1}
		for k, l := range g[i] {
			switch l {
			case enginemodel.NoLink:
			case enginemodel.ChildOf, enginemodel.LenientChildOf:
				j.Parents = append(j.Parents, config.Parent{Job: name(k), IgnoreFailure: l == enginemodel.LenientChildOf})
			default:
				runIf := []config.RunIf{config.RunIfSuccess, config.RunIfFailure, config.RunIfAlways}[l-enginemodel.AfterSuccess]
				j.Predecessors = append(j.Predecessors, config.Predecessor{Jobs: []config.Addr{name(k)}, RunIf: runIf})
			}
		}
		w.Jobs = append(w.Jobs, j)
	}
	return w
}
