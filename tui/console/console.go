package console

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "github.com/charmbracelet/bubbletea"
)

// Options configures Run.
type Options struct {
	In  io.Reader // the terminal's keys
	Out io.Writer // the terminal
	// Evaluate gives what is to be shown for the lines since the last answer. It is called from one goroutine at a time.
	Evaluate func(text string) Answer
}

// Answer is what becomes of a line.
type Answer struct {
	Text  string // shown above the line
	More  bool   // the expression goes on in the next line
	Leave bool   // the user has asked to leave
}

// Run reads lines from a terminal until the user leaves or ctx ends.
func Run(ctx context.Context, o Options) error {
	_, err := tea.NewProgram(newModel(o), tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, tea.ErrProgramKilled):
		return fmt.Errorf("console: %w", err)
	}
	return nil
}
