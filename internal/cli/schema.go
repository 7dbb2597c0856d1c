package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/tui"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema [ui | logs]", Short: "Print the JSON Schema of what -json writes",
		Long: `Prints a JSON Schema (draft 2020-12), with what each member means:

  ui    a line that plan, apply, destroy, wait and watch write with -json. This is
        the default.
  logs  a line that logs writes with -json.`,
		Example: `waybill schema
waybill schema logs`,
		RunE: func(_ *cobra.Command, args []string) error {
			name := "ui"
			if len(args) > 0 {
				name = args[0]
			}
			text := map[string]string{"ui": tui.Schema, "logs": tui.LogSchema}[name]
			if text == "" || len(args) > 1 {
				return fail("Wrong arguments", "schema prints one schema: ui or logs.")
			}
			_, err := fmt.Fprint(a.p.Stdout, text)
			return err
		},
	}
}
