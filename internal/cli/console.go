package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/console"
)

// maxConsole bounds what is read of a line from a pipe, in bytes.
const maxConsole = 2 << 20

// maxConsoleLines is how many lines an expression may go on for.
const maxConsoleLines = 1000

func (a *app) consoleCommand() *cobra.Command {
	var v variables
	cmd := &cobra.Command{
		Use: "console [DIR | FILES]", Short: "Evaluate expressions",
		Long: `Reads expressions and shows their values: functions, variables, locals, modules,
the addresses of jobs, and outputs as output.NAME. What expressions of the
workflow's files would refer to is known here too.

On a terminal there is a history of lines; "exit" or ctrl+d leaves. From a pipe
each line is an expression, and the first mistake ends the command. An expression
with an open bracket goes on in the next line. Nothing is changed, and neither
the store nor the state is read: uuids are known only after apply.`,
		Example: `waybill console
echo 'jsonencode(local.regions)' | waybill console -var=day=2026-11-20 examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error {
			workspace, err := a.workspaceOf(args)
			if err != nil {
				return err
			}
			var c *config.Console
			w, diags, err := a.complete(&v, func() (w *config.Workflow, diags hcl.Diagnostics, err error) {
				c, w, diags = config.OpenConsole(config.Options{Paths: args, Workspace: workspace, Vars: v.sources, Environ: a.p.Environ, Version: Version,
					NeedVariables: v.mayAsk(a)})
				return w, diags, nil
			})
			if err != nil {
				return err
			}
			if err := errorIf(diags, w.Sources); err != nil {
				return err
			}
			a.show(diags, w.Sources)
			if a.live() {
				return a.converse(cmd.Context(), c)
			}
			return a.readExpressions(cmd.Context(), c)
		},
	}
	v.flags(cmd)
	return cmd
}

// converse evaluates what is typed on a terminal.
func (a *app) converse(ctx context.Context, c *config.Console) error {
	fmt.Fprintln(a.p.Stdout, `Type an expression to see its value; "exit" or ctrl+d leaves.`)
	return console.Run(ctx, console.Options{In: a.p.Stdin, Out: a.p.Stdout, Evaluate: func(text string) console.Answer {
		switch {
		case leaves(text):
			return console.Answer{Leave: true}
		case config.Incomplete(text):
			return console.Answer{More: true}
		}
		val, diags, files := c.Evaluate(text)
		if diags.HasErrors() {
			return console.Answer{Text: "\n" + a.rendered(diags, files)}
		}
		return console.Answer{Text: tui.FormatExpression(val)}
	}})
}

func leaves(text string) bool {
	text = strings.TrimSpace(text)
	return text == "exit" || text == "quit"
}

// readExpressions evaluates the lines of a pipe or file.
func (a *app) readExpressions(ctx context.Context, c *config.Console) error {
	in := bufio.NewScanner(a.p.Stdin)
	in.Buffer(nil, maxConsole)
	var lines []string
	for more := true; more; {
		if more = in.Scan(); more {
			lines = append(lines, in.Text())
		}
		text := strings.TrimSpace(strings.Join(lines, "\n"))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case text == "":
			lines = nil
			continue
		case leaves(text):
			return nil
		case more && len(lines) < maxConsoleLines && config.Incomplete(text):
			continue
		}
		val, diags, files := c.Evaluate(text)
		if err := errorIf(diags, files); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.p.Stdout, tui.FormatExpression(val)); err != nil {
			return err
		}
		lines = nil
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fail("Expression too large", "An expression has at most 1 MiB of text. Put the data into a file and read it with file().")
	case err != nil:
		return fmt.Errorf("read expressions: %w", err)
	}
	return nil
}
