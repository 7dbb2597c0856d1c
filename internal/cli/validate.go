package cli

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui"
)

func (a *app) validateCommand() *cobra.Command {
	var v variables
	asJSON := false
	cmd := &cobra.Command{
		Use: "validate [DIR | FILES]", Short: "Check whether the configuration is valid",
		Long: `Checks the files of a workflow: their syntax, every block, argument and
reference, and that each job can start and end. Nothing but files is read: no
store, no state.

All mistakes are reported at once.`,
		Example: `waybill validate
waybill validate -var=day=2026-11-20 examples/sales`,
		RunE: func(_ *cobra.Command, args []string) error {
			workspace, err := a.workspaceOf(args)
			if err != nil {
				return err
			}
			w, diags := config.Load(config.Options{Paths: args, Workspace: workspace, Vars: v.sources, Environ: a.p.Environ, Version: Version, NeedVariables: true})
			var files map[string]*hcl.File
			if w != nil {
				files = w.Sources
			}
			if !diags.HasErrors() {
				_, more := planner.NewGraph(w)
				diags = append(diags, more...)
			}
			if asJSON {
				return a.validateJSON(diags, files)
			}
			if err := errorIf(diags, files); err != nil {
				return err
			}
			a.show(diags, files)
			ink := a.ink(a.p.Stdout)
			fmt.Fprintf(a.p.Stdout, "%s The configuration is valid%s.\n", ink.Green("Success!"), butWarned(len(diags)))
			return nil
		},
	}
	v.flags(cmd)
	a.compactFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object with all diagnostics.")
	return cmd
}

func butWarned(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", but there was a warning"
	}
	return fmt.Sprintf(", but there were %d warnings", n)
}

// validateJSON writes what Terraform's validate writes.
func (a *app) validateJSON(diags hcl.Diagnostics, files map[string]*hcl.File) error {
	failed := 0
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			failed++
		}
	}
	e := json.NewEncoder(a.p.Stdout)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Format      string `json:"format_version"`
		Valid       bool   `json:"valid"`
		Errors      int    `json:"error_count"`
		Warnings    int    `json:"warning_count"`
		Diagnostics any    `json:"diagnostics"`
	}{"1.0", failed == 0, failed, len(diags) - failed, tui.DescribeAll(diags, files)})
	if err == nil && failed > 0 {
		return exit(exitError)
	}
	return err
}
