package planner

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Bounds of a drawing for terminals.
const (
	shownSiblings = 8  // jobs of one block that stand below the same job, before they are counted
	deepest       = 30 // columns of branches; what is deeper stands as far
)

// text writes a tree: each job stands below the one that it starts after last, and says what else it waits for.
func (d *drawing) text(w io.Writer) error {
	b := bufio.NewWriter(w)
	t := tree{drawing: d, b: b, depth: make([]int32, len(d.g.jobs)), below: make([][]int32, len(d.g.jobs))}
	t.plant()
	t.draw()
	for _, r := range d.removed {
		fmt.Fprintf(b, "%s  (%s)\n", plainText(d.marked(r.Addr.String(), r.Action), maxNameShown), "not declared any more")
	}
	if t.children {
		fmt.Fprint(b, "\n─ starts when the job above is complete; ○ is its child and starts after its own work.\n")
	}
	return b.Flush()
}

// maxNameShown bounds an address in a drawing, in characters.
const maxNameShown = 200

// tree is a graph with one upstream chosen for each job.
type tree struct {
	*drawing
	b        *bufio.Writer
	depth    []int32   // by job: how many others start before it, one after the other
	below    [][]int32 // by job: what stands below it, in start order
	roots    []int32
	children bool // some edge is a child's
}

// plant chooses where each job stands: below the deepest of what it waits for, the first of those.
func (t *tree) plant() {
	g := t.g
	for _, job := range g.order {
		at := int32(noRoot)
		for _, l := range g.up.of(job) {
			if l.inside() && (at < 0 || t.depth[l.to] > t.depth[at]) {
				at = l.to
			}
		}
		if at < 0 {
			t.roots = append(t.roots, job)
			continue
		}
		t.depth[job] = t.depth[at] + 1
		t.below[at] = append(t.below[at], job)
	}
}

// twig is a job that is still to be drawn, or a count of those that are not.
type twig struct {
	job    int32
	prefix string // of its line
	branch string // ├─ and the like
	rest   string // of the lines below it
	more   string // in place of a job
}

func (t *tree) draw() {
	var todo []twig
	push := func(jobs []int32, up int32, prefix string) {
		shown := t.shorten(jobs)
		for i := len(shown) - 1; i >= 0; i-- {
			s := shown[i]
			s.prefix, s.rest = prefix, prefix
			if up >= 0 {
				kind := "─ "
				if s.more == "" && t.childOf(s.job, up) {
					kind, t.children = "○ ", true
				}
				if i == len(shown)-1 {
					s.branch, s.rest = "└"+kind, prefix+"   "
				} else {
					s.branch, s.rest = "├"+kind, prefix+"│  "
				}
				if len([]rune(prefix)) >= 3*deepest {
					s.rest = prefix
				}
			}
			todo = append(todo, s)
		}
	}
	push(t.roots, noRoot, "")
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		fmt.Fprint(t.b, s.prefix, s.branch)
		if s.more != "" {
			fmt.Fprintln(t.b, s.more)
			continue
		}
		fmt.Fprintln(t.b, t.line(s.job))
		push(t.below[s.job], s.job, s.rest)
	}
}

// shorten counts the jobs of a block beyond the first shownSiblings, with all that stands below them.
func (t *tree) shorten(jobs []int32) (all []twig) {
	for len(jobs) > 0 {
		block := t.g.jobs[jobs[0]].Addr.Block()
		n := 1
		for n < len(jobs) && t.g.jobs[jobs[n]].Addr.Block() == block {
			n++
		}
		shown := n
		if n > shownSiblings+1 {
			shown = shownSiblings
		}
		for _, job := range jobs[:shown] {
			all = append(all, twig{job: job})
		}
		if shown < n {
			all = append(all, twig{more: fmt.Sprintf("... %d more of %s, and what starts after them", n-shown, plainText(block.String(), maxNameShown))})
		}
		jobs = jobs[n:]
	}
	return all
}

func (t *tree) childOf(job, up int32) bool {
	for _, l := range t.g.up.of(job) {
		if l.inside() && l.to == up {
			return l.kind.Parent()
		}
	}
	return false
}

// line is a job with what else there is to say of it.
func (t *tree) line(job int32) string {
	g, j := t.g, t.g.jobs[job]
	var notes, also []string
	if s := j.Schedule; s != nil {
		notes = append(notes, s.Text)
	}
	if j.Gate != nil {
		notes = append(notes, "gate: "+strings.Join(j.Gate.Waiting, ", "))
	}
	above := int32(noRoot)
	for _, l := range g.up.of(job) {
		if l.inside() && t.depth[l.to] == t.depth[job]-1 && above < 0 {
			above = l.to
			if l.kind == EdgeFailure || l.kind == EdgeAlways {
				notes = append(notes, "run if "+l.kind.runIf().String())
			} else if g.implied(job, l) {
				notes = append(notes, "reads its result")
			}
			continue
		}
		name := g.end(l)
		if l.kind == EdgeFailure || l.kind == EdgeAlways {
			name += " (" + l.kind.runIf().String() + ")"
		} else if g.implied(job, l) {
			name += " (result)"
		}
		also = append(also, name)
	}
	if also != nil {
		notes = append(notes, "also after "+listed(also, 3))
	}
	if len(j.TriggersGate) > 0 {
		notes = append(notes, "triggers "+strings.Join(j.TriggersGate, ", "))
	}
	text := t.marked(g.names[job], t.action(j.Addr))
	if len(notes) > 0 {
		text += "  (" + strings.Join(notes, "; ") + ")"
	}
	return plainText(text, 3*maxNameShown)
}
