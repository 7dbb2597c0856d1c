package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// Graph is the jobs of a workflow and the edges between them. Jobs are numbered in address order; what a method takes
// or returns as a job is such a number. It is immutable, and needs memory in proportion to jobs and edges: what is
// downstream of what is never stored.
//
// Two things happen to each job: its own work is done, and later it is complete. A child starts after its parent's own
// work, an heir after its predecessor is complete, and a job is complete after its own work and all its children. Jobs
// that can start at all are those whose own work is in no cycle of these four rules.
type Graph struct {
	jobs    []*config.Job
	names   []string // addresses as written
	index   map[config.Addr]int32
	outside []string // uuids of jobs outside the files, by ^link.to

	up       spans[link]  // what each job waits for: parents by address, then predecessor groups in canonical order
	children spans[int32] // of each job
	heirs    spans[int32] // of each job, once for each group that names it
	triggers triggers     // replace_triggered_by, which nobody waits for

	order      []int32 // jobs in start order
	events     []int32 // own work of job j as j, its completion as ^j, in an order that keeps the rules above
	components []int32 // by job, counted in start order
	rootOf     []int32 // by job: the root in whose cycles it runs, itself if it is one; noRoot for a job that runs once
}

// link is one edge, seen from the job that waits.
type link struct {
	to    int32 // the upstream job, or ^index into outside
	block int32 // index into the job's Parents or Predecessors, for ranges
	group int32 // 0 for parents
	kind  EdgeKind
}

func (l link) inside() bool { return l.to >= 0 }

// spans is one list per job, all in one slice.
type spans[T any] struct {
	at    []int32 // job j's list is items[at[j]:at[j+1]]
	items []T
}

func (s *spans[T]) of(j int32) []T { return s.items[s.at[j]:s.at[j+1]] }

// NewGraph builds the graph of a workflow. It fails, with one diagnostic for each, on edges to jobs that are not declared,
// on cycles and other waits that can never end, on conditions that contradict each other, and on jobs below two schedules or gates.
func NewGraph(w *config.Workflow) (*Graph, hcl.Diagnostics) {
	g := &Graph{jobs: w.Jobs}
	byAddr := func(a, b *config.Job) int { return compareAddr(a.Addr, b.Addr) }
	if !slices.IsSortedFunc(g.jobs, byAddr) {
		g.jobs = slices.SortedFunc(slices.Values(g.jobs), byAddr)
	}
	diags := g.number()
	if diags.HasErrors() {
		return nil, diags
	}
	if diags = g.connect(); diags.HasErrors() {
		return nil, diags
	}
	if diags = g.arrange(); diags.HasErrors() {
		return nil, diags
	}
	if diags = g.recur(); diags.HasErrors() {
		return nil, diags
	}
	return g, nil
}

func compareAddr(a, b config.Addr) int {
	switch {
	case a == b:
		return 0
	case a.Less(b):
		return -1
	default:
		return 1
	}
}

// number fills names and index.
func (g *Graph) number() (diags hcl.Diagnostics) {
	g.index = make(map[config.Addr]int32, len(g.jobs))
	g.names = make([]string, len(g.jobs))
	for i, j := range g.jobs {
		g.names[i] = j.Addr.String()
		if i > 0 && j.Addr == g.jobs[i-1].Addr {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Duplicate job", Subject: j.Range.Ptr(),
				Detail: fmt.Sprintf("%s is declared twice. An address names one job: rename one of the two.", j.Addr),
			})
		}
		g.index[j.Addr] = int32(i)
	}
	return diags
}

// connect fills up, children and heirs.
func (g *Graph) connect() (diags hcl.Diagnostics) {
	n, total := len(g.jobs), 0
	for _, j := range g.jobs {
		total += len(j.Parents)
		for _, p := range j.Predecessors {
			total += len(p.Jobs) + len(p.UUIDs)
		}
	}
	g.up = spans[link]{at: make([]int32, n+1), items: make([]link, 0, total)}
	var groups groupSorter
	for i, j := range g.jobs {
		diags = append(diags, g.linkParents(j)...)
		diags = append(diags, g.linkPredecessors(j, &groups)...)
		g.up.at[i+1] = int32(len(g.up.items))
	}
	g.children, g.heirs = g.downward(true), g.downward(false)
	return append(diags, g.linkTriggers()...)
}

func (g *Graph) linkParents(j *config.Job) (diags hcl.Diagnostics) {
	start := len(g.up.items)
	for k, p := range j.Parents {
		l := link{block: int32(k), kind: EdgeParent}
		if p.IgnoreFailure {
			l.kind = EdgeParentLenient
		}
		var diag *hcl.Diagnostic
		if l.to, diag = g.resolve(j, p.Job, p.UUID, p.Range); diag != nil {
			diags = append(diags, diag)
			continue
		}
		g.up.items = append(g.up.items, l)
	}
	parents := g.up.items[start:]
	if len(parents) > 1 {
		slices.SortFunc(parents, g.compareLinks)
		parents = slices.CompactFunc(parents, func(a, b link) bool { return g.compareEnds(a, b) == 0 })
		g.up.items = g.up.items[:start+len(parents)]
	}
	return diags
}

func (g *Graph) linkPredecessors(j *config.Job, groups *groupSorter) (diags hcl.Diagnostics) {
	groups.reset(g)
	for k, p := range j.Predecessors {
		kind := EdgeSuccess + EdgeKind(p.RunIf)
		for _, addr := range p.Jobs {
			to, diag := g.resolve(j, addr, "", p.Range)
			if diag != nil {
				diags = append(diags, diag)
				continue
			}
			groups.links = append(groups.links, link{to: to, block: int32(k), kind: kind})
		}
		for _, uuid := range p.UUIDs {
			to, _ := g.resolve(j, config.Addr{}, uuid, p.Range)
			groups.links = append(groups.links, link{to: to, block: int32(k), kind: kind})
		}
		groups.close()
	}
	start := len(g.up.items)
	g.up.items = groups.appendTo(g.up.items)
	return append(diags, g.contradictions(j, g.up.items[start:])...)
}

// resolve finds the upstream end of an edge.
func (g *Graph) resolve(j *config.Job, addr config.Addr, uuid string, at hcl.Range) (int32, *hcl.Diagnostic) {
	if uuid != "" {
		g.outside = append(g.outside, uuid)
		return ^int32(len(g.outside) - 1), nil
	}
	if to, ok := g.index[addr]; ok {
		return to, nil
	}
	return 0, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Reference to undeclared job", Subject: at.Ptr(),
		Detail: fmt.Sprintf("%s waits for %s, which is not declared. Declare it, or remove the reference.", j.Addr, addr),
	}
}

// compareEnds orders links by what they wait for: jobs by address, then jobs outside the files by uuid.
func (g *Graph) compareEnds(a, b link) int {
	if a.inside() || b.inside() {
		if a.inside() && b.inside() {
			return cmp.Compare(a.to, b.to)
		}
		return cmp.Compare(b.to, a.to)
	}
	return cmp.Compare(g.outside[^a.to], g.outside[^b.to])
}

// compareLinks puts the stricter of two edges to the same job first.
func (g *Graph) compareLinks(a, b link) int {
	return cmp.Or(g.compareEnds(a, b), cmp.Compare(a.kind, b.kind))
}

// downward turns the edges of one kind around.
func (g *Graph) downward(parents bool) spans[int32] {
	n := len(g.jobs)
	at := make([]int32, n+2)
	for _, l := range g.up.items {
		if l.inside() && l.kind.Parent() == parents {
			at[l.to+2]++
		}
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	items := make([]int32, at[n+1])
	for j := range int32(n) {
		for _, l := range g.up.of(j) {
			if l.inside() && l.kind.Parent() == parents {
				items[at[l.to+1]] = j
				at[l.to+1]++
			}
		}
	}
	return spans[int32]{at: at[:n+1], items: items}
}
