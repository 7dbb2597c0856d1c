package approve

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Options configures a View.
type Options struct {
	In  io.Reader // the terminal's keys
	Out io.Writer // the terminal
	// NoColor draws without colours. The NO_COLOR variable does the same.
	NoColor bool

	Plan     *planner.Plan // not to be changed meanwhile
	Store    string        // its name, for the title
	Warnings []Warning     // shown above the changes
	// Again says why somebody is asked once more; "" the first time.
	Again string
	// Question and Explanation stand above the answer.
	Question, Explanation string
	// Suspend is called when the user presses ctrl+z; it is to stop the process, with Pause before. Without it the key does
	// nothing.
	Suspend func()
}

// View shows one plan on a terminal and asks whether to go on. Ask runs it; the terminal is then as it was before, also
// after a panic of the view.
type View struct {
	program *tea.Program
	ended   chan struct{} // closed when the program has given the terminal back
}

// New returns a View that has not taken the terminal yet.
func New(o Options) *View {
	m := newModel(o, screen.Renderer(o.Out, o.NoColor))
	program := tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithoutSignalHandler())
	return &View{program: program, ended: make(chan struct{})}
}

// Ask, which is called once, takes the terminal until there is an answer, or ctx ends: then its error is returned. Any other error is the view's
// own failure, after which nobody has answered.
func (v *View) Ask(ctx context.Context) (Answer, error) {
	asked, asking := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(asking)
		select {
		case <-ctx.Done():
			v.program.Quit()
		case <-asked:
		}
	}()
	final, err := v.program.Run()
	close(v.ended)
	close(asked)
	<-asking
	m, ok := final.(model)
	switch {
	case ctx.Err() != nil:
		return Declined, ctx.Err()
	case errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic):
		return Interrupted, nil
	case err != nil:
		return Declined, fmt.Errorf("plan view: %w", err)
	case !ok:
		return Declined, errors.New("plan view: its last state is none; this is a bug in Waybill")
	}
	return m.answer, nil
}

// Pause gives the terminal back, while the process is stopped say, until the returned function is called.
func (v *View) Pause() (resume func()) { return screen.Pause(v.program, v.ended) }

// Kill gives the terminal back at once, while Ask runs; nobody has answered then.
func (v *View) Kill() {
	v.program.Kill()
	<-v.ended
}
