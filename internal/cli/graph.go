package cli

import (
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/planner"
)

func (a *app) graphCommand() *cobra.Command {
	var v variables
	cmd := &cobra.Command{
		Use: "graph [DIR | FILES]", Short: "Write the graph of a workflow's jobs as DOT",
		Long: `Writes the jobs of a workflow and what they wait for in the DOT language of
Graphviz. Arrows lead from a job to those that start after it; dashed ones to its
children.`,
		Example: `waybill graph examples/sales | dot -Tsvg > graph.svg`,
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := a.load(args, v, declared, nil)
			if err != nil {
				return err
			}
			g, diags := planner.NewGraph(w)
			if err := errorIf(diags, w.Sources); err != nil {
				return err
			}
			return g.WriteDOT(a.p.Stdout)
		},
	}
	v.flags(cmd)
	return cmd
}
