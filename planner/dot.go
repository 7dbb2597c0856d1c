package planner

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph in Graphviz's language: an arrow leads from each job to what starts after it. A child hangs on a
// dot, an heir on an arrow head, with its condition unless that is success; an optional edge is dashed. Templates are rounded, with
// what begins their cycles below the name of the root; a dotted arrow leads from what triggers a gate, with the label. The jobs of a
// module stand in a box of their own.
func (g *Graph) WriteDOT(w io.Writer) error { return g.Draw(w, FormatDOT, nil) }

func (d *drawing) dot(w io.Writer) error {
	b, g := bufio.NewWriter(w), d.g
	fmt.Fprint(b, "digraph waybill {\n  rankdir = LR\n  node [shape = box, fontname = monospace]\n")
	modules, jobs := d.byModule()
	for i, m := range modules {
		indent := "  "
		if m != "" {
			fmt.Fprintf(b, "  subgraph cluster_%d {\n    label = %s\n", i, dotQuoted(m))
			indent = "    "
		}
		for _, job := range jobs[m] {
			fmt.Fprintf(b, "%s%s%s\n", indent, dotQuoted(g.names[job]), d.dotNode(job))
		}
		if m != "" {
			fmt.Fprint(b, "  }\n")
		}
	}
	for _, r := range d.removed {
		fmt.Fprintf(b, "  %s [%s]\n", dotQuoted(r.Addr.String()), strings.Join(d.dotAction(r.Addr.String(), "", r.Action), ", "))
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
	d.triggers(func(job, gate int32, label string) {
		fmt.Fprintf(b, "  %s -> %s [style = dotted, label = %s]\n", dotQuoted(g.names[job]), dotQuoted(g.names[gate]), dotQuoted(label))
	})
	fmt.Fprint(b, "}\n")
	return b.Flush()
}

// dotNode is how the node of a job looks: a template is rounded, and a job that a plan changes has the action's symbol and colour.
func (d *drawing) dotNode(job int32) string {
	j, name, below := d.g.jobs[job], d.g.names[job], ""
	var attributes []string
	if d.g.rootOf[job] != noRoot {
		attributes = append(attributes, "style = rounded")
		if j.Schedule != nil {
			below = j.Schedule.Text
		}
	}
	if a := d.action(j.Addr); a != NoOp || below != "" {
		attributes = append(attributes, d.dotAction(name, below, a)...)
	}
	if attributes == nil {
		return ""
	}
	return " [" + strings.Join(attributes, ", ") + "]"
}

// dotAction is the label of a node, with a second line or without, and the colour of what a plan does with it.
func (d *drawing) dotAction(name, below string, a Action) []string {
	text := dotQuoted(d.marked(name, a))
	if below != "" {
		text = text[:len(text)-1] + `\n` + dotQuoted(below)[1:]
	}
	attributes := []string{"label = " + text}
	if a != NoOp {
		attributes = append(attributes, fmt.Sprintf("color = %q, penwidth = 2", actionColours[a]))
	}
	return attributes
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
