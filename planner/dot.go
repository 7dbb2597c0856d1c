package planner

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph in Graphviz's language: an arrow leads from each job to what starts after it. A child hangs on a
// dot, an heir on an arrow head, with its condition unless that is success; an optional edge is dashed. Templates are rounded, with
// what begins their cycles below the name of the root; a dotted arrow leads from what triggers a gate, with the label.
func (g *Graph) WriteDOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "digraph waybill {\n  rankdir = LR\n  node [shape = box, fontname = monospace]\n")
	for _, job := range g.order {
		fmt.Fprintf(b, "  %s%s\n", dotQuoted(g.names[job]), g.dotTemplate(job))
	}
	for _, uuid := range g.outsideOnce() {
		fmt.Fprintf(b, "  %s [style = dotted]\n", dotQuoted(uuid))
	}
	for _, job := range g.order {
		for _, l := range g.up.of(job) {
			from := ""
			if l.inside() {
				from = g.names[l.to]
			} else {
				from = g.outside[^l.to]
			}
			how := l.kind.dot()
			if g.implied(job, l) {
				how = " [label = result]"
			}
			fmt.Fprintf(b, "  %s -> %s%s\n", dotQuoted(from), dotQuoted(g.names[job]), how)
		}
	}
	g.writeTriggers(b)
	fmt.Fprint(b, "}\n")
	return b.Flush()
}

// dotTemplate is how the node of a template looks.
func (g *Graph) dotTemplate(job int32) string {
	switch j := g.jobs[job]; {
	case g.rootOf[job] == noRoot:
		return ""
	case j.Schedule != nil:
		name, text := dotQuoted(g.names[job]), dotQuoted(j.Schedule.Text)
		return fmt.Sprintf(" [style = rounded, label = %s\\n%s]", name[:len(name)-1], text[1:])
	default:
		return " [style = rounded]"
	}
}

// writeTriggers draws which jobs trigger which gates.
func (g *Graph) writeTriggers(w io.Writer) {
	gates := map[string][]int32{}
	for _, job := range g.order {
		if gate := g.jobs[job].Gate; gate != nil {
			for _, label := range gate.Waiting {
				gates[label] = append(gates[label], job)
			}
		}
	}
	for _, job := range g.order {
		for _, label := range g.jobs[job].TriggersGate {
			for _, gate := range gates[label] {
				fmt.Fprintf(w, "  %s -> %s [style = dotted, label = %s]\n", dotQuoted(g.names[job]), dotQuoted(g.names[gate]), dotQuoted(label))
			}
		}
	}
}

func (k EdgeKind) dot() string {
	switch k {
	case EdgeParent:
		return " [arrowhead = dot]"
	case EdgeParentLenient:
		return " [arrowhead = dot, style = dashed]"
	case EdgeFailure, EdgeAlways:
		return fmt.Sprintf(" [label = %s]", k.runIf())
	default:
		return ""
	}
}

// outsideOnce lists the jobs outside the files in the order of their first edge.
func (g *Graph) outsideOnce() (uuids []string) {
	seen := map[string]bool{}
	for _, job := range g.order {
		for _, l := range g.up.of(job) {
			if !l.inside() && !seen[g.outside[^l.to]] {
				seen[g.outside[^l.to]] = true
				uuids = append(uuids, g.outside[^l.to])
			}
		}
	}
	return uuids
}

// dotQuoted writes a string of Graphviz: only quotes and backslashes need care there.
func dotQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plainText(s, len(s)+1)) + `"`
}
