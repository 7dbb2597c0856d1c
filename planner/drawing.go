package planner

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// Format is a form in which a graph is drawn.
type Format string

// The formats.
const (
	FormatDOT     Format = "dot"     // the language of Graphviz
	FormatMermaid Format = "mermaid" // a flowchart, which many pages and editors draw
	FormatText    Format = "text"    // a tree for terminals
)

// Formats lists them.
func Formats() []Format { return []Format{FormatDOT, FormatMermaid, FormatText} }

// Draw writes the graph. With a plan, jobs show what it does with them, and what it removes stands there too.
func (g *Graph) Draw(w io.Writer, f Format, p *Plan) error {
	d := drawing{g: g, rows: map[config.Addr]*Row{}}
	if p != nil {
		for _, r := range p.Rows {
			d.rows[r.Addr] = r
			if _, declared := g.index[r.Addr]; !declared && r.Action != NoOp {
				d.removed = append(d.removed, r)
			}
		}
	}
	switch f {
	case FormatDOT:
		return d.dot(w)
	case FormatMermaid:
		return d.mermaid(w)
	case FormatText:
		return d.text(w)
	default:
		return fmt.Errorf("draw the graph: %q is none of dot, mermaid and text", f)
	}
}

// drawing is a graph with what a plan does with its jobs.
type drawing struct {
	g       *Graph
	rows    map[config.Addr]*Row // by address; empty without a plan
	removed []*Row
}

// action is what the plan does with a job, NoOp without one.
func (d *drawing) action(a config.Addr) Action {
	if r := d.rows[a]; r != nil {
		return r.Action
	}
	return NoOp
}

// byModule lists the jobs of each module in start order, the root first and the others in the order of their first jobs.
func (d *drawing) byModule() (modules []string, jobs map[string][]int32) {
	modules, jobs = []string{""}, map[string][]int32{}
	for _, job := range d.g.order {
		m := d.g.jobs[job].Addr.Module
		if m != "" && jobs[m] == nil {
			modules = append(modules, m)
		}
		jobs[m] = append(jobs[m], job)
	}
	return modules, jobs
}

// triggers calls f for each label of a gate that a job triggers.
func (d *drawing) triggers(f func(job, gate int32, label string)) {
	gates := map[string][]int32{}
	for _, job := range d.g.order {
		if gate := d.g.jobs[job].Gate; gate != nil {
			for _, label := range gate.Waiting {
				gates[label] = append(gates[label], job)
			}
		}
	}
	for _, job := range d.g.order {
		for _, label := range d.g.jobs[job].TriggersGate {
			for _, gate := range gates[label] {
				f(job, gate, label)
			}
		}
	}
}

// actionColours are the colours that dot and mermaid mark actions with.
var actionColours = map[Action]string{Create: "#2e8b57", Update: "#d98e04", Rerecord: "#d98e04", Reopen: "#d98e04", Replace: "#8a4fd0",
	Delete: "#c0392b", Forget: "#7f8c8d"}

// mermaid writes a flowchart.
func (d *drawing) mermaid(w io.Writer) error {
	var b strings.Builder
	g := d.g
	b.WriteString("flowchart LR\n")
	modules, jobs := d.byModule()
	for i, m := range modules {
		indent := "  "
		if m != "" {
			fmt.Fprintf(&b, "  subgraph m%d [\"%s\"]\n", i, mermaidText(m))
			indent = "    "
		}
		for _, job := range jobs[m] {
			fmt.Fprintf(&b, "%sj%d%s\n", indent, job, d.mermaidNode(job))
		}
		if m != "" {
			b.WriteString("  end\n")
		}
	}
	for i, r := range d.removed {
		fmt.Fprintf(&b, "  r%d[\"%s\"]\n", i, mermaidText(r.Action.Symbol()+" "+r.Addr.String()))
	}
	outside := g.outsideOnce()
	for i, uuid := range outside {
		fmt.Fprintf(&b, "  o%d[\"%s\"]:::outside\n", i, mermaidText(uuid))
	}
	for _, job := range g.order {
		for _, l := range g.up.of(job) {
			from := fmt.Sprintf("j%d", l.to)
			if !l.inside() {
				from = fmt.Sprintf("o%d", slices.Index(outside, g.outside[^l.to]))
			}
			how := l.kind.mermaid()
			if g.implied(job, l) {
				how = "-->|result|"
			}
			fmt.Fprintf(&b, "  %s %s j%d\n", from, how, job)
		}
	}
	d.triggers(func(job, gate int32, label string) {
		fmt.Fprintf(&b, "  j%d -. \"%s\" .-> j%d\n", job, mermaidText(label), gate)
	})
	if len(outside) > 0 {
		b.WriteString("  classDef outside stroke-dasharray: 4\n")
	}
	d.mermaidActions(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *drawing) mermaidNode(job int32) string {
	j := d.g.jobs[job]
	text := mermaidText(d.marked(d.g.names[job], d.action(j.Addr)))
	switch {
	case d.g.rootOf[job] == noRoot:
		return `["` + text + `"]`
	case j.Schedule != nil:
		return `(["` + text + "<br>" + mermaidText(j.Schedule.Text) + `"])`
	default:
		return `(["` + text + `"])`
	}
}

// marked puts the symbol of an action before a name.
func (d *drawing) marked(name string, a Action) string {
	if symbol := a.Symbol(); symbol != "" {
		return symbol + " " + name
	}
	return name
}

func (d *drawing) mermaidActions(b *strings.Builder) {
	for a := Create; a <= Forget; a++ {
		var nodes []string
		for _, job := range d.g.order {
			if d.action(d.g.jobs[job].Addr) == a {
				nodes = append(nodes, fmt.Sprintf("j%d", job))
			}
		}
		for i, r := range d.removed {
			if r.Action == a {
				nodes = append(nodes, fmt.Sprintf("r%d", i))
			}
		}
		if nodes != nil {
			fmt.Fprintf(b, "  classDef a%d stroke: %s, stroke-width: 3px\n  class %s a%[1]d\n", a, actionColours[a], strings.Join(nodes, ","))
		}
	}
}

func (k EdgeKind) mermaid() string {
	switch k {
	case EdgeParent:
		return "--o"
	case EdgeParentLenient:
		return "-.-o"
	case EdgeFailure, EdgeAlways:
		return "-->|" + k.runIf().String() + "|"
	default:
		return "-->"
	}
}

// mermaidText writes text inside quotes: quotes and what HTML minds go as codes.
func mermaidText(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;").Replace(plainText(s, len(s)+1))
}
