package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/tui"
)

func (a *app) outputCommand() *cobra.Command {
	var r redisFlag
	asJSON, raw := false, false
	cmd := &cobra.Command{
		Use: "output [NAME] [DIR | FILES]", Short: "Show the outputs of the last apply",
		Long: `Shows the outputs that the last apply recorded: all of them, or the one called
NAME.

-raw writes the value of one output as it is, without quotes and without a line
break at its end, for use in scripts.`,
		Example: `waybill output
waybill output -raw report examples/sales
waybill output -json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, paths := outputName(args)
			if raw && name == "" {
				return fail("Invalid option", "-raw writes one output: give its name.")
			}
			if raw && asJSON {
				return fail("Invalid option", "-raw and -json exclude each other.")
			}
			state, err := a.readState(cmd.Context(), paths, r)
			if err != nil {
				return err
			}
			if name == "" {
				if asJSON {
					return json.NewEncoder(a.p.Stdout).Encode(shownOutputs(state.Outputs))
				}
				if len(state.Outputs) == 0 {
					fmt.Fprintf(a.p.Stderr, "Workflow %q has no outputs in its state: it declares none, or was not applied since.\n", state.Workflow)
				}
				return tui.WriteOutputs(a.p.Stdout, state.Outputs)
			}
			value, ok := state.Outputs[name]
			if !ok {
				return unknownOutput(name, state.Workflow, state.Outputs)
			}
			if tui.SensitiveOutput(value) {
				return fail("Output is sensitive", "The state holds no more than a hash of %q.", name)
			}
			return a.printOutput(value, raw, asJSON)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write JSON.")
	cmd.Flags().BoolVar(&raw, "raw", false, "Write the value of NAME as it is. It has to be a string, a number or a boolean.")
	return cmd
}

func (a *app) printOutput(value string, raw, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintln(a.p.Stdout, value)
		return err
	}
	if !raw {
		_, err := fmt.Fprintln(a.p.Stdout, tui.FormatValue(value))
		return err
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return fmt.Errorf("read the output: %w", err)
	}
	switch v := v.(type) {
	case string:
		_, err := fmt.Fprint(a.p.Stdout, v)
		return err
	case float64, bool:
		_, err := fmt.Fprint(a.p.Stdout, value)
		return err
	}
	return fail("Output has no raw form", "-raw writes strings, numbers and booleans. Use -json for this one.")
}

// outputName takes the name of an output out of a command's arguments: the first one that could be a name and is no file.
func outputName(args []string) (name string, paths []string) {
	for _, arg := range args {
		if _, err := os.Stat(arg); name == "" && err != nil && hclsyntax.ValidIdentifier(arg) {
			name = arg
			continue
		}
		paths = append(paths, arg)
	}
	return name, paths
}

func unknownOutput(name, workflow string, outputs map[string]string) error {
	var names []string
	for n := range outputs {
		names = append(names, n)
	}
	slices.Sort(names)
	hint := "It has no outputs: it declares none, or was not applied since."
	switch near := nearest(name, names); {
	case near != "":
		hint = fmt.Sprintf("Did you mean %q?", near)
	case len(names) > 0:
		hint = fmt.Sprintf("It has %q.", names)
	}
	return fail("No such output", "The state of workflow %q has no output %q. %s", workflow, name, hint)
}
