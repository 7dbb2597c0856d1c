package graph

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/config"
)

// Pace is the time from one workflow of an applier to its next, at least.
const Pace = 400 * time.Millisecond

// JobType is the type of all jobs of a soak.
const JobType = "soak"

// Queues are those that jobs are spread over.
var Queues = []string{"left", "right"}

// Ends says how the attempts of a job end.
type Ends string

// The ways to end. They go by the number of starts, so that a lost attempt changes no outcome.
const (
	Well      Ends = "well"      // each attempt succeeds
	Flaky     Ends = "flaky"     // those up to Script.Fails fail, which fewer are than there may be
	Doomed    Ends = "doomed"    // each fails, until none is left
	Permanent Ends = "permanent" // the first failure is the last
)

// Script is the payload of a job.
type Script struct {
	Graph    string `json:"graph"`
	Job      string `json:"job"`
	WorkMS   int    `json:"work_ms"` // how long an attempt takes
	Ends     Ends   `json:"ends"`
	Fails    int    `json:"fails,omitempty"`
	Children int    `json:"children,omitempty"` // that a successful attempt adds from inside
	Child    bool   `json:"child,omitempty"`    // it was added so
}

// Job is one job of a Graph.
type Job struct {
	Name        string
	Script      Script
	Queue       string
	Priority    int
	MaxAttempts int
	Parents     []Parent
	Blocks      []Block
	RunAt       time.Duration // after the start of the soak; 0: none
	After       time.Duration // after the last edge was satisfied
	Triggers    []string      // labels of gates that its success flips
	Gate        []string      // labels that it waits for: it is a template
	EveryMinute bool          // it is a template
}

// Parent is an edge to a parent.
type Parent struct {
	Job           string
	IgnoreFailure bool
}

// Block is a predecessor block: its jobs are judged together.
type Block struct {
	Jobs  []string
	RunIf config.RunIf
}

// Graph is one workflow.
type Graph struct {
	Name string
	Jobs []*Job // each waits for earlier ones only
	// Recurs marks a workflow whose jobs recur by a schedule: none of them ever settles.
	Recurs bool
}

// Draw makes workflow n of an applier.
func Draw(seed uint64, applier, n int) *Graph {
	g := &Graph{Name: fmt.Sprintf("a%d-g%d", applier, n)}
	r := rand.New(rand.NewPCG(seed, uint64(applier)<<32|uint64(n)))
	for i := range 3 + r.IntN(10) {
		g.Jobs = append(g.Jobs, g.job(r, n, i))
	}
	if r.IntN(3) == 0 {
		g.gate(r)
	}
	return g
}

// Clock is the workflow whose jobs recur: one each minute, with a child and an heir.
func Clock(applier int) *Graph {
	g := &Graph{Name: fmt.Sprintf("a%d-clock", applier), Recurs: true}
	for _, name := range []string{"tick", "child", "heir"} {
		j := &Job{Name: name, Queue: Queues[0], Priority: 1, MaxAttempts: 3}
		j.Script = Script{Graph: g.Name, Job: name, WorkMS: 50, Ends: Well}
		g.Jobs = append(g.Jobs, j)
	}
	g.Jobs[0].EveryMinute = true
	g.Jobs[1].Parents = []Parent{{Job: "tick"}}
	g.Jobs[2].Blocks = []Block{{Jobs: []string{"tick"}}}
	return g
}

func (g *Graph) job(r *rand.Rand, n, i int) *Job {
	j := &Job{Name: fmt.Sprintf("j%d", i), Queue: Queues[r.IntN(len(Queues))], Priority: 1, MaxAttempts: 3}
	if r.IntN(4) == 0 {
		j.Priority = r.IntN(3)
	}
	j.Script = Script{Graph: g.Name, Job: j.Name, WorkMS: 10 + r.IntN(300), Ends: Well}
	if r.IntN(6) == 0 {
		j.Script.WorkMS = 1000 + r.IntN(4000)
	}
	switch r.IntN(12) {
	case 0, 1:
		j.Script.Ends, j.Script.Fails = Flaky, 1+r.IntN(2)
	case 2:
		j.Script.Ends = Doomed
	case 3:
		j.Script.Ends = Permanent
	case 4, 5:
		j.Script.Children = 1 + r.IntN(2)
	}
	switch r.IntN(10) {
	case 0:
		j.RunAt = time.Duration(n)*Pace + time.Duration(r.IntN(15_000))*time.Millisecond
	case 1:
		j.After = time.Duration(100+r.IntN(2000)) * time.Millisecond
	}
	g.edges(r, j, i)
	return j
}

// edges has job i wait for up to three earlier ones, each by one edge.
func (g *Graph) edges(r *rand.Rand, j *Job, i int) {
	if i == 0 {
		return
	}
	above := r.Perm(i)[:min(i, r.IntN(4))]
	for len(above) > 0 {
		up := g.Jobs[above[0]].Name
		if r.IntN(2) == 0 {
			j.Parents = append(j.Parents, Parent{Job: up, IgnoreFailure: r.IntN(4) == 0})
			above = above[1:]
			continue
		}
		b := Block{Jobs: []string{up}}
		if len(above) > 1 && r.IntN(2) == 0 {
			b.Jobs = append(b.Jobs, g.Jobs[above[1]].Name)
		}
		if r.IntN(3) == 0 {
			b.RunIf = config.RunIf(r.IntN(3))
		}
		above = above[len(b.Jobs):]
		j.Blocks = append(j.Blocks, b)
	}
	if g.circles(j) { // what the language refuses
		if j.Blocks = nil; g.circles(j) {
			j.Parents = nil
		}
	}
}

// circles tells whether a new job's edges close a circle: it starts once its parents have worked, which is once they have started, and its
// predecessors are over; and a job is over once its children are.
func (g *Graph) circles(j *Job) bool {
	jobs := append(slices.Clone(g.Jobs), j)
	type moment struct {
		job  string
		over bool // or it starts
	}
	const seen, passed = 1, 2
	marks := map[moment]int{}
	var visit func(moment) bool
	visit = func(m moment) bool {
		if marks[m] != 0 {
			return marks[m] == seen
		}
		marks[m] = seen
		var before []moment
		for _, k := range jobs {
			switch {
			case m.over && k.Name == m.job:
				before = append(before, moment{m.job, false})
			case m.over && slices.ContainsFunc(k.Parents, func(p Parent) bool { return p.Job == m.job }):
				before = append(before, moment{k.Name, true})
			case !m.over && k.Name == m.job:
				for _, p := range k.Parents {
					before = append(before, moment{p.Job, false})
				}
				for _, b := range k.Blocks {
					for _, up := range b.Jobs {
						before = append(before, moment{up, true})
					}
				}
			}
		}
		circle := slices.ContainsFunc(before, visit)
		marks[m] = passed
		return circle
	}
	return slices.ContainsFunc(jobs, func(k *Job) bool { return visit(moment{k.Name, true}) })
}

// gate adds a gate with one trigger for each of its labels, so that it fires once if both succeed and else never.
func (g *Graph) gate(r *rand.Rand) {
	picks := r.Perm(len(g.Jobs))
	gate := &Job{Name: "gate", Queue: Queues[0], Priority: 1, MaxAttempts: 3}
	gate.Script = Script{Graph: g.Name, Job: gate.Name, WorkMS: 5, Ends: Well}
	for i, label := range []string{g.Name + "-l0", g.Name + "-l1"} {
		gate.Gate = append(gate.Gate, label)
		trigger := g.Jobs[picks[i]]
		trigger.Triggers = append(trigger.Triggers, label)
	}
	g.Jobs = append(g.Jobs, gate)
}

// Job finds a job by its name; nil for none.
func (g *Graph) Job(name string) *Job {
	for _, j := range g.Jobs {
		if j.Name == name {
			return j
		}
	}
	return nil
}

// Template tells whether a job is never run itself: its occurrences are.
func (g *Graph) Template(j *Job) bool { return g.Recurs || len(j.Gate) > 0 }

// Payload is the script as a job carries it.
func (s Script) Payload() ([]byte, error) { return json.Marshal(s) }
