package watch

import (
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/screen"
	"github.com/waybill-dev/waybill/tui/terminal"
)

// Bubble Tea is initialised by now, and has asked the terminal nothing.
var _ = terminal.Restore()

// View shows a namespace on a terminal and answers to keys and the mouse. Start it, hand it the events of
// applier.Watch, and Close it: the terminal is then as it was before, also after a panic of the view.
type View struct {
	inbox   *screen.Inbox
	program *tea.Program
	ended   chan struct{} // closed when the terminal is given back
	err     error         // set before ended is closed
}

// New returns a View that has not taken the terminal yet.
func New(o Options) (*View, error) {
	if o.Actions == nil || o.In == nil || o.Out == nil {
		return nil, errors.New("watch: In, Out and Actions are required")
	}
	o = o.withDefaults()
	v := &View{inbox: screen.NewInbox(), ended: make(chan struct{})}
	m := newModel(o, screen.Renderer(o.Out, o.NoColor), prepared(v.inbox.Frames()))
	v.program = tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithoutSignalHandler())
	return v, nil
}

// Start takes the terminal.
func (v *View) Start() {
	go func() {
		defer close(v.ended)
		_, err := v.program.Run()
		if err != nil && (!errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrProgramPanic)) {
			v.err = fmt.Errorf("terminal view: %w", err)
		}
		v.inbox.Close()
	}()
}

// Observe hands one event to the view and never waits for it.
func (v *View) Observe(e applier.Event) { v.inbox.Put(e) }

// Wait returns when its user has quit or the view has failed.
func (v *View) Wait() error {
	<-v.ended
	return v.err
}

// Close ends the view and gives the terminal back. It may be called again.
func (v *View) Close() error {
	v.inbox.Close()
	return v.Wait()
}

// Pause gives the terminal back, while the process is stopped say, until the returned function is called.
func (v *View) Pause() (resume func()) { return screen.Pause(v.program, v.ended) }

// Kill gives the terminal back at once, without drawing anything more.
func (v *View) Kill() {
	v.program.Kill()
	<-v.ended
}
