package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// prompt asks a question that only "yes" answers. The answer is read in the background, so that Ctrl-C ends the waiting. Where
// nobody is there to answer, the error names the option that does.
func (a *app) prompt(ctx context.Context, option, question, explanation string) (bool, error) {
	if a.automated() {
		return false, a.errNoInput(option)
	}
	ink := a.ink(a.p.Stdout)
	fmt.Fprintf(a.p.Stdout, "\n%s\n%s\n\n  %s ", ink.Bold(question), indent(explanation, "  "), ink.Bold("Enter a value:"))
	type reply struct {
		text string
		err  error
	}
	answered := make(chan reply, 1)
	go func() {
		text, err := bufio.NewReader(a.p.Stdin).ReadString('\n')
		answered <- reply{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.p.Stdout)
		return false, ctx.Err()
	case r := <-answered:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", r.err)
		}
		if !terminal(a.p.Stdin) { // which shows the line break that was typed
			fmt.Fprintln(a.p.Stdout)
		}
		return strings.TrimSpace(r.text) == "yes", nil
	}
}
