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
	text, err := a.answer(ctx)
	if ctx.Err() != nil {
		fmt.Fprintln(a.p.Stdout)
		return false, ctx.Err()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	if !terminal(a.p.Stdin) { // which shows the line break that was typed
		fmt.Fprintln(a.p.Stdout)
	}
	return strings.TrimSpace(text) == "yes", nil
}

// answer reads a line of the input in the background, so that Ctrl-C ends the waiting.
func (a *app) answer(ctx context.Context) (string, error) {
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
		return "", ctx.Err()
	case r := <-answered:
		return r.text, r.err
	}
}
