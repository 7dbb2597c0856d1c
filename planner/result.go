package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// implied tells whether no block says that a job waits for what a link leads to, but the job reads its result.
func (g *Graph) implied(job int32, l link) bool {
	return l.inside() && !l.kind.Parent() && g.jobs[job].Predecessors[l.block].Implied
}

// Reads are the jobs that a declared job waits for since it reads their results, without a block that says so.
func Reads(j *config.Job) (jobs []config.Addr) {
	for i := range j.Predecessors {
		if p := &j.Predecessors[i]; p.Implied {
			jobs = append(jobs, p.Jobs...)
		}
	}
	slices.SortFunc(jobs, compareAddr)
	return jobs
}

// resultNotes says whom a row waits for without a block that says so.
func (r *Row) resultNotes() []string {
	const shown = 3
	if r.Job == nil || r.Action == NoOp || r.Action == Rerecord {
		return nil
	}
	jobs := Reads(r.Job)
	if len(jobs) == 0 {
		return nil
	}
	var names []string
	for _, addr := range jobs[:min(shown, len(jobs))] {
		names = append(names, addr.String())
	}
	what := "result"
	if len(jobs) > 1 {
		what = "results"
	}
	if n := len(jobs) - shown; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	text := names[len(names)-1]
	if len(names) > 1 {
		text = strings.Join(names[:len(names)-1], ", ") + " and " + text
	}
	return []string{fmt.Sprintf("starts after %s, whose %s it reads", text, what)}
}
