package screen

import (
	"io"

	tea "github.com/charmbracelet/bubbletea"
)

// Pause makes a running view give the terminal back, and returns once it has, or has ended. The returned function lets it go on.
// The view's Update has to hand its messages to Paused.
func Pause(p *tea.Program, ended <-chan struct{}) (resume func()) {
	b := &pausing{released: make(chan struct{}), resume: make(chan struct{})}
	go p.Send(b)
	select {
	case <-b.released:
	case <-ended:
	}
	return func() { close(b.resume) }
}

// Paused is what Update returns for a message of Pause. mouse tells whether the view listens to the mouse.
func Paused(msg tea.Msg, mouse bool) (cmd tea.Cmd, ok bool) {
	switch msg := msg.(type) {
	case *pausing:
		return tea.Exec(msg, func(error) tea.Msg { return resumedMsg{} }), true
	case resumedMsg:
		if !mouse {
			return nil, true
		}
		return tea.EnableMouseCellMotion, true // Bubble Tea brings back all but the mouse
	}
	return nil, false
}

type resumedMsg struct{}

// pausing is run by Bubble Tea like another program that has the terminal.
type pausing struct{ released, resume chan struct{} }

// Run holds the terminal until the view is to go on.
func (p *pausing) Run() error {
	close(p.released)
	<-p.resume
	return nil
}

func (p *pausing) SetStdin(io.Reader)  {}
func (p *pausing) SetStdout(io.Writer) {}
func (p *pausing) SetStderr(io.Writer) {}
