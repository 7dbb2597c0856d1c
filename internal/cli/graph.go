package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func (a *app) graphCommand() *cobra.Command {
	p := &planning{a: a, refresh: true}
	format, withPlan := string(planner.FormatDOT), false
	cmd := &cobra.Command{
		Use: "graph [DIR | FILES | PLAN]", Short: "Draw the graph of a workflow's jobs",
		Long: `Draws the jobs of a workflow and what they wait for:

  dot      in the DOT language of Graphviz. Arrows lead from a job to those that
           start after it, to its children with a dot at their end. The default.
  mermaid  as a flowchart of Mermaid, which many pages and editors show.
  text     as a tree for the terminal.

With -plan, each job shows what apply would do with it; so it does in the drawing of
a plan that "waybill plan -out" has saved.`,
		Example: `waybill graph examples/sales | dot -Tsvg > graph.svg
waybill graph -format=text examples/sales
waybill graph -format=mermaid -plan`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer p.close(&err)
			if !slices.Contains(planner.Formats(), planner.Format(format)) {
				return fail("Invalid option", "-format is one of dot, mermaid and text, and got %q.", format)
			}
			file, paths, err := planFiles(args)
			if err != nil {
				return err
			}
			w, plan, err := p.drawn(cmd.Context(), file, paths, withPlan)
			if err != nil {
				return err
			}
			g, diags := planner.NewGraph(w)
			if err := errorIf(diags, w.Sources); err != nil {
				return err
			}
			return g.Draw(a.p.Stdout, planner.Format(format), plan)
		},
	}
	p.redis.flags(cmd)
	p.variables.flags(cmd)
	cmd.Flags().StringVar(&format, "format", format, "Draw in `FORMAT`: "+formatNames()+".")
	cmd.Flags().BoolVar(&withPlan, "plan", false, "Show what apply would do with each job.")
	return cmd
}

func formatNames() string {
	names := make([]string, len(planner.Formats()))
	for i, f := range planner.Formats() {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// drawn is what graph draws: a workflow and a plan of it, which is nil when none is asked for.
func (p *planning) drawn(ctx context.Context, file string, paths []string, withPlan bool) (*config.Workflow, *planner.Plan, error) {
	if file != "" {
		k, err := p.a.keyring(false)
		if err != nil {
			return nil, nil, err
		}
		plan, err := readPlan(file, k)
		if err != nil {
			return nil, nil, err
		}
		w := &config.Workflow{Name: plan.Workflow}
		for _, r := range plan.Rows {
			if r.Job != nil {
				w.Jobs = append(w.Jobs, r.Job)
			}
		}
		return w, plan, nil
	}
	d := declared
	if withPlan {
		d = everything
	}
	w, err := p.a.load(paths, &p.variables, d, nil)
	if err != nil || !withPlan {
		return w, nil, err
	}
	p.workflow = w
	if p.options, err = p.planOptions(false); err != nil {
		return nil, nil, err
	}
	if p.store, err = p.a.open(ctx, p.redis, w, reading); err != nil {
		return nil, nil, err
	}
	state, err := applier.ReadStateFor(ctx, p.store.client, w)
	if err != nil {
		return nil, nil, err
	}
	plan, diags := planner.Make(w, state, p.options)
	return w, plan, errorIf(diags, w.Sources)
}
