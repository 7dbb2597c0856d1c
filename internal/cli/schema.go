package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/tui"
)

func (a *app) schemaCommand() *cobra.Command {
	asJSON, lines := false, false
	cmd := &cobra.Command{
		Use: "schema (-json | -lines [ui | logs | explain | job | plan | state | history | bridge])", Short: "Describe the language, or what -json writes, for programs",
		Long: `With -json, prints a JSON object that describes the language: every block,
argument and function, with its type, default and meaning, named as Terraform's
descriptions of providers and functions name them. Editors complete and explain
with it. "waybill docs" has the same for people.

With -lines, prints a JSON Schema (draft 2020-12), with what each member means:

  ui       a line that plan, apply, destroy, wait and watch write with -json. This is
           the default.
  logs     a line that logs writes with -json.
  explain  a line that explain writes with -json.
  job      the object that each of the job commands writes with -json.
  plan     the object that show -json writes of a saved plan.
  state    the object that state pull writes.
  history  the object that history writes with -json.
  bridge   a line that bridge conveyor writes with -json.`,
		Example: `waybill schema -json | jq '.block.block_types.job.block.attributes.timeout'
waybill schema -lines
waybill schema -lines logs`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case asJSON == lines:
				return fail("Wrong arguments", "schema needs one of -json, for the language, and -lines, for what other commands write with -json.")
			case asJSON && len(args) > 0:
				return fail("Wrong arguments", "schema -json describes the whole language, and got %q.", args)
			case asJSON:
				return a.describeLanguage()
			}
			name := "ui"
			if len(args) > 0 {
				name = args[0]
			}
			text := map[string]string{"ui": tui.Schema, "logs": tui.LogSchema, "explain": tui.ExplainSchema, "job": tui.JobSchema, "plan": tui.PlanSchema(),
				"state": tui.StateSchema, "history": tui.HistorySchema, "bridge": tui.BridgeSchema}[name]
			if text == "" || len(args) > 1 {
				return fail("Wrong arguments", "schema -lines prints one schema: ui, logs, explain, job, plan, state, history or bridge.")
			}
			_, err := fmt.Fprint(a.p.Stdout, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Describe the language.")
	cmd.Flags().BoolVar(&lines, "lines", false, "Describe what other commands write with -json.")
	return cmd
}

func (a *app) describeLanguage() error {
	e := json.NewEncoder(a.p.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Format  string `json:"format_version"`
		Version string `json:"waybill_version"`
		*config.Description
	}{"1.0", Version, config.Describe()})
}
