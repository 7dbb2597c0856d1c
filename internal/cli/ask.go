package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// complete reads a workflow, and asks for the values of variables that it lacks for as long as nothing else is wrong with it. What was
// answered is added to v, and the workflow is read again. Without an answer (Ctrl-D) the lack is the error that it is where nobody can be asked.
func (a *app) complete(v *variables, read func() (*config.Workflow, hcl.Diagnostics, error)) (*config.Workflow, hcl.Diagnostics, error) {
	for {
		w, diags, err := read()
		if err != nil || len(w.Missing) == 0 || errorsIn(diags) > len(w.Missing) || !v.mayAsk(a) {
			return w, diags, err
		}
		for _, m := range w.Missing {
			text, err := a.askValue(v.cmd.Context(), m)
			if errors.Is(err, io.EOF) {
				return w, diags, nil
			}
			if err != nil {
				return w, diags, err
			}
			v.sources = append(v.sources, config.VarSource{Assign: m.Name + "=" + text, Asked: true})
		}
	}
}

// errorsIn counts the errors among diagnostics.
func errorsIn(diags hcl.Diagnostics) (n int) {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			n++
		}
	}
	return n
}

// mayAsk tells whether somebody is there to answer, and wants to be asked: neither with -input=false, nor by a command that writes for
// programs or into a file.
func (v *variables) mayAsk(a *app) bool {
	if v.cmd == nil || a.automated() || !terminal(a.p.Stdin) || !terminal(a.p.Stdout) {
		return false
	}
	for option, value := range map[string]string{"input": "false", "json": "true", "format": "markdown"} {
		if f := v.cmd.Flags().Lookup(option); f != nil && f.Value.String() == value {
			return false
		}
	}
	return true
}

// askValue asks for the value of one variable. That of a sensitive one is not shown while it is typed.
func (a *app) askValue(ctx context.Context, m config.Missing) (string, error) {
	out, ink := a.p.Stdout, a.ink(a.p.Stdout)
	fmt.Fprintf(out, "%s\n", ink.Bold("var."+m.Name))
	for line := range strings.Lines(strings.TrimSpace(m.Description)) {
		fmt.Fprintf(out, "  %s\n", clean(strings.TrimRight(line, "\r\n")))
	}
	if f, is := a.p.Stdin.(*os.File); is && m.Sensitive {
		show, err := hideTyping(f.Fd())
		if err != nil {
			return "", fmt.Errorf("ask for the value of the sensitive variable %s: %w", m.Name, err)
		}
		defer show()
	}
	fmt.Fprintf(out, "\n  %s ", ink.Bold("Enter a value:"))
	text, err := a.answer(ctx)
	if m.Sensitive || err != nil { // else the line break that was typed is there
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil:
		return "", fmt.Errorf("read the value of variable %s: %w", m.Name, err)
	}
	return strings.TrimRight(text, "\r\n"), nil
}
