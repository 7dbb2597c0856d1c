package enginemodel

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Graph is a small graph of jobs: g[i][k] is how job i waits for job k.
type Graph [][]Link

// Link is an edge between two jobs, with its policy.
type Link uint8

// The links.
const (
	NoLink Link = iota
	ChildOf
	LenientChildOf // its failure does not fail the parent
	AfterSuccess
	AfterFailure
	AfterAll
	links
)

func (l Link) parent() bool { return l == ChildOf || l == LenientChildOf }

// Fate is what happens to a job.
type Fate uint8

// The fates.
const (
	Succeeds         Fate = iota
	Fails                 // for good
	CancelledWaiting      // before anything runs
	CancelledRunning      // once it runs, if it ever does
	fates
)

// Numbers is how many acyclic graphs there are of a size, in which jobs wait for earlier ones only.
func Numbers(size int) int {
	n := 1
	for range size * (size - 1) / 2 {
		n *= int(links)
	}
	return n
}

// Numbered is the n-th of them.
func Numbered(size, n int) Graph {
	g := make(Graph, size)
	for i := range g {
		g[i] = make([]Link, size)
		for k := range i {
			g[i][k] = Link(n % int(links))
			n /= int(links)
		}
	}
	return g
}

// AnyNumbers is how many graphs there are of a size, with circles and without.
func AnyNumbers(size int) int { return Numbers(size) * Numbers(size) }

// AnyNumbered is the n-th of them.
func AnyNumbered(size, n int) Graph {
	g, back := Numbered(size, n%Numbers(size)), Numbered(size, n/Numbers(size))
	for i := range g {
		for k := range i {
			g[k][i] = back[i][k]
		}
	}
	return g
}

// FateNumbers is how many ways there are for the jobs of a graph to end.
func FateNumbers(size int) int {
	n := 1
	for range size {
		n *= int(fates)
	}
	return n
}

// FateNumbered is the n-th of them.
func FateNumbered(size, n int) []Fate {
	out := make([]Fate, size)
	for i := range out {
		out[i] = Fate(n % int(fates))
		n /= int(fates)
	}
	return out
}

// Describe writes a graph and its fates in one line, for messages.
func (g Graph) Describe(f []Fate) string {
	var b strings.Builder
	for i := range g {
		fmt.Fprintf(&b, " j%d", i)
		if f != nil {
			fmt.Fprintf(&b, ":%s", [...]string{"ok", "fails", "cancelled", "cancelled running"}[f[i]])
		}
		for k, l := range g[i] {
			if l != NoLink {
				fmt.Fprintf(&b, " %s(j%d)", [...]string{"", "child", "lenient", "success", "failure", "always"}[l], k)
			}
		}
	}
	return b.String()
}

// Job is job i as it is added. Every edge is a block of its own.
func (g Graph) Job(prefix string, i int) *wire.Job {
	j := &wire.Job{Uuid: fmt.Sprintf("%sj%d", prefix, i), Type: "noop", Queue: "q"}
	for k, l := range g[i] {
		d := &wire.Edge{Uuid: fmt.Sprintf("%sj%d", prefix, k), Group: int32(k)}
		switch l {
		case NoLink:
			continue
		case ChildOf:
		case LenientChildOf:
			d.IgnoreFailure = true
		default:
			d.Kind, d.RunIf = wire.Edge_PREDECESSOR, wire.Edge_RunIf(l-AfterSuccess)
		}
		j.Edges = append(j.Edges, d)
	}
	return j
}

// Outcome is what becomes of a job, told apart as far as others can tell.
type Outcome string

// The outcomes.
const (
	Open          Outcome = ""
	Completed     Outcome = "completed"
	Failed        Outcome = "failed"
	FailedByChild Outcome = "failed(child)"
	Cancelled     Outcome = "cancelled"
	SkippedFail   Outcome = "skipped"
	SkippedOK     Outcome = "skipped by success"
)

func (o Outcome) success() bool { return o == Completed || o == SkippedOK }

// OutcomeOf is a status in these words.
func OutcomeOf(s conveyor.Status) Outcome {
	switch {
	case !s.State.Ended():
		return Open
	case s.ChildFailed:
		return FailedByChild
	case s.Success:
		return SkippedOK
	}
	return Outcome(s.State.String())
}

// Run plays a graph, submitted in the given order, until nothing moves. It fails when a job starts twice or before what it
// waits for.
func (g Graph) Run(f []Fate, order []int) ([]Outcome, error) {
	e, jobs, uuids := New(1), make([]*wire.Job, 0, len(g)), make([]string, len(g))
	number := map[string]int{}
	for _, i := range order {
		j := g.Job("", i)
		jobs, uuids[i], number[j.Uuid] = append(jobs, j), j.Uuid, i
	}
	if err := e.Add(jobs, Added{}); err != nil {
		return nil, err
	}
	if b := g.cancels(uuids, f); len(b.Changes) > 0 {
		if err := e.Apply(b); err != nil {
			return nil, err
		}
	}
	r := conveyor.ExchangeRequest{Caller: "c", Lease: 1, Queues: []string{"q"}, Want: len(g)}
	for {
		r.Number++
		reply, err := e.Exchange(r)
		if err != nil {
			return nil, err
		}
		r.Done = nil
		for _, res := range reply.Reserved {
			i := number[res.Job.Uuid]
			if err := g.early(e, i, uuids); err != nil {
				return nil, err
			}
			if f[i] == CancelledRunning {
				if err := e.Cancel(res.Job.Uuid); err != nil {
					return nil, err
				}
			}
			r.Done = append(r.Done, End(res, f[i]))
		}
		if len(r.Done) == 0 {
			break
		}
	}
	out := make([]Outcome, len(g))
	for i, s := range e.Statuses(uuids) {
		if s.Fence > 1 {
			return nil, fmt.Errorf("j%d started %d times", i, s.Fence)
		}
		out[i] = OutcomeOf(s)
	}
	return out, nil
}

// cancels cancels at once what is cancelled while it waits.
func (g Graph) cancels(uuids []string, f []Fate) (b conveyor.Batch) {
	for i := range g {
		if f[i] == CancelledWaiting {
			b.Changes = append(b.Changes, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuids[i]})
		}
	}
	return b
}

// End is how an attempt ends by a job's fate.
func End(r conveyor.Reservation, f Fate) conveyor.Ack {
	a := conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence}
	if f != Succeeds {
		a.Verdict = conveyor.VerdictFailed
	}
	return a
}

// early tells whether job i started before what it waits for.
func (g Graph) early(e *Engine, i int, uuids []string) error {
	for k, s := range e.Statuses(uuids) {
		l := g[i][k]
		done := s.State.Ended() || l.parent() && s.State == conveyor.StateClosing
		if l != NoLink && !done {
			return fmt.Errorf("j%d starts while j%d is %s", i, k, s.State)
		}
	}
	return nil
}
