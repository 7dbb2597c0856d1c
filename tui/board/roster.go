package board

import (
	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Roster is a Following made ready, so that a board takes in a hundred thousand jobs at once: whoever hands events to a view
// makes it on a goroutine of his own. A board must not observe it twice.
type Roster struct {
	applier.Following
	jobs   []*Job
	byAddr map[config.Addr]*Job
	counts [conveyor.StateExpired + 1]int
	sums   [Sections]int
	layout *layout
}

// NewRoster makes a Following ready.
func NewRoster(e applier.Following) Roster {
	r := Roster{Following: e, jobs: make([]*Job, 0, len(e.Jobs)), byAddr: make(map[config.Addr]*Job, len(e.Jobs))}
	slab := make([]Job, len(e.Jobs))
	for i, f := range e.Jobs {
		if r.byAddr[f.Addr] != nil {
			continue
		}
		j := &slab[i]
		*j = *newJob(f, len(r.jobs))
		r.jobs, r.byAddr[f.Addr] = append(r.jobs, j), j
		r.counts[j.Status.State]++
		r.sums[SectionOf(j.Status.State)]++
	}
	r.layout = newLayout(r.jobs)
	return r
}

func newJob(f applier.Followed, place int) *Job {
	f.Status.State = min(f.Status.State, conveyor.StateExpired)
	return &Job{Followed: f, Name: screen.Clean(f.Addr.String()), Place: place, untold: f.Status.State == conveyor.StateFailed}
}

// layout is where the jobs of a roster stand in a tree, which changes of their statuses leave as it is. The root is node 0, the
// job at place p is node p+1.
type layout struct {
	nodes   []node // up, rank, depth and kids are set, kind and sums as they were when it was made
	longest [MaxDepth + 1]int
}

func newLayout(jobs []*Job) *layout {
	l := &layout{nodes: make([]node, len(jobs)+1)}
	for i, j := range jobs {
		nd := &l.nodes[i+1]
		if len(j.Above) > 0 && int(j.Above[0]) < i && j.Above[0] >= 0 {
			nd.up = j.Above[0] + 1
			if l.nodes[nd.up].depth == MaxDepth {
				nd.up = l.nodes[nd.up].up
			}
		}
		nd.depth = l.nodes[nd.up].depth + 1
		l.longest[nd.depth] = max(l.longest[nd.depth], len(j.Name))
		nd.kind = KindOf(j.Status)
	}
	l.hang()
	l.count()
	return l
}

// hang lists the kids of every node, in one piece of memory.
func (l *layout) hang() {
	counts := make([]int32, len(l.nodes))
	for v := 1; v < len(l.nodes); v++ {
		nd := &l.nodes[v]
		nd.rank = counts[nd.up]
		counts[nd.up]++
	}
	slab := make([]int32, len(l.nodes))
	for v := range l.nodes {
		n := counts[v]
		l.nodes[v].kids, slab = slab[:n:n], slab[n:]
	}
	for v := 1; v < len(l.nodes); v++ {
		nd := &l.nodes[v]
		l.nodes[nd.up].kids[nd.rank] = int32(v)
	}
}

// count sums up the jobs of every subtree. A node's kids come after it.
func (l *layout) count() {
	for v := len(l.nodes) - 1; v > 0; v-- {
		nd := &l.nodes[v]
		nd.sums[nd.kind]++
		l.nodes[nd.up].sums.add(&nd.sums)
	}
}
