package planner

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// noRoot stands in Graph.rootOf for a job that runs once.
const noRoot = -1

// isTemplateRoot tells whether a job begins cycles of its own.
func isTemplateRoot(j *config.Job) bool { return j.Schedule != nil || j.Gate != nil }

// recur fills rootOf: a job with a schedule or a gate is a template, and so is every job downstream of one, whether a child or
// an heir. It fails, with one diagnostic for each, on jobs that would belong to the cycles of two.
func (g *Graph) recur() (diags hcl.Diagnostics) {
	g.rootOf = make([]int32, len(g.jobs))
	hidden := 0
	for _, job := range g.order {
		g.rootOf[job] = noRoot
		if isTemplateRoot(g.jobs[job]) {
			g.rootOf[job] = job
		}
		for _, l := range g.up.of(job) {
			if !l.inside() || g.rootOf[l.to] == noRoot || g.rootOf[l.to] == g.rootOf[job] {
				continue
			}
			if g.rootOf[job] == noRoot {
				g.rootOf[job] = g.rootOf[l.to]
				continue
			}
			if len(diags) < maxStuck {
				diags = append(diags, g.twoRoots(job, l))
			} else {
				hidden++
			}
			break
		}
	}
	if hidden > 0 {
		diags[len(diags)-1].Detail += fmt.Sprintf("\n\nThere are %d more such jobs; they are shown once these are mended.", hidden)
	}
	return diags
}

// twoRoots says that an edge leads a job below a second root.
func (g *Graph) twoRoots(job int32, second link) *hcl.Diagnostic {
	first, other := g.rootOf[job], g.rootOf[second.to]
	j := g.jobs[job]
	var at *hcl.Range
	if second.kind.Parent() {
		at = &j.Parents[second.block].Range
	} else {
		at = &j.Predecessors[second.block].Range
	}
	paths := g.pathsTo(job, other)
	if first == job {
		return &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Template below another template", Subject: at,
			Detail: fmt.Sprintf("%s has %s, and it is downstream of %s, which has %s:\n\n%s\n\nA job runs once in each cycle of the one schedule "+
				"or gate above it, so it cannot have cycles of its own too. Remove its %s block, or this edge.", g.names[job],
				rootWord(j), g.names[other], rootWord(g.jobs[other]), strings.Join(paths, "\n"), rootBlock(j)),
		}
	}
	paths = append(g.pathsTo(job, first), paths...)
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Job is below two templates", Subject: at,
		Detail: fmt.Sprintf("%s is downstream of %s, which has %s, and of %s, which has %s:\n\n%s\n\nA job runs once in each cycle of the one "+
			"schedule or gate above it, and the cycles of two never meet. Put the schedule on one noop job, and let both start after that one.",
			g.names[job], g.names[first], rootWord(g.jobs[first]), g.names[other], rootWord(g.jobs[other]), strings.Join(slices.Compact(paths), "\n")),
	}
}

// pathsTo tells step by step how a job waits for a root.
func (g *Graph) pathsTo(job, root int32) []string {
	var steps []step
	for at := job; at != root; {
		next := int32(noRoot)
		for _, l := range g.up.of(at) {
			if l.inside() && g.rootOf[l.to] == root {
				to := ^l.to
				if l.kind.Parent() {
					to = l.to
				}
				steps = append(steps, step{at, to})
				next = l.to
				break
			}
		}
		if next == noRoot {
			break // not reached: a root is found by these edges
		}
		at = next
	}
	return g.path(steps)
}

// rootWord is what makes a job a root, for a sentence, and rootBlock the name of its block.
func rootWord(j *config.Job) string {
	if j.Gate != nil {
		return "a gate"
	}
	return "a schedule"
}

func rootBlock(j *config.Job) string {
	if j.Gate != nil {
		return "gate"
	}
	return "run_at"
}

// root is the address of the root that makes a job a template; zero for one that runs once.
func (g *Graph) root(job int32) config.Addr {
	if root := g.rootOf[job]; root != noRoot {
		return g.jobs[root].Addr
	}
	return config.Addr{}
}

// Recurs tells whether what is declared is a template: a scheduled job, a gate, or a job downstream of one.
func (r *Row) Recurs() bool { return r.Root != (config.Addr{}) }

// gated tells whether the recorded job is a gate.
func (r *Record) gated() bool {
	if !bytes.Contains(r.Definition, []byte(`"gate":`)) {
		return false
	}
	return decodeDefinition(r.Definition)["gate"] != nil
}
