package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/screen"
)

// compactFlag lets a command show warnings as a list.
func (a *app) compactFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.compact, "compact-warnings", false, "Show warnings, where there are no errors, as a list of their summaries.")
}

// writeCompact writes warnings as a list: the summaries, each once, with the first place of each.
func writeCompact(w io.Writer, ink tui.Ink, diags hcl.Diagnostics) {
	fmt.Fprintf(w, "\n%s\n\n", ink.Bold("Warnings:"))
	var told []string
	for _, d := range diags {
		if slices.Contains(told, d.Summary) {
			continue
		}
		told = append(told, d.Summary)
		fmt.Fprintf(w, "- %s\n", screen.CleanText(d.Summary))
		n := -1
		for _, other := range diags {
			if other.Summary == d.Summary {
				n++
			}
		}
		more := ""
		if n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		switch {
		case d.Subject != nil:
			fmt.Fprintf(w, "  on %s line %d%s\n", d.Subject.Filename, d.Subject.Start.Line, more)
		case more != "":
			fmt.Fprintf(w, " %s\n", more)
		}
	}
	fmt.Fprint(w, "\nTo see the whole warnings, run the command without -compact-warnings.\n")
}
