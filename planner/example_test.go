package planner_test

import (
	"fmt"
	"os"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// A plan of a workflow that was never applied creates all of its jobs, upstream first.
func ExampleMake() {
	w := &config.Workflow{Name: "demo", Jobs: []*config.Job{
		{Addr: config.Addr{Name: "load"}, Type: "noop", Queue: "demo", Priority: 1,
			Predecessors: []config.Predecessor{{Jobs: []config.Addr{{Name: "extract"}}}}},
		{Addr: config.Addr{Name: "extract"}, Type: "noop", Queue: "demo", Priority: 1},
	}}
	p, diags := planner.Make(w, &planner.State{Workflow: "demo"}, planner.Options{})
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	for _, r := range p.Rows {
		fmt.Printf("%s %s, because %s\n", r.Action.Symbol(), r.Addr, r.Because())
	}
	add, change, destroy := p.Summary()
	fmt.Println(add, change, destroy)
	// Output:
	// + job.extract, because it is new
	// + job.load, because it is new
	// 2 0 0
}

func ExampleGraph_WriteDOT() {
	w := &config.Workflow{Name: "demo", Jobs: []*config.Job{
		{Addr: config.Addr{Name: "clean"}, Parents: []config.Parent{{Job: config.Addr{Name: "extract"}}}},
		{Addr: config.Addr{Name: "extract"}},
	}}
	g, diags := planner.NewGraph(w)
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	if err := g.WriteDOT(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph waybill {
	//   rankdir = LR
	//   node [shape = box, fontname = monospace]
	//   "job.extract"
	//   "job.clean"
	//   "job.extract" -> "job.clean" [arrowhead = dot]
	// }
}
